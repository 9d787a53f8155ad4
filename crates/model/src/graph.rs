// SPDX-License-Identifier: Apache-2.0
//! Finds loops of channels in which every task waits for another from the start.
//!
//! Mailboxes are left out: a task looks into one when it likes.

use std::collections::HashMap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::manifest::{LinkTable, Manifest};
use crate::problem::Problem;

type Graph<'m> = DiGraph<&'m str, &'m LinkTable>;

/// Notes one problem for each group of tasks that cannot start.
pub(crate) fn check(manifest: &Manifest, problems: &mut Vec<Problem>) {
    let graph = empty_channels(manifest);
    for group in tarjan_scc(&graph) {
        let cycle = cycle_in(&graph, &group);
        if !cycle.is_empty() {
            problems.push(explain(&cycle));
        }
    }
}

/// The channels that hold no message at the start. Groups of counted tasks stand for all of them:
/// elements meet only their like, so a loop of groups is a loop of tasks.
fn empty_channels(manifest: &Manifest) -> Graph<'_> {
    let mut graph = Graph::new();
    let mut nodes = HashMap::new();

    let channels = manifest.links.iter().filter(|link| {
        !link.mailbox && link.initial.as_ref().is_none_or(|initial| *initial.get_ref() == 0)
    });
    for link in channels {
        let mut node = |end| {
            let task = task_of(end);
            *nodes.entry(task).or_insert_with(|| graph.add_node(task))
        };
        let (from, to) = (node(link.from[0].get_ref()), node(link.to.get_ref()));
        graph.add_edge(from, to, link);
    }
    graph
}

fn task_of(end: &str) -> &str {
    end.split_once('.').map_or(end, |(task, _)| task)
}

/// One cycle among tasks that can all reach each other; empty when there is but one without a
/// channel to itself.
fn cycle_in<'m>(graph: &Graph<'m>, group: &[NodeIndex]) -> Vec<&'m LinkTable> {
    let mut steps: Vec<(NodeIndex, &LinkTable)> = Vec::new();
    let mut at = group[0];

    loop {
        if let Some(start) = steps.iter().position(|(node, _)| *node == at) {
            return steps.split_off(start).into_iter().map(|(_, link)| link).collect();
        }
        let Some(edge) = graph.edges(at).find(|edge| group.contains(&edge.target())) else {
            return Vec::new();
        };
        steps.push((at, edge.weight()));
        at = edge.target();
    }
}

fn explain(cycle: &[&LinkTable]) -> Problem {
    let mut path: Vec<&str> = cycle.iter().map(|link| task_of(link.from[0].get_ref())).collect();
    path.extend(path.first().copied());

    let message = format!("the loop {} cannot start", path.join(" → "));
    let mut problem = Problem::new(message).help(
        "every task in it waits for a message of another: give one of these channels \
         `initial = 1`, or use a [[mailbox]] if a task sends before it receives",
    );
    for link in cycle {
        problem = problem.at(link.to.span(), "empty at the start");
    }
    problem
}
