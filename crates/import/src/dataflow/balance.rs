// SPDX-License-Identifier: Apache-2.0
//! How often each actor fires in an iteration, of a graph that goes on for ever.

use super::graph::Graph;
use super::live::{Stuck, stuck};
use crate::notes::Notes;
use whimbrel_model::Problem;
use whimbrel_model::sdf::{self, Flaw};

/// Of all actors in one iteration: more are not looked at.
const FIRINGS_MAX: u64 = 1 << 20;

/// Firings of each actor in an iteration; `None` of a graph that comes to a stop. Where that cannot
/// be told of what becomes of it, because it has phases, it is refused.
pub(super) fn firings(graph: &Graph, notes: &mut Notes) -> Option<Vec<u64>> {
    let cyclic = graph.actors.iter().any(|actor| actor.phases > 1);
    let laps = match ours(graph).repetitions() {
        Ok(laps) => laps,
        Err(Flaw::Unbalanced(channel)) => {
            notes.refuse(unbalanced(graph, channel));
            return None;
        }
        Err(_) => {
            notes.refuse(too_long(graph));
            return None;
        }
    };
    let firings = laps.iter().zip(&graph.actors).map(|(n, actor)| n.checked_mul(actor.phases));
    let firings: Option<Vec<u64>> = firings.collect();
    let sum = |all: &Vec<u64>| all.iter().try_fold(0_u64, |sum, n| sum.checked_add(*n));
    let Some(firings) = firings.filter(|all| sum(all).is_some_and(|sum| sum <= FIRINGS_MAX)) else {
        notes.refuse(too_long(graph));
        return None;
    };
    let stuck = stuck(graph, &firings);
    if let Some(stuck) = stuck.filter(|_| cyclic) {
        notes.refuse(stops(graph, stuck));
    }
    stuck.is_none().then_some(firings)
}

/// The graph for what is computed of such graphs: a firing is a lap through an actor's phases.
pub(super) fn ours(graph: &Graph) -> sdf::Graph {
    let channels = graph.edges.iter().map(|edge| {
        let rate = |phases: u64| u32::try_from(phases).unwrap_or(u32::MAX);
        sdf::Channel {
            from: edge.from.0,
            to: edge.to.0,
            produce: rate(edge.produce.sum(graph.actors[edge.from.0].phases)),
            consume: rate(edge.consume.sum(graph.actors[edge.to.0].phases)),
            initial: edge.initial,
            slots: edge.slots,
            claims_at_start: edge.slots.is_some(),
        }
    });
    let tasks = vec![sdf::Task::default(); graph.actors.len()];
    sdf::Graph { tasks, channels: channels.collect() }
}

fn unbalanced(graph: &Graph, number: usize) -> Problem {
    let edge = &graph.edges[number];
    let name = |actor: usize| &graph.actors[actor].name;
    let (from, to) = (name(edge.from.0), name(edge.to.0));
    Problem::new(format!("the rates of `{}` cannot be kept up", edge.name))
        .at(edge.at.clone(), "this channel")
        .help(format!(
            "change a `{}`: the other channels between `{from}` and `{to}` make them fire in \
             another proportion, so this channel fills up or empties",
            graph.words.rate
        ))
}

fn too_long(graph: &Graph) -> Problem {
    let message = format!("an iteration has more than {FIRINGS_MAX} firings");
    let at = graph.actors[0].at.clone();
    Problem::new(message).at(at, "of this actor and all others").help("choose simpler rates")
}

fn stops(graph: &Graph, Stuck { actor, firing, edge, for_room }: Stuck) -> Problem {
    let (actor, edge) = (&graph.actors[actor], &graph.edges[edge]);
    let (phase, all) = (firing % actor.phases + 1, actor.phases);
    let (what, key) =
        if for_room { ("room in", graph.words.room) } else { ("tokens of", graph.words.tokens) };
    Problem::new("the graph comes to a stop")
        .at(actor.at.clone(), format!("`{}` waits in its phase {phase} of {all}", actor.name))
        .at(edge.at.clone(), format!("for {what} this channel"))
        .help(format!(
            "give the channel more `{key}`: it does not come to the end of one iteration"
        ))
}
