// SPDX-License-Identifier: Apache-2.0
//! `<sdfProperties>` or `<csdfProperties>`: execution times, and sizes of tokens, buffers and
//! state, these in bits.

use super::graph::missing;
use crate::dataflow::{Actor, Edge, Graph, Phases};
use crate::names::plain;
use crate::notes::Notes;
use crate::xml::Element;
use whimbrel_model::{Problem, Span};

const TIME_MAX: u64 = 1 << 48;

/// Adds the properties to a graph.
pub(super) fn read(properties: Element<'_, '_>, graph: &mut Graph, notes: &mut Notes) {
    let children = ["actorProperties", "channelProperties"];
    properties.takes(&[], &children, &["graphProperties"], notes);
    for element in properties.each("actorProperties") {
        let names = graph.actors.iter().map(|actor| actor.name.as_str()).collect::<Vec<_>>();
        if let Some(number) = named(element, "actor", &names, notes) {
            of_actor(element, &mut graph.actors[number], notes);
        }
    }
    for element in properties.each("channelProperties") {
        let names = graph.edges.iter().map(|edge| edge.name.as_str()).collect::<Vec<_>>();
        if let Some(number) = named(element, "channel", &names, notes) {
            of_channel(element, &mut graph.edges[number], notes);
        }
    }
    for actor in &graph.actors {
        if actor.times.is_empty() && notes.problems.is_empty() {
            let problem = Problem::new(format!("`{}` has no execution time", actor.name));
            let help = "add <actorProperties> with a <processor> and its <executionTime>";
            notes.refuse(problem.at(actor.at.clone(), "this actor").help(help));
        }
    }
}

/// The position of what an attribute names.
fn named(element: Element<'_, '_>, key: &str, names: &[&str], notes: &mut Notes) -> Option<usize> {
    let (name, at) = element.needs(key, notes)?;
    let found = names.iter().position(|known| *known == name);
    found.or_else(|| missing(key, name, at, names.iter().copied(), notes))
}

fn of_actor(element: Element<'_, '_>, actor: &mut Actor, notes: &mut Notes) {
    element.takes(&["actor"], &["processor"], &[], notes);
    for processor in element.each("processor") {
        processor.takes(&["type", "default"], &["executionTime", "memory"], &[], notes);
        let kind = processor.needs("type", notes).map(|(kind, at)| (plain(kind), at));
        let Some((kind, at)) = kind else { continue };
        if actor.times.iter().any(|(known, _)| *known == kind) {
            let problem = Problem::new(format!("`{}` has two times on `{kind}`", actor.name));
            notes.refuse(problem.at(at, "the second").help("keep one"));
            continue;
        }
        match processor.only("executionTime", notes) {
            Some(time) => {
                time.takes(&["time"], &[], &[], notes);
                let Some((times, at)) = times(time, notes) else { continue };
                if times.least() == 0 {
                    actor.no_time.get_or_insert(at);
                }
                actor.times.push((kind, times));
            }
            None => {
                let problem = Problem::new("<processor> has no <executionTime>")
                    .help("add <executionTime time=\"...\">");
                notes.refuse(problem.at(processor.at(), "this one"));
            }
        }
        for memory in processor.each("memory") {
            memory.takes(&[], &["stateSize"], &[], notes);
            for size in memory.each("stateSize") {
                size.takes(&["max"], &[], &[], notes);
                let bytes = size.number::<u64>("max", "a number of bits", notes).map(bytes);
                actor.state_bytes = actor.state_bytes.max(bytes.filter(|bytes| *bytes > 0));
            }
        }
    }
}

/// The times of all phases, and their place.
fn times(time: Element<'_, '_>, notes: &mut Notes) -> Option<(Phases, Span)> {
    let (text, at) = time.needs("time", notes)?;
    let times = Phases::read(text, TIME_MAX);
    if times.is_none() {
        let message = format!("`time` of <executionTime> must be a number from 0 to {TIME_MAX}");
        let help = "write one number, or one for each phase of the actor, for example `10,0,3*20`";
        notes.refuse(Problem::new(message).at(at.clone(), "not this").help(help));
    }
    Some((times?, at))
}

fn of_channel(element: Element<'_, '_>, edge: &mut Edge, notes: &mut Notes) {
    let ignored = ["bandwidth", "latency"];
    element.takes(&["channel"], &["bufferSize", "tokenSize"], &ignored, notes);
    if let Some(size) = element.only("bufferSize", notes) {
        size.takes(&["sz", "src", "dst", "mem"], &[], &[], notes);
        edge.slots = size.number("sz", "a number of tokens", notes);
    }
    if let Some(size) = element.only("tokenSize", notes) {
        size.takes(&["sz"], &[], &[], notes);
        let size = size.number::<u32>("sz", "a number of bits", notes).filter(|bits| *bits > 0);
        edge.slot_bytes = size.map(|bits| bits.div_ceil(8));
    }
}

fn bytes(bits: u64) -> u64 {
    bits.div_ceil(8)
}
