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
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use whimbrel_model::{CoreName, Problem};
use whimbrel_occupy::folder::Folder;
use whimbrel_occupy::place::descriptor;
use whimbrel_text::cure;

pub use base::Base;
pub use frequencies::JOURNAL;
pub use reclaim::{left, reclaim};

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
    /// The kernel of each core, once they are there; `null`: it has no process, or had died.
    pub kernels: Vec<Option<Process>>,
}

impl RunRecord {
    /// What the folder of a run says; `None` if it says nothing, or the file is damaged.
    fn read(folder: &Folder) -> Option<Self> {
        serde_json::from_reader(folder.read(RECORD).ok()?).ok()
    }
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
            Problem::new(format!("{message}: {error}")).help(cure(error))
        };
        for number in 1..10_000 {
            let name = format!("{app}-{number}");
            match base.folder().make(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(|error| failed(&error))?,
            }
            // `None`: somebody took it for a dead run's meanwhile.
            let locked = lock(base, &name, FlockOperation::LockExclusive);
            if let Some(folder) = locked.map_err(|error| failed(&error))? {
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

/// Locks the directory of a run. `None`: it has gone, another has its name now, or, without
/// blocking, somebody else holds it.
fn lock(base: &Base, name: &str, how: FlockOperation) -> io::Result<Option<Folder>> {
    let folder = match base.folder().folder(name).map_err(io::Error::from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    match flock(&folder, how) {
        Err(Errno::WOULDBLOCK) => return Ok(None),
        other => other?,
    }
    Ok(has_name(base, &folder, name)?.then_some(folder))
}

fn has_name(base: &Base, folder: &Folder, name: &str) -> io::Result<bool> {
    let mine = fstat(folder)?.st_ino;
    let there = statat(base.folder(), name, AtFlags::SYMLINK_NOFOLLOW);
    Ok(there.is_ok_and(|there| there.st_ino == mine))
}

/// A run of this user as found on the machine.
#[derive(Debug, Clone)]
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
            // One that has gone since is none.
            let Ok(folder) = self.folder().folder(&found.name) else { continue };
            // Shared, so that two that look do not take each other for the run.
            if flock(&folder, FlockOperation::NonBlockingLockShared).is_err() {
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
            // One that has gone since is none.
            if entry.file_type().is_ok_and(|file| file.is_dir()) {
                let path = self.path().join(&name);
                let folder = self.folder().folder(&name).ok();
                let record = folder.as_ref().and_then(RunRecord::read);
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

    #[test]
    fn what_several_reclaim_at_once_is_reclaimed_once() {
        const RUNS: usize = 8;
        let (_folder, base) = base();
        let mut expected: Vec<_> = (0..RUNS).map(|run| format!("radio-{run}")).collect();
        expected.sort();
        for _ in 0..50 {
            for run in &expected {
                fs::create_dir(base.path().join(run)).unwrap();
                fs::write(base.path().join(run).join(RECORD), "{}").unwrap();
            }
            let all = std::thread::scope(|scope| {
                let each = [(); 4].map(|()| scope.spawn(|| reclaim(&base).unwrap()));
                each.map(|one| one.join().unwrap()).into_iter().flatten().collect::<Vec<_>>()
            });
            let mut names: Vec<_> = all.into_iter().map(|one| one.run).collect();
            names.sort();
            assert_eq!(names, expected);
            assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_dead_run_that_has_gone_since_it_was_listed_is_no_error() {
        let (_folder, base) = base();
        assert_eq!(reclaim::reclaim_run(&base, "radio-1").unwrap(), None);
    }

    #[test]
    fn a_new_run_of_the_name_of_one_that_was_reclaimed_meanwhile_is_left_alone() {
        let (_folder, base) = base();
        fs::create_dir(base.path().join("radio-1")).unwrap();
        // Opened before the other command reclaims it, locked after that.
        let dead = base.folder().folder("radio-1").unwrap();
        assert!(has_name(&base, &dead, "radio-1").unwrap());
        assert_eq!(reclaim(&base).unwrap().len(), 1);
        let new = RunDir::create(&base, "radio").unwrap();
        assert_eq!(new.name(), "radio-1");
        assert!(!has_name(&base, &dead, "radio-1").unwrap());
    }
}
