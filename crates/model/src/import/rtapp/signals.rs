// SPDX-License-Identifier: Apache-2.0
//! Signals as channels: a firing receives what its thread waits for, computes, and sends what the
//! thread signals. Unlike rt-app's, a signal that nobody waits for yet is kept.

use std::collections::BTreeMap;

use super::events::{Event, Signal};
use super::thread::Thread;
use crate::import::draft::{Channel, Task};
use crate::import::json::{Entry, entries};
use crate::import::names::plain;
use crate::import::notes::Notes;
use crate::problem::{Problem, Span};

const SLOTS: u32 = 14;
const SLOT_BYTES: u32 = 64;
/// Most messages that a firing sends to a channel.
const RATE_MAX: u32 = 32768;

/// Who uses a signal, and how often in a firing.
#[derive(Debug, Default)]
struct Users {
    senders: BTreeMap<usize, u32>,
    receivers: BTreeMap<usize, u32>,
}

/// Conditions with two names: in old files a signal is a resource, whose `target` is waited for.
pub(super) fn aliases(entry: &Entry<'_>, notes: &mut Notes) -> Vec<(String, String)> {
    let mut aliases = Vec::new();
    // Before there were names, it was a number of mutexes.
    if entry.value.as_number_lit().is_some() {
        return aliases;
    }
    for resource in entry.object(notes).map(entries).into_iter().flatten() {
        for property in resource.object(notes).map(entries).into_iter().flatten() {
            match property.key {
                "type" => drop(property.text(notes)),
                "target" => aliases.extend(
                    property.text(notes).map(|to| (resource.key.to_owned(), to.to_owned())),
                ),
                _ => property.unknown("a resource", ["type", "target"].into_iter(), notes),
            }
        }
    }
    aliases
}

/// One channel from the sender of each signal to each of its receivers.
pub(super) fn channels(
    threads: &[Thread],
    tasks: &[Task],
    aliases: &[(String, String)],
    notes: &mut Notes,
) -> Vec<Channel> {
    let mut channels = Vec::new();
    for (signal, users) in users(threads, aliases) {
        let name = match &signal {
            Signal::Condition(name) | Signal::Resume(name) => name,
        };
        let at = |task: &usize| threads[*task].at.clone();
        let Some((sender, produce)) = users.senders.first_key_value() else {
            let places: Vec<Span> = users.receivers.keys().map(at).collect();
            notes.refuse(problem_at(
                &places,
                format!("nothing ever signals `{name}`"),
                "waits for it",
            ));
            continue;
        };
        if users.receivers.is_empty() {
            let places: Vec<Span> = users.senders.keys().map(at).collect();
            let message = format!("nothing waits for `{name}`: the signal is left out");
            notes.warn(problem_at(&places, message, "signals it"));
            continue;
        }
        if users.senders.len() > 1 {
            let places: Vec<Span> = users.senders.keys().map(at).collect();
            let message = format!("{} tasks signal `{name}`", users.senders.len());
            let help = "a channel has one sender: give each of them a signal of its own";
            notes.refuse(problem_at(&places, message, "signals it").help(help));
            continue;
        }
        for (receiver, consume) in &users.receivers {
            if let Some(rate) = Some(produce.max(consume)).filter(|rate| **rate > RATE_MAX) {
                let message = format!("`{name}` is signalled {rate} times in one firing");
                let help = format!("at most {RATE_MAX} messages: lower the `loop` of its phase");
                notes.refuse(problem_at(&[at(sender), at(receiver)], message, "here").help(help));
            }
            channels.push(Channel {
                from: (tasks[*sender].name.clone(), plain(name)),
                to: (tasks[*receiver].name.clone(), plain(&format!("in_{name}"))),
                produce: *produce,
                consume: *consume,
                initial: 0,
                slots: SLOTS,
                slot_bytes: SLOT_BYTES,
                claims_at_start: false,
            });
        }
    }
    channels
}

fn problem_at(places: &[Span], message: String, words: &str) -> Problem {
    let mut problem = Problem::new(message);
    for at in places {
        problem = problem.at(at.clone(), words);
    }
    problem
}

fn users(threads: &[Thread], aliases: &[(String, String)]) -> BTreeMap<Signal, Users> {
    let mut all: BTreeMap<Signal, Users> = BTreeMap::new();
    for (number, thread) in threads.iter().enumerate() {
        for (phase, loops) in thread.firing() {
            let times = u32::try_from(loops).unwrap_or(u32::MAX);
            for event in &phase.events {
                let (signal, sends) = match event {
                    Event::Send(signal) => (signal, true),
                    Event::Receive(signal) => (signal, false),
                    _ => continue,
                };
                let users = all.entry(resolve(signal, aliases)).or_default();
                let side = if sends { &mut users.senders } else { &mut users.receivers };
                let count = side.entry(number).or_default();
                *count = count.saturating_add(times);
            }
        }
    }
    all
}

fn resolve(signal: &Signal, aliases: &[(String, String)]) -> Signal {
    match signal {
        Signal::Condition(name) => {
            let target = aliases.iter().find(|(from, _)| from == name).map(|(_, to)| to);
            Signal::Condition(target.unwrap_or(name).clone())
        }
        Signal::Resume(_) => signal.clone(),
    }
}
