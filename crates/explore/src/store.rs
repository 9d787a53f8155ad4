// SPDX-License-Identifier: Apache-2.0
//! What was evaluated already, in a file that outlives a run that was ended.
//!
//! The file has a line of JSON for what is explored, then one for each candidate with what came of
//! it, in the order in which they were finished. A last line that was cut off is left out. Memory
//! holds only where each line begins.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::candidate::{Candidate, Outcome};
use crate::settings::Settings;

/// The version of the file.
const VERSION: u32 = 2;

/// The folder of the parts of what ran, beside the file.
const PARTS: &str = "explore.parts";

/// Bytes that are read of a file for a line.
const WINDOW: usize = 1 << 12;

/// What came of a candidate: an outcome, or why it could not run.
pub type Verdict = Result<Outcome, String>;

/// Verdicts by candidate: those that are known from before, until they are asked for. What is new
/// goes to the file, and whoever has it keeps it.
#[derive(Debug, Default)]
pub struct Store {
    /// Where the line of each begins, by its key.
    known: HashMap<u128, u64>,
    /// The file that these lines are in.
    known_in: Option<File>,
    file: Option<File>,
    /// Where that is.
    folder: Option<PathBuf>,
    /// How many parts there are.
    parts: usize,
}

/// Why a file cannot be gone on with.
#[derive(Debug, Error)]
pub enum StoreError {
    /// It cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is of another application, platform, duration or seed.
    #[error("it belongs to another application, platform, duration or seed")]
    Other,
    /// A Parquet file without its end, or from another program.
    #[error("it is not a whole explore.parquet")]
    Incomplete,
    /// This line, from 1, is invalid.
    #[error("line {0} is invalid: {1}")]
    Line(usize, String),
}

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    identity: String,
    /// Only before the rows of an `explore.parquet`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<Settings>,
}

#[derive(Deserialize)]
pub(crate) struct StoredOutcome {
    pub candidate: Candidate,
    pub verdict: Verdict,
}

/// The same to be written.
#[derive(Serialize)]
pub(crate) struct Row<'a> {
    pub candidate: &'a Candidate,
    pub verdict: Result<&'a Outcome, &'a String>,
}

/// How far [`read_lines`] came.
pub(crate) struct LinesRead {
    pub lines: usize,
    pub bytes: u64,
    /// Those of the head.
    pub settings: Option<Settings>,
    /// The line that it ended at: an empty one, or one that was cut off.
    pub rest: Vec<u8>,
}

impl Store {
    /// Begins a file. `identity` stands for everything that outcomes depend on besides candidates.
    ///
    /// # Errors
    /// It exists already, or cannot be written.
    pub fn create(path: &Path, identity: &str) -> Result<Self, StoreError> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let head = Head { version: VERSION, identity: identity.into(), settings: None };
        write_line(&mut file, &head)?;
        Self { file: Some(file), ..Self::default() }.beside(path)
    }

    /// Goes on with a file.
    ///
    /// # Errors
    /// It cannot be read, is of something else, or was damaged.
    pub fn resume(path: &Path, identity: &str) -> Result<Self, StoreError> {
        let known_in = File::open(path)?;
        let mut known = HashMap::new();
        let read = read_lines(BufReader::new(&known_in), Some(identity), |row, at| {
            known.insert(row.candidate.key(), at);
            Ok(())
        })?;
        if read.rest == b"\n" {
            return Err(StoreError::Line(read.lines + 1, "it is empty".into()));
        }
        let mut file = OpenOptions::new().write(true).open(path)?;
        file.set_len(read.bytes)?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        let (known_in, file) = (Some(known_in), Some(file));
        Self { known, known_in, file, ..Self::default() }.beside(path)
    }

    /// Knows where its file is, and removes the parts that an earlier run has left there.
    fn beside(self, path: &Path) -> Result<Self, StoreError> {
        let folder = folder_of(path);
        folder.as_deref().map_or(Ok(()), remove_parts)?;
        Ok(Self { folder, ..self })
    }

    /// Knows nothing but lines of this file.
    pub(crate) fn know_from(&mut self, file: File) {
        self.known.clear();
        self.known_in = Some(file);
    }

    /// Takes over what a line of that file says, which begins there; also into its own file.
    pub(crate) fn know(
        &mut self,
        candidate: &Candidate,
        verdict: &Verdict,
        at: u64,
    ) -> io::Result<()> {
        self.known.insert(candidate.key(), at);
        self.put(candidate, verdict)
    }

    /// How many verdicts it has from before.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// A file without a name, beside its own.
    pub(crate) fn scratch(&self) -> io::Result<File> {
        match &self.folder {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }

    /// The file of the next part of what ran, for readers of Parquet while others run; none: it has
    /// no folder.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "parts are Parquet"))]
    pub(crate) fn next_part(&mut self) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?.join(PARTS);
        self.parts += 1;
        Some(folder.join(format!("part-{:05}.parquet", self.parts - 1)))
    }

    /// Gives what is known of a candidate. It is asked for once, as no batch has it again.
    pub(crate) fn take(&mut self, candidate: &Candidate) -> io::Result<Option<Verdict>> {
        let Some((at, file)) = self.known.remove(&candidate.key()).zip(self.known_in.as_ref())
        else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let rest = Part { file, rest: at..u64::MAX };
        BufReader::with_capacity(WINDOW, rest).read_until(b'\n', &mut line)?;
        let row: StoredOutcome = serde_json::from_slice(&line)?;
        Ok((row.candidate == *candidate).then_some(row.verdict))
    }

    /// Writes a verdict to the file.
    pub(crate) fn put(&mut self, candidate: &Candidate, verdict: &Verdict) -> io::Result<()> {
        match &mut self.file {
            Some(file) => write_line(file, &Row { candidate, verdict: verdict.as_ref() }),
            None => Ok(()),
        }
    }
}

/// A part of a file that several readers have.
pub(crate) struct Part<'f> {
    pub file: &'f File,
    pub rest: Range<u64>,
}

impl Read for Part<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.rest.end - self.rest.start).unwrap_or(usize::MAX);
        let most = buffer.len().min(left);
        let read = self.file.read_at(&mut buffer[..most], self.rest.start)?;
        self.rest.start += read as u64;
        Ok(read)
    }
}

/// Hands on what lines say and where each begins, until one that is empty or cut off.
pub(crate) fn read_lines(
    mut reader: impl BufRead,
    identity: Option<&str>,
    mut take: impl FnMut(StoredOutcome, u64) -> io::Result<()>,
) -> Result<LinesRead, StoreError> {
    let mut read = LinesRead { lines: 0, bytes: 0, settings: None, rest: Vec::new() };
    while reader.read_until(b'\n', &mut read.rest)? > 1 && read.rest.ends_with(b"\n") {
        read.lines += 1;
        let wrong = |error: serde_json::Error| StoreError::Line(read.lines, error.to_string());
        if read.lines == 1 {
            let head: Head = serde_json::from_slice(&read.rest).map_err(wrong)?;
            if head.version != VERSION || identity.is_some_and(|it| head.identity != it) {
                return Err(StoreError::Other);
            }
            read.settings = head.settings;
        } else {
            take(serde_json::from_slice(&read.rest).map_err(wrong)?, read.bytes)?;
        }
        read.bytes += read.rest.len() as u64;
        read.rest.clear();
    }
    if read.lines == 0 { Err(StoreError::Line(1, "it is not there".into())) } else { Ok(read) }
}

/// Hands on the lines of a whole file, with an empty one at the end.
#[cfg(feature = "parquet")]
pub(crate) fn all_lines(
    identity: &str,
    settings: &Settings,
    lines: impl Iterator<Item = io::Result<Vec<u8>>>,
    mut put: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let settings = Some(settings.clone());
    put(&line(&Head { version: VERSION, identity: identity.into(), settings })?)?;
    for line in lines {
        put(&line?)?;
    }
    put(b"\n")
}

/// Removes the parts in the folder of a store, when all that they have is in `explore.parquet`.
///
/// # Errors
/// They cannot be removed.
pub fn remove_parts(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(PARTS)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The folder of a file.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    Some(if folder.as_os_str().is_empty() { ".".into() } else { folder.to_owned() })
}

pub(crate) fn line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    Ok(text)
}

/// One write for a line, so that no other lies within it.
fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    file.write_all(&line(value)?)
}
