// SPDX-License-Identifier: Apache-2.0
//! How often an actor fires at once, and how many tokens a channel holds, at most: from tokens and
//! buffers alone, so whatever the times are and wherever the tasks run.
//!
//! An actor's firings begin one after the other, and each needs some firings of other actors to
//! have ended, at least; those need others, and at last some of its own. What has begun and need
//! not have ended is what there can be at once. In the long run one iteration shifts all of this by
//! one iteration, so looking at one, late enough, is exact.

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
        let needs = needs(graph);
        let mut bounds = Self {
            at_once: vec![Some(0); graph.actors.len()],
            tokens: vec![Some(0); graph.edges.len()],
        };
        for (actor, count) in repetitions.iter().enumerate() {
            for begun in MANY + 1..=MANY + count {
                bounds.look(graph, &needs, actor, begun);
            }
        }
        bounds
    }

    /// At the moment when an actor begins a firing as early as it can.
    fn look(&mut self, graph: &Graph, needs: &[Vec<Need<'_>>], actor: usize, begun: u64) {
        let ended = ended(needs, actor, begun);
        most(&mut self.at_once[actor], begun - ended[actor]);
        for (number, edge) in graph.edges.iter().enumerate().filter(|(_, e)| e.from.0 == actor) {
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

/// How often each actor has ended a firing, at least, when one begins its firing of this number.
fn ended(needs: &[Vec<Need<'_>>], actor: usize, begun: u64) -> Vec<u64> {
    let mut ended = vec![0; needs.len()];
    let mut later = vec![(actor, begun)];
    while let Some((waits, begun)) = later.pop() {
        for need in &needs[waits] {
            let firings = need.firings(begun);
            if firings > ended[need.of] {
                ended[need.of] = firings;
                // What its own earlier firings needed, the later one needs as well.
                if need.of != actor {
                    later.push((need.of, firings));
                }
            }
        }
    }
    ended
}
