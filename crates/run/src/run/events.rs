// SPDX-License-Identifier: Apache-2.0
//! Event streams that come over a board's line, into the folder of a recorded run.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::protocol::Events;

/// The files of a run's event streams, one for each core.
#[derive(Debug)]
pub struct Streams {
    folder: PathBuf,
    files: Vec<Option<File>>,
}

impl Streams {
    /// Those of so many cores.
    pub fn new(folder: PathBuf, cores: usize) -> Self {
        Self { folder, files: (0..cores).map(|_| None).collect() }
    }

    /// Writes the next bytes of a stream.
    ///
    /// # Errors
    /// They are not for a core of the run, are no base64, or cannot be written; in words.
    pub fn take(&mut self, events: &Events) -> Result<(), String> {
        let core = events.core;
        let file = self.files.get_mut(core as usize);
        let file = file.ok_or_else(|| format!("there is no core {core}"))?;
        let bytes = BASE64_STANDARD
            .decode(&events.data)
            .map_err(|error| format!("the events of core {core} are not base64: {error}"))?;
        let name = format!("core-{core}.events");
        let opened = match file {
            Some(file) => Ok(file),
            None => File::create_new(self.folder.join(&name)).map(|new| file.insert(new)),
        };
        opened
            .and_then(|file| file.write_all(&bytes))
            .map_err(|error| format!("{name} cannot be written: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_each_core_are_joined_in_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut streams = Streams::new(folder.path().to_owned(), 2);
        let events = |core, data: &str| Events { core, data: data.into() };
        for data in ["V0I=", "RVY="] {
            streams.take(&events(1, data)).unwrap();
        }
        assert_eq!(std::fs::read(folder.path().join("core-1.events")).unwrap(), b"WBEV");
        assert!(!folder.path().join("core-0.events").exists());
        assert!(streams.take(&events(2, "V0I=")).unwrap_err().contains("no core 2"));
        assert!(streams.take(&events(0, "?")).unwrap_err().contains("not base64"));
    }
}
