// SPDX-License-Identifier: Apache-2.0
//! Actors whose firings differ by phase, as scripts. Tokens are taken when a firing begins, and
//! there when it ends. The room of a buffer comes back as messages of a channel of its own: it is
//! claimed when a firing begins, and free when one ends.
//!
//! Where firings overlap, several tasks fire in turn. They begin in their order, and their tokens
//! are there in their order: both turns go round as messages.

use std::collections::BTreeMap;

use super::graph::{Actor, Edge, Graph};
use crate::draft::{Channel, Event};

/// Ports that a turn leaves by, and comes in by: to begin, and to end.
pub(super) const BEGIN: (&str, &str) = ("begun", "begin");
pub(super) const END: (&str, &str) = ("ended", "end");

/// The phases of an actor, for ever.
pub(super) fn of(graph: &Graph, actor: usize, by_kind: bool) -> Vec<Event> {
    let mut script: Vec<Event> = Vec::new();
    let mut body = firing(graph, actor, 0, by_kind);
    let mut times = 1;
    for number in 1..graph.actors[actor].phases {
        let next = firing(graph, actor, number, by_kind);
        if next == body {
            times += 1;
        } else {
            repeat(std::mem::replace(&mut body, next), times, &mut script);
            times = 1;
        }
    }
    repeat(body, times, &mut script);
    vec![Event::forever(script)]
}

/// What is done several times in turn is a loop.
fn repeat(body: Vec<Event>, times: u64, script: &mut Vec<Event>) {
    match times {
        1 => script.extend(body),
        _ => script.push(Event::Loop { phase: None, times: Some(times), body }),
    }
}

fn firing(graph: &Graph, number: usize, firing: u64, by_kind: bool) -> Vec<Event> {
    let actor = &graph.actors[number];
    let port = |port: usize| &actor.ports[port];
    // What an actor sends to itself only makes its firings follow each other.
    let others = || graph.edges.iter().filter(|edge| edge.from.0 != edge.to.0);
    let into = || others().filter(|edge| edge.to.0 == number);
    let out = || others().filter(|edge| edge.from.0 == number);
    let is_buffer = |edge: &&Edge| edge.slots.is_some();

    let taken = into().map(|edge| receive(&port(edge.to.1).ours, edge.consume.at(firing)));
    let claimed = out().filter(is_buffer);
    let claimed = claimed.map(|edge| receive(&port(edge.from.1).room, edge.produce.at(firing)));
    let run = run(actor, firing, by_kind);
    let sent = out().map(|edge| send(&port(edge.from.1).ours, edge.produce.at(firing)));
    let freed = into().filter(is_buffer);
    let freed = freed.map(|edge| send(&port(edge.to.1).room, edge.consume.at(firing)));
    taken.chain(claimed).flatten().chain(run).chain(sent.chain(freed).flatten()).collect()
}

/// What a firing computes, if it does.
pub(super) fn run(actor: &Actor, firing: u64, by_kind: bool) -> Option<Event> {
    let computes = actor.times.iter().any(|(_, times)| times.at(firing) > 0);
    computes.then(|| Event::Run(actor.cycles(firing, by_kind)))
}

fn receive(port: &str, count: u64) -> Option<Event> {
    let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
    Some(Event::Receive { port: port.into(), count })
}

fn send(port: &str, count: u64) -> Option<Event> {
    let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
    Some(Event::Send { port: port.into(), count })
}

/// What each task receives and sends in one firing, turns apart.
#[derive(Debug, Default)]
pub(super) struct Links<'c>(BTreeMap<&'c str, Link>);

#[derive(Debug, Default)]
struct Link {
    into: Vec<Event>,
    out: Vec<Event>,
    /// Whether it takes turns with others.
    turns: bool,
}

impl<'c> Links<'c> {
    /// Of channels whose rates are what passes in one firing.
    pub fn of(channels: &'c [Channel]) -> Self {
        let mut links = Self::default();
        for Channel { from, to, produce, consume, .. } in channels {
            if [BEGIN.0, END.0].contains(&from.1.as_str()) {
                links.0.entry(&from.0).or_default().turns = true;
                continue;
            }
            links.0.entry(&from.0).or_default().out.extend(send(&from.1, (*produce).into()));
            links.0.entry(&to.0).or_default().into.extend(receive(&to.1, (*consume).into()));
        }
        links
    }

    /// The script of one of several tasks.
    pub fn script(&self, name: &str, run: Option<Event>) -> Vec<Event> {
        let none = Link::default();
        let link = self.0.get(name).unwrap_or(&none);
        let turn = |event: Option<Event>| event.filter(|_| link.turns);
        let mut body = Vec::new();
        body.extend(turn(receive(BEGIN.1, 1)));
        body.extend(link.into.iter().cloned());
        body.extend(turn(send(BEGIN.0, 1)));
        body.extend(run);
        body.extend(turn(receive(END.1, 1)));
        body.extend(link.out.iter().cloned());
        body.extend(turn(send(END.0, 1)));
        vec![Event::forever(body)]
    }
}
