// SPDX-License-Identifier: Apache-2.0
//! A pass over the machine: everything becomes what the journal's occupations ask for.
//!
//! Beginning, taking in, sweeping, adjusting, ending and recovering are this one thing; they differ
//! in what they wrote into the journal before.

use std::collections::HashSet;

use crate::journal::Line;
use crate::sets::{self, Hierarchy};
use crate::tasks;
use crate::things::Thing;
use crate::work::Work;
use crate::{Error, Occupation, TaskId, affinity, masks, policies};

/// So often a pass is repeated: tasks that are made meanwhile have what their parents had.
const ROUNDS: usize = 10;

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

/// Passes until one finds nothing to do.
pub(crate) fn all(work: &mut Work) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        let before = (work.moved, work.restored);
        work.resets = sets::given(work);
        once(work)?;
        if (work.moved, work.restored) == before {
            break;
        }
    }
    Ok(())
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
