// SPDX-License-Identifier: Apache-2.0
//! Where this machine's state is read and changed.

use std::fs::{self, DirBuilder};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::kernel::{Kernel, Linux};
use crate::sets::Hierarchy;
use crate::work::list;
use crate::{CpuSet, Error, Held, ShieldKind, TaskId, begin, tasks};

/// How long a command waits for another that changes the machine.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(1);

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
        list(&Linux::default(), &self.sys.join("devices/system/cpu/online"))
    }

    /// The processors that a program here may be given: those that run and that the caller's
    /// container has.
    ///
    /// # Errors
    /// `/sys` does not tell.
    pub fn usable(&self) -> Result<CpuSet, Error> {
        usable(&Linux::default(), self)
    }

    /// The task that has this number now.
    ///
    /// # Errors
    /// There is none, or it has ended and waits for its parent.
    pub fn identify(&self, pid: i32) -> Result<TaskId, Error> {
        tasks::identify(&Linux::default(), &self.proc, pid).ok_or(Error::NoProcess { pid })
    }

    /// Whether it is still there.
    pub fn lives(&self, task: TaskId) -> bool {
        self.identify(task.tid).is_ok_and(|now| now == task)
    }

    /// The shields, best first, and of each why it is not to be had.
    pub fn shields(&self) -> Vec<(ShieldKind, Result<(), String>)> {
        begin::available(&Linux::default(), self)
    }

    /// Waits for the journal's lock and reads the journal; one of another boot is dropped.
    ///
    /// # Errors
    /// The folder cannot be written, somebody holds the lock for more than 5 s, or the journal is
    /// not understood.
    pub fn lock(&self) -> Result<Held, Error> {
        let folder = self.flock()?;
        let online = self.online()?;
        let possible = list(&Linux::default(), &self.sys.join("devices/system/cpu/possible"));
        let absent = possible.unwrap_or_default().minus(&online);
        Held::new(self, Box::new(Linux { online, absent }), folder)
    }

    /// What the journal says is done with our rights: nobody else may have written it.
    fn check_owner(&self) -> Result<(), Error> {
        let at = |error: std::io::Error| Error::File { path: self.state.clone(), error };
        let folder = fs::metadata(&self.state).map_err(at)?;
        let user = geteuid().as_raw();
        if folder.mode() & 0o022 == 0 && [0, user].contains(&folder.uid()) {
            return Ok(());
        }
        Err(at(std::io::Error::other("others than this user and root may write it")))
    }

    /// The lock is on the folder: the journal itself comes and goes.
    pub(crate) fn flock(&self) -> Result<OwnedFd, Error> {
        let at = |error: std::io::Error| Error::File { path: self.state.clone(), error };
        DirBuilder::new().recursive(true).mode(0o755).create(&self.state).map_err(at)?;
        self.check_owner()?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&self.state, flags, Mode::empty());
        let folder = folder.map_err(|error| at(error.into()))?;
        let end = Instant::now() + PATIENCE;
        loop {
            match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(folder),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < end => {
                    thread::sleep(PAUSE);
                }
                Err(error) => return Err(at(error.into())),
            }
        }
    }
}

/// Those that run and that the cpusets which are seen here have.
pub(crate) fn usable(kernel: &dyn Kernel, machine: &Machine) -> Result<CpuSet, Error> {
    let mut usable = list(kernel, &machine.sys.join("devices/system/cpu/online"))?;
    for hierarchy in Hierarchy::all(kernel, machine).iter().filter(|hierarchy| hierarchy.part) {
        let files = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"];
        let mut lists = files.iter().map(|name| list(kernel, &hierarchy.root.join(name)));
        if let Some(cpus) = lists.find_map(Result::ok).filter(|cpus| cpus.meets(&usable)) {
            usable = usable.common(&cpus);
        }
    }
    Ok(usable)
}
