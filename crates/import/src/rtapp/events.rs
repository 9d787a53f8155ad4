// SPDX-License-Identifier: Apache-2.0
//! Events: what a thread of rt-app does, one after the other. A key that begins with the name of an
//! event is one; what follows the name tells it from others.

use super::Global;
use crate::json::Entry;
use crate::notes::Notes;
use whimbrel_model::{Problem, Span};

/// The names of events, those that begin like others first.
const NAMES: [&str; 20] = [
    "runtime", "run", "sleep", "timer", "signal", "broad", "wait", "suspend", "resume", "lock",
    "unlock", "yield", "memrun", "mem", "iorun", "sync", "barrier", "fork", "sem_wait", "sem_post",
];

/// An event, and where it stands.
#[derive(Debug)]
pub(super) struct Placed {
    pub event: Event,
    pub at: Span,
}

/// An event with the names that it has in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// Computing that takes so many nanoseconds where rt-app was calibrated.
    Run(u64),
    /// Computing until so many nanoseconds have passed.
    Runtime(u64),
    /// Nanoseconds.
    Sleep(u64),
    /// Until so many nanoseconds after it went off last.
    Timer {
        name: String,
        ns: u64,
        absolute: bool,
    },
    /// Writes or reads so many bytes.
    Memory(u64),
    Lock(String),
    Unlock(String),
    Wait {
        condition: String,
        mutex: String,
    },
    Signal(String),
    Broadcast(String),
    /// Signals, and waits.
    Sync {
        condition: String,
        mutex: String,
    },
    Barrier(String),
    /// Takes a semaphore.
    Take(String),
    /// Gives it.
    Give(String),
    Suspend(String),
    Resume(String),
    Yield,
    /// Another instance of a task.
    Fork(String),
}

impl Event {
    /// Whether an event of this kind takes time, whatever others do.
    pub fn takes_time(&self) -> bool {
        match self {
            Self::Run(ns) | Self::Runtime(ns) | Self::Sleep(ns) | Self::Timer { ns, .. } => *ns > 0,
            Self::Wait { .. }
            | Self::Sync { .. }
            | Self::Suspend(_)
            | Self::Barrier(_)
            | Self::Take(_) => true,
            _ => false,
        }
    }
}

/// The names of events.
pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.into_iter()
}

/// The name of the event that a key stands for.
pub(super) fn name_of(key: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|name| key.starts_with(name))
}

/// Reads an event of the thread `thread`; `None` when it is left out or refused.
pub(super) fn read(
    entry: &Entry,
    thread: &str,
    global: &Global,
    notes: &mut Notes,
) -> Option<Placed> {
    let name = name_of(&entry.key)?;
    let rest = &entry.key[name.len()..];
    if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let warning = Problem::new(format!("`{}` is `{name}`, as rt-app takes it", entry.key));
        notes.warn(warning.at(entry.at.clone(), "begins like it"));
    }
    let event = match name {
        "run" => Event::Run(round_to_loops(duration(entry, notes)?, global.loop_ns)),
        "runtime" => Event::Runtime(duration(entry, notes)?),
        "sleep" => Event::Sleep(duration(entry, notes)?),
        "timer" => timer(entry, notes)?,
        "mem" => Event::Memory(bytes(entry, notes)?),
        "memrun" => memory(entry, notes)?,
        "iorun" => {
            bytes(entry, notes)?;
            let warning = Problem::new("`iorun` is left out: there is no device to write to");
            notes.warn(warning.at(entry.at.clone(), "left out"));
            return None;
        }
        "lock" => Event::Lock(named(entry, notes)?),
        "unlock" => Event::Unlock(named(entry, notes)?),
        "signal" => Event::Signal(named(entry, notes)?),
        "broad" => Event::Broadcast(named(entry, notes)?),
        "barrier" => Event::Barrier(named(entry, notes)?),
        "sem_wait" => Event::Take(named(entry, notes)?),
        "sem_post" => Event::Give(named(entry, notes)?),
        "resume" => Event::Resume(named(entry, notes)?),
        "fork" => Event::Fork(named(entry, notes)?),
        "suspend" => {
            let own = || thread.to_owned();
            Event::Suspend(if entry.is_alone() { own() } else { entry.text(notes)?.to_owned() })
        }
        "wait" | "sync" => {
            let [condition, mutex] = condition(entry, notes)?;
            match name {
                "wait" => Event::Wait { condition, mutex },
                _ => Event::Sync { condition, mutex },
            }
        }
        _ => Event::Yield,
    };
    let at = entry.at.start..entry.value.at.end;
    Some(Placed { event: own_name(event, thread), at })
}

/// `"suspend" : ""` is as `"suspend"`.
fn own_name(event: Event, thread: &str) -> Event {
    match event {
        Event::Suspend(name) if name.is_empty() => Event::Suspend(thread.to_owned()),
        event => event,
    }
}

fn named(entry: &Entry, notes: &mut Notes) -> Option<String> {
    let name = entry.text(notes)?;
    if name.is_empty() { entry.wrong("a name", notes) } else { Some(name.to_owned()) }
}

/// A duration in nanoseconds, from one in microseconds.
pub(super) fn duration(entry: &Entry, notes: &mut Notes) -> Option<u64> {
    match entry.count(notes)? {
        us @ 0..=1_000_000_000 => Some(us * 1000),
        _ => entry.wrong("at most 1000000000 microseconds", notes),
    }
}

fn bytes(entry: &Entry, notes: &mut Notes) -> Option<u64> {
    match entry.count(notes)? {
        bytes @ 0..=0x4000_0000 => Some(bytes),
        _ => entry.wrong("at most 1 GiB", notes),
    }
}

/// What a step of `memrun` passes: a byte, or in a chase a pointer.
const KINDS: [(&str, u64); 3] = [("read", 1), ("write", 1), ("chase", 8)];

/// Bytes that are read or written one after the other, or pointers that are followed.
fn memory(entry: &Entry, notes: &mut Notes) -> Option<Event> {
    let (mut step, mut count) = (1, None);
    for property in entry.object(notes)? {
        match property.key.as_str() {
            "type" => {
                let kind = property.text(notes)?;
                match KINDS.iter().find(|(name, _)| *name == kind) {
                    Some((_, bytes)) => step = *bytes,
                    None => return property.wrong("\"read\", \"write\" or \"chase\"", notes),
                }
            }
            "count" => {
                let steps = property.count(notes)?;
                let few = Some(steps).filter(|steps| *steps <= u64::from(u32::MAX));
                count = few.or_else(|| property.wrong("at most 4294967295", notes));
            }
            "size" | "stride" | "pattern" => {
                let message = format!("`{}` of `memrun` has no meaning here", property.key);
                notes.warn(Problem::new(message).at(property.at.clone(), "left out"));
            }
            _ => {
                let known = ["type", "size", "stride", "pattern", "count"];
                property.unknown("`memrun`", known.into_iter(), notes);
            }
        }
    }
    if count.is_none() && notes.problems.is_empty() {
        let problem = Problem::new("`memrun` has no `count`").at(entry.at.clone(), "this one");
        notes.refuse(problem.help("add `count`, the number of its accesses"));
    }
    Some(Event::Memory(count? * step))
}

/// rt-app computes in loops, and only whole ones.
fn round_to_loops(ns: u64, loop_ns: u64) -> u64 {
    ns - ns.checked_rem(loop_ns).unwrap_or(0)
}

fn timer(entry: &Entry, notes: &mut Notes) -> Option<Event> {
    let (mut name, mut ns, mut absolute) = (String::from("unknown"), None, false);
    for entry in entry.object(notes)? {
        match entry.key.as_str() {
            "ref" => name = named(entry, notes)?,
            "period" => ns = Some(duration(entry, notes)?),
            "mode" => match entry.text(notes)? {
                "relative" => {}
                "absolute" => absolute = true,
                _ => return entry.wrong("\"relative\" or \"absolute\"", notes),
            },
            _ => entry.unknown("`timer`", ["ref", "period", "mode"].into_iter(), notes),
        }
    }
    if ns.is_none() {
        let problem = Problem::new("`timer` has no `period`").at(entry.at.clone(), "this one");
        notes.refuse(problem.help("add `period`, in microseconds"));
    }
    Some(Event::Timer { name, ns: ns?, absolute })
}

/// A condition, and the mutex that is given up while it is waited for.
fn condition(entry: &Entry, notes: &mut Notes) -> Option<[String; 2]> {
    let (mut name, mut mutex) = (None, String::from("unknown"));
    for property in entry.object(notes)? {
        match property.key.as_str() {
            "ref" => name = named(property, notes),
            "mutex" => mutex = named(property, notes)?,
            _ => {
                let place = format!("`{}`", entry.key);
                property.unknown(&place, ["ref", "mutex"].into_iter(), notes);
            }
        }
    }
    if name.is_none() {
        let problem = Problem::new(format!("`{}` has no `ref`", entry.key));
        let help = "add `ref`, the name that is signalled";
        notes.refuse(problem.at(entry.at.clone(), "this one").help(help));
    }
    Some([name?, mutex])
}
