// SPDX-License-Identifier: Apache-2.0
//! Deadlocks by the order in which scripts lock mutexes: a cycle of tasks, each of which holds what
//! the next one locks, unless all of them hold another one meanwhile.

use std::collections::{HashMap, VecDeque};

use super::held::Edge;
use crate::problem::Problem;

/// Notes the first such cycle.
pub(super) fn check(edges: &[Edge<'_>], problems: &mut Vec<Problem>) {
    let mut from: HashMap<&str, Vec<&Edge<'_>>> = HashMap::new();
    for edge in edges {
        from.entry(edge.held).or_default().push(edge);
    }
    let mut cycles = edges.iter().filter_map(|edge| cycle_by(edge, &from));
    problems.extend(cycles.find(|cycle| is_deadlock(cycle)).map(|cycle| told(&cycle)));
}

/// A shortest cycle that begins with an edge.
fn cycle_by<'e, 'm>(
    first: &'e Edge<'m>,
    from: &HashMap<&str, Vec<&'e Edge<'m>>>,
) -> Option<Vec<&'e Edge<'m>>> {
    let mut came: HashMap<&str, &Edge<'m>> = HashMap::new();
    let mut queue = VecDeque::from([first.locked]);
    while let Some(mutex) = queue.pop_front() {
        for edge in from.get(mutex).into_iter().flatten().filter(|edge| fits(first, edge)) {
            if !came.contains_key(edge.locked) && edge.locked != first.locked {
                came.insert(edge.locked, edge);
                queue.push_back(edge.locked);
            }
        }
    }
    let mut cycle = Vec::new();
    let mut mutex = first.held;
    while mutex != first.locked {
        let edge = came.get(mutex)?;
        cycle.push(*edge);
        mutex = edge.held;
    }
    cycle.push(first);
    cycle.reverse();
    Some(cycle)
}

/// One task does not lock itself out, but two of its name may.
fn fits(first: &Edge<'_>, other: &Edge<'_>) -> bool {
    first.task != other.task || first.count > 1
}

fn is_deadlock(cycle: &[&Edge<'_>]) -> bool {
    let (first, rest) = cycle.split_at(1);
    let held_by_all = |gate: &&&str| rest.iter().all(|edge| edge.gates.contains(*gate));
    let guarded = first.iter().any(|edge| edge.gates.iter().find(held_by_all).is_some());
    !rest.is_empty() && !guarded
}

fn told(cycle: &[&Edge<'_>]) -> Problem {
    let names: Vec<String> = cycle.iter().map(|edge| format!("`{}`", edge.held)).collect();
    let message =
        format!("{} are locked in different orders, which may block", names.join(" and "));
    let mut problem = Problem::new(message);
    for edge in cycle {
        let words = format!("`{}` holds `{}` and locks `{}`", edge.task, edge.held, edge.locked);
        problem = problem.at(edge.span.clone(), words);
    }
    problem.help("lock them in the same order everywhere, or hold another mutex around both")
}
