// SPDX-License-Identifier: Apache-2.0
//! How often an actor fires at once, and how many tokens a channel holds, at most: from tokens and
//! buffers alone, so whatever the times are and wherever the tasks run.
//!
//! An actor's firings begin one after the other, and each needs some firings of other actors to
//! have ended, at least; those need others, and at last some of its own. What has begun and need
//! not have ended is what there can be at once. In the long run one iteration shifts all of this by
//! one iteration, so looking at one, late enough, is exact.

use std::collections::VecDeque;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::graph::Graph;
use super::phases::Phases;

/// So many are as good as any number: channels are not as large, and tasks not as many.
pub(super) const MANY: u64 = 1 << 16;

/// See the module. `None`: any number.
#[derive(Debug)]
pub(super) struct Bounds {
    /// Firings of each actor.
    pub at_once: Vec<Option<u64>>,
    /// Tokens of each channel.
    pub tokens: Vec<Option<u64>>,
}

/// For a firing to begin, another actor must have put a number of tokens, or freed as much room.
#[derive(Debug, Clone, Copy)]
struct Need<'g> {
    of: usize,
    take: &'g Phases,
    there: u64,
    give: &'g Phases,
}

impl Need<'_> {
    /// How many firings of the other must have ended for so many to have begun.
    fn firings(self, begun: u64) -> u64 {
        self.give.firings(self.take.sum(begun).saturating_sub(self.there))
    }
}

impl Bounds {
    /// Those of a graph that goes on for ever, whose actors fire so often in an iteration.
    pub fn of(graph: &Graph, repetitions: &[u64]) -> Self {
        let mut needs = needs(graph);
        within_cycles(&mut needs);
        let mut out = vec![Vec::new(); graph.actors.len()];
        for (number, edge) in graph.edges.iter().enumerate() {
            out[edge.from.0].push(number);
        }
        let mut bounds = Self {
            at_once: vec![Some(0); graph.actors.len()],
            tokens: vec![Some(0); graph.edges.len()],
        };
        let mut ended = Ended { of: vec![0; graph.actors.len()], some: Vec::new() };
        for (actor, count) in repetitions.iter().enumerate() {
            for begun in MANY + 1..=MANY + count {
                ended.when(&needs, actor, begun);
                bounds.look(graph, &out[actor], &ended.of, actor, begun);
            }
        }
        bounds
    }

    /// At the moment when an actor begins a firing as early as it can.
    fn look(&mut self, graph: &Graph, out: &[usize], ended: &[u64], actor: usize, begun: u64) {
        most(&mut self.at_once[actor], begun - ended[actor]);
        for &number in out {
            let edge = &graph.edges[number];
            let put = u64::from(edge.initial) + edge.produce.sum(begun);
            most(&mut self.tokens[number], put - edge.consume.sum(ended[edge.to.0]));
        }
    }
}

fn most(known: &mut Option<u64>, now: u64) {
    *known = known.map(|known| known.max(now)).filter(|most| *most < MANY);
}

fn needs(graph: &Graph) -> Vec<Vec<Need<'_>>> {
    let mut needs = vec![Vec::new(); graph.actors.len()];
    for edge in &graph.edges {
        let (from, to) = (edge.from.0, edge.to.0);
        let (produce, consume) = (&edge.produce, &edge.consume);
        let tokens = u64::from(edge.initial);
        needs[to].push(Need { of: from, take: consume, there: tokens, give: produce });
        if let Some(slots) = edge.slots {
            let room = u64::from(slots).saturating_sub(tokens);
            needs[from].push(Need { of: to, take: produce, there: room, give: consume });
        }
    }
    needs
}

/// Leaves out what is needed of actors that need nothing back. What an actor needs of itself and
/// of those that it sends to goes round, since who receives from it needs it. So a chain is not
/// walked to its beginning for each of its actors.
fn within_cycles(needs: &mut [Vec<Need<'_>>]) {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<_> = needs.iter().map(|_| graph.add_node(())).collect();
    for (actor, all) in needs.iter().enumerate() {
        for need in all {
            graph.add_edge(nodes[actor], nodes[need.of], ());
        }
    }
    let mut cycles = vec![0; needs.len()];
    for (number, cycle) in kosaraju_scc(&graph).into_iter().enumerate() {
        cycle.into_iter().for_each(|node| cycles[node.index()] = number);
    }
    for (actor, all) in needs.iter_mut().enumerate() {
        all.retain(|need| cycles[need.of] == cycles[actor]);
    }
}

/// How often each actor has ended a firing, at least, when one begins its firing of some number.
struct Ended {
    of: Vec<u64>,
    /// Those that have.
    some: Vec<usize>,
}

impl Ended {
    fn when(&mut self, needs: &[Vec<Need<'_>>], actor: usize, begun: u64) {
        self.some.drain(..).for_each(|actor| self.of[actor] = 0);
        let mut later = VecDeque::from([(actor, begun)]);
        while let Some((waits, begun)) = later.pop_front() {
            for need in &needs[waits] {
                let firings = need.firings(begun);
                if firings > self.of[need.of] {
                    self.of[need.of] = firings;
                    self.some.push(need.of);
                    // What its own earlier firings needed, the later one needs as well.
                    if need.of != actor {
                        later.push_back((need.of, firings));
                    }
                }
            }
        }
    }
}
