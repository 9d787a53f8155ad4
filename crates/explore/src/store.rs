// SPDX-License-Identifier: Apache-2.0
//! What was evaluated already: in memory, and in a file that outlives a run that was ended.
//!
//! The file has a line of JSON for what is explored, then one for each candidate with what came of
//! it, in the order in which they were finished. A last line that was cut off is left out.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::candidate::{Candidate, Outcome};

/// The version of the file.
const VERSION: u32 = 1;

/// What came of a candidate: an outcome, or why it could not run.
pub type Verdict = Result<Outcome, String>;

/// Verdicts by candidate.
#[derive(Debug, Default)]
pub struct Store {
    known: HashMap<Candidate, Verdict>,
    file: Option<File>,
}

/// Why a file cannot be gone on with.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is of another application, platform, duration or seed.
    #[error("it is of another application, platform, duration or seed")]
    Other,
    /// This line or row, from 1, makes no sense; 0: none of it does.
    #[error("line {0} makes no sense: {1}")]
    Line(usize, String),
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    identity: String,
}

#[derive(Serialize, Deserialize)]
struct StoredOutcome {
    candidate: Candidate,
    verdict: Verdict,
}

impl Store {
    /// Begins a file. `identity` stands for everything that outcomes depend on besides candidates.
    ///
    /// # Errors
    /// It exists already, or cannot be written.
    pub fn create(path: &Path, identity: &str) -> Result<Self, StoreError> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        write_line(&mut file, &Head { version: VERSION, identity: identity.into() })?;
        Ok(Self { known: HashMap::new(), file: Some(file) })
    }

    /// Goes on with a file.
    ///
    /// # Errors
    /// It cannot be read, is of something else, or was damaged.
    pub fn resume(path: &Path, identity: &str) -> Result<Self, StoreError> {
        let mut reader = BufReader::new(File::open(path)?);
        let mut known = HashMap::new();
        let (mut line, mut complete, mut number) = (Vec::new(), 0u64, 0);
        while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
            number += 1;
            let wrong = |error: serde_json::Error| StoreError::Line(number, error.to_string());
            if number == 1 {
                let head: Head = serde_json::from_slice(&line).map_err(wrong)?;
                if head.version != VERSION || head.identity != identity {
                    return Err(StoreError::Other);
                }
            } else {
                let row: StoredOutcome = serde_json::from_slice(&line).map_err(wrong)?;
                known.insert(row.candidate, row.verdict);
            }
            complete += line.len() as u64;
            line.clear();
        }
        if number == 0 {
            return Err(StoreError::Line(1, "it is not there".into()));
        }
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.set_len(complete)?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        Ok(Self { known, file: Some(file) })
    }

    /// Takes over what is known already, also into the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn know(&mut self, known: Vec<(Candidate, Outcome)>) -> Result<(), StoreError> {
        for (candidate, outcome) in known {
            self.put(candidate, Ok(outcome))?;
        }
        Ok(())
    }

    /// How many verdicts it has.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub(crate) fn get(&self, candidate: &Candidate) -> Option<&Verdict> {
        self.known.get(candidate)
    }

    /// Keeps a verdict, also in the file.
    pub(crate) fn put(&mut self, candidate: Candidate, verdict: Verdict) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            let row = StoredOutcome { candidate, verdict };
            write_line(file, &row)?;
            self.known.insert(row.candidate, row.verdict);
        } else {
            self.known.insert(candidate, verdict);
        }
        Ok(())
    }
}

/// One write for a line, so that no other lies within it.
fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    file.write_all(&text)
}
