// SPDX-License-Identifier: Apache-2.0
//! cgroup v1: a cpuset for each program, and one for everything that is in the root.
//!
//! The root has every processor and cannot be narrowed, so what is in it goes to a set of ours,
//! from where it comes back; with the root's balancing off, the kernel balances within each set
//! alone.

use std::collections::HashSet;

use super::{Hierarchy, dismiss, make, narrow, numbers, set};
use crate::Error;
use crate::linux::kernel::list;
use crate::settings::Setting;
use crate::work::Work;

/// The set of everything else.
pub(crate) const SYSTEM: &str = "whimbrel-system";

pub(crate) fn settle(work: &mut Work, hierarchy: &Hierarchy) -> Result<(), Error> {
    let root = &hierarchy.root;
    let system = root.join(SYSTEM);
    let wanted = hierarchy.wanted(work);
    let closed = work.closed();
    let mut folders: Vec<_> = wanted.iter().map(|o| hierarchy.folder(o.id)).collect();
    if !wanted.is_empty() {
        let mems = work.kernel.read(&root.join("cpuset.mems")).unwrap_or_default();
        let rest = list(work.kernel, &root.join("cpuset.cpus"))?.minus(&closed);
        let mut sets: Vec<_> =
            wanted.iter().map(|o| (hierarchy.folder(o.id), o.cpus.clone())).collect();
        sets.push((system.clone(), rest));
        for (folder, cpus) in sets {
            make(work, &folder)?;
            set(work, &folder.join("cpuset.mems"), mems.trim())?;
            set(work, &folder.join("cpuset.cpus"), &cpus.to_string())?;
        }
        folders.push(system.clone());
    }
    dismiss(work, hierarchy, &folders)?;
    let others = hierarchy.others(work, true);
    narrow(work, &others)?;
    let balance = Setting::Word(root.join("cpuset.sched_load_balance"));
    if wanted.is_empty() {
        if work.journal.change(&balance).is_some() {
            work.settle(balance, str::to_owned)?;
        }
        return Ok(());
    }
    gather(work, hierarchy);
    work.settle(balance, |_| "0".to_owned())
}

/// Moves what may run on closed processors from the root to the system's set.
fn gather(work: &mut Work, hierarchy: &Hierarchy) {
    let closed = work.closed();
    let target = hierarchy.root.join(SYSTEM).join("tasks");
    let in_root = numbers(work.kernel, &hierarchy.root.join("tasks"));
    let in_root: HashSet<i32> = in_root.into_iter().collect();
    for seen in work.seen.iter().filter(|seen| !seen.fixed) {
        let tid = seen.task.tid;
        let open = || work.kernel.affinity(tid).is_ok_and(|cpus| cpus.meets(&closed));
        // What refuses to be moved gets another affinity later.
        if in_root.contains(&tid) && open() && work.kernel.write(&target, &tid.to_string()).is_ok()
        {
            work.moved += 1;
        }
    }
}
