// SPDX-License-Identifier: Apache-2.0
//! The candidates of an `explore.parquet`, and what came of them: the lines at its beginning. The
//! rest is for readers of Parquet.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::candidate::{Candidate, Outcome};
use crate::settings::Settings;
use crate::store::{StoreError, StoredOutcome, read_lines};

/// How a Parquet file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";

/// The settings of a file, its candidates and what came of them.
type Restored = (Settings, Vec<(Candidate, Outcome)>);

/// Reads the candidates of a file and what came of them.
///
/// # Errors
/// The file cannot be read, is not an `explore.parquet`, is damaged, or is of something else.
pub fn restore(path: &Path, identity: &str) -> Result<Vec<(Candidate, Outcome)>, StoreError> {
    restored(path, Some(identity)).map(|(_, known)| known)
}

/// The same with the settings of the file; without an identity, of whatever it is.
pub(crate) fn restored(path: &Path, identity: Option<&str>) -> Result<Restored, StoreError> {
    let file = File::open(path)?;
    if file.metadata()?.len() < 2 * MAGIC.len() as u64 {
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
    let mut known = Vec::new();
    let read = read_lines(reader, identity, |StoredOutcome { candidate, verdict }| {
        known.extend(verdict.ok().map(|outcome| (candidate, outcome)));
    })?;
    let settings = read.settings.unwrap_or_default();
    if read.rest == b"\n" { Ok((settings, known)) } else { Err(StoreError::Incomplete) }
}
