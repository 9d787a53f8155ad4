// SPDX-License-Identifier: Apache-2.0
//! A thread of rt-app: its phases, each a list of events that is done so many times.

use super::before::{self, Resources};
use super::events::{self, Placed};
use super::places::{self, Place};
use super::{Global, once};
use crate::json::Entry;
use crate::notes::Notes;
use whimbrel_model::{Problem, Span, nearest};

const KEYS: [&str; 3] = ["phases", "instance", "delay"];

/// A thread that was read.
#[derive(Debug)]
pub(super) struct Thread {
    pub name: String,
    pub at: Span,
    pub count: u32,
    pub delay_ns: u64,
    pub place: Place,
    /// How often it goes through its phases; `None`: for ever.
    pub loops: Option<u64>,
    pub phases: Vec<Phase>,
}

/// A phase; a thread whose events are in none has one without a name.
#[derive(Debug)]
pub(super) struct Phase {
    pub name: Option<String>,
    pub place: Place,
    /// `None`: for ever.
    pub loops: Option<u64>,
    pub events: Vec<Placed>,
}

/// What the parts of a thread are read with.
struct Reading<'a> {
    thread: &'a str,
    global: &'a Global,
    resources: &'a Resources,
    /// What was left out, for one warning each.
    left_out: Vec<(String, Span)>,
}

/// Reads a thread; `None` when it is refused.
pub(super) fn read(
    entry: &Entry,
    global: &Global,
    resources: &Resources,
    notes: &mut Notes,
) -> Option<Thread> {
    let object = entry.object(notes)?;
    let before = notes.problems.len();
    let mut reading = Reading { thread: &entry.key, global, resources, left_out: Vec::new() };
    let (mut count, mut delay_ns, mut phases) = (1, 0, Vec::new());

    let (mut own, others) = reading.phase("a task", None, object, notes);
    for entry in others {
        match entry.key.as_str() {
            "instance" => count = instances(entry, notes).unwrap_or(1),
            "delay" => delay_ns = events::duration(entry, notes).unwrap_or_default(),
            "phases" => phases = reading.phases(entry, &own, notes),
            _ => {}
        }
    }
    reading.say_left_out(notes);
    let place = std::mem::take(&mut own.place);
    let named = object.iter().any(|entry| entry.key == "phases");
    let loops = place.loops.flatten();
    if !named {
        own.loops = Some(1);
        say_loop_of_one(&entry.key, loops, &entry.at, notes);
        phases.push(own);
    }
    let thread = Thread {
        name: entry.key.clone(),
        at: entry.at.clone(),
        count,
        delay_ns,
        place,
        loops,
        phases,
    };
    // An event that was refused is one that it has.
    if notes.problems.len() == before {
        thread.check(notes);
    }
    Some(thread)
}

impl Reading<'_> {
    /// What a phase and a thread have alike, and what is left of the entries.
    fn phase<'e>(
        &mut self,
        what: &str,
        name: Option<String>,
        object: &'e [Entry],
        notes: &mut Notes,
    ) -> (Phase, Vec<&'e Entry>) {
        let mut phase = Phase { name, place: Place::default(), loops: None, events: Vec::new() };
        let own: &[&str] = if what == "a task" { &KEYS } else { &[] };
        let mut others = Vec::new();
        let keys: Vec<&str> = own.iter().copied().chain(places::KEYS).collect();
        let is_before = before::is(object);
        for entry in once(object, &keys, notes) {
            let key = entry.key.as_str();
            if is_before && before::KEYS.contains(&key) {
                continue;
            }
            if own.contains(&key) {
                others.push(entry);
            } else if places::KEYS.contains(&key) {
                if !phase.place.read(entry, notes) {
                    self.left_out.push((key.to_owned(), entry.at.clone()));
                }
            } else if events::name_of(key).is_some() {
                let placed = events::read(entry, self.thread, self.global, notes);
                phase.events.extend(placed.map(|placed| self.resources.resolve(placed)));
            } else {
                // rt-app passes over what it does not know, also over what is only misspelt.
                let known = own.iter().copied().chain(places::KEYS).chain(events::names());
                match nearest(key, known.clone()) {
                    Some(_) => entry.unknown(what, known, notes),
                    None => self.left_out.push((key.to_owned(), entry.at.clone())),
                }
            }
        }
        if is_before {
            phase.events.extend(before::events(object, self.resources, self.global, notes));
        }
        (phase, others)
    }

    fn phases(&mut self, entry: &Entry, own: &Phase, notes: &mut Notes) -> Vec<Phase> {
        if !own.events.is_empty() {
            let problem = Problem::new(format!("`{}` has phases and events", self.thread));
            let problem = problem.at(entry.at.clone(), "these phases");
            notes.refuse(problem.help("put the events into a phase"));
        }
        let mut phases = Vec::new();
        for entry in entry.object(notes).unwrap_or_default() {
            let Some(object) = entry.object(notes) else { continue };
            let (mut phase, _) = self.phase("a phase", Some(entry.key.clone()), object, notes);
            phase.loops = phase.place.loops.unwrap_or(Some(1));
            phases.push(phase);
        }
        phases
    }

    /// One warning for each thing that was left out of a thread, with its first places.
    fn say_left_out(&self, notes: &mut Notes) {
        let mut said: Vec<&str> = Vec::new();
        for (what, _) in &self.left_out {
            if said.contains(&what.as_str()) {
                continue;
            }
            said.push(what);
            let places = self.left_out.iter().filter(|(other, _)| other == what);
            let message = format!("`{what}` of `{}` has no meaning here", self.thread);
            let warning = Problem::new(message);
            let warning =
                places.take(3).fold(warning, |warning, (_, at)| warning.at(at.clone(), "left out"));
            notes.warn(warning);
        }
    }
}

impl Thread {
    /// Notes a thread that cannot run: no event, or an endless phase that takes no time.
    fn check(&self, notes: &mut Notes) {
        if self.phases.iter().all(|phase| phase.events.is_empty()) {
            let problem = Problem::new(format!("`{}` has no events", self.name));
            let help = "give it events, for example `run`";
            notes.refuse(problem.at(self.at.clone(), "this task").help(help));
            return;
        }
        let idle = |phase: &Phase| !phase.events.iter().any(|placed| placed.event.takes_time());
        let endless = self.phases.iter().find(|phase| phase.loops.is_none() && idle(phase));
        let all = self.loops.is_none() && self.phases.iter().all(idle);
        if endless.is_some() || all {
            let what = endless.and_then(|phase| phase.name.as_ref()).unwrap_or(&self.name);
            let problem = Problem::new(format!("`{what}` has no end and takes no time"));
            let help = "give it a `run`, a `sleep` or a `timer`";
            notes.refuse(problem.at(self.at.clone(), "this task").help(help));
        }
    }
}

fn say_loop_of_one(name: &str, loops: Option<u64>, at: &Span, notes: &mut Notes) {
    if loops.is_some() {
        let message = format!("`{name}` ends after its `loop`; rt-app 1.0 repeats it forever");
        let help = "later versions end as well; 1.0 ignores the `loop` of a task without phases";
        notes.warn(Problem::new(message).at(at.clone(), "a task without phases").help(help));
    }
}

fn instances(entry: &Entry, notes: &mut Notes) -> Option<u32> {
    let count = entry.number().and_then(|number| number.parse().ok()).filter(|n| *n <= 4096);
    count.or_else(|| entry.wrong("a number from 0 to 4096", notes))
}
