// SPDX-License-Identifier: Apache-2.0
//! Deadlocks by the order in which scripts lock mutexes: a cycle of tasks, each of which holds what
//! the next one locks.
//!
//! All of them must be able to wait there together. So each is a task of its own: one that would
//! have to be in two places stands in the cycle as often as there are tasks of its name, at most.
//! And no two hold the same mutex: one that two of them have locked before keeps them apart. This
//! is the criterion of K. Havelund, *Using runtime analysis to guide model checking of Java
//! programs*, SPIN 2000, for any number of tasks.

use std::collections::{HashMap, HashSet};

use super::held::Edge;
use crate::problem::Problem;

/// So many continuations are tried. There are as many cycles as a graph with loops has ways
/// through; what is not found is told by the run, where it blocks.
const TRIES: u32 = 2_000_000;

/// Notes the first such cycle.
pub(super) fn check(edges: &[Edge<'_>], problems: &mut Vec<Problem>) {
    let edges = in_cycles(edges);
    let mut from: HashMap<&str, Vec<usize>> = HashMap::new();
    for (number, edge) in edges.iter().enumerate() {
        from.entry(edge.held).or_default().push(number);
    }
    let longest = from.len();
    let mut search = Search { edges: &edges, from: &from, path: Vec::new(), tries: TRIES };
    for first in 0..edges.len() {
        for length in 2..=longest {
            search.path = vec![first];
            if search.closes(length) {
                let cycle: Vec<&Edge<'_>> = search.path.iter().map(|at| edges[*at]).collect();
                problems.push(told(&cycle));
                return;
            }
        }
    }
}

/// Without repetitions, and without what leads nowhere or is led to from nowhere.
fn in_cycles<'e, 'm>(edges: &'e [Edge<'m>]) -> Vec<&'e Edge<'m>> {
    let mut seen = HashSet::new();
    let mut left = Vec::new();
    for edge in edges {
        if seen.insert((edge.task, edge.held, edge.locked, &edge.gates)) {
            left.push(edge);
        }
    }
    loop {
        let held: HashSet<&str> = left.iter().map(|edge| edge.held).collect();
        let locked: HashSet<&str> = left.iter().map(|edge| edge.locked).collect();
        let before = left.len();
        left.retain(|edge| held.contains(edge.locked) && locked.contains(edge.held));
        if left.len() == before {
            return left;
        }
    }
}

/// For a cycle that blocks, among edges of which no earlier one is in any.
struct Search<'s, 'e, 'm> {
    edges: &'s [&'e Edge<'m>],
    /// Those that hold a mutex.
    from: &'s HashMap<&'m str, Vec<usize>>,
    path: Vec<usize>,
    tries: u32,
}

impl Search<'_, '_, '_> {
    /// Whether the path can be closed to a cycle of this length, which it is then.
    fn closes(&mut self, length: usize) -> bool {
        let (first, last) = (self.path[0], self.path[self.path.len() - 1]);
        let from = self.from;
        for next in from.get(self.edges[last].locked).into_iter().flatten().copied() {
            if self.tries == 0 {
                return false;
            }
            self.tries -= 1;
            if next <= first || !self.joins(self.edges[next]) {
                continue;
            }
            let is_closed = self.edges[next].locked == self.edges[first].held;
            self.path.push(next);
            let is_whole = self.path.len() == length;
            let found = if is_whole { is_closed } else { !is_closed && self.closes(length) };
            if found {
                return true;
            }
            self.path.pop();
        }
        false
    }

    /// Whether a task can be there while those of the path are where they are.
    fn joins(&self, edge: &Edge<'_>) -> bool {
        let path = || self.path.iter().map(|at| self.edges[*at]);
        let of_name = path().filter(|other| other.task == edge.task).count();
        of_name < edge.count as usize && path().all(|other| are_disjoint(other, edge))
    }
}

/// Whether no mutex is held at both.
fn are_disjoint(one: &Edge<'_>, other: &Edge<'_>) -> bool {
    let mut held = std::iter::once(&one.held).chain(&one.gates);
    held.all(|mutex| *mutex != other.held && !other.gates.contains(mutex))
}

fn told(cycle: &[&Edge<'_>]) -> Problem {
    let names: Vec<String> = cycle.iter().map(|edge| format!("`{}`", edge.held)).collect();
    let message =
        format!("{} are locked in different orders, which may block", names.join(" and "));
    let mut problem = Problem::new(message).help("lock them in the same order everywhere");
    for edge in cycle {
        let words = format!("`{}` holds `{}` and locks `{}`", edge.task, edge.held, edge.locked);
        problem = problem.at(edge.span.clone(), words);
    }
    problem.help("lock them in the same order everywhere, or hold another mutex around both")
}
