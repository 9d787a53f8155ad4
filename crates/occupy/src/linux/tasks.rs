// SPDX-License-Identifier: Apache-2.0
//! The tasks that there are, as `/proc` tells.

use std::path::Path;

use procfs::FromRead;
use procfs::process::{Stat, StatFlags};

use crate::TaskId;
use crate::linux::kernel::Kernel;

/// A task that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub task: TaskId,
    /// The process that it is a thread of.
    pub process: i32,
    /// Who made it: of a process its parent, of a further thread its process.
    pub parent: i32,
    pub name: String,
    /// The kernel refuses to move it (`PF_NO_SETAFFINITY`).
    pub fixed: bool,
    /// It runs, wants to, or waits within the kernel; else it sleeps.
    pub busy: bool,
    /// The time that it ran outside of the kernel, in clock ticks.
    pub user: u64,
}

impl Seen {
    /// As it is called in what is shown to people.
    pub fn what(&self) -> String {
        format!("task {} ({})", self.task.tid, self.name)
    }
}

/// Every task that `/proc` shows, processes before their further threads.
pub(crate) fn all(kernel: &dyn Kernel, proc: &Path) -> Vec<Seen> {
    let numbers = |path: &Path| {
        let names = kernel.folders(path).unwrap_or_default();
        names.into_iter().filter_map(|name| name.parse::<i32>().ok()).collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for process in numbers(proc) {
        let folder = proc.join(process.to_string());
        let Some(stat) = stat(kernel, &folder) else { continue };
        let threads = stat.num_threads;
        seen.extend(living(&stat, process, stat.ppid));
        // A process whose first thread has ended is shown as a zombie with its other threads.
        if threads > 1 {
            let folder = folder.join("task");
            for tid in numbers(&folder).into_iter().filter(|&tid| tid != process) {
                let stat = self::stat(kernel, &folder.join(tid.to_string()));
                seen.extend(stat.and_then(|stat| living(&stat, process, process)));
            }
        }
    }
    seen
}

/// The task that has this number now, if it lives.
pub(crate) fn identify(kernel: &dyn Kernel, proc: &Path, tid: i32) -> Option<TaskId> {
    holder(kernel, proc, tid).map(|seen| seen.task)
}

/// The same, with all that is seen of it as if it were a process.
pub(crate) fn holder(kernel: &dyn Kernel, proc: &Path, tid: i32) -> Option<Seen> {
    let stat = stat(kernel, &proc.join(tid.to_string()))?;
    living(&stat, tid, stat.ppid)
}

/// The user that a process runs as, if it is one and the same for all that its rights follow from.
pub(crate) fn user(kernel: &dyn Kernel, proc: &Path, pid: i32) -> Option<u32> {
    let text = kernel.read(&proc.join(pid.to_string()).join("status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // Real, effective, saved, and that for files: a program of another user that lends its rights
    // has two.
    let users: Vec<u32> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let first = *users.first()?;
    users.iter().all(|user| *user == first).then_some(first)
}

fn stat(kernel: &dyn Kernel, folder: &Path) -> Option<Stat> {
    Stat::from_read(kernel.read(&folder.join("stat")).ok()?.as_bytes()).ok()
}

fn living(stat: &Stat, process: i32, parent: i32) -> Option<Seen> {
    if matches!(stat.state, 'Z' | 'X') {
        return None;
    }
    Some(Seen {
        task: TaskId { tid: stat.pid, start: stat.starttime },
        process,
        parent,
        name: stat.comm.clone(),
        fixed: stat.flags & StatFlags::PF_NO_SETAFFINITY.bits() != 0,
        busy: matches!(stat.state, 'R' | 'D'),
        user: stat.utime,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::kernel::Linux;

    #[test]
    fn a_task_is_known_by_its_start_even_with_a_strange_name() {
        let proc = tempfile::tempdir().unwrap();
        let identify = |stat: &str| {
            std::fs::create_dir_all(proc.path().join("7")).unwrap();
            std::fs::write(proc.path().join("7/stat"), stat).unwrap();
            identify(&Linux::default(), proc.path(), 7)
        };
        let rest =
            "1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0";
        let known = Some(TaskId { tid: 7, start: 4711 });
        assert_eq!(identify(&format!("7 (a) b (c) S {rest}\n")), known);
        assert_eq!(identify(&format!("7 (a) Z {rest}\n")), None);
        assert_eq!(identify(""), None);
    }
}
