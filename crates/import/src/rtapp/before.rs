// SPDX-License-Identifier: Apache-2.0
//! The grammar before version 1.0: a task computes `exec` microseconds in each `period`, and uses
//! the resources of `lock_order` one after the other, some of them for a part of that time.

use std::collections::BTreeMap;

use super::Global;
use super::events::{Event, Placed, duration};
use crate::json::{Entry, Kind};
use crate::notes::Notes;
use whimbrel_model::{Problem, Span, nearest, suggestion};

/// The keys that make an object one of this grammar, with those that mean something else in it.
pub(super) const KEYS: [&str; 5] = ["exec", "lock_order", "resources", "sleep", "period"];

const TYPES: [&str; 7] = ["mutex", "wait", "signal", "broadcast", "sync", "sleep", "run"];

/// The resources of a file, by their names.
#[derive(Debug, Default)]
pub(super) struct Resources(BTreeMap<String, Resource>);

#[derive(Debug, Default)]
struct Resource {
    kind: String,
    target: Option<String>,
}

/// How a task uses a resource.
#[derive(Debug, Default)]
struct Use {
    ns: u64,
    mutexes: Vec<String>,
}

impl Resources {
    /// Reads the object `resources` of a file.
    pub fn read(&mut self, entry: &Entry, notes: &mut Notes) {
        for entry in entry.object(notes).unwrap_or_default() {
            let mut resource = Resource { kind: "mutex".into(), target: None };
            for property in entry.object(notes).unwrap_or_default() {
                match property.key.as_str() {
                    "type" => {
                        let kind = property.text(notes).unwrap_or_default();
                        if nearest(kind, TYPES).is_some_and(|meant| meant != kind) {
                            property.wrong::<()>(&TYPES.join(", "), notes);
                        } else if !TYPES.contains(&kind) {
                            let message =
                                format!("resources of type `{kind}` have no meaning here");
                            let warning = Problem::new(message);
                            notes.warn(warning.at(property.at.clone(), "left out"));
                        }
                        resource.kind = kind.to_owned();
                    }
                    "target" => resource.target = property.text(notes).map(str::to_owned),
                    _ => property.unknown("a resource", ["type", "target"].into_iter(), notes),
                }
            }
            self.0.insert(entry.key.clone(), resource);
        }
    }

    /// An event with the name that is waited for: in old files a signal is a resource, and what is
    /// waited for its target.
    pub fn resolve(&self, mut placed: Placed) -> Placed {
        if let Event::Signal(name) | Event::Broadcast(name) = &mut placed.event {
            *name = self.target(name).to_owned();
        }
        placed
    }

    /// What is waited for where this name is signalled.
    fn target<'a>(&'a self, name: &'a str) -> &'a str {
        self.0.get(name).and_then(|resource| resource.target.as_deref()).unwrap_or(name)
    }
}

/// Whether an object is of this grammar.
pub(super) fn is(object: &[Entry]) -> bool {
    object.iter().any(|entry| ["exec", "lock_order"].contains(&entry.key.as_str()))
}

/// The events of such an object: what it uses, what is left of `exec`, and the wait for the next
/// period, unless `sleep` is false.
pub(super) fn events(
    object: &[Entry],
    resources: &Resources,
    global: &Global,
    notes: &mut Notes,
) -> Vec<Placed> {
    let find = |key: &str| object.iter().find(|entry| entry.key == key);
    let mut exec_ns = find("exec").and_then(|e| duration(e, notes)).unwrap_or_default();
    let period_ns = find("period").and_then(|e| duration(e, notes)).unwrap_or_default();
    let sleeps = find("sleep").is_none_or(|e| !matches!(e.value.kind, Kind::Boolean(false)));
    let uses = find("resources").map(|entry| uses(entry, notes)).unwrap_or_default();
    let mut events = Vec::new();
    let whole = object.first().map(|entry| entry.at.clone()).unwrap_or_default();

    if let Some(order) = find("lock_order") {
        for name in names(order, notes) {
            let computes = use_of(&name, &uses, order, resources, &mut events, notes);
            exec_ns = exec_ns.saturating_sub(computes);
        }
    }
    let exec_ns = exec_ns - exec_ns.checked_rem(global.loop_ns).unwrap_or(0);
    if exec_ns > 0 {
        events.push(Placed { event: Event::Run(exec_ns), at: whole.clone() });
    }
    if sleeps && period_ns > 0 {
        let name = String::from("unique");
        let event = Event::Timer { name, ns: period_ns, absolute: false };
        events.push(Placed { event, at: whole });
    }
    events
}

/// Adds what a use of a resource does; the nanoseconds that it computes.
fn use_of(
    name: &str,
    uses: &BTreeMap<String, Use>,
    order: &Entry,
    resources: &Resources,
    events: &mut Vec<Placed>,
    notes: &mut Notes,
) -> u64 {
    let at: Span = order.value.at.clone();
    let none = Use::default();
    let used = uses.get(name).unwrap_or(&none);
    let Some(resource) = resources.0.get(name) else {
        let problem = Problem::new(format!("no resource is called `{name}`")).at(at, "used here");
        let known = resources.0.keys().map(String::as_str);
        let help = suggestion(name, known, || "declare it in `resources` of the file".into());
        notes.refuse(problem.help(help));
        return 0;
    };
    let mut add = |event| events.push(Placed { event, at: at.clone() });
    let own = (resource.kind == "mutex").then(|| name.to_owned());
    let mutexes: Vec<&String> = used.mutexes.iter().chain(&own).collect();
    let target = || resources.target(name).to_owned();
    let mutex = || used.mutexes.last().cloned().unwrap_or_else(|| "unknown".into());

    mutexes.iter().for_each(|mutex| add(Event::Lock((*mutex).clone())));
    match resource.kind.as_str() {
        "mutex" | "run" if used.ns > 0 => add(Event::Run(used.ns)),
        "sleep" => add(Event::Sleep(used.ns)),
        "wait" => add(Event::Wait { condition: target(), mutex: mutex() }),
        "signal" => add(Event::Signal(target())),
        "broadcast" => add(Event::Broadcast(target())),
        "sync" => add(Event::Sync { condition: target(), mutex: mutex() }),
        _ => {}
    }
    mutexes.iter().rev().for_each(|mutex| add(Event::Unlock((*mutex).clone())));
    if ["mutex", "run"].contains(&resource.kind.as_str()) { used.ns } else { 0 }
}

fn names(entry: &Entry, notes: &mut Notes) -> Vec<String> {
    let names = entry.list(|name| match name {
        Kind::Text(name) => Some(name.clone()),
        _ => None,
    });
    names.or_else(|| entry.wrong("an array of names", notes)).unwrap_or_default()
}

fn uses(entry: &Entry, notes: &mut Notes) -> BTreeMap<String, Use> {
    let mut all = BTreeMap::new();
    for entry in entry.object(notes).unwrap_or_default() {
        let mut used = Use::default();
        for property in entry.object(notes).unwrap_or_default() {
            match property.key.as_str() {
                "duration" => used.ns = duration(property, notes).unwrap_or_default(),
                "access" => used.mutexes = names(property, notes),
                _ => property.unknown("a use", ["duration", "access"].into_iter(), notes),
            }
        }
        all.insert(entry.key.clone(), used);
    }
    all
}
