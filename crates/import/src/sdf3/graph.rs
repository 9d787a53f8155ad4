// SPDX-License-Identifier: Apache-2.0
//! `<sdf>` or `<csdf>`: actors with their ports, and the channels between these.

use crate::dataflow::{Actor, Edge, Graph, Phases, Place, Port};
use crate::names::Names;
use crate::notes::Notes;
use crate::xml::Element;
use whimbrel_model::{Problem, Span, nearest};

/// Tokens that a firing passes at a port.
const RATE_MAX: u64 = 32768;

/// Reads a graph, `cyclic` if it may have phases; `None` when something in it is refused.
pub(super) fn read(sdf: Element<'_, '_>, cyclic: bool, notes: &mut Notes) -> Option<Graph> {
    let before = notes.problems.len();
    let mut graph = Graph::default();
    sdf.takes(&["name", "type"], &["actor", "channel"], &[], notes);
    for element in sdf.each("actor") {
        let actor = actor(element, cyclic, notes);
        graph.actors.extend(actor.filter(|new| {
            alone(&new.name, &new.at, graph.actors.iter().map(|a| (&a.name, &a.at)), notes)
        }));
    }
    for element in sdf.each("channel") {
        let edge = edge(element, &mut graph.actors, notes);
        graph.edges.extend(edge.filter(|new| {
            alone(&new.name, &new.at, graph.edges.iter().map(|e| (&e.name, &e.at)), notes)
        }));
    }
    for port in graph.actors.iter().flat_map(|actor| &actor.ports) {
        if !port.connected && notes.problems.len() == before {
            let problem = Problem::new(format!("the port `{}` has no channel", port.name))
                .help("connect it with a <channel>, or remove it");
            notes.refuse(problem.at(port.at.clone(), "this port"));
        }
    }
    if graph.actors.is_empty() && notes.problems.len() == before {
        notes.refuse(
            Problem::new("the graph has no actor")
                .help("add an <actor> for each task")
                .at(sdf.at(), "this graph"),
        );
    }
    (notes.problems.len() == before).then_some(graph)
}

/// True when nothing has this name yet, which is a problem otherwise.
fn alone<'a>(
    name: &str,
    at: &Span,
    mut others: impl Iterator<Item = (&'a String, &'a Span)>,
    notes: &mut Notes,
) -> bool {
    let first = others.find(|(other, _)| *other == name);
    if let Some((_, first)) = first {
        let problem =
            Problem::new(format!("two are called `{name}`")).help("give each a different name");
        notes.refuse(problem.at(at.clone(), "the second").at(first.clone(), "the first"));
    }
    first.is_none()
}

fn actor(element: Element<'_, '_>, cyclic: bool, notes: &mut Notes) -> Option<Actor> {
    element.takes(&["name", "type"], &["port"], &[], notes);
    let (name, at) = element.needs("name", notes)?;
    let mut names = Names::default();
    let mut ports: Vec<Port> = Vec::new();
    for element in element.each("port") {
        if let Some(port) = port(element, cyclic, &mut names, notes) {
            if alone(&port.name, &port.at, ports.iter().map(|p| (&p.name, &p.at)), notes) {
                ports.push(port);
            }
        }
    }
    for port in &mut ports {
        port.room = names.unique_with(&port.ours, "_room");
    }
    let (name, place) = (name.into(), Place::default());
    let (times, no_time, state_bytes) = (Vec::new(), None, None);
    Some(Actor { name, at, ports, times, no_time, state_bytes, place, phases: 1 })
}

fn port(
    element: Element<'_, '_>,
    cyclic: bool,
    names: &mut Names,
    notes: &mut Notes,
) -> Option<Port> {
    element.takes(&["name", "type", "rate"], &[], &[], notes);
    let (name, at) = element.needs("name", notes)?;
    let (direction, direction_at) = element.needs("type", notes)?;
    if direction != "in" && direction != "out" {
        let problem = Problem::new("`type` of <port> must be in or out").help("write in or out");
        notes.refuse(problem.at(direction_at, "not this"));
    }
    let (text, rate_at) = element.needs("rate", notes)?;
    let rate = rate(text, rate_at, cyclic, notes).unwrap_or(Phases::one(1));
    let (name, ours) = (name.to_owned(), names.unique(name));
    let (room, sends) = (String::new(), direction == "out");
    Some(Port { name, ours, room, at, sends, rate, connected: false })
}

fn rate(text: &str, at: Span, cyclic: bool, notes: &mut Notes) -> Option<Phases> {
    let several = text.contains([',', '*']);
    let rate = Phases::read(text, RATE_MAX).filter(|_| cyclic || !several);
    if let Some(rate) = rate.filter(|rate| rate.all() > 0) {
        return Some(rate);
    }
    let problem = Problem::new(format!("`rate` of <port> must be from 1 to {RATE_MAX}"));
    let problem = problem.at(at, "not this");
    notes.refuse(match (several, cyclic) {
        (false, _) => problem.help("write such a number"),
        (true, false) => problem.help("set `type=\"csdf\"` for a graph with phases"),
        (true, true) => problem.help(
            "write one number, or one for each phase of the actor, for example `1,0,3*2`, at \
             least one of them more than 0",
        ),
    });
    None
}

fn edge(element: Element<'_, '_>, actors: &mut [Actor], notes: &mut Notes) -> Option<Edge> {
    let ends = ["srcActor", "srcPort", "dstActor", "dstPort"];
    let known = ["name", "initialTokens", "size", ends[0], ends[1], ends[2], ends[3]];
    element.takes(&known, &[], &[], notes);
    let (name, at) = element.needs("name", notes)?;
    let initial = match element.text("initialTokens") {
        Some(_) => element.number("initialTokens", "a number from 0 to 4294967295", notes)?,
        None => 0,
    };
    let from = end(element, ends[0], ends[1], true, actors, notes);
    let to = end(element, ends[2], ends[3], false, actors, notes);
    let (from, to) = (from?, to?);
    let rate = |(actor, port): (usize, usize)| &actors[actor].ports[port].rate;
    let (produce, consume) = (rate(from).clone(), rate(to).clone());
    let name = name.into();
    Some(Edge { name, at, from, to, produce, consume, initial, slots: None, slot_bytes: None })
}

/// The actor and the port that two attributes name.
fn end(
    element: Element<'_, '_>,
    actor_key: &str,
    port_key: &str,
    sends: bool,
    actors: &mut [Actor],
    notes: &mut Notes,
) -> Option<(usize, usize)> {
    let (actor, actor_at) = element.needs(actor_key, notes)?;
    let (port, port_at) = element.needs(port_key, notes)?;
    let Some(number) = actors.iter().position(|known| known.name == actor) else {
        let names = actors.iter().map(|known| known.name.as_str());
        return missing("actor", actor, actor_at, names, notes);
    };
    let ports = &mut actors[number].ports;
    let Some(position) = ports.iter().position(|known| known.name == port) else {
        let names = ports.iter().map(|known| known.name.as_str());
        return missing("port", port, port_at, names, notes);
    };
    let bound = &mut ports[position];
    if bound.sends != sends {
        let way = if sends { "out" } else { "in" };
        let problem = Problem::new(format!("the port `{port}` is not of type `{way}`"))
            .help("name a port of that type");
        notes.refuse(problem.at(port_at, "this port"));
    } else if bound.connected {
        let problem = Problem::new(format!("the port `{port}` has a second channel"))
            .help("use a separate port for each channel");
        notes.refuse(problem.at(port_at, "this port"));
    }
    bound.connected = true;
    Some((number, position))
}

/// Notes that nothing has this name, and which may be meant.
pub(super) fn missing<'a, T>(
    what: &str,
    name: &str,
    at: Span,
    known: impl Iterator<Item = &'a str>,
    notes: &mut Notes,
) -> Option<T> {
    let mut problem = Problem::new(format!("no {what} is called `{name}`")).at(at, "this one");
    if let Some(meant) = nearest(name, known) {
        problem = problem.help(format!("write `{meant}`"));
    }
    notes.refuse(problem);
    None
}
