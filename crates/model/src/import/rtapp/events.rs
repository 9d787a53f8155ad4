// SPDX-License-Identifier: Apache-2.0
//! Events: what a thread of rt-app does, one after the other. An event's key is its name, with a
//! number or the like behind it to tell it from others.

use super::Global;
use crate::import::json::{Entry, entries};
use crate::import::notes::Notes;
use crate::problem::{Problem, Span};

/// The names of events, those that begin like others first.
const NAMES: [&str; 18] = [
    "runtime",
    "run",
    "sleep",
    "timer",
    "signal",
    "broad",
    "wait",
    "suspend",
    "resume",
    "lock",
    "unlock",
    "yield",
    "mem",
    "iorun",
    "sync",
    "barrier",
    "fork",
    "external_workload",
];

/// What an event means here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Event {
    /// Computing that takes so many nanoseconds where rt-app was calibrated.
    Run(u64),
    /// Nanoseconds without computing.
    Sleep(u64),
    /// Nanoseconds since this timer went off last.
    Timer(String, u64),
    /// One message, to one receiver or to all.
    Send(Signal),
    /// Waits for a message.
    Receive(Signal),
    /// The end of a job of a task with deadlines.
    Yield,
}

/// What tasks wait for: a condition by its name, or a suspended task by its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    Condition(String),
    Resume(String),
}

/// The name of the event that a key stands for.
pub(super) fn name_of(key: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|name| {
        let rest = key.strip_prefix(name);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}

/// Reads an event of the thread `thread`; `None` when it is left out or refused.
pub(super) fn read(
    entry: &Entry<'_>,
    thread: &str,
    global: &Global,
    left_out: &mut Vec<(&'static str, Span)>,
    notes: &mut Notes,
) -> Option<Event> {
    let name = name_of(entry.key)?;
    match name {
        "run" => Some(Event::Run(round_to_loops(duration(entry, notes)?, global.loop_ns))),
        "runtime" => {
            left_out.push((name, entry.at.clone()));
            Some(Event::Run(duration(entry, notes)?))
        }
        "sleep" => Some(Event::Sleep(duration(entry, notes)?)),
        "timer" => timer(entry, notes),
        "signal" | "broad" => Some(Event::Send(Signal::Condition(entry.text(notes)?.to_owned()))),
        "resume" => Some(Event::Send(Signal::Resume(entry.text(notes)?.to_owned()))),
        "suspend" => {
            let named = Some(entry.text(notes)?).filter(|name| !name.is_empty());
            Some(Event::Receive(Signal::Resume(named.unwrap_or(thread).to_owned())))
        }
        "wait" => wait(entry, notes),
        "yield" => Some(Event::Yield),
        "lock" | "unlock" => {
            left_out.push(("lock", entry.at.clone()));
            None
        }
        "mem" | "iorun" => {
            left_out.push((name, entry.at.clone()));
            None
        }
        _ => {
            let problem = Problem::new(format!("`{name}` cannot be expressed"));
            let help = "a task receives messages, computes and sends: keep run, sleep, timer, \
                 signal and wait, resume and suspend";
            notes.refuse(problem.at(entry.at.clone(), "this event").help(help));
            None
        }
    }
}

/// A duration in nanoseconds, from one in microseconds.
fn duration(entry: &Entry<'_>, notes: &mut Notes) -> Option<u64> {
    let us = entry.count(notes)?;
    let ns = us.checked_mul(1000).filter(|_| us <= 1_000_000_000);
    ns.or_else(|| entry.wrong("at most 1000000000 microseconds", notes))
}

/// rt-app computes in loops, and only whole ones.
fn round_to_loops(ns: u64, loop_ns: u64) -> u64 {
    ns - ns.checked_rem(loop_ns).unwrap_or(0)
}

fn timer(entry: &Entry<'_>, notes: &mut Notes) -> Option<Event> {
    let (mut name, mut period) = (String::from("unknown"), None);
    let object = entry.object(notes)?;
    for entry in entries(object) {
        match entry.key {
            "ref" => name = entry.text(notes)?.to_owned(),
            "period" => period = Some(duration(&entry, notes)?),
            "mode" => {
                let mode = entry.text(notes)?;
                if mode != "relative" && mode != "absolute" {
                    return entry.wrong("\"relative\" or \"absolute\"", notes);
                }
            }
            _ => entry.unknown("`timer`", ["ref", "period", "mode"].into_iter(), notes),
        }
    }
    if period.is_none() {
        let problem = Problem::new("`timer` has no `period`").at(entry.at.clone(), "this one");
        notes.refuse(problem.help("add `period`, in microseconds"));
    }
    Some(Event::Timer(name, period?))
}

fn wait(entry: &Entry<'_>, notes: &mut Notes) -> Option<Event> {
    let mut name = None;
    for entry in entries(entry.object(notes)?) {
        match entry.key {
            "ref" => name = entry.text(notes).map(str::to_owned),
            "mutex" => drop(entry.text(notes)),
            _ => entry.unknown("`wait`", ["ref", "mutex"].into_iter(), notes),
        }
    }
    if name.is_none() {
        let problem = Problem::new("`wait` has no `ref`").at(entry.at.clone(), "this one");
        notes.refuse(problem.help("add `ref`, the name that is signalled"));
    }
    Some(Event::Receive(Signal::Condition(name?)))
}
