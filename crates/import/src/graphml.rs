// SPDX-License-Identifier: Apache-2.0
//! Graphs in GraphML: <http://graphml.graphdrawing.org/>. The attributes of a node or an edge are its
//! `<data>`, named by `<key>`; nodes in groups are nodes as all others. What editors keep of a
//! drawing is left out, but for a node's label in yEd, which is its name.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::graph::{self, Arrow, Attribute, Attributes, Drawn, Node, Of};
use super::notes::Notes;
use super::xml::Element;
use whimbrel_model::{Problem, Span, nearest};

/// Reads a document with that root.
pub(super) fn read(stem: &str, root: Element<'_, '_>, notes: &mut Notes) -> Option<Draft> {
    let before = notes.problems.len();
    let graph = root.only("graph", notes);
    let Some(graph) = graph else {
        let problem = Problem::new("<graphml> has no <graph>")
            .help("add <graph> with the nodes and edges")
            .at(root.at(), "this one");
        notes.refuse(problem);
        return None;
    };
    let mut reader = Reader::new(keys(root, notes));
    reader.drawn.at = graph.at();
    reader.nodes(graph, 0, notes);
    reader.edges(graph, false, notes);
    let mut own = reader.defaults("graph");
    own.extend(reader.attributes(graph, "graph", notes));
    reader.drawn.name = named(&own).map(str::to_owned);
    reader.say_left_out(notes);
    let source = "Made from a graph in GraphML.";
    (notes.problems.len() == before).then(|| graph::draft(stem, &reader.drawn, source, notes))?
}

/// Groups in each other.
const DEPTH_MAX: u32 = 100;
/// The attribute that is a node's or a graph's name.
const NAME: &str = "name";
/// What a key is of that says nothing else.
const ALL: &str = "all";

struct Key<'a> {
    id: &'a str,
    /// What it is of: node, edge, graph or all.
    of: &'a str,
    name: &'a str,
    default: Option<Attribute>,
}

/// What `<key>` says of attributes.
fn keys<'a>(root: Element<'a, '_>, notes: &mut Notes) -> Vec<Key<'a>> {
    let mut keys = Vec::new();
    for element in root.each("key") {
        let Some((id, at)) = element.needs("id", notes) else { continue };
        // Those without a name are an editor's own, unless written by hand.
        let by_id = id == NAME || Of::Node.knows(id) || Of::Edge.knows(id);
        let unnamed = if by_id { id } else { "" };
        let name = element.text("attr.name").map_or(unnamed, |(name, _)| name);
        let of = element.text("for").map_or(ALL, |(of, _)| of);
        let default = element.only("default", notes).map(|default| {
            let (value, value_at) = default.content();
            Attribute { key: name.into(), key_at: at.clone(), value, at: value_at }
        });
        keys.push(Key { id, of, name, default });
    }
    keys
}

struct Reader<'a> {
    keys: Vec<Key<'a>>,
    /// The name that a key of an id stands for, by what it is of, and of whatever it is.
    names: BTreeMap<(&'a str, Option<&'a str>), &'a str>,
    /// What every node and every edge has that says nothing else.
    node: Attributes,
    edge: Attributes,
    name: Option<String>,
    /// The number of each node by its id.
    ids: BTreeMap<&'a str, usize>,
    groups: BTreeSet<&'a str>,
    drawn: Drawn,
    /// What is left out, with the first place of each.
    left_out: BTreeMap<String, Span>,
}

impl<'a> Reader<'a> {
    fn new(keys: Vec<Key<'a>>) -> Self {
        let mut reader = Self {
            // Of several that are alike the first counts.
            names: keys
                .iter()
                .rev()
                .flat_map(|key| [None, Some(key.of)].map(|of| ((key.id, of), key.name)))
                .collect(),
            keys,
            node: Attributes::default(),
            edge: Attributes::default(),
            name: None,
            ids: BTreeMap::new(),
            groups: BTreeSet::new(),
            drawn: Drawn::default(),
            left_out: BTreeMap::new(),
        };
        let (mut of_nodes, of_edges) = (reader.defaults("node"), reader.defaults("edge"));
        reader.name = named(&of_nodes).map(str::to_owned);
        of_nodes.retain(|attribute| attribute.key != NAME);
        reader.node = reader.drawn.known(Of::Node, of_nodes);
        reader.edge = reader.drawn.known(Of::Edge, of_edges);
        reader
    }

    /// The attributes that all of a kind have.
    fn defaults(&self, of: &str) -> Vec<Attribute> {
        // A default of all has a meaning for some of them.
        let knows = |name: &str| match of {
            "node" => name == NAME || Of::Node.knows(name),
            "edge" => Of::Edge.knows(name),
            _ => name == NAME,
        };
        let ours = self.keys.iter().filter(|key| key.of == of || key.of == ALL && knows(key.name));
        ours.filter_map(|key| key.default.clone()).collect()
    }

    fn leave_out(&mut self, what: impl Into<String>, at: Span) {
        self.left_out.entry(what.into()).or_insert(at);
    }

    fn say_left_out(&mut self, notes: &mut Notes) {
        for (what, at) in std::mem::take(&mut self.left_out) {
            notes.warn(Problem::new(what).at(at, "left out"));
        }
    }

    /// What of a node, an edge or a graph is in no place of its own here.
    fn pass_over(&mut self, element: Element<'a, '_>) {
        for child in element.elements() {
            match child.name() {
                "port" => self.leave_out("ports have no meaning here", child.at()),
                "locator" => {
                    self.leave_out("the file that a <locator> names is not read", child.at());
                }
                "graph" if element.name() == "edge" => {
                    self.leave_out("graphs in edges have no meaning here", child.at());
                }
                _ => {}
            }
        }
    }

    /// All nodes of a graph and its groups, which are none.
    fn nodes(&mut self, graph: Element<'a, '_>, depth: u32, notes: &mut Notes) {
        if let Some(hyper) = graph.elements().find(|child| child.name() == "hyperedge") {
            let problem = Problem::new("edges between more than two nodes are not supported")
                .help("write one <edge> for each pair of nodes");
            notes.refuse(problem.at(hyper.at(), "this one"));
        }
        self.pass_over(graph);
        for element in graph.each("node") {
            self.pass_over(element);
            if let Some(group) = element.only("graph", notes) {
                self.group(element, notes);
                if depth < DEPTH_MAX {
                    self.nodes(group, depth + 1, notes);
                } else {
                    notes.refuse(
                        Problem::new("this is nested too deep")
                            .help("nest graphs less deeply")
                            .at(group.at(), "here"),
                    );
                }
                continue;
            }
            let Some((id, at)) = element.needs("id", notes) else { continue };
            let mut own = self.attributes(element, "node", notes);
            let name = named(&own).map(str::to_owned).or_else(|| self.name.clone());
            let name = name.filter(|name| !name.is_empty()).or_else(|| label(element));
            let name = name.unwrap_or_else(|| id.to_owned());
            own.retain(|attribute| attribute.key != NAME);
            let mut attributes = self.node.clone();
            attributes.set_all(&self.drawn.known(Of::Node, own));
            let number = self.drawn.nodes.len();
            if let Some(first) = self.ids.insert(id, number) {
                let problem = Problem::new(format!("two nodes have the id `{id}`"))
                    .help("give each node a different id");
                let first = self.drawn.nodes[first].at.clone();
                notes.refuse(problem.at(at.clone(), "the second").at(first, "the first"));
            }
            self.drawn.nodes.push(Node { name, at, attributes });
        }
    }

    /// A node that is a group: it has a name at most.
    fn group(&mut self, element: Element<'a, '_>, notes: &mut Notes) {
        self.groups.extend(element.text("id").map(|(id, _)| id));
        let own = self.attributes(element, "node", notes);
        if let Some(own) = own.into_iter().find(|own| Of::Node.knows(&own.key)) {
            let what = format!("`{}` of a group has no meaning here", own.key);
            self.leave_out(what, own.key_at);
        }
    }

    /// All edges of a graph and its groups, now that all nodes are known.
    fn edges(&mut self, graph: Element<'a, '_>, directed: bool, notes: &mut Notes) {
        let default = graph.text("edgedefault").map_or(directed, |(way, _)| way == "directed");
        for element in graph.each("edge") {
            self.pass_over(element);
            let own = element.boolean("directed", notes);
            if !own.unwrap_or(default) {
                let problem = Problem::new("this edge has no direction").at(element.at(), "here");
                let help = match own {
                    Some(_) => "write `directed=\"true\"` of each edge, or leave `directed` out",
                    None => {
                        "write `edgedefault=\"directed\"` of its <graph>; in networkx, a DiGraph"
                    }
                };
                notes.refuse(problem.help(help));
                // One such says all of them.
                return;
            }
            let (from, to) =
                (self.end(element, "source", notes), self.end(element, "target", notes));
            let own = self.attributes(element, "edge", notes);
            let mut attributes = self.edge.clone();
            attributes.set_all(&self.drawn.known(Of::Edge, own));
            if let (Some(from), Some(to)) = (from, to) {
                self.drawn.arrows.push(Arrow { from, to, at: element.at(), attributes });
            }
        }
        for group in graph.each("node").filter_map(|node| node.each("graph").next()) {
            self.edges(group, default, notes);
        }
    }

    fn end(&self, edge: Element<'a, '_>, key: &str, notes: &mut Notes) -> Option<usize> {
        let (id, at) = edge.needs(key, notes)?;
        let number = self.ids.get(id).copied();
        if number.is_none() {
            let mut problem = Problem::new(format!("no node has the id `{id}`")).at(at, "this one");
            if self.groups.contains(id) {
                problem = problem.help("name one of the nodes in this group");
            } else if let Some(meant) = nearest(id, self.ids.keys().copied()) {
                problem = problem.help(format!("write `{meant}`"));
            }
            notes.refuse(problem);
        }
        number
    }

    /// The attributes of an element that it says itself, `of` what the keys are.
    fn attributes(
        &mut self,
        element: Element<'a, '_>,
        of: &'static str,
        notes: &mut Notes,
    ) -> Vec<Attribute> {
        let mut all: Vec<Attribute> = Vec::new();
        for data in element.each("data") {
            let Some((id, at)) = data.needs("key", notes) else { continue };
            let own = [of, ALL].into_iter().find_map(|of| self.names.get(&(id, Some(of))));
            let Some(name) = own.or_else(|| self.names.get(&(id, None))).copied() else {
                let problem = Problem::new(format!("no <key> has the id `{id}`"))
                    .help("add the <key>, or name one that exists");
                notes.refuse(problem.at(at, "this one"));
                continue;
            };
            if own.is_none() && !name.is_empty() {
                let message = format!("the <key> `{id}` is not for a {of}");
                notes.warn(Problem::new(message).at(at.clone(), "taken all the same"));
            }
            let (value, value_at) = data.content();
            // igraph writes NaN where an attribute is not set, yEd nothing.
            if !name.is_empty() && !value.is_empty() && !value.eq_ignore_ascii_case("nan") {
                all.push(Attribute { key: name.into(), key_at: at, value, at: value_at });
            }
        }
        all
    }
}

/// The name among attributes; the last counts.
fn named(all: &[Attribute]) -> Option<&str> {
    all.iter().rev().find(|own| own.key == NAME).map(|own| own.value.as_str())
}

/// What yEd shows of a node.
fn label(node: Element<'_, '_>) -> Option<String> {
    let shapes = node.each("data").flat_map(Element::elements);
    let label = shapes.flat_map(|shape| shape.each("NodeLabel")).next()?;
    Some(label.content().0).filter(|label| !label.is_empty())
}
