// SPDX-License-Identifier: Apache-2.0
//! What a thread or a phase says of where and how urgently it runs, and how often.

use super::events::duration;
use crate::json::{Entry, Kind};
use crate::notes::Notes;
use whimbrel_model::{Problem, Span};

/// The keys of it. What is not read below is left out.
pub(super) const KEYS: [&str; 15] = [
    "loop",
    "policy",
    "priority",
    "cpus",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "period",
    "deadline",
    "util_min",
    "util_max",
    "nodes_membind",
    "membind_nodes",
    "taskgroup",
    "resources",
];

/// The scheduling policies of rt-app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    Other,
    Idle,
    RealTime,
    Deadline,
}

impl Policy {
    /// Reads a policy by its name.
    pub fn read(entry: &Entry, notes: &mut Notes) -> Option<Self> {
        match entry.text(notes)? {
            "SCHED_OTHER" => Some(Self::Other),
            "SCHED_IDLE" => Some(Self::Idle),
            "SCHED_FIFO" | "SCHED_RR" => Some(Self::RealTime),
            "SCHED_DEADLINE" => Some(Self::Deadline),
            _ => entry.wrong("SCHED_OTHER, _IDLE, _FIFO, _RR or _DEADLINE", notes),
        }
    }

    /// Our priorities: 0 idle, 8 others, which have shares by [`nice`](Self::nice), 16 to 30
    /// real-time, 31 deadlines.
    pub fn priority(self, given: Option<i64>) -> u32 {
        match self {
            Self::Idle => 0,
            Self::Other => 8,
            // Rounded: the 14 steps of a band over the 98 of the policy.
            Self::RealTime => {
                let above = given.unwrap_or(10).clamp(1, 99) - 1;
                16 + u32::try_from((above * 14 + 49) / 98).unwrap_or(0)
            }
            Self::Deadline => 31,
        }
    }

    /// What `priority` is where it says nothing of urgency.
    pub fn nice(self, given: Option<i64>) -> Option<i32> {
        let given = i32::try_from(given?.clamp(-20, 19)).ok()?;
        (self == Self::Other && given != 0).then_some(given)
    }

    /// What `priority` may be, if the policy looks at it.
    fn range(self) -> Option<(i64, i64)> {
        match self {
            Self::Other => Some((-20, 19)),
            Self::RealTime => Some((1, 99)),
            Self::Idle | Self::Deadline => None,
        }
    }
}

/// What is said; `None` or nothing is the default.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// `Some(None)`: for ever.
    pub loops: Option<Option<u64>>,
    pub policy: Option<Policy>,
    pub priority: Option<i64>,
    pub cpus: Vec<u32>,
    pub dl_period_ns: Option<u64>,
    priority_at: Span,
}

impl Place {
    /// Reads one of the keys; `false` if it has no meaning here.
    pub fn read(&mut self, entry: &Entry, notes: &mut Notes) -> bool {
        match entry.key.as_str() {
            "loop" => self.loops = loops(entry, notes),
            "policy" => self.policy = Policy::read(entry, notes),
            "priority" => {
                self.priority = entry.integer(notes);
                self.priority_at = entry.value.at.clone();
            }
            "cpus" => self.cpus = cpus(entry, notes).unwrap_or_default(),
            "dl-period" | "period" => self.dl_period_ns = duration(entry, notes),
            _ => return false,
        }
        true
    }

    /// Notes that a task keeps its share.
    pub fn say_nice(&self, notes: &mut Notes) {
        let warning = Problem::new("a phase has no `priority` of SCHED_OTHER: it is left out");
        let warning = warning.at(self.priority_at.clone(), "this one");
        notes.warn(warning.help("give it to the task, for all of its phases"));
    }

    /// Notes a priority that the policy does not have.
    pub fn check(&self, policy: Policy, notes: &mut Notes) {
        let Some((given, (least, most))) = self.priority.zip(policy.range()) else { return };
        if !(least..=most).contains(&given) {
            let problem = Problem::new(format!("`priority` is {given}"));
            let problem = problem.at(self.priority_at.clone(), "not this");
            notes.refuse(
                problem.help(format!("write a number that its policy takes: {least} to {most}")),
            );
        }
    }
}

fn loops(entry: &Entry, notes: &mut Notes) -> Option<Option<u64>> {
    match entry.integer(notes)? {
        -1 => Some(None),
        n @ 1..=1_000_000_000 => Some(u64::try_from(n).ok()),
        _ => entry.wrong("-1 (forever), or from 1 to 1000000000", notes),
    }
}

fn cpus(entry: &Entry, notes: &mut Notes) -> Option<Vec<u32>> {
    let cpus = entry.list(|value| match value {
        Kind::Number(number) => number.parse().ok().filter(|cpu| *cpu <= 4094),
        _ => None,
    });
    let some = cpus.filter(|cpus| !cpus.is_empty());
    some.or_else(|| entry.wrong("an array of numbers from 0 to 4094", notes))
}
