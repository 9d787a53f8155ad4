// SPDX-License-Identifier: Apache-2.0
//! Actors as tasks: one, or as many as fire at once.

use std::collections::BTreeSet;

use super::bounds::Bounds;
use super::graph::{Actor, Graph};
use crate::import::draft::{Cycles, Task};
use crate::import::names::Names;
use crate::import::notes::Notes;
use crate::problem::Problem;
use crate::sdf;

/// Of a connected part of a graph in which actors are several tasks.
const TASKS_MAX: u64 = 4096;

/// What the actors of a graph become.
#[derive(Debug)]
pub(super) struct Tasks {
    /// The names of each actor's tasks, in the order in which they fire.
    pub names: Vec<Vec<String>>,
    /// How often each task of an actor fires until all is as before: once if the actors of its part
    /// are several.
    pub repetitions: Vec<u64>,
    /// Whether it is in such a part.
    pub unfolded: Vec<bool>,
    /// How many such times there are from the first firing to the last that has to do with it, at
    /// most.
    pub spans: Vec<u64>,
    /// `None` of a graph that does not go on for ever.
    pub bounds: Option<Bounds>,
}

impl Tasks {
    /// Refuses actors of which it is not known how often they fire at once.
    pub fn of(graph: &Graph, notes: &mut Notes) -> Self {
        let ours = ours(graph);
        let parts = ours.parts();
        let firings = ours.repetitions().ok().filter(|_| ours.check().is_ok());
        let bounds = firings.as_ref().map(|firings| Bounds::of(graph, firings));
        let mut tasks = Self {
            names: Vec::new(),
            repetitions: firings.unwrap_or_else(|| vec![1; graph.actors.len()]),
            unfolded: vec![false; graph.actors.len()],
            spans: Vec::new(),
            bounds,
        };
        let mut counts = vec![1; graph.actors.len()];
        for part in 0..=parts.iter().copied().max().unwrap_or_default() {
            let part: Vec<usize> = (0..parts.len()).filter(|actor| parts[*actor] == part).collect();
            tasks.unfold(graph, &part, &mut counts, notes);
        }
        tasks.spans = (0..parts.len()).map(|a| tasks.span(graph, &parts, &counts, a)).collect();
        let mut names = Names::default();
        for (actor, count) in graph.actors.iter().zip(counts) {
            tasks.names.push(names_of(actor, count, &mut names, notes));
        }
        tasks
    }

    /// Gives each actor of a connected part as many tasks as it needs, all of them in proportion.
    fn unfold(&mut self, graph: &Graph, part: &[usize], counts: &mut [u64], notes: &mut Notes) {
        let Some(bounds) = &self.bounds else { return };
        let mut most: Option<(u64, usize, u64)> = None;
        for &actor in part {
            let Some(at_once) = bounds.at_once[actor] else {
                notes.refuse(endless(&graph.actors[actor]));
                return;
            };
            let laps = at_once.div_ceil(self.repetitions[actor]);
            if at_once > 1 && most.is_none_or(|(most, ..)| laps > most) {
                most = Some((laps, actor, at_once));
            }
        }
        let Some((laps, actor, at_once)) = most else { return };
        let all = part.iter().map(|actor| laps * self.repetitions[*actor]).sum::<u64>();
        if all > TASKS_MAX {
            notes.refuse(many(&graph.actors[actor], at_once, all));
            return;
        }
        for &actor in part {
            counts[actor] = laps * self.repetitions[actor];
            self.repetitions[actor] = 1;
            self.unfolded[actor] = true;
        }
    }

    /// See [`Tasks::spans`]. Each part has a schedule with its shortest period in which what
    /// belongs to one time of it lies within the sum of all that is computed in one.
    fn span(&self, graph: &Graph, parts: &[usize], counts: &[u64], actor: usize) -> u64 {
        let alike = (0..parts.len()).filter(|other| parts[*other] == parts[actor]);
        let (mut work, mut period) = (0_u128, 1);
        for other in alike {
            let times = || graph.actors[other].times.iter().map(|(_, time)| u128::from(*time));
            let (least, most) = (times().min().unwrap_or(1), times().max().unwrap_or(1));
            let firings = u128::from(self.repetitions[other]);
            work += u128::from(counts[other]) * firings * most;
            period = (firings * least).max(period);
        }
        u64::try_from(work.div_ceil(period)).unwrap_or(u64::MAX).saturating_add(2)
    }

    /// All tasks.
    pub fn drafts(&self, graph: &Graph) -> Vec<Task> {
        let actors = graph.actors.iter();
        let kinds: BTreeSet<&str> = actors
            .clone()
            .flat_map(|actor| actor.times.iter().map(|(kind, _)| kind.as_str()))
            .collect();
        let tasks = actors.zip(&self.names).flat_map(|(actor, names)| {
            names.iter().map(|name| task(actor, name.clone(), kinds.len() > 1))
        });
        tasks.collect()
    }
}

fn endless(actor: &Actor) -> Problem {
    let problem = Problem::new(format!("nothing says how often `{}` fires at once", actor.name));
    problem.at(actor.at.clone(), "this actor").help(
        "it does not wait for its own firings to end: give it a channel to itself with as many \
         `initialTokens` as there may be at once, 1 if they follow each other, or a `bufferSize` \
         to a channel out of it",
    )
}

fn many(actor: &Actor, at_once: u64, all: u64) -> Problem {
    let message = format!("`{}` fires up to {at_once} times at once", actor.name);
    let problem = Problem::new(message).at(actor.at.clone(), "this actor");
    problem.help(format!(
        "with the actors that it has to do with it would be {all} tasks, of at most {TASKS_MAX}: \
         give it a channel to itself with fewer `initialTokens`, as 1, or smaller buffers"
    ))
}

/// The graph, for what is computed of such graphs.
fn ours(graph: &Graph) -> sdf::Graph {
    let channels = graph.edges.iter().map(|edge| sdf::Channel {
        from: edge.from.0,
        to: edge.to.0,
        produce: edge.produce,
        consume: edge.consume,
        initial: edge.initial,
        slots: edge.slots,
        claims_at_start: edge.slots.is_some(),
    });
    let tasks = vec![sdf::Task::default(); graph.actors.len()];
    sdf::Graph { tasks, channels: channels.collect() }
}

fn names_of(actor: &Actor, count: u64, names: &mut Names, notes: &mut Notes) -> Vec<String> {
    if count == 1 {
        let name = names.unique(&actor.name);
        if name != actor.name {
            let warning = Problem::new(format!("`{}` is called `{name}` here", actor.name));
            notes.warn(warning.at(actor.at.clone(), "this name"));
        }
        return vec![name];
    }
    let all: Vec<String> =
        (0..count).map(|number| names.unique_with(&actor.name, &format!("_{number}"))).collect();
    let (first, last) = (&all[0], &all[all.len() - 1]);
    let warning = Problem::new(format!("`{}` may fire while it fires", actor.name));
    let words = format!("{count} tasks that fire in turn: `{first}` to `{last}`");
    notes.warn(warning.at(actor.at.clone(), words));
    all
}

fn task(actor: &Actor, name: String, by_kind: bool) -> Task {
    let cycles = match actor.times.as_slice() {
        [] => Cycles::default(),
        times if by_kind => Cycles::Kinds(times.to_vec()),
        [(_, time), ..] => Cycles::Any(*time),
    };
    Task { name, count: 1, cycles, working_set: actor.state_bytes, ..Task::default() }
}
