// SPDX-License-Identifier: Apache-2.0
//! The settings of a machine that an occupation changes, each read and written as one text.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::linux::kernel::Kernel;
use crate::{CpuSet, TaskId};

/// Something that is changed, and is put back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Setting {
    /// A task's affinity: a list.
    Task(TaskId),
    /// A task's policy, priority and niceness.
    Schedule(TaskId),
    /// The cpuset of one of the program's processes: its folder.
    Home(TaskId),
    /// A file that holds a list of processors.
    List(PathBuf),
    /// A file that holds a mask of processors; its value here is the list.
    Mask(PathBuf),
    /// A file that holds one word.
    Word(PathBuf),
    /// Whether a `cgroup.subtree_control` has the cpuset controller: `+cpuset` or `-cpuset`.
    Controller(PathBuf),
    /// A folder of cpusets: `there` or `none`.
    Folder(PathBuf),
}

/// The value of a [`Setting::Folder`] that is there.
pub(crate) const THERE: &str = "there";
/// And of one that is not.
pub(crate) const NONE: &str = "none";

impl Setting {
    /// What it is called in what is shown to people.
    pub fn name(&self) -> String {
        match self {
            Self::Task(task) => format!("task {}", task.tid),
            Self::Schedule(task) => format!("the scheduling of task {}", task.tid),
            Self::Home(task) => format!("the cpuset of process {}", task.tid),
            Self::List(path)
            | Self::Mask(path)
            | Self::Word(path)
            | Self::Controller(path)
            | Self::Folder(path) => path.display().to_string(),
        }
    }

    /// What it is now.
    pub fn read(&self, kernel: &dyn Kernel) -> io::Result<String> {
        match self {
            Self::Task(task) => Ok(kernel.affinity(task.tid)?.to_string()),
            Self::Schedule(task) => Ok(kernel.schedule(task.tid)?.to_string()),
            Self::List(path) => Ok(cpus(&kernel.read(path)?)?.to_string()),
            Self::Mask(path) => {
                let text = kernel.read(path)?;
                Ok(CpuSet::from_mask(&text).map_err(io::Error::other)?.to_string())
            }
            Self::Word(path) => Ok(kernel.read(path)?.trim().to_owned()),
            Self::Controller(path) => {
                let has = kernel.read(path)?.split_whitespace().any(|word| word == "cpuset");
                Ok(if has { "+cpuset" } else { "-cpuset" }.to_owned())
            }
            Self::Folder(path) => Ok(if kernel.exists(path) { THERE } else { NONE }.to_owned()),
            Self::Home(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Makes it that.
    pub fn write(&self, kernel: &dyn Kernel, value: &str) -> io::Result<()> {
        match self {
            Self::Task(task) => kernel.set_affinity(task.tid, &cpus(value)?),
            Self::Schedule(task) => {
                let schedule = value.parse().map_err(|()| io::ErrorKind::InvalidData)?;
                kernel.set_schedule(task.tid, &schedule)
            }
            Self::Home(task) => {
                kernel.write(&Path::new(value).join("cgroup.procs"), &task.tid.to_string())
            }
            Self::Mask(path) => kernel.write(path, &cpus(value)?.to_mask()),
            Self::List(path) | Self::Word(path) | Self::Controller(path) => {
                kernel.write(path, value)
            }
            Self::Folder(path) if value == THERE => kernel.make(path),
            Self::Folder(path) => kernel.remove(path),
        }
    }
}

fn cpus(text: &str) -> io::Result<CpuSet> {
    text.parse().map_err(io::Error::other)
}
