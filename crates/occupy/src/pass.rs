// SPDX-License-Identifier: Apache-2.0
//! A pass over the machine: everything becomes what the journal's occupations ask for.
//!
//! Beginning, taking in, sweeping, adjusting, ending and recovering are this one thing; they differ
//! in what they wrote into the journal before.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::journal::Line;
use crate::sets::{self, Hierarchy};
use crate::tasks;
use crate::things::Thing;
use crate::work::Work;
use crate::{Error, Occupation, TaskId, affinity, masks, policies};

/// So long passes are repeated at most, and so long is waited in between for a task to make its way
/// out of the kernel.
const LONGEST: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(3);

/// One pass.
pub(crate) fn once(work: &mut Work) -> Result<(), Error> {
    let hierarchies = Hierarchy::all(work.kernel, work.machine);
    let inside = sets::inside(work, &hierarchies);
    work.kept.clear();
    work.seen = tasks::all(work.kernel, &work.machine.proc);
    let dues = affinity::decide(work, &inside)?;
    // Where cpusets fail, all else is still put in order.
    let sets = sets::settle(work, &hierarchies, &dues);
    affinity::settle(work, &dues);
    policies::settle(work, &dues)?;
    masks::settle(work)?;
    sets
}

/// The last look at an occupation that ends: its program's last children are known as such only
/// while it is there. What this cannot do, the undoing that follows makes unnecessary.
pub(crate) fn last(work: &mut Work, id: u32) {
    work.ending = Some(id);
    work.resets = sets::given(work);
    let done = once(work);
    work.ending = None;
    work.refused.clear();
    // A journal that cannot be written cannot be written just below, either.
    drop(done);
}

/// Passes until one finds nothing to do.
///
/// A task that is made takes over what its parent has some time before it can be seen. So who was
/// given back what it had is watched until it cannot be within `fork` any more.
pub(crate) fn all(work: &mut Work) -> Result<(), Error> {
    let start = Instant::now();
    let mut watched = HashMap::new();
    loop {
        let before = (work.moved, work.restored);
        work.resets = sets::given(work);
        once(work)?;
        watched.retain(|task, user| forks(work, *task, user));
        watched.extend(work.freed.drain(..).map(|task| (task, None)));
        let still = (work.moved, work.restored) == before;
        if still && watched.is_empty() || start.elapsed() > LONGEST {
            return Ok(());
        }
        if still {
            thread::sleep(PAUSE);
        }
    }
}

/// Whether the task may be within the `fork` in which it was when it was freed: it has not slept
/// since, nor run outside of the kernel. `user` is what it had run when it was first seen since.
fn forks(work: &Work, task: TaskId, user: &mut Option<u64>) -> bool {
    let Some(seen) = work.seen.iter().find(|seen| seen.task == task) else { return false };
    let own = rustix::thread::gettid().as_raw_nonzero().get() == task.tid;
    !own && seen.busy && *user.get_or_insert(seen.user) == seen.user
}

/// Writes down what each occupation could not have moved, and forgets the tasks that have gone.
pub(crate) fn note(work: &mut Work) -> Result<(), Error> {
    let mut lines = Vec::new();
    for occupation in work.journal.occupations() {
        let on = |cpus: &crate::CpuSet| cpus.meets(&occupation.cpus);
        let kept = work.kept.iter().filter(|(cpus, _)| on(cpus));
        let kept: Vec<_> = kept.map(|(_, kept)| kept.clone()).collect();
        if kept != occupation.kept {
            let with = Occupation { kept, ..occupation.clone() };
            lines.push(Line::Occupation(Box::new(with)));
        }
    }
    work.journal.append(lines)?;
    let live: HashSet<TaskId> = work.seen.iter().map(|seen| seen.task).collect();
    let folders: HashSet<String> = work
        .journal
        .changes()
        .filter_map(|change| match &change.thing {
            Thing::Folder(path) if work.kernel.exists(path) => Some(path.display().to_string()),
            _ => None,
        })
        .collect();
    let homes: HashSet<TaskId> = work
        .journal
        .changes()
        .filter(|change| folders.contains(&change.to))
        .filter_map(|change| match change.thing {
            Thing::Home(task) => Some(task),
            _ => None,
        })
        .collect();
    let exists = |path: &std::path::Path| work.kernel.exists(path);
    work.journal.forget(|thing| match thing {
        Thing::Task(task) | Thing::Schedule(task) => !live.contains(task),
        // Where the program came from is where its children go to, also when it has ended.
        Thing::Home(task) => !homes.contains(task),
        Thing::Folder(path) => !exists(path),
        Thing::List(_) | Thing::Mask(_) | Thing::Word(_) | Thing::Controller(_) => false,
    })
}
