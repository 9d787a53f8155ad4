// SPDX-License-Identifier: Apache-2.0
//! Which candidates are the same but for names.
//!
//! Two cores can be exchanged if they are alike in hardware and may take the same tasks and points;
//! two tasks of one `count` if they are connected alike and may be on the same cores. (Tasks that
//! are connected in pairs, element to element, could only be exchanged together; they are taken as
//! different, which costs time and no result.) Cores and tasks are exchanged independently, so a
//! candidate is told from others by how many tasks of each class each core has, and two are the
//! same if these counts are, in any order of the cores of a class.
//!
//! Of each orbit the least is explored: within a class of cores those that are available come
//! first, then those with more tasks of the first class, of the second …, then those at lower
//! points. That is the mapping that is least in lexicographic order.

use std::borrow::Cow;
use std::cmp::Reverse;

use crate::candidate::Candidate;
use crate::choices::Checked;
use crate::system::System;

/// What tells cores apart that are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Nothing.
    Nothing,
    /// The coordinator, which is on the first core that is available.
    Coordinator,
    /// Their places, which the policy sees.
    Places,
}

/// The core of the coordinator while it is available.
const COORDINATOR: usize = 0;

/// The classes of cores and tasks that can be exchanged; each in ascending order, of at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symmetry {
    /// Every core is in one.
    pub cores: Vec<Vec<usize>>,
    /// Every task is in one.
    pub tasks: Vec<Vec<usize>>,
    /// Whether an exchange could have the coordinator on another core, where the first is off.
    coordinated: bool,
}

impl Symmetry {
    /// The classes of a system with these choices.
    pub fn new(system: &System, checked: &Checked, view: View) -> Self {
        let cores_alike = |a: usize, b: usize| {
            let apart = match view {
                View::Nothing => false,
                View::Coordinator => a == COORDINATOR || b == COORDINATOR,
                View::Places => true,
            };
            !apart
                && system.cores[a].alike == system.cores[b].alike
                && checked.points[a] == checked.points[b]
                && checked.allowed.iter().all(|row| row[a] == row[b])
        };
        let tasks_alike = |a: usize, b: usize| {
            let (one, other) = (&system.tasks[a], &system.tasks[b]);
            one.name == other.name
                && one.cycles == other.cycles
                && checked.allowed[a] == checked.allowed[b]
                && wires_alike(system, checked, a, b)
        };
        Self {
            cores: classes(system.cores.len(), cores_alike),
            tasks: classes(system.tasks.len(), tasks_alike),
            coordinated: view == View::Coordinator,
        }
    }

    /// The classes of cores where these are available.
    pub fn classes(&self, available: &[bool]) -> Cow<'_, [Vec<usize>]> {
        if self.coordinated && !available[COORDINATOR] {
            (0..available.len()).map(|core| vec![core]).collect()
        } else {
            Cow::Borrowed(&self.cores)
        }
    }

    /// Replaces a candidate by the least of its orbit.
    pub fn canonicalise(&self, candidate: &mut Candidate) {
        let mut place: Vec<usize> = (0..candidate.available.len()).collect();
        let old = candidate.clone();
        for class in self.classes(&old.available).iter() {
            let mut order = class.clone();
            order.sort_by_key(|core| {
                let at = u32::try_from(*core).unwrap_or(u32::MAX);
                let count =
                    |of: &Vec<usize>| of.iter().filter(|task| old.mapping[**task] == at).count();
                let counts: Vec<usize> = self.tasks.iter().map(count).collect();
                (Reverse(old.available[*core]), Reverse(counts), old.points[*core])
            });
            for (new, from) in class.iter().zip(order) {
                place[from] = *new;
                candidate.available[*new] = old.available[from];
                candidate.points[*new] = old.points[from];
            }
        }
        for class in &self.tasks {
            let mut on: Vec<usize> =
                class.iter().map(|task| place[old.mapping[*task] as usize]).collect();
            on.sort_unstable();
            for (task, core) in class.iter().zip(on) {
                candidate.mapping[*task] = u32::try_from(core).unwrap_or(u32::MAX);
            }
        }
    }
}

fn wires_alike(system: &System, checked: &Checked, a: usize, b: usize) -> bool {
    let choice = |channel| {
        let slots = checked.slots.iter().position(|(of, _)| of.contains(&channel));
        (slots, checked.ways.iter().position(|(of, _)| of.contains(&channel)))
    };
    let (one, other) = (&system.tasks[a].wires, &system.tasks[b].wires);
    one.len() == other.len()
        && one.iter().zip(other).all(|(x, y)| {
            let (this, that) = (&system.channels[x.channel], &system.channels[y.channel]);
            let kind = |c: &crate::system::Channel| {
                (c.slots, c.initial, c.slot_bytes, c.mailbox, c.claims_at_start, c.way)
            };
            (x.sends, &x.port, &x.peers) == (y.sends, &y.port, &y.peers)
                && kind(this) == kind(that)
                && choice(x.channel) == choice(y.channel)
        })
}

/// Classes of an equivalence over 0 to n − 1, by their first members.
fn classes(n: usize, alike: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for item in 0..n {
        match classes.iter_mut().find(|class| alike(class[0], item)) {
            Some(class) => class.push(item),
            None => classes.push(vec![item]),
        }
    }
    classes
}
