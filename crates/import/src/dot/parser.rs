// SPDX-License-Identifier: Apache-2.0
//! A graph in DOT from its words. Attributes of `node` and `edge` hold from where they stand to the
//! end of their subgraph; those of graphs mean nothing here.

use std::collections::{BTreeMap, HashSet};

use super::lexer::{Kind, Token};
use crate::graph::{Arrow, Attribute, Attributes, Drawn, Node, Of};
use whimbrel_model::{Problem, Span};

/// Subgraphs in each other.
const DEPTH_MAX: u32 = 100;
/// Edges, each of which may be between two subgraphs.
const ARROWS_MAX: usize = 1 << 16;

/// The one graph of a text, which has directions.
pub(super) fn parse(tokens: Vec<Token>) -> Result<Drawn, Problem> {
    let (drawn, names, known) = (Drawn::default(), BTreeMap::new(), BTreeMap::new());
    let mut parser = Parser { tokens, next: 0, strict: false, drawn, names, edges: 0, known };
    parser.strict = parser.keyword("strict").is_some();
    if let Some(at) = parser.keyword("graph") {
        let problem = Problem::new("the edges of this graph have no direction").at(at, "here");
        return Err(problem.help("write `digraph`, and edges as `a -> b`"));
    }
    let Some(at) = parser.keyword("digraph") else { return Err(parser.wanted("`digraph`")) };
    parser.drawn.at = at;
    parser.drawn.name = parser.id()?.map(|id| id.0);
    parser.mark('{').ok_or_else(|| parser.wanted("`{`"))?;
    parser.statements(Scope::default())?;
    match parser.peek().kind {
        Kind::End => Ok(parser.drawn),
        _ => Err(parser.wanted("the end, for a file has one graph")),
    }
}

/// The attributes that new nodes and edges have.
#[derive(Debug, Clone, Default)]
struct Scope {
    depth: u32,
    node: Attributes,
    edge: Attributes,
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    strict: bool,
    drawn: Drawn,
    names: BTreeMap<String, usize>,
    /// That were said, of a strict graph also again.
    edges: usize,
    /// Of a strict graph: the edge between two nodes.
    known: BTreeMap<(usize, usize), usize>,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn wanted(&self, wanted: &str) -> Problem {
        let Token { kind, at } = self.peek();
        let problem = Problem::new(format!("this is not DOT: it wants {wanted}"));
        match kind {
            Kind::End => problem.at(at.clone(), "here").help("complete it: the text ends here"),
            _ => problem.at(at.clone(), "not this"),
        }
    }

    fn mark(&mut self, mark: char) -> Option<Span> {
        let token = self.peek();
        let at = (token.kind == Kind::Mark(mark)).then(|| token.at.clone())?;
        self.next += 1;
        Some(at)
    }

    /// Keywords may be written large.
    fn keyword(&mut self, word: &str) -> Option<Span> {
        let Token { kind: Kind::Id { text, quoted: false }, at } = self.peek() else { return None };
        let at = text.eq_ignore_ascii_case(word).then(|| at.clone())?;
        self.next += 1;
        Some(at)
    }

    /// A name or a value; texts may be joined by `+`.
    fn id(&mut self) -> Result<Option<(String, Span)>, Problem> {
        let Token { kind: Kind::Id { text, quoted }, at } = self.peek() else { return Ok(None) };
        let (mut text, quoted, mut at) = (text.clone(), *quoted, at.clone());
        self.next += 1;
        while quoted && self.mark('+').is_some() {
            let Token { kind: Kind::Id { text: more, quoted: true }, at: end } = self.peek() else {
                return Err(self.wanted("a text in quotes after `+`"));
            };
            text.push_str(more);
            at.end = end.end;
            self.next += 1;
        }
        Ok(Some((text, at)))
    }

    /// Up to the end of a graph. Returns the nodes in it.
    fn statements(&mut self, mut scope: Scope) -> Result<Vec<usize>, Problem> {
        let mut nodes = Vec::new();
        while self.mark('}').is_none() {
            if self.mark(';').is_some() {
                continue;
            }
            self.statement(&mut scope, &mut nodes)?;
        }
        Ok(nodes)
    }

    fn statement(&mut self, scope: &mut Scope, nodes: &mut Vec<usize>) -> Result<(), Problem> {
        if self.keyword("graph").is_some() {
            return self.attributes().map(drop);
        }
        for (word, of) in [("node", Of::Node), ("edge", Of::Edge)] {
            if self.keyword(word).is_some() {
                let more = self.attributes_of(of)?;
                match of {
                    Of::Node => scope.node.set_all(&more),
                    Of::Edge => scope.edge.set_all(&more),
                }
                return Ok(());
            }
        }
        let start = self.peek().at.start;
        let Some(first) = self.end(scope)? else { return Ok(()) };
        let mut ends = vec![first];
        while let Kind::Edge { directed } = self.peek().kind {
            if !directed {
                return Err(self.wanted("`->`, for the graph has directions"));
            }
            self.next += 1;
            ends.push(self.end(scope)?.ok_or_else(|| self.wanted("a node"))?);
        }
        // A group is a set: a node that stands in it twice has one edge.
        for end in ends.iter_mut().filter(|end| end.is_group) {
            let mut known = HashSet::new();
            end.nodes.retain(|node| known.insert(*node));
        }
        let at = start..self.tokens[self.next - 1].at.end;
        if ends.len() > 1 || !ends[0].is_group {
            let of = if ends.len() > 1 { Of::Edge } else { Of::Node };
            let attributes = self.attributes_of(of)?;
            self.apply(scope, &ends, &at, &attributes)?;
        }
        nodes.extend(ends.into_iter().flat_map(|end| end.nodes));
        Ok(())
    }

    /// A node, or a subgraph, or (`None`) an attribute of a graph.
    fn end(&mut self, scope: &Scope) -> Result<Option<End>, Problem> {
        let named = self.keyword("subgraph").is_some();
        if named {
            self.id()?;
        }
        if self.mark('{').is_some() {
            let scope = Scope { depth: scope.depth + 1, ..scope.clone() };
            if scope.depth > DEPTH_MAX {
                let at = self.tokens[self.next - 1].at.clone();
                return Err(Problem::new("this is nested too deep")
                    .help("nest subgraphs less deeply")
                    .at(at, "here"));
            }
            return Ok(Some(End { nodes: self.statements(scope)?, is_group: true }));
        }
        let id = if named { None } else { self.id()? };
        let Some((name, at)) = id else { return Err(self.wanted("a node, or `}`")) };
        if self.mark('=').is_some() {
            self.id()?.ok_or_else(|| self.wanted("a value"))?;
            return Ok(None);
        }
        while self.mark(':').is_some() {
            self.id()?.ok_or_else(|| self.wanted("a port"))?;
        }
        Ok(Some(End { nodes: vec![self.node(scope, name, at)], is_group: false }))
    }

    /// The number of a node, which is new where its name stands for the first time.
    fn node(&mut self, scope: &Scope, name: String, at: Span) -> usize {
        let nodes = &mut self.drawn.nodes;
        *self.names.entry(name.clone()).or_insert_with(|| {
            nodes.push(Node { name, at, attributes: scope.node.clone() });
            nodes.len() - 1
        })
    }

    /// Lists in brackets, of which there may be several or none.
    fn attributes(&mut self) -> Result<Vec<Attribute>, Problem> {
        let mut all = Vec::new();
        while self.mark('[').is_some() {
            while self.mark(']').is_none() {
                let id = self.id()?;
                let (key, key_at) = id.ok_or_else(|| self.wanted("an attribute, or `]`"))?;
                self.mark('=').ok_or_else(|| self.wanted("`=` after an attribute"))?;
                let (value, at) = self.id()?.ok_or_else(|| self.wanted("a value"))?;
                all.push(Attribute { key, key_at, value, at });
                let _ = self.mark(';').or_else(|| self.mark(','));
            }
        }
        Ok(all)
    }

    /// Of lists in brackets what means something here.
    fn attributes_of(&mut self, of: Of) -> Result<Attributes, Problem> {
        let all = self.attributes()?;
        Ok(self.drawn.known(of, all))
    }

    /// What a statement says of its node, or of the edges between each two of its ends.
    fn apply(
        &mut self,
        scope: &Scope,
        ends: &[End],
        at: &Span,
        attributes: &Attributes,
    ) -> Result<(), Problem> {
        if let [End { nodes, .. }] = ends {
            for number in nodes {
                self.drawn.nodes[*number].attributes.set_all(attributes);
            }
        }
        for pair in ends.windows(2) {
            self.edges += pair[0].nodes.len() * pair[1].nodes.len();
            if self.edges > ARROWS_MAX {
                let problem = Problem::new(format!("the graph has more than {ARROWS_MAX} edges"));
                return Err(problem.at(at.clone(), "here"));
            }
            for from in &pair[0].nodes {
                for to in &pair[1].nodes {
                    self.arrow((*from, *to), scope, at, attributes);
                }
            }
        }
        Ok(())
    }

    /// An edge; of a strict graph the one that there is.
    fn arrow(&mut self, ends: (usize, usize), scope: &Scope, at: &Span, more: &Attributes) {
        let arrows = &mut self.drawn.arrows;
        let new = arrows.len();
        let number = if self.strict { *self.known.entry(ends).or_insert(new) } else { new };
        if number == new {
            let (from, to) = ends;
            arrows.push(Arrow { from, to, at: at.clone(), attributes: scope.edge.clone() });
        }
        arrows[number].attributes.set_all(more);
    }
}

/// What stands at an end of an edge.
#[derive(Debug)]
struct End {
    nodes: Vec<usize>,
    is_group: bool,
}
