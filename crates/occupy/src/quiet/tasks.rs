// SPDX-License-Identifier: Apache-2.0
//! Every task that is to be seen: where it ran last, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use procfs::FromRead;
use procfs::process::{Schedstat, Stat};

use crate::{Error, TaskId};

/// What is known of one thread.
#[derive(Clone, Debug)]
pub struct Task {
    /// The kernel's name of it.
    pub name: String,
    /// The process that it is of.
    pub process: i32,
    /// The process that its process is a child of.
    pub parent: i32,
    /// The processor that it runs or last ran on.
    pub cpu: Option<usize>,
    /// For how long it has run, in nanoseconds.
    pub ran_ns: u64,
    /// For how long it has waited for a processor while it could have run, in nanoseconds.
    pub waited_ns: u64,
    /// How often it has been given a processor.
    pub turns: u64,
}

/// All tasks. Those that end meanwhile, or may not be read, are left out.
///
/// # Errors
/// `/proc` cannot be listed.
pub fn all(proc: &Path) -> Result<BTreeMap<TaskId, Task>, Error> {
    let failed = |error| Error::File { path: proc.into(), error };
    let mut tasks = BTreeMap::new();
    for entry in fs::read_dir(proc).map_err(failed)?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let threads = fs::read_dir(entry.path().join("task"));
        let threads = threads.into_iter().flatten().flatten();
        tasks.extend(threads.filter_map(|thread| read(process, &thread.path())));
    }
    Ok(tasks)
}

fn read(process: i32, folder: &Path) -> Option<(TaskId, Task)> {
    let stat = Stat::from_file(folder.join("stat")).ok()?;
    // Kernels without CONFIG_SCHED_INFO have no such file.
    let (ran_ns, waited_ns, turns) = Schedstat::from_file(folder.join("schedstat"))
        .map_or((0, 0, 0), |stat| (stat.sum_exec_runtime, stat.run_delay, stat.pcount));
    let cpu = stat.processor.and_then(|cpu| usize::try_from(cpu).ok());
    let task = Task { name: stat.comm, process, parent: stat.ppid, cpu, ran_ns, waited_ns, turns };
    Some((TaskId { tid: stat.pid, start: stat.starttime }, task))
}

/// The threads of the processes that these tasks are of, and of all that descend from them.
pub fn family<'a>(
    tasks: &BTreeMap<TaskId, Task>,
    known: impl IntoIterator<Item = &'a TaskId>,
) -> BTreeSet<TaskId> {
    let living = known.into_iter().filter_map(|id| tasks.get(id));
    let mut processes: BTreeSet<i32> = living.map(|task| task.process).collect();
    loop {
        let before = processes.len();
        let children = tasks.values().filter(|task| processes.contains(&task.parent));
        let children: Vec<i32> = children.map(|task| task.process).collect();
        processes.extend(children);
        if processes.len() == before {
            break;
        }
    }
    let of_them = |(_, task): &(&TaskId, &Task)| processes.contains(&task.process);
    tasks.iter().filter(of_them).map(|(id, _)| *id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads by number, process and parent.
    fn tasks(all: &[(i32, i32, i32)]) -> BTreeMap<TaskId, Task> {
        let task = |&(tid, process, parent): &(i32, i32, i32)| {
            let name = String::new();
            let task = Task { name, process, parent, cpu: None, ran_ns: 0, waited_ns: 0, turns: 0 };
            (TaskId { tid, start: 1 }, task)
        };
        all.iter().map(task).collect()
    }

    fn numbers(tasks: &BTreeMap<TaskId, Task>, known: &[TaskId]) -> Vec<i32> {
        family(tasks, known).into_iter().map(|id| id.tid).collect()
    }

    #[test]
    fn a_family_has_threads_and_grandchildren_also_where_numbers_have_wrapped() {
        let tasks = tasks(&[(1, 1, 0), (50, 50, 1), (51, 50, 1), (9, 9, 50), (3, 3, 9), (8, 8, 1)]);
        assert_eq!(numbers(&tasks, &[TaskId { tid: 50, start: 1 }]), [3, 9, 50, 51]);
    }

    #[test]
    fn a_number_that_is_used_again_is_another_family() {
        let tasks = tasks(&[(50, 50, 1), (9, 9, 50)]);
        assert_eq!(numbers(&tasks, &[TaskId { tid: 50, start: 0 }]), [0; 0]);
    }

    #[test]
    fn an_orphan_that_was_known_stays_with_its_children() {
        let tasks = tasks(&[(1, 1, 0), (9, 9, 1), (3, 3, 9)]);
        let known = [TaskId { tid: 50, start: 1 }, TaskId { tid: 9, start: 1 }];
        assert_eq!(numbers(&tasks, &known), [3, 9]);
    }

    #[test]
    fn this_thread_is_among_all() {
        let own = rustix::thread::gettid().as_raw_nonzero().get();
        let tasks = all(Path::new("/proc")).unwrap();
        let (_, task) = tasks.iter().find(|(id, _)| id.tid == own).unwrap();
        assert_eq!(u32::try_from(task.process), Ok(std::process::id()));
        assert!(task.cpu.is_some());
    }
}
