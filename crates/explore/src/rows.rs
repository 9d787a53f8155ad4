// SPDX-License-Identifier: Apache-2.0
//! What ran, in the order of candidates, without a copy of it in memory.
//!
//! Candidates run in another order than the one in which they are written. So pieces are sorted as
//! they come, all but the last go to a file without a name, and readers merge them: an external
//! merge sort. A row is the line that [`crate::Store`] writes of it.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use itertools::Itertools;

use crate::candidate::{Candidate, Outcome};
use crate::store::{Part, Row, StoredOutcome, line};

/// Rows of a piece, which are in memory until it is sorted.
pub(crate) const PIECE: usize = 4096;

/// Bytes that a reader has of each piece.
const WINDOW: usize = 1 << 14;

/// Candidates that ran, with what came of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    file: Option<Arc<File>>,
    /// Where each piece is in the file.
    pieces: Vec<Range<u64>>,
    /// The latest piece.
    last: Vec<u8>,
}

impl Rows {
    /// Takes a piece in, in the order of candidates. `scratch` gives a file for those before it.
    pub fn push(
        &mut self,
        piece: &[(Candidate, Outcome)],
        scratch: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<()> {
        if !self.last.is_empty() {
            let file = match self.file.take() {
                Some(file) => file,
                None => Arc::new(scratch()?),
            };
            let start = self.pieces.last().map_or(0, |piece| piece.end);
            file.write_all_at(&self.last, start)?;
            self.pieces.push(start..start + self.last.len() as u64);
            self.file = Some(file);
        }
        self.last.clear();
        for (candidate, outcome) in piece {
            self.last.extend(line(&Row { candidate, verdict: Ok(outcome) })?);
        }
        Ok(())
    }

    /// All of them, in the order of candidates.
    pub fn sorted(&self) -> impl Iterator<Item = io::Result<Head>> {
        let in_file = |piece: &Range<u64>| -> Option<Box<dyn BufRead + '_>> {
            let part = Part { file: self.file.as_deref()?, rest: piece.clone() };
            Some(Box::new(BufReader::with_capacity(WINDOW, part)))
        };
        let last: Box<dyn BufRead + '_> = Box::new(&self.last[..]);
        let readers = self.pieces.iter().filter_map(in_file).chain([last]);
        let pieces =
            readers.map(|mut reader| iter::from_fn(move || head(&mut *reader).transpose()));
        // What cannot be read comes first.
        pieces.kmerge_by(|one, other| match (one, other) {
            (Ok(one), Ok(other)) => one.candidate < other.candidate,
            (one, _) => one.is_err(),
        })
    }
}

/// A row, and the line that it was read from.
pub(crate) struct Head {
    pub candidate: Candidate,
    pub outcome: Outcome,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only parquet keeps lines"))]
    pub line: Vec<u8>,
}

/// The next row of a piece; none: it has no more.
fn head(piece: &mut dyn BufRead) -> io::Result<Option<Head>> {
    let mut line = Vec::new();
    if piece.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    let StoredOutcome { candidate, verdict } = serde_json::from_slice(&line)?;
    let outcome = verdict.map_err(io::Error::other)?;
    Ok(Some(Head { candidate, outcome, line }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(at: u32) -> (Candidate, Outcome) {
        let candidate = Candidate::numbered(at);
        let outcome = Outcome {
            energy_mj: 0.1 * f64::from(at),
            misses: 0,
            jobs: 1,
            latency_ms: None,
            cores: 1,
            time_ms: 1.0,
            load: vec![1.0 / 3.0],
            frames: 0,
            firings: 0,
        };
        (candidate, outcome)
    }

    #[test]
    fn rows_of_any_number_of_pieces_come_in_the_order_of_candidates() {
        for pieces in [0, 1, 2, 7] {
            let mut rows = Rows::default();
            for piece in 0..pieces {
                // Every piece reaches over all others, and one is empty.
                let count = if piece == 3 { 0 } else { 50 };
                let piece: Vec<_> = (0..count).map(|at| row(at * pieces + piece)).collect();
                rows.push(&piece, tempfile::tempfile).unwrap();
            }
            let expected = (0..50 * pieces).filter(|at| pieces < 4 || at % pieces != 3).map(row);
            for _ in 0..2 {
                let read = rows.sorted().map(|head| head.map(|of| (of.candidate, of.outcome)));
                let read: Vec<_> = read.map(Result::unwrap).collect();
                assert_eq!(read, expected.clone().collect::<Vec<_>>(), "{pieces} pieces");
            }
        }
    }
}
