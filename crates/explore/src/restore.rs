// SPDX-License-Identifier: Apache-2.0
//! The candidates of an `explore.parquet`, and what came of them: the lines at its beginning. The
//! rest is for readers of Parquet.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::candidate::{Candidate, Outcome};
use crate::store::{StoreError, StoredOutcome, read_lines};

/// How a Parquet file begins and ends.
const MAGIC: &[u8; 4] = b"PAR1";

/// Reads the candidates of a file and what came of them.
///
/// # Errors
/// The file cannot be read, is not an `explore.parquet`, is damaged, or is of something else.
pub fn restore(path: &Path, identity: &str) -> Result<Vec<(Candidate, Outcome)>, StoreError> {
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
    if read.rest == b"\n" { Ok(known) } else { Err(StoreError::Incomplete) }
}
