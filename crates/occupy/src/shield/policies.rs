// SPDX-License-Identifier: Apache-2.0
//! How the program's tasks are scheduled; nobody else's are touched.

use std::collections::HashMap;

use crate::journal::Change;
use crate::linux::schedule::Schedule;
use crate::linux::tasks::{self, Seen};
use crate::settings::Setting;
use crate::shield::affinity::Dues;
use crate::work::Work;
use crate::{Error, Occupation, Policy};

/// What soft occupations need, so that their program is first when it wakes.
const SOFT: Policy = Policy::Fifo { priority: 1 };

/// How the program is scheduled: as was asked for, but a soft occupation's is never fair.
fn policy(occupation: &Occupation) -> Policy {
    match occupation.policy {
        Policy::Fair { .. } if occupation.soft => SOFT,
        asked => asked,
    }
}

/// Schedules the program's tasks as was asked for, and those that once were its as before.
///
/// A task that chose its own way since keeps it.
pub(crate) fn settle(work: &mut Work, dues: &Dues) -> Result<(), Error> {
    let owners: HashMap<i32, u32> = dues.owned().map(|(seen, id)| (seen.task.tid, id)).collect();
    let known: HashMap<i32, Change> = work
        .seen
        .iter()
        .filter_map(|seen| Some((seen.task.tid, work.journal.change(&setting(seen))?.clone())))
        .collect();
    let mut changes = Vec::new();
    for seen in &work.seen {
        let of = owners.get(&seen.task.tid).copied();
        let own = known.get(&seen.task.tid);
        // Of a child whose parents are gone, any other of the program's tasks tells as much.
        let orphan = || of.filter(|id| inherits(work, seen, *id)).and_then(|id| fellow(work, id));
        let parent = known.get(&seen.parent).or_else(orphan);
        let ending = of.is_some() && of == work.ending;
        if own.is_none() && parent.is_none() && (of.is_none() || ending) {
            continue;
        }
        let asked = of.and_then(|id| work.journal.occupation(id)).map(policy);
        changes.extend(due(work, seen, own, parent, asked).map(|change| Change { of, ..change }));
    }
    for (change, error) in work.carry_out(changes)? {
        work.fail(change, error);
    }
    Ok(())
}

/// What is to be done with one task: `own` and `parent` are what the journal knows of it and of who
/// made it.
fn due(
    work: &Work,
    seen: &Seen,
    own: Option<&Change>,
    parent: Option<&Change>,
    asked: Option<Policy>,
) -> Option<Change> {
    let setting = setting(seen);
    let current = setting.read(work.kernel).ok()?;
    let due = |before: &str| asked.map_or_else(|| before.to_owned(), |p| under(before, p));
    match (own, parent) {
        (Some(own), _) if !own.explains(&current) && own.to == due(&own.before) => None,
        // A new child or thread has what its parent has, which may have been changed.
        (None, Some(parent)) => {
            let inherited = parent.handed_down(&current);
            let before = if inherited { parent.before.clone() } else { current.clone() };
            // Who is seen first when the occupation ends is given nothing more by it.
            let given = inherited && work.ending.is_none();
            let to = if given { due(&before) } else { current.clone() };
            Some(Change::new(setting, before, current, to))
        }
        _ => work.plan(&setting, &current, due),
    }
}

/// Whether an orphan has its schedule from the program. While the occupation lasts, it is one only
/// by its mark or by the program's cpuset. At its end it need not be, and then
/// must not gain by it: it is of the program's user, who may have it, or it has the real-time
/// priority that the program was given, which is taken from it.
fn inherits(work: &Work, seen: &Seen, id: u32) -> bool {
    let Some(of) = work.journal.occupation(id).filter(|_| work.ending == Some(id)) else {
        return true;
    };
    let user = tasks::user(work.kernel, &work.machine.proc, seen.process);
    let real_time = |given: &Change| {
        let current = setting(seen).read(work.kernel);
        matches!(policy(of), Policy::Fifo { .. }) && current.is_ok_and(|now| now == given.to)
    };
    of.user.is_some() && user == of.user || fellow(work, id).is_some_and(real_time)
}

fn fellow<'a>(work: &'a Work, id: u32) -> Option<&'a Change> {
    let of_it =
        |change: &&Change| change.of == Some(id) && matches!(change.setting, Setting::Schedule(_));
    work.journal.changes().find(of_it)
}

fn setting(seen: &Seen) -> Setting {
    Setting::Schedule(seen.task)
}

fn under(before: &str, policy: Policy) -> String {
    let schedule: Result<Schedule, ()> = before.parse();
    schedule.map_or_else(|()| before.to_owned(), |schedule| schedule.under(policy).to_string())
}
