// SPDX-License-Identifier: Apache-2.0
//! The folder of a recorded run.

mod awaited;
mod damage;
mod event;
mod stream;
mod summary;

use std::io;
use std::path::{Path, PathBuf};
use std::{fs, io::ErrorKind};

use serde_json::Value;

pub use awaited::Awaited;
pub use event::{Event, Kind, NO_TASK};
pub use stream::{Events, Merged, Oddities};
pub use summary::{Summary, Task};

use stream::Stream;

/// The version of the format that is read.
const VERSION: u32 = 1;

/// Why a recorded run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refuses.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no event stream in the folder.
    #[error("{} is not the folder of a recorded run: no core-N.events is in it", path.display())]
    NotARun {
        /// The folder.
        path: PathBuf,
    },
    /// A file is not an event stream, or of a format that is not known.
    #[error("{} is not an event stream: {why}", path.display())]
    Stream {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The summary is not what it should be.
    #[error("{} is not the summary of a run: {why}", path.display())]
    Summary {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// A recorded run.
#[derive(Debug)]
pub struct Recorded {
    /// Its folder.
    pub path: PathBuf,
    /// Its result; `None`: the run was killed before it could write one.
    pub summary: Option<Summary>,
    streams: Vec<Stream>,
}

impl Recorded {
    /// Opens the folder of a run: reads its summary and the headers of its event streams.
    ///
    /// # Errors
    /// The folder cannot be read or is not that of a run; the summary or a header is not what it
    /// should be.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        let mut streams = Vec::new();
        let unreadable = |source| Error::Read { path: path.clone(), source };
        for entry in fs::read_dir(&path).map_err(unreadable)? {
            let file = entry.map_err(unreadable)?.path();
            if let Some(core) = stream::core_of(&file) {
                streams.push(Stream::open(file, core)?);
            }
        }
        if streams.is_empty() {
            return Err(Error::NotARun { path });
        }
        streams.sort_by_key(|stream| stream.core);
        let summary = read_summary(&path.join("summary.json"))?;
        Ok(Self { path, summary, streams })
    }

    /// The cores that have an event stream, in ascending order.
    pub fn cores(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().map(|stream| stream.core)
    }

    /// The start of the run, in nanoseconds on its clock; 0 when no stream was written so far.
    #[must_use]
    pub fn start_ns(&self) -> u64 {
        self.streams.iter().filter_map(|stream| stream.start_ns).min().unwrap_or(0)
    }

    /// How many records the streams have, also those that will be skipped.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.streams.iter().map(Stream::records).sum()
    }

    /// The events of one core; `None`: it has no stream.
    #[must_use]
    pub fn events(&self, core: u32) -> Option<Events> {
        self.streams.iter().find(|stream| stream.core == core).map(Events::new)
    }

    /// The events of all cores, in the order of their times.
    #[must_use]
    pub fn merged(&self) -> Merged {
        Merged::new(self.streams.iter().map(Events::new).collect())
    }
}

fn read_summary(path: &Path) -> Result<Option<Summary>, Error> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::Read { path: path.to_owned(), source }),
    };
    let wrong = |why: String| Error::Summary { path: path.to_owned(), why };
    let raw: Value = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let version = raw.get("version").and_then(Value::as_u64);
    if version != Some(u64::from(VERSION)) {
        let found = version.map_or("missing".into(), |version| version.to_string());
        return Err(wrong(format!("its version is {found}, and only {VERSION} is known")));
    }
    let mut summary: Summary =
        serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    summary.raw = raw;
    Ok(Some(summary))
}
