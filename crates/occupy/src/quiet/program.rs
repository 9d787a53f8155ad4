// SPDX-License-Identifier: Apache-2.0
//! What the program's own threads went through.
//!
//! The kernel forgets a thread's counts when it ends; so they are kept from each look. Of a process
//! that is this one's child and has ended but was not waited for yet, the kernel has the sum over
//! all its threads, and over its children that it has waited for.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::path::Path;

use procfs::FromRead;
use procfs::process::Status;

use super::tasks::{Task, family};
use crate::TaskId;

/// What happened to some threads, since they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Times that they gave the processor away, to wait for something.
    pub voluntary: u64,
    /// Times that it was taken from them.
    pub involuntary: u64,
    /// For how long they ran, in nanoseconds.
    pub ran_ns: u64,
    /// For how long they waited for a processor while they could have run, in nanoseconds.
    pub waited_ns: u64,
}

impl Counts {
    fn plus(self, other: Self) -> Self {
        Self {
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
            ran_ns: self.ran_ns + other.ran_ns,
            waited_ns: self.waited_ns + other.waited_ns,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            voluntary: self.voluntary.saturating_sub(other.voluntary),
            involuntary: self.involuntary.saturating_sub(other.involuntary),
            ran_ns: self.ran_ns.saturating_sub(other.ran_ns),
            waited_ns: self.waited_ns.saturating_sub(other.waited_ns),
        }
    }
}

/// The threads of a program that have been seen.
#[derive(Debug, Default)]
pub struct Program {
    /// What each had counted before it was watched, and when it was last seen.
    threads: BTreeMap<TaskId, (Counts, Counts)>,
}

impl Program {
    /// Watches from now on; what the threads that there are have counted so far is not counted.
    pub fn begin(proc: &Path, tasks: &BTreeMap<TaskId, Task>, first: TaskId) -> Self {
        let mut program = Self::default();
        program.look(proc, tasks, Some(first));
        for (before, now) in program.threads.values_mut() {
            *before = *now;
        }
        program
    }

    /// Takes what its threads count now, so that it is known when they end. What has begun since
    /// the last look counts from its start.
    pub fn look(&mut self, proc: &Path, tasks: &BTreeMap<TaskId, Task>, first: Option<TaskId>) {
        for id in family(tasks, self.threads.keys().chain(&first)) {
            let counts = counts(proc, id, &tasks[&id]);
            self.threads.entry(id).or_default().1 = counts;
        }
    }

    /// Whether this is one of its threads.
    pub fn has(&self, task: TaskId) -> bool {
        self.threads.contains_key(&task)
    }

    /// What has happened since it is watched; none if no thread of it was ever seen.
    pub fn sum(&self, first: TaskId) -> Option<Counts> {
        let add = |sum: Counts, more: Counts| sum.plus(more);
        let before = self.threads.values().map(|(before, _)| *before).fold(Counts::default(), add);
        let seen = self.threads.values().map(|(_, last)| *last).reduce(add)?;
        let all = ended(first.tid).map_or(seen, |all| Counts { waited_ns: seen.waited_ns, ..all });
        Some(all.minus(before))
    }
}

fn counts(proc: &Path, id: TaskId, task: &Task) -> Counts {
    let folder = proc.join(format!("{}/task/{}", task.process, id.tid));
    let status = Status::from_file(folder.join("status")).ok();
    let of = |count: fn(&Status) -> Option<u64>| status.as_ref().and_then(count).unwrap_or(0);
    Counts {
        voluntary: of(|status| status.voluntary_ctxt_switches),
        involuntary: of(|status| status.nonvoluntary_ctxt_switches),
        ran_ns: task.ran_ns,
        waited_ns: task.waited_ns,
    }
}

/// What a child that has ended, and that nobody has waited for yet, used with all its threads and
/// the children that it waited for, but for `waited_ns`; it may still be waited for afterwards.
fn ended(pid: i32) -> Option<Counts> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: both pointers are to memory of the types that the call fills. Zeroes are valid for
    // both, which are plain numbers, and stay where there is nothing to tell. The function of the
    // C library lacks the last argument.
    let (failed, info, usage) = unsafe {
        let (info_at, usage_at) = (info.as_mut_ptr(), usage.as_mut_ptr());
        let failed = libc::syscall(libc::SYS_waitid, libc::P_PID, pid, info_at, flags, usage_at);
        (failed, info.assume_init(), usage.assume_init())
    };
    // SAFETY: of a child, that is what the kernel wrote; otherwise it is 0.
    if failed != 0 || unsafe { info.si_pid() } != pid {
        return None;
    }
    let number = |count: libc::c_long| u64::try_from(count).unwrap_or(0);
    let ns =
        |time: libc::timeval| number(time.tv_sec) * 1_000_000_000 + number(time.tv_usec) * 1000;
    Some(Counts {
        voluntary: number(usage.ru_nvcsw),
        involuntary: number(usage.ru_nivcsw),
        ran_ns: ns(usage.ru_utime) + ns(usage.ru_stime),
        waited_ns: 0,
    })
}
