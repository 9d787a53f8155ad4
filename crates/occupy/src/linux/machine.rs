// SPDX-License-Identifier: Apache-2.0
//! Where this machine's state is read and changed.

use std::path::PathBuf;

use crate::linux::kernel::{Linux, list};
use crate::linux::tasks;
use crate::{CpuSet, Error, TaskId};

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
}
