// SPDX-License-Identifier: Apache-2.0
//! A pass over the machine: everything becomes what the journal's occupations ask for.
//!
//! Beginning, admitting, sweeping, adjusting, ending and recovering are this one function; they
//! differ in what they wrote into the journal before.

use std::collections::{HashMap, HashSet};
use std::thread;
use std::time::{Duration, Instant};

use crate::journal::Line;
use crate::linux::tasks::{self, Seen};
use crate::settings::Setting;
use crate::shield::sets::{self, Hierarchy};
use crate::shield::{affinity, masks, policies};
use crate::work::Work;
use crate::{Error, Occupation, TaskId};

/// So long passes are repeated at most while they find something to do.
const LONGEST: Duration = Duration::from_secs(1);
/// So long a task is watched at most, and so long is waited between two looks.
const WATCH: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(3);

/// One pass.
pub(crate) fn once(work: &mut Work) -> Result<(), Error> {
    let hierarchies = Hierarchy::all(work.kernel, work.machine);
    let inside = sets::inside(work, &hierarchies);
    work.kept.clear();
    // What fails while a cpuset is still there may be done once it is gone.
    work.stuck.clear();
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
    let mut changed = start;
    let mut watched = HashMap::new();
    loop {
        let before = (work.moved, work.restored);
        work.resets = sets::given(work);
        once(work)?;
        let still = (work.moved, work.restored) == before;
        let watching = freed(work).filter(|seen| forks(seen, &mut watched)).count() > 0;
        if still && (!watching || changed.elapsed() > WATCH) || start.elapsed() > LONGEST {
            return Ok(());
        }
        if still {
            thread::sleep(PAUSE);
        } else {
            changed = Instant::now();
        }
    }
}

/// The tasks that have again what they had before.
fn freed<'a>(work: &'a Work) -> impl Iterator<Item = &'a Seen> {
    let freed = |setting: Setting| {
        let change = work.journal.change(&setting);
        change.is_some_and(|change| change.to == change.before && change.from != change.before)
    };
    work.seen
        .iter()
        .filter(move |seen| freed(Setting::Task(seen.task)) || freed(Setting::Schedule(seen.task)))
}

/// What is known of a task since it was freed.
enum Since {
    /// Nothing: it was seen only before.
    Freed,
    /// It was busy, and had run so long outside of the kernel.
    Busy(u64),
    /// It has slept or run outside of the kernel.
    Elsewhere,
}

/// Whether the task may have been within a `fork` that began before it was freed when the tasks
/// were listed: each is looked at after that, so who is elsewhere then may have made a child that
/// is not in the list.
fn forks(seen: &Seen, watched: &mut HashMap<TaskId, Since>) -> bool {
    let own = rustix::thread::gettid().as_raw_nonzero().get() == seen.task.tid;
    let since = match watched.get(&seen.task) {
        None => Since::Freed,
        Some(Since::Freed) if seen.busy && !own => Since::Busy(seen.user),
        Some(Since::Busy(user)) if seen.busy && *user == seen.user => Since::Busy(seen.user),
        Some(_) => Since::Elsewhere,
    };
    !matches!(watched.insert(seen.task, since), Some(Since::Elsewhere))
}

/// Writes down what each occupation could not have moved and whose it is, and forgets the tasks
/// that have gone.
pub(crate) fn note(work: &mut Work) -> Result<(), Error> {
    let mut lines = Vec::new();
    for occupation in work.journal.occupations() {
        let on = |cpus: &crate::CpuSet| cpus.meets(&occupation.cpus);
        let kept = work.kept.iter().filter(|(cpus, _)| on(cpus));
        let kept: Vec<_> = kept.map(|(_, kept)| kept.clone()).collect();
        // A program may become another user's, as by `setpriv`: so are its children then.
        let proc = &work.machine.proc;
        let lives = |task: &TaskId| work.seen.iter().any(|seen| seen.task == *task);
        let program = occupation.program.filter(lives);
        let user = program.and_then(|program| tasks::user(work.kernel, proc, program.tid));
        let user = user.or(occupation.user);
        if kept != occupation.kept || user != occupation.user {
            let with = Occupation { kept, user, ..occupation.clone() };
            lines.push(Line::Occupation(Box::new(with)));
        }
    }
    work.journal.append(lines)?;
    let live: HashSet<TaskId> = work.seen.iter().map(|seen| seen.task).collect();
    let folders: HashSet<String> = work
        .journal
        .changes()
        .filter_map(|change| match &change.setting {
            Setting::Folder(path) if work.kernel.exists(path) => Some(path.display().to_string()),
            _ => None,
        })
        .collect();
    let homes: HashSet<TaskId> = work
        .journal
        .changes()
        .filter(|change| folders.contains(&change.to))
        .filter_map(|change| match change.setting {
            Setting::Home(task) => Some(task),
            _ => None,
        })
        .collect();
    let exists = |path: &std::path::Path| work.kernel.exists(path);
    work.journal.forget(|setting| match setting {
        Setting::Task(task) | Setting::Schedule(task) => !live.contains(task),
        // Where the program came from is where its children go to, also when it has ended.
        Setting::Home(task) => !homes.contains(task),
        Setting::Folder(path) => !exists(path),
        Setting::List(_) | Setting::Mask(_) | Setting::Word(_) | Setting::Controller(_) => false,
    })
}
