// SPDX-License-Identifier: Apache-2.0
//! The candidates of an `explore.parquet`, and what came of them: the lines at its beginning. The
//! rest is for readers of Parquet.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::candidate::{Candidate, Outcome};
use crate::settings::Settings;
use crate::store::{Store, StoreError, StoredOutcome, read_lines};

/// How a Parquet file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";

/// Has a store know the candidates of a file and what came of them, also in its own file.
///
/// # Errors
/// The file cannot be read, is not an `explore.parquet`, is damaged, or is of something else.
pub fn restore(path: &Path, identity: &str, store: &mut Store) -> Result<(), StoreError> {
    let file = File::open(path)?;
    store.know_from(file.try_clone()?);
    let know = |candidate, outcome, at| store.know(&candidate, &Ok(outcome), at);
    restored(&file, Some(identity), know).map(drop)
}

/// Hands on the candidates of a file with what came of them and where their lines begin, and gives
/// its settings; without an identity, of whatever it is.
pub(crate) fn restored(
    file: &File,
    identity: Option<&str>,
    mut take: impl FnMut(Candidate, Outcome, u64) -> io::Result<()>,
) -> Result<Settings, StoreError> {
    let magic_bytes = MAGIC.len() as u64;
    if file.metadata()?.len() < 2 * magic_bytes {
        return Err(StoreError::Incomplete);
    }
    let mut reader = BufReader::new(file);
    let mut magic = [0; MAGIC.len()];
    for place in [SeekFrom::End(-4), SeekFrom::Start(0)] {
        reader.seek(place)?;
        reader.read_exact(&mut magic)?;
        if &magic != MAGIC {
            return Err(StoreError::Incomplete);
        }
    }
    let read = read_lines(reader, identity, |StoredOutcome { candidate, verdict }, at| {
        verdict.map_or(Ok(()), |outcome| take(candidate, outcome, magic_bytes + at))
    })?;
    let settings = read.settings.unwrap_or_default();
    if read.rest == b"\n" { Ok(settings) } else { Err(StoreError::Incomplete) }
}
