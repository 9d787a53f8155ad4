// SPDX-License-Identifier: Apache-2.0
//! Where this machine's state is read and changed.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use procfs::FromRead;
use procfs::process::Stat;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use crate::{CpuSet, Error, Held, ShieldKind, TaskId};

/// How long a command waits for another that changes the machine.
const PATIENCE: Duration = Duration::from_secs(5);

/// The roots of all that is read and written; tests give folders of their own.
#[derive(Clone, Debug)]
pub struct Machine {
    /// `/proc`.
    pub proc: PathBuf,
    /// `/sys`.
    pub sys: PathBuf,
    /// Where the journal is: `/run/whimbrel-occupy`, or what `WHIMBREL_OCCUPY_STATE` names.
    pub state: PathBuf,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let state = std::env::var_os("WHIMBREL_OCCUPY_STATE");
        Self {
            proc: "/proc".into(),
            sys: "/sys".into(),
            state: state.map_or_else(|| "/run/whimbrel-occupy".into(), PathBuf::from),
        }
    }

    /// The processors that run.
    ///
    /// # Errors
    /// `/sys` does not tell.
    pub fn online(&self) -> Result<CpuSet, Error> {
        self.cpus(&self.sys.join("devices/system/cpu/online"))
    }

    /// The processors that a program here may be given: those that run and that the caller's
    /// container has.
    ///
    /// # Errors
    /// `/sys` does not tell.
    pub fn usable(&self) -> Result<CpuSet, Error> {
        self.online()
    }

    /// The task that has this number now.
    ///
    /// # Errors
    /// There is none, or it has ended and waits for its parent.
    pub fn identify(&self, pid: i32) -> Result<TaskId, Error> {
        let text = fs::read(self.proc.join(pid.to_string()).join("stat"));
        let stat = text.ok().and_then(|text| Stat::from_read(text.as_slice()).ok());
        match stat {
            Some(stat) if !matches!(stat.state, 'Z' | 'X') => {
                Ok(TaskId { tid: pid, start: stat.starttime })
            }
            _ => Err(Error::NoProcess { pid }),
        }
    }

    /// Whether it is still there.
    pub fn lives(&self, task: TaskId) -> bool {
        self.identify(task.tid).is_ok_and(|now| now == task)
    }

    /// The shields, best first, and of each why it is not to be had.
    pub fn shields(&self) -> Vec<(ShieldKind, Result<(), String>)> {
        vec![(ShieldKind::Affinity, Ok(()))]
    }

    /// Waits for the journal's lock and reads the journal; one of another boot is dropped.
    ///
    /// # Errors
    /// The folder cannot be written, somebody holds the lock for more than 5 s, or the journal is
    /// not understood.
    pub fn lock(&self) -> Result<Held, Error> {
        let at = |error: std::io::Error| Error::File { path: self.state.clone(), error };
        fs::create_dir_all(&self.state).map_err(at)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder: OwnedFd = rustix::fs::open(&self.state, flags, Mode::empty())
            .map_err(|error| at(error.into()))?;
        let end = Instant::now() + PATIENCE;
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Held::new(self, folder),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(at(error.into())),
            }
        }
    }

    fn cpus(&self, path: &Path) -> Result<CpuSet, Error> {
        let text = fs::read_to_string(path)
            .map_err(|error| Error::File { path: path.to_owned(), error })?;
        text.parse().map_err(|_| Error::Text { path: path.to_owned(), text })
    }
}
