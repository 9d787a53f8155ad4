// SPDX-License-Identifier: Apache-2.0
//! Application graphs of SDF3 (Stuijk, Geilen and Basten, *SDF3: SDF for free*, ACSD 2006; the
//! format's manual is at <http://www.es.ele.tue.nl/sdf3/manuals/xml/sdf/>).

mod graph;
mod properties;

use std::collections::BTreeSet;

use super::draft::{Channel, Cycles, Draft, Task};
use super::names::{Names, plain};
use super::notes::Notes;
use super::xml::{Element, parse};
use crate::problem::Problem;
use graph::{Actor, Edge, Graph};

/// Most slots that a channel of ours has.
const SLOTS_MAX: u32 = 32768;
const SLOTS_LEAST: u32 = 14;
/// Where the file gives no size of a token.
const SLOT_BYTES: u32 = 64;

/// Reads a whole file.
pub(super) fn read(stem: &str, text: &str, notes: &mut Notes) -> Option<Draft> {
    let document = parse(text).map_err(|problem| notes.refuse(problem)).ok()?;
    let root = Element::root(&document);
    let application = application(root, notes)?;
    let graph = graph::read(application.only("sdf", notes)?, notes);
    let properties = application.only("sdfProperties", notes);
    if properties.is_none() {
        let problem = Problem::new("<applicationGraph> has no <sdfProperties>");
        let help = "execution times are needed: one <actorProperties> for each actor";
        notes.refuse(problem.at(application.at(), "this one").help(help));
    }
    let mut graph = graph?;
    properties::read(properties?, &mut graph, notes);
    let name = application.text("name").map(|(name, _)| name).filter(|name| !name.is_empty());
    Some(draft(name.unwrap_or(stem), &graph, notes))
}

/// The element of the graph, if it is one of synchronous dataflow.
fn application<'a, 'x>(root: Element<'a, 'x>, notes: &mut Notes) -> Option<Element<'a, 'x>> {
    if root.name() != "sdf3" {
        let problem = Problem::new(format!("<{}> is no file of SDF3", root.name()));
        notes.refuse(problem.at(root.at(), "should be <sdf3>"));
        return None;
    }
    if let Some((kind, at)) = root.text("type").filter(|(kind, _)| *kind != "sdf") {
        let problem = Problem::new(format!("graphs of type `{kind}` are not supported"));
        notes.refuse(problem.at(at, "this type").help("only `sdf`, synchronous dataflow, is"));
        return None;
    }
    let others = [
        "architectureGraph",
        "mapping",
        "systemUsage",
        "storageThroughputTradeOffs",
        "messagesSet",
        "settings",
    ];
    root.takes(&["type", "version"], &["applicationGraph"], &others, notes);
    let application = root.only("applicationGraph", notes);
    let Some(application) = application else {
        let problem = Problem::new("<sdf3> has no <applicationGraph>");
        notes.refuse(problem.at(root.at(), "this one"));
        return None;
    };
    if let Some(cyclic) = application.only("csdf", notes) {
        let problem = Problem::new("cyclo-static graphs are not supported").at(cyclic.at(), "here");
        let help = "the rates of a task are the same in each firing: write it as <sdf>";
        notes.refuse(problem.help(help));
        return None;
    }
    application.takes(&["name"], &["sdf", "sdfProperties"], &[], notes);
    if application.each("sdf").next().is_none() {
        let problem = Problem::new("<applicationGraph> has no <sdf>");
        notes.refuse(problem.at(application.at(), "this one"));
    }
    Some(application)
}

fn draft(name: &str, graph: &Graph, notes: &mut Notes) -> Draft {
    let mut names = Names::default();
    let kinds: BTreeSet<&str> = graph
        .actors
        .iter()
        .flat_map(|actor| actor.times.iter().map(|(kind, _)| kind.as_str()))
        .collect();
    let tasks: Vec<Task> =
        graph.actors.iter().map(|actor| task(actor, kinds.len() > 1, &mut names, notes)).collect();
    let channels = graph.edges.iter().filter_map(|edge| channel(edge, graph, &tasks, notes));
    let channels = channels.collect();
    let source = "Made from a graph of SDF3; a unit of its time is a cycle.".into();
    Draft { name: plain(name), source, tasks, channels }
}

fn task(actor: &Actor, by_kind: bool, names: &mut Names, notes: &mut Notes) -> Task {
    let name = names.unique(&actor.name);
    if name != actor.name {
        let warning = Problem::new(format!("`{}` is called `{name}` here", actor.name));
        notes.warn(warning.at(actor.at.clone(), "this name"));
    }
    let cycles = match actor.times.as_slice() {
        [] => Cycles::default(),
        times if by_kind => Cycles::Kinds(times.to_vec()),
        [(_, time), ..] => Cycles::Any(*time),
    };
    Task { name, count: 1, cycles, working_set: actor.state_bytes, ..Task::default() }
}

/// A channel; `None` for one that only says that firings of an actor follow each other.
fn channel(edge: &Edge, graph: &Graph, tasks: &[Task], notes: &mut Notes) -> Option<Channel> {
    if edge.from.0 == edge.to.0 && edge.produce == edge.consume && edge.initial >= edge.consume {
        let message = format!("`{}` is left out", edge.name);
        let words = "firings of a task follow each other anyway";
        notes.warn(Problem::new(message).at(edge.at.clone(), words));
        return None;
    }
    let enough = edge.produce.max(edge.consume).saturating_mul(2).saturating_add(edge.initial);
    let slots = edge.slots.unwrap_or(enough.max(SLOTS_LEAST));
    if slots < edge.initial || !(1..=SLOTS_MAX).contains(&slots) {
        let message = format!("`{}` would have {slots} slots", edge.name);
        let problem = Problem::new(message).at(edge.at.clone(), "this channel");
        let help = format!("a channel has 1 to {SLOTS_MAX}, and no fewer than its initial tokens");
        notes.refuse(problem.help(help));
    }
    let end = |(actor, port): (usize, usize)| {
        (tasks[actor].name.clone(), graph.actors[actor].ports[port].ours.clone())
    };
    Some(Channel {
        from: end(edge.from),
        to: end(edge.to),
        produce: edge.produce,
        consume: edge.consume,
        initial: edge.initial,
        slots,
        slot_bytes: edge.slot_bytes.unwrap_or(SLOT_BYTES),
    })
}
