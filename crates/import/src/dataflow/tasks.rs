// SPDX-License-Identifier: Apache-2.0
//! Actors as tasks: one, or as many as fire at once; with phases, one that does these in turn.

use std::collections::BTreeSet;

use super::balance::{self, ours};
use super::bounds::Bounds;
use super::graph::{Actor, Graph, Place};
use super::phases::Phases;
use super::script::{self, Links};
use crate::draft::{Channel, Event, Task};
use crate::names::Names;
use crate::notes::Notes;
use whimbrel_model::Problem;

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
    /// What each actor has become.
    pub forms: Vec<Form>,
    /// How many such times there are from the first firing to the last that has to do with it, at
    /// most.
    pub spans: Vec<u64>,
    /// `None` of a graph that does not go on for ever.
    pub bounds: Option<Bounds>,
}

/// What an actor becomes, with all that it has to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One task, which fires.
    Actor,
    /// Several, which fire in turn.
    Actors,
    /// One, whose script goes through its phases.
    Script,
    /// Several in turn, whose scripts have a phase each.
    Scripts,
}

impl Tasks {
    /// Refuses actors of which it is not known how often they fire at once.
    pub fn of(graph: &Graph, notes: &mut Notes) -> Self {
        let parts = ours(graph).parts();
        let firings = balance::firings(graph, notes);
        let bounds = firings.as_ref().map(|firings| Bounds::of(graph, firings));
        let mut tasks = Self {
            names: Vec::new(),
            repetitions: firings.unwrap_or_else(|| vec![1; graph.actors.len()]),
            forms: vec![Form::Actor; graph.actors.len()],
            spans: Vec::new(),
            bounds,
        };
        let mut counts = vec![1; graph.actors.len()];
        let mut of_part = vec![Vec::new(); parts.iter().max().map_or(0, |last| last + 1)];
        parts.iter().enumerate().for_each(|(actor, part)| of_part[*part].push(actor));
        for part in &of_part {
            tasks.unfold(graph, part, &mut counts, notes);
        }
        let spans: Vec<u64> = of_part.iter().map(|part| tasks.span(graph, part, &counts)).collect();
        tasks.spans = parts.iter().map(|part| spans[*part]).collect();
        let mut names = Names::default();
        for (actor, count) in graph.actors.iter().zip(counts) {
            tasks.names.push(names_of(actor, count, &mut names, notes));
        }
        tasks
    }

    /// Tells of what one of its forms has not.
    fn note(&self, number: usize, graph: &Graph, notes: &mut Notes) {
        let actor = &graph.actors[number];
        let fires = matches!(self.forms[number], Form::Actor | Form::Actors);
        if let Some(at) = actor.no_time.as_ref().filter(|_| fires) {
            let warning = Problem::new("an execution time of 0 is one cycle");
            notes.warn(warning.at(at.clone(), "this time"));
        }
        if !fires && actor.state_bytes.is_some() {
            let message = format!("`{}` of `{}` is left out", graph.words.state, actor.name);
            let warning = Problem::new(message).at(actor.at.clone(), "this one");
            notes.warn(warning.help("its graph has phases: it is a script, without working set"));
        }
        let Place { period_ns, firings, .. } = actor.place;
        if !fires && (period_ns.is_some() || firings.is_some()) {
            let message = format!("`{}` has a period or `firings`, and phases", actor.name);
            let problem = Problem::new(message).at(actor.at.clone(), "this one, or what it feeds");
            notes.refuse(
                problem.help("remove them: a graph with phases has no period and does not end"),
            );
        }
    }

    /// Gives each actor of a connected part as many tasks as it needs, all of them in proportion.
    fn unfold(&mut self, graph: &Graph, part: &[usize], counts: &mut [u64], notes: &mut Notes) {
        let cyclic = part.iter().any(|actor| graph.actors[*actor].phases > 1);
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
        let Some((laps, actor, at_once)) = most else {
            let form = if cyclic { Form::Script } else { Form::Actor };
            part.iter().for_each(|actor| self.forms[*actor] = form);
            return;
        };
        let all = part.iter().map(|actor| laps * self.repetitions[*actor]).sum::<u64>();
        if all > TASKS_MAX {
            notes.refuse(many(&graph.actors[actor], at_once, all));
            return;
        }
        for &actor in part {
            counts[actor] = laps * self.repetitions[actor];
            self.repetitions[actor] = 1;
            self.forms[actor] = if cyclic { Form::Scripts } else { Form::Actors };
        }
    }

    /// See [`Tasks::spans`]. Each part has a schedule with its shortest period in which what
    /// belongs to one time of it lies within the sum of all that is computed in one.
    fn span(&self, graph: &Graph, part: &[usize], counts: &[u64]) -> u64 {
        let (mut work, mut period) = (0_u128, 1);
        for &other in part {
            let times = || graph.actors[other].times.iter().map(|(_, times)| times);
            let least: u128 = times().map(Phases::least).min().unwrap_or(1).into();
            let most: u128 = times().map(Phases::most).max().unwrap_or(1).into();
            let firings = u128::from(self.repetitions[other]);
            work += u128::from(counts[other]) * firings * most;
            period = (firings * least).max(period);
        }
        u64::try_from(work.div_ceil(period)).unwrap_or(u64::MAX).saturating_add(2)
    }

    /// All tasks; those of several in turn with what passes the channels between them.
    pub fn drafts(&self, graph: &Graph, channels: &[Channel], notes: &mut Notes) -> Vec<Task> {
        let links = Links::of(channels);
        let kinds = graph.actors.iter().flat_map(|actor| &actor.times).map(|(kind, _)| kind);
        let by_kind = kinds.collect::<BTreeSet<_>>().len() > 1;
        let mut tasks = Vec::new();
        for (number, actor) in graph.actors.iter().enumerate() {
            for (name, firing) in self.names[number].iter().zip(0..) {
                let made = match self.forms[number] {
                    Form::Script => scripted(name, script::of(graph, number, by_kind)),
                    Form::Scripts => {
                        scripted(name, links.script(name, script::run(actor, firing, by_kind)))
                    }
                    _ => task(actor, name, by_kind),
                };
                let Place { core, priority, period_ns, firings } = actor.place;
                tasks.push(Task { core, priority, period_ns, firings, ..made });
            }
            self.note(number, graph, notes);
        }
        tasks
    }
}

fn endless(actor: &Actor) -> Problem {
    let problem = Problem::new(format!(
        "the number of simultaneous firings of `{}` is unlimited",
        actor.name
    ));
    problem.at(actor.at.clone(), "this actor").help(
        "give it a channel to itself with `initialTokens`: the number of its firings at the same \
         time, 1 if they follow each other; or give a channel out of it a `bufferSize`",
    )
}

fn many(actor: &Actor, at_once: u64, all: u64) -> Problem {
    let message = format!("`{}` has up to {at_once} simultaneous firings", actor.name);
    let problem = Problem::new(message).at(actor.at.clone(), "this actor");
    problem.help(format!(
        "give it a channel to itself with fewer `initialTokens`, for example 1, or smaller \
         buffers: with its connected actors it would be {all} tasks, of at most {TASKS_MAX}"
    ))
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

fn scripted(name: &str, script: Vec<Event>) -> Task {
    Task { name: name.to_owned(), count: 1, script, ..Task::default() }
}

fn task(actor: &Actor, name: &str, by_kind: bool) -> Task {
    let (name, cycles) = (name.to_owned(), actor.cycles(0, by_kind));
    Task { name, count: 1, cycles, working_set: actor.state_bytes, ..Task::default() }
}
