// SPDX-License-Identifier: Apache-2.0
//! A thread of rt-app: its phases, each a list of events that is done so many times.

use super::events::{self, Event};
use super::{Global, once};
use crate::import::json::{Entry, entries};
use crate::import::notes::Notes;
use crate::problem::{Problem, Span};

const KEYS: [&str; 19] = [
    "loop",
    "policy",
    "priority",
    "cpus",
    "phases",
    "instance",
    "delay",
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
    "lock_order",
];

/// A thread that was read.
#[derive(Debug)]
pub(super) struct Thread {
    pub name: String,
    pub at: Span,
    pub count: u32,
    pub delay_ns: u64,
    pub policy: Policy,
    pub priority: Option<i64>,
    pub cpus: Vec<u32>,
    pub dl_period_ns: Option<u64>,
    pub dl_deadline_ns: Option<u64>,
    /// How often it goes through its phases; `None`: for ever.
    pub loops: Option<u64>,
    pub phases: Vec<Phase>,
}

/// A phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phase {
    /// `None`: for ever.
    pub loops: Option<u64>,
    pub events: Vec<Event>,
}

/// The scheduling policies of rt-app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    Other,
    Idle,
    RealTime,
    Deadline,
}

impl Policy {
    /// Reads a policy by its name.
    pub fn read(entry: &Entry<'_>, notes: &mut Notes) -> Option<Self> {
        match entry.text(notes)? {
            "SCHED_OTHER" => Some(Self::Other),
            "SCHED_IDLE" => Some(Self::Idle),
            "SCHED_FIFO" | "SCHED_RR" => Some(Self::RealTime),
            "SCHED_DEADLINE" => Some(Self::Deadline),
            _ => entry.wrong("SCHED_OTHER, _IDLE, _FIFO, _RR or _DEADLINE", notes),
        }
    }
}

/// What was left out of a thread, for one warning.
type LeftOut = Vec<(&'static str, Span)>;

/// Reads a thread; `None` when it has no instance or is refused.
pub(super) fn read(entry: &Entry<'_>, global: &Global, notes: &mut Notes) -> Option<Thread> {
    let object = entry.object(notes)?;
    let before = notes.problems.len();
    let mut thread = Thread {
        name: entry.key.to_owned(),
        at: entry.at.clone(),
        count: 1,
        delay_ns: 0,
        policy: global.policy,
        priority: None,
        cpus: Vec::new(),
        dl_period_ns: None,
        dl_deadline_ns: None,
        loops: None,
        phases: Vec::new(),
    };
    let mut left_out = LeftOut::new();
    let mut own = Phase { loops: Some(1), events: Vec::new() };
    let mut phases = None;
    for entry in once(object, &KEYS, notes) {
        if entry.key == "phases" {
            phases = Some(entry);
        } else if events::name_of(entry.key).is_some() {
            own.events.extend(events::read(&entry, &thread.name, global, &mut left_out, notes));
        } else {
            thread.property(&entry, &mut left_out, notes);
        }
    }
    match phases {
        None => thread.phases.push(own),
        Some(phases) => {
            if !own.events.is_empty() {
                let problem = Problem::new(format!("`{}` has phases and events", thread.name));
                let problem = problem.at(phases.at.clone(), "these phases");
                notes.refuse(problem.help("put the events into a phase"));
            }
            for entry in entries(phases.object(notes)?) {
                thread.phases.extend(phase(&entry, &thread.name, global, &mut left_out, notes));
            }
        }
    }
    say_left_out(&thread.name, &left_out, notes);
    if thread.count == 0 {
        let warning = Problem::new(format!("`{}` has no instance and is left out", thread.name));
        notes.warn(warning.at(thread.at, "this task"));
        return None;
    }
    if thread.phases.iter().all(|phase| phase.events.is_empty()) {
        // An event that was refused is one that it has.
        if notes.problems.len() == before {
            let problem = Problem::new(format!("`{}` does nothing", thread.name));
            notes.refuse(problem.at(thread.at, "this task").help("give it events, as `run`"));
        }
        return None;
    }
    Some(thread)
}

impl Thread {
    /// The phases of one firing, and how often each is done in it: a loop of a phase where all are
    /// alike, and else all of them.
    pub fn firing(&self) -> Vec<(&Phase, u64)> {
        let first = &self.phases[0];
        if self.phases.iter().all(|phase| phase.events == first.events) {
            return vec![(first, 1)];
        }
        self.phases.iter().map(|phase| (phase, phase.loops.unwrap_or(1))).collect()
    }

    fn property(&mut self, entry: &Entry<'_>, left_out: &mut LeftOut, notes: &mut Notes) {
        match entry.key {
            "loop" => self.loops = loops(entry, notes),
            "instance" => {
                let count = entry.value.as_number_lit().and_then(|n| n.value.parse().ok());
                match count.filter(|n| *n <= 4096) {
                    Some(count) => self.count = count,
                    None => entry.wrong("a number from 0 to 4096", notes).unwrap_or_default(),
                }
            }
            "delay" => self.delay_ns = microseconds(entry, notes).unwrap_or_default(),
            "policy" => self.policy = Policy::read(entry, notes).unwrap_or(self.policy),
            "priority" => self.priority = entry.integer(notes),
            "cpus" => self.cpus = cpus(entry, notes).unwrap_or_default(),
            "dl-period" | "period" => self.dl_period_ns = microseconds(entry, notes),
            "dl-deadline" | "deadline" => self.dl_deadline_ns = microseconds(entry, notes),
            key => match KEYS.into_iter().find(|known| *known == key) {
                Some(known) => left_out.push((known, entry.at.clone())),
                None => entry.unknown("a task", known_keys(), notes),
            },
        }
    }
}

fn known_keys() -> impl Iterator<Item = &'static str> + Clone {
    ["run", "runtime", "sleep", "timer", "signal", "wait", "suspend", "resume"]
        .into_iter()
        .chain(KEYS)
}

fn phase(
    entry: &Entry<'_>,
    thread: &str,
    global: &Global,
    left_out: &mut LeftOut,
    notes: &mut Notes,
) -> Option<Phase> {
    let object = entry.object(notes)?;
    let mut phase = Phase { loops: Some(1), events: Vec::new() };
    for entry in once(object, &KEYS, notes) {
        if events::name_of(entry.key).is_some() {
            phase.events.extend(events::read(&entry, thread, global, left_out, notes));
        } else if entry.key == "loop" {
            phase.loops = loops(&entry, notes);
        } else {
            match KEYS.into_iter().find(|known| *known == entry.key) {
                Some(known) if !["phases", "instance", "delay"].contains(&known) => {
                    left_out.push((known, entry.at.clone()));
                }
                _ => entry.unknown("a phase", known_keys(), notes),
            }
        }
    }
    Some(phase)
}

/// A number of loops; `None`: for ever.
fn loops(entry: &Entry<'_>, notes: &mut Notes) -> Option<u64> {
    match entry.integer(notes)? {
        -1 => None,
        n if (1..=1_000_000_000).contains(&n) => u64::try_from(n).ok(),
        _ => entry.wrong("-1, for ever, or from 1 to 1000000000", notes),
    }
}

fn microseconds(entry: &Entry<'_>, notes: &mut Notes) -> Option<u64> {
    let us = entry.count(notes)?;
    match us {
        0..=1_000_000_000 => Some(us * 1000),
        _ => entry.wrong("at most 1000000000 microseconds", notes),
    }
}

fn cpus(entry: &Entry<'_>, notes: &mut Notes) -> Option<Vec<u32>> {
    let number = |value: &jsonc_parser::ast::Value<'_>| {
        value.as_number_lit()?.value.parse().ok().filter(|cpu: &u32| *cpu <= 4094)
    };
    let cpus = entry.value.as_array().and_then(|array| array.elements.iter().map(number).collect());
    cpus.or_else(|| entry.wrong("an array of numbers from 0 to 4094", notes))
}

/// One warning for each thing that was left out of a thread, with its first places.
fn say_left_out(thread: &str, left_out: &LeftOut, notes: &mut Notes) {
    let mut said: Vec<&str> = Vec::new();
    for (what, _) in left_out {
        if said.contains(what) {
            continue;
        }
        said.push(what);
        let places = left_out.iter().filter(|(other, _)| other == what).map(|(_, at)| at);
        let (message, words) = match *what {
            "runtime" => ("takes longer at a lower frequency, like `run`", "counted as `run`"),
            "lock" => ("is left out: no task excludes another", "left out"),
            _ => ("has no meaning here and is left out", "left out"),
        };
        let mut warning = Problem::new(format!("`{what}` of `{thread}` {message}"));
        for at in places.take(3) {
            warning = warning.at(at.clone(), words);
        }
        notes.warn(warning);
    }
}
