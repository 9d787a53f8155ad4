// SPDX-License-Identifier: Apache-2.0
//! Run directories: one per run of this user, closed to everyone else.
//!
//! `$XDG_RUNTIME_DIR/whimbrel/RUN`, or `/tmp/whimbrel-UID/RUN`. A run holds a lock on its
//! directory, which the system gives up when the process ends in whatever way: a directory that can
//! be locked belongs to a dead run. `run.json` says which processes the run had; `control.sock`
//! steers it.

mod base;
mod frequencies;
mod reclaim;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, flock, fstat, statat};
use serde::{Deserialize, Serialize};
use whimbrel_model::Problem;
use whimbrel_occupy::folder::Folder;
use whimbrel_occupy::place::descriptor;

pub use base::Base;
pub use frequencies::JOURNAL;
pub use reclaim::{left, reclaim};

use crate::args::cores::CoreName;
use crate::process::Process;

/// The socket of a run.
pub const SOCKET: &str = "control.sock";
const RECORD: &str = "run.json";
const NEW_RECORD: &str = "run.json.new";
/// The image of a board's run.
pub const IMAGE: &str = "image.elf";
/// How the names of the images of a run's guests end, behind their numbers.
pub const GUEST_IMAGE: &str = ".guest.elf";

/// What there may be in the folder of a run, besides the sockets of its clients.
const FILES: [&str; 5] = [SOCKET, RECORD, NEW_RECORD, IMAGE, JOURNAL];

/// What a run says of itself, for `ps` and `clean`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// The command that runs it.
    pub command: Process,
    /// The application's name.
    pub app: String,
    /// When it started, in seconds since 1970.
    pub started_s: u64,
    /// The processor of each core.
    pub cpus: Vec<CoreName>,
    /// The helper, once it is there.
    pub helper: Option<Process>,
    /// The kernels, once they are there.
    pub kernels: Vec<Process>,
}

/// The directory of a run that this process is.
#[derive(Debug)]
pub struct RunDir {
    name: String,
    // Locked: closing it tells others that the run is over.
    folder: Folder,
}

impl RunDir {
    /// Makes the directory of a new run: the application's name and the first free number.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub fn create(base: &Base, app: &str) -> Result<Self, Problem> {
        let failed = |error: &io::Error| {
            let message = format!("no run directory could be made in {}", base.path().display());
            Problem::new(format!("{message}: {error}"))
        };
        for number in 1..10_000 {
            let name = format!("{app}-{number}");
            match base.folder().make(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(|error| failed(&error))?,
            }
            if let Some(folder) = claim(base, &name).map_err(|error| failed(&error))? {
                return Ok(Self { name, folder });
            }
        }
        Err(Problem::new(format!("too many runs of `{app}`")).help("end some, or `whimbrel clean`"))
    }

    /// What `ps` lists and `migrate` takes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes `run.json`, so that a reader sees either the old or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, record: &RunRecord) -> io::Result<()> {
        self.folder.anew(NEW_RECORD)?.write_all(&serde_json::to_vec_pretty(record)?)?;
        self.folder.rename(NEW_RECORD, RECORD)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // What cannot be put back or removed now is reclaimed by the next run.
        if frequencies::restore(&self.folder).is_ok() {
            let _ = reclaim::remove(self.folder.path());
        }
    }
}

/// Locks a directory that was just made. `None`: somebody took it for a dead run's meanwhile.
fn claim(base: &Base, name: &str) -> io::Result<Option<Folder>> {
    let folder = match base.folder().folder(name).map_err(io::Error::from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    flock(&folder, FlockOperation::LockExclusive)?;
    let mine = fstat(&folder)?.st_ino;
    let there = statat(base.folder(), name, AtFlags::SYMLINK_NOFOLLOW);
    Ok(there.is_ok_and(|there| there.st_ino == mine).then_some(folder))
}

/// A run of this user as found on the machine.
#[derive(Debug)]
pub struct FoundRun {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// What it said of itself; `None` while it starts, or if the file is damaged.
    pub record: Option<RunRecord>,
}

impl Base {
    /// The runs that live, by name.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn living(&self) -> io::Result<Vec<FoundRun>> {
        let mut living = Vec::new();
        for found in self.every()? {
            let folder = self.folder().folder(&found.name);
            // Shared, so that two that look do not take each other for the run.
            let free = folder
                .is_ok_and(|folder| flock(&folder, FlockOperation::NonBlockingLockShared).is_ok());
            if !free {
                living.push(found);
            }
        }
        Ok(living)
    }

    /// Every run directory, dead or alive, by name.
    fn every(&self) -> io::Result<Vec<FoundRun>> {
        let mut every = Vec::new();
        for entry in fs::read_dir(descriptor(self.folder()))? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if entry.file_type()?.is_dir() {
                let path = self.path().join(&name);
                let folder = self.folder().folder(&name).map_err(io::Error::from);
                let record = folder.and_then(|folder| folder.read(RECORD)).ok();
                let record = record.and_then(|file| serde_json::from_reader(file).ok());
                every.push(FoundRun { name, path, record });
            }
        }
        every.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(every)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn base() -> (tempfile::TempDir, Base) {
        let folder = tempfile::tempdir().unwrap();
        let base = Base::in_folder(folder.path(), "whimbrel").unwrap();
        (folder, base)
    }

    fn record() -> RunRecord {
        RunRecord {
            command: Process { pid: 1, start: 1 },
            app: "radio".into(),
            started_s: 0,
            cpus: vec![CoreName::Cpu(0)],
            helper: None,
            kernels: Vec::new(),
        }
    }

    #[test]
    fn each_run_has_the_first_free_number_and_nobody_else_may_look() {
        let (_folder, base) = base();
        let first = RunDir::create(&base, "radio").unwrap();
        let second = RunDir::create(&base, "radio").unwrap();
        assert_eq!((first.name(), second.name()), ("radio-1", "radio-2"));
        drop(first);
        assert_eq!(RunDir::create(&base, "radio").unwrap().name(), "radio-1");

        second.write(&record()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(second.path()), 0o700);
        assert_eq!(mode(&second.path().join(RECORD)), 0o600);
    }

    #[test]
    fn a_run_lives_as_long_as_it_holds_its_directory() {
        let (_folder, base) = base();
        let run = RunDir::create(&base, "radio").unwrap();
        run.write(&record()).unwrap();
        let living = base.living().unwrap();
        assert_eq!(living.len(), 1);
        assert_eq!(living[0].record.as_ref().unwrap().app, "radio");
        assert!(reclaim(&base).unwrap().is_empty());

        drop(run);
        assert!(base.living().unwrap().is_empty());
    }

    #[test]
    fn what_no_run_has_made_is_left_with_its_folder() {
        let (_folder, base) = base();
        let (dead, other) = (base.path().join("radio-1"), base.path().join("letters"));
        for folder in [&dead, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(RECORD), serde_json::to_vec(&record()).unwrap()).unwrap();
        }
        fs::write(dead.join("feed.client"), "").unwrap();
        fs::write(dead.join(format!("1{GUEST_IMAGE}")), "").unwrap();
        fs::write(other.join("mine.txt"), "dear").unwrap();

        let reclaimed = reclaim(&base).unwrap();
        assert_eq!(reclaimed.len(), 1);
        assert!(!dead.exists() && other.join("mine.txt").exists() && other.join(RECORD).exists());
        assert_eq!(left(&base).unwrap(), [("letters".to_owned(), "mine.txt".to_owned())]);
    }

    #[test]
    fn a_dead_run_is_reclaimed_with_the_processes_it_left() {
        let (_folder, base) = base();
        let mut orphan = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let helper = Process::with_pid(orphan.id());
        let dead = base.path().join("radio-1");
        fs::create_dir(&dead).unwrap();
        let text = serde_json::to_vec(&RunRecord { helper, ..record() }).unwrap();
        fs::write(dead.join(RECORD), text).unwrap();

        let reclaimed = reclaim(&base).unwrap();
        assert_eq!(reclaimed.len(), 1);
        assert_eq!(
            (reclaimed[0].run.as_str(), &reclaimed[0].ended[..]),
            ("radio-1", &[orphan.id()][..])
        );
        assert!(!dead.exists());
        orphan.wait().unwrap();
    }
}
