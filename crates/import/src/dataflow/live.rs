// SPDX-License-Identifier: Apache-2.0
//! Whether a graph goes on for ever: one iteration is played, firing by firing. In which order does
//! not matter, because a firing never takes from another what that needs.

use std::collections::VecDeque;

use super::graph::Graph;

/// What an actor waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stuck {
    pub actor: usize,
    /// Its firing in this iteration, from 0.
    pub firing: u64,
    pub edge: usize,
    /// True if it waits for room in the edge, not for tokens.
    pub for_room: bool,
}

/// An actor that cannot fire as often as it must, if there is one.
pub(super) fn stuck(graph: &Graph, firings: &[u64]) -> Option<Stuck> {
    let mut play = Play::new(graph);
    // Who may have come to be able to fire, each once.
    let mut next: VecDeque<usize> = (0..firings.len()).collect();
    let mut is_next = vec![true; firings.len()];
    while let Some(actor) = next.pop_front() {
        is_next[actor] = false;
        let before = play.done[actor];
        let _ = play.fire(actor, firings[actor]);
        if play.done[actor] == before {
            continue;
        }
        for &number in &play.at[actor] {
            let edge = &graph.edges[number];
            for other in [edge.from.0, edge.to.0] {
                if !std::mem::replace(&mut is_next[other], true) {
                    next.push_back(other);
                }
            }
        }
    }
    let waits = firings.iter().enumerate().map(|(actor, count)| play.fire(actor, *count));
    waits.fold(None, |last, waits| waits.or(last))
}

struct Play<'g> {
    graph: &'g Graph,
    /// The edges at each actor.
    at: Vec<Vec<usize>>,
    tokens: Vec<u64>,
    done: Vec<u64>,
}

impl<'g> Play<'g> {
    fn new(graph: &'g Graph) -> Self {
        let mut at = vec![Vec::new(); graph.actors.len()];
        for (number, edge) in graph.edges.iter().enumerate() {
            at[edge.from.0].push(number);
            if edge.to.0 != edge.from.0 {
                at[edge.to.0].push(number);
            }
        }
        let tokens = graph.edges.iter().map(|edge| edge.initial.into()).collect();
        Self { graph, at, tokens, done: vec![0; graph.actors.len()] }
    }

    /// Fires an actor as often as it can, up to a number; returns what it waits for then.
    fn fire(&mut self, actor: usize, count: u64) -> Option<Stuck> {
        while self.done[actor] < count {
            let firing = self.done[actor];
            let lacks = self.at[actor].iter().find_map(|edge| self.lacks(actor, firing, *edge));
            if lacks.is_some() {
                return lacks;
            }
            for &number in &self.at[actor] {
                let (take, put) = self.passes(actor, firing, number);
                self.tokens[number] = self.tokens[number] - take + put;
            }
            self.done[actor] += 1;
        }
        None
    }

    /// What a firing takes from an edge and puts into it.
    fn passes(&self, actor: usize, firing: u64, number: usize) -> (u64, u64) {
        let edge = &self.graph.edges[number];
        let take = if edge.to.0 == actor { edge.consume.at(firing) } else { 0 };
        let put = if edge.from.0 == actor { edge.produce.at(firing) } else { 0 };
        (take, put)
    }

    /// What a firing takes is free only when it ends.
    fn lacks(&self, actor: usize, firing: u64, number: usize) -> Option<Stuck> {
        let (take, put) = self.passes(actor, firing, number);
        let there = self.tokens[number];
        let full = self.graph.edges[number].slots.is_some_and(|slots| there + put > slots.into());
        let for_room = there >= take;
        (there < take || full).then_some(Stuck { actor, firing, edge: number, for_room })
    }
}
