// SPDX-License-Identifier: Apache-2.0
//! Graphs whose nodes and edges have attributes, as GraphML and DOT write them: nodes are actors
//! whose firings follow each other, edges are channels. See `docs/imports.md` for the attributes.

mod value;

use std::collections::BTreeSet;
use std::rc::Rc;

use super::dataflow::{self, Actor, Edge, Graph, Phases, Place, Port, Words};
use super::draft::Draft;
use super::names::Names;
use super::notes::Notes;
use value::Values;
use whimbrel_model::{Problem, Span, nearest};

/// Those that mean something here.
const OF_NODE: [&str; 6] = ["cycles", "core", "priority", "period_us", "firings", "working_set"];
const OF_EDGE: [&str; 6] = ["rate", "produce", "consume", "tokens", "bytes", "slots"];

const WORDS: Words =
    Words { tokens: "tokens", room: "slots", rate: "produce` or `consume", state: "working_set" };

/// A name becomes part of each port and each channel of its node.
const NAME_MAX: usize = 255;

/// What has attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Node,
    Edge,
}

impl Of {
    fn known(self) -> &'static [&'static str] {
        match self {
            Self::Node => &OF_NODE,
            Self::Edge => &OF_EDGE,
        }
    }

    /// Whether an attribute of this name means something.
    pub fn knows(self, name: &str) -> bool {
        self.known().contains(&name)
    }
}

/// A graph as it stands in a file.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub name: Option<String>,
    pub at: Span,
    pub nodes: Vec<Node>,
    pub arrows: Vec<Arrow>,
    others: [Others; 2],
}

impl Drawn {
    /// Of some attributes those that mean something, the last of each name. The others are told
    /// of, and not kept: a default is one of every node or edge.
    pub fn known(&mut self, of: Of, all: impl IntoIterator<Item = Attribute>) -> Attributes {
        let mut known = Attributes::default();
        for attribute in all {
            if of.knows(&attribute.key) {
                known.set(&Rc::new(attribute));
            } else {
                self.others[of as usize].add(attribute);
            }
        }
        known
    }
}

/// Attributes without a meaning here, each key once.
#[derive(Debug, Default)]
struct Others {
    keys: BTreeSet<String>,
    first: Vec<Attribute>,
}

impl Others {
    fn add(&mut self, attribute: Attribute) {
        if self.keys.insert(attribute.key.clone()) {
            self.first.push(attribute);
        }
    }
}

/// A node.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub name: String,
    pub at: Span,
    pub attributes: Attributes,
}

/// An edge with a direction, from one node to another.
#[derive(Debug, Clone, Default)]
pub(super) struct Arrow {
    pub from: usize,
    pub to: usize,
    pub at: Span,
    pub attributes: Attributes,
}

/// An attribute.
#[derive(Debug, Clone, Default)]
pub(super) struct Attribute {
    pub key: String,
    pub key_at: Span,
    pub value: String,
    pub at: Span,
}

/// Those of a node or an edge that mean something: a handful, each shared by all that have it.
#[derive(Debug, Clone, Default)]
pub(super) struct Attributes(Vec<Rc<Attribute>>);

impl Attributes {
    /// Sets an attribute; the last of a name counts.
    fn set(&mut self, new: &Rc<Attribute>) {
        match self.0.iter_mut().find(|known| known.key == new.key) {
            Some(known) => known.clone_from(new),
            None => self.0.push(Rc::clone(new)),
        }
    }

    /// Sets all of these.
    pub fn set_all(&mut self, more: &Self) {
        more.0.iter().for_each(|new| self.set(new));
    }
}

/// What becomes of a graph; `None` when something in it is refused.
pub(super) fn draft(stem: &str, drawn: &Drawn, source: &str, notes: &mut Notes) -> Option<Draft> {
    if drawn.nodes.is_empty() {
        notes.refuse(
            Problem::new("the graph has no node")
                .help("write at least one node")
                .at(drawn.at.clone(), "this graph"),
        );
        return None;
    }
    let before = notes.problems.len();
    if let Some(node) = drawn.nodes.iter().find(|node| node.name.len() > NAME_MAX) {
        let problem = Problem::new(format!("the name of a node has more than {NAME_MAX} bytes"))
            .help("shorten it");
        notes.refuse(problem.at(node.at.clone(), "this node"));
        return None;
    }
    others(&drawn.others[Of::Node as usize].first, Of::Node, "nodes", notes);
    others(&drawn.others[Of::Edge as usize].first, Of::Edge, "edges", notes);
    let mut graph = Graph { words: WORDS, ..Graph::default() };
    graph.actors = drawn.nodes.iter().map(|node| actor(node, notes)).collect();
    let mut names: Vec<Names> = drawn.nodes.iter().map(|_| Names::default()).collect();
    for arrow in &drawn.arrows {
        channel(drawn, arrow, &mut graph, &mut names, notes);
    }
    for (actor, names) in graph.actors.iter_mut().zip(&mut names) {
        for port in &mut actor.ports {
            port.room = names.unique_with(&port.ours, "_room");
        }
    }
    one_after_another(&mut graph);
    let name = drawn.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(stem);
    (notes.problems.len() == before).then(|| dataflow::draft(name, source, graph, notes))
}

/// Tells once of each attribute that means nothing here, and of what may have been meant.
fn others(all: &[Attribute], of: Of, place: &str, notes: &mut Notes) {
    let mut plain: Option<(Span, Vec<&str>)> = None;
    for Attribute { key, key_at, .. } in all {
        if let Some(meant) = nearest(key, of.known().iter().copied()) {
            let warning = Problem::new(format!("`{key}` of {place} has no meaning here"));
            let warning = warning.at(key_at.clone(), "left out");
            notes.warn(warning.help(format!("write `{meant}`")));
        } else {
            plain.get_or_insert_with(|| (key_at.clone(), Vec::new())).1.push(key);
        }
    }
    let Some((at, keys)) = plain else { return };
    let keys: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
    let verb = if keys.len() == 1 { "has" } else { "have" };
    let message = format!("{} of {place} {verb} no meaning here", keys.join(", "));
    notes.warn(Problem::new(message).at(at, "left out"));
}

fn actor(node: &Node, notes: &mut Notes) -> Actor {
    let values = Values(&node.attributes);
    let cycles = values.phases("cycles", value::CYCLES_MAX, notes);
    if values.get("cycles").is_none() {
        let problem = Problem::new(format!("`{}` has no `cycles`", node.name));
        let help = "add `cycles`: what one firing computes";
        notes.refuse(problem.at(node.at.clone(), "this node").help(help));
    }
    let no_time = values.get("cycles").map(|attribute| attribute.at.clone());
    let times = cycles.into_iter().map(|cycles| (String::new(), cycles)).collect::<Vec<_>>();
    Actor {
        name: node.name.clone(),
        at: node.at.clone(),
        no_time: no_time.filter(|_| times.iter().any(|(_, times)| times.least() == 0)),
        times,
        state_bytes: values.number("working_set", 0, 1 << 40, notes),
        place: Place {
            core: values.small("core", 0, 4094, notes),
            priority: values.small("priority", 0, 31, notes),
            period_ns: values.microseconds("period_us", notes),
            firings: values.number("firings", 1, u64::MAX, notes),
        },
        ports: Vec::new(),
        phases: 1,
    }
}

/// Adds a channel, and its ports, named after who is at the other end.
fn channel(
    drawn: &Drawn,
    arrow: &Arrow,
    graph: &mut Graph,
    names: &mut [Names],
    notes: &mut Notes,
) {
    let values = Values(&arrow.attributes);
    let (produce, consume) = rates(&values, notes);
    let mut port = |actor: usize, sends: bool, rate: &Phases| {
        let (way, other) = if sends { ("to", arrow.to) } else { ("from", arrow.from) };
        let name = format!("{way}_{}", drawn.nodes[other].name);
        let (ours, at) = (names[actor].unique(&name), arrow.at.clone());
        let rate = rate.clone();
        let ports = &mut graph.actors[actor].ports;
        ports.push(Port { name, ours, room: String::new(), at, sends, rate, connected: true });
        (actor, ports.len() - 1)
    };
    let (from, to) = (port(arrow.from, true, &produce), port(arrow.to, false, &consume));
    let initial = values.small("tokens", 0, 32768, notes).unwrap_or(0);
    let slots = values.small("slots", 1, 32768, notes);
    let slot_bytes = values.small("bytes", 1, 1 << 30, notes);
    let (first, second) = (&drawn.nodes[arrow.from].name, &drawn.nodes[arrow.to].name);
    let (name, at) = (format!("{first} → {second}"), arrow.at.clone());
    graph.edges.push(Edge { name, at, from, to, produce, consume, initial, slots, slot_bytes });
}

/// What an arrow passes in a firing of either end; `rate` is both.
fn rates(values: &Values<'_>, notes: &mut Notes) -> (Phases, Phases) {
    if let (Some(both), Some(one)) =
        (values.get("rate"), values.get("produce").or(values.get("consume")))
    {
        let problem = Problem::new(format!("`rate` and `{}` stand side by side", one.key));
        let problem = problem.at(both.key_at.clone(), "this is both").at(one.key_at.clone(), "one");
        notes.refuse(problem.help("keep `rate`, or `produce` and `consume`"));
    }
    let both = values.rate("rate", notes);
    let mut rate = |key| values.rate(key, notes).or(both.clone()).unwrap_or(Phases::one(1));
    (rate("produce"), rate("consume"))
}

/// Gives each actor a channel to itself with one token: its firings follow each other.
fn one_after_another(graph: &mut Graph) {
    for (number, actor) in graph.actors.iter_mut().enumerate() {
        let mut port = |sends| {
            let (name, at) = (String::new(), actor.at.clone());
            let (ours, room, rate) = (String::new(), String::new(), Phases::one(1));
            actor.ports.push(Port { name, ours, room, at, sends, rate, connected: true });
            (number, actor.ports.len() - 1)
        };
        let (from, to) = (port(true), port(false));
        graph.edges.push(Edge {
            name: String::new(),
            at: actor.at.clone(),
            from,
            to,
            produce: Phases::one(1),
            consume: Phases::one(1),
            initial: 1,
            slots: None,
            slot_bytes: None,
        });
    }
}
