// SPDX-License-Identifier: Apache-2.0
//! Graphs of synchronous and cyclo-static dataflow as drafts of applications: what SDF3, GraphML
//! and DOT have in common.

mod balance;
mod bounds;
mod channels;
mod graph;
mod live;
mod phases;
mod script;
mod tasks;
mod unfold;

use std::collections::BTreeSet;

use super::draft::Draft;
use super::names::plain;
use super::notes::Notes;
pub(super) use graph::{Actor, Edge, Graph, Place, Port, Words};
pub(super) use phases::Phases;
use tasks::Tasks;

/// What becomes of a graph whose name and source are told.
pub(super) fn draft(name: &str, source: &str, mut graph: Graph, notes: &mut Notes) -> Draft {
    graph.count_phases(notes);
    let tasks = Tasks::of(&graph, notes);
    let mut channels = channels::of(&graph, &tasks, notes);
    let drafts = tasks.drafts(&graph, &channels, notes);
    let scripted = drafts.iter().filter(|task| !task.script.is_empty());
    let scripted: BTreeSet<&str> = scripted.map(|task| task.name.as_str()).collect();
    channels::without_rates(&mut channels, |task| scripted.contains(task));
    Draft { name: plain(name), source: source.into(), tasks: drafts, channels, ..Draft::default() }
}
