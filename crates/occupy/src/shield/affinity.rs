// SPDX-License-Identifier: Apache-2.0
//! Which processors each task may use: the program's its own, all others the rest.
//!
//! Every task is written down when it is first seen. A child has what its parent has, so what it
//! would have without occupations follows from its parent's; and the program's descendants are the
//! program's.

use std::collections::{BTreeMap, HashMap};

use crate::journal::{Change, Line};
use crate::linux::tasks::{self, Seen};
use crate::settings::Setting;
use crate::work::{Work, refusal};
use crate::{CpuSet, Error, MARK, Occupation};

/// After so many times a task is told to move itself back.
const STUBBORN: u32 = 3;

/// What is to become of the tasks, in the order of [`Work::seen`].
#[derive(Debug, Default)]
pub(crate) struct Dues {
    dues: Vec<(Seen, Change)>,
}

impl Dues {
    /// The occupation that each of the program's tasks belongs to, by number.
    pub fn owned(&self) -> impl Iterator<Item = (&Seen, u32)> {
        self.dues.iter().filter_map(|(seen, due)| due.of.map(|id| (seen, id)))
    }
}

/// Decides what each task is to have, and writes it down.
///
/// This comes before cpusets change, since that changes affinities.
pub(crate) fn decide(work: &mut Work, inside: &HashMap<i32, u32>) -> Result<Dues, Error> {
    let mut resolver = Resolver::new(work, inside);
    let mut dues = Vec::new();
    for seen in work.seen.iter().filter(|seen| !seen.fixed) {
        if let Some(change) = resolver.resolve(work, seen.task.tid) {
            dues.push((seen.clone(), change));
        }
    }
    let closed = work.closed();
    for (_, change) in &mut dues {
        let known = change.clone();
        let due = |before: &str| due(work, &known, before, &closed);
        // What was found out just now stands for what the journal would say.
        if work.journal.change(&change.setting).is_none() {
            change.to = due(&change.before);
            continue;
        }
        let from = change.from.clone();
        if let Some(planned) = work.plan(&known.setting, &from, due) {
            let back = known.back + u32::from(came_back(work, &known, &closed));
            *change = Change { of: known.of, back, ..planned };
        } else {
            change.to.clone_from(&from);
        }
    }
    dues.iter().for_each(|(_, change)| work.tell(change));
    let lines = dues.iter().filter(|(_, change)| news(work, change));
    let lines = lines.map(|(_, change)| Line::Change(change.clone())).collect();
    work.journal.append(lines)?;
    Ok(Dues { dues })
}

/// Gives every task its due, and notes those that stay.
pub(crate) fn settle(work: &mut Work, dues: &Dues) {
    let closed = work.closed();
    for (seen, change) in &dues.dues {
        let Ok(current) = change.setting.read(work.kernel) else { continue };
        if current != change.to {
            match work.give(&change.setting, &change.to) {
                Ok(()) => {
                    work.moved += usize::from(change.to != change.before);
                    work.restored += usize::from(change.to == change.before);
                }
                Err(error) => {
                    let cpus: CpuSet = current.parse().unwrap_or_default();
                    if change.of.is_none() && error.raw_os_error() != Some(libc::ESRCH) {
                        work.keep(cpus, seen.what(), refusal(&error, work.kernel));
                    }
                    work.fail(change.clone(), error);
                }
            }
        }
        if change.back >= STUBBORN && change.of.is_none() {
            let before: CpuSet = change.before.parse().unwrap_or_default();
            let why = format!("moves itself back: {} times so far", change.back);
            work.keep(before, seen.what(), why);
        }
    }
    let fixed: Vec<Seen> = work.seen.iter().filter(|seen| seen.fixed).cloned().collect();
    for seen in fixed {
        let cpus = work.kernel.affinity(seen.task.tid).unwrap_or_default();
        if cpus.meets(&closed) {
            work.keep(cpus, seen.what(), "a thread of the kernel that it does not let be moved");
        }
    }
}

/// What a task is to have: the program's its processors or, if it chose so, some of them; another's
/// what it would have, less those that are closed.
fn due(work: &Work, change: &Change, before: &str, closed: &CpuSet) -> String {
    let Some(occupation) = change.of.and_then(|id| work.journal.occupation(id)) else {
        return work.less(before, closed);
    };
    let current: CpuSet = change.from.parse().unwrap_or_default();
    if !current.is_empty() && current.within(&occupation.cpus) {
        return change.from.clone();
    }
    occupation.cpus.to_string()
}

/// Whether it was moved away, and is on a closed processor again.
fn came_back(work: &Work, change: &Change, closed: &CpuSet) -> bool {
    let closed = |text: &str| text.parse::<CpuSet>().is_ok_and(|cpus| cpus.meets(closed));
    let away = |known: &Change| known.of.is_none() && !closed(&known.to);
    closed(&change.from) && work.journal.change(&change.setting).is_some_and(away)
}

/// Whether the journal does not say so already.
fn news(work: &Work, change: &Change) -> bool {
    let key = |change: &Change| (change.of, change.before.clone(), change.to.clone(), change.back);
    let known = work.journal.change(&change.setting);
    known.is_none_or(|known| key(known) != key(change) || !known.explains(&change.from))
}

/// Finds out what a task that was not seen before would have without occupations.
struct Resolver<'a> {
    seen: HashMap<i32, Seen>,
    inside: &'a HashMap<i32, u32>,
    programs: HashMap<i32, u32>,
    found: BTreeMap<i32, Option<Change>>,
}

impl<'a> Resolver<'a> {
    fn new(work: &Work, inside: &'a HashMap<i32, u32>) -> Self {
        let programs = work.journal.occupations().iter().filter_map(|occupation| {
            let program = occupation.program?;
            Some((program, occupation.id))
        });
        let lives = |task: &crate::TaskId| work.seen.iter().any(|seen| seen.task == *task);
        Self {
            seen: work.seen.iter().map(|seen| (seen.task.tid, seen.clone())).collect(),
            inside,
            programs: programs.filter(|(t, _)| lives(t)).map(|(t, id)| (t.tid, id)).collect(),
            found: BTreeMap::new(),
        }
    }

    /// The task's change, as the journal has it or as it follows from its parent's; `from` is what
    /// it has now.
    fn resolve(&mut self, work: &Work, tid: i32) -> Option<Change> {
        if let Some(found) = self.found.get(&tid) {
            return found.clone();
        }
        // A parent that is asked for again below itself has no answer: numbers were used again.
        self.found.insert(tid, None);
        let seen = self.seen.get(&tid).filter(|seen| !seen.fixed)?.clone();
        let current = work.kernel.affinity(tid).ok()?.to_string();
        let parent = self.resolve(work, seen.parent);
        let setting = Setting::Task(seen.task);
        let known = work.journal.change(&setting).cloned();
        let new = known.is_none();
        let mut change = known.unwrap_or_else(|| {
            Change::new(setting, current.clone(), current.clone(), current.clone())
        });
        change.from.clone_from(&current);
        // It may have been made before its parent was given another.
        let explains = |parent: &&Change| {
            let known = work.journal.change(&parent.setting);
            parent.explains(&current) || known.is_some_and(|known| known.handed_down(&current))
        };
        let heir = parent.as_ref().filter(|_| new).filter(explains);
        // Its own occupation goes before its parent's, which may be a later one, or a reaper's.
        let own = self.programs.get(&tid).or_else(|| self.inside.get(&tid)).copied();
        change.of = own.or(change.of).or(parent.as_ref().and_then(|parent| parent.of));
        if new && change.of.is_none() {
            change.of = orphan(work, &seen, &current);
        }
        let of = change.of.and_then(|id| work.journal.occupation(id));
        if let Some(heir) = heir.filter(|heir| heir.of == change.of) {
            change.before.clone_from(&heir.before);
        } else if let Some(of) = of.filter(|of| new && of.cpus.to_string() == current) {
            change.before = of_program(work, of.id);
        } else if let Some(heir) = heir {
            change.before.clone_from(&heir.before);
        }
        self.found.insert(tid, Some(change.clone()));
        Some(change)
    }
}

/// What the program would have, and so its children.
fn of_program(work: &Work, id: u32) -> String {
    let of_it =
        |change: &&Change| change.of == Some(id) && matches!(change.setting, Setting::Task(_));
    let known = work.journal.changes().find(of_it).map(|change| change.before.clone());
    known.unwrap_or_else(|| work.usable.to_string())
}

/// The occupation of a descendant whose parents are gone: it has the program's processors and user,
/// and in its environment what only the program was told.
///
/// When the occupation ends, who would else be left with its processors alone is taken for one
/// without that word, too: he is given the others, which is nothing that a stranger could not take.
fn orphan(work: &Work, seen: &Seen, current: &str) -> Option<u32> {
    let of = work.journal.occupations().iter().find(|o| o.cpus.to_string() == current)?;
    let left = seen.parent == 1 && work.ending == Some(of.id);
    (left || is_marked(work, seen, of)).then_some(of.id)
}

/// Whether it is the program's by its user and by its environment. Another user's process may have
/// any environment; one of the same user could be the program's child anyhow.
fn is_marked(work: &Work, seen: &Seen, of: &Occupation) -> bool {
    let proc = &work.machine.proc;
    if of.user.is_none() || tasks::user(work.kernel, proc, seen.process) != of.user {
        return false;
    }
    let environ = proc.join(seen.process.to_string()).join("environ");
    let text = work.kernel.read(&environ).unwrap_or_default();
    let mark = format!("{MARK}={}", of.mark());
    text.split('\0').any(|word| word == mark)
}
