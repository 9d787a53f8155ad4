// SPDX-License-Identifier: Apache-2.0
//! Actors, and channels between their ports.

use super::phases::{PHASES_MAX, Phases, together};
use crate::notes::Notes;
use whimbrel_model::{Cycles, Problem, Span};

/// A graph, with what its properties add.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub actors: Vec<Actor>,
    pub edges: Vec<Edge>,
    pub words: Words,
}

/// What the file that it is from calls things, for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    pub tokens: &'static str,
    pub room: &'static str,
    pub rate: &'static str,
    pub state: &'static str,
}

impl Default for Words {
    /// Those of SDF3.
    fn default() -> Self {
        Self { tokens: "initialTokens", room: "bufferSize", rate: "rate", state: "stateSize" }
    }
}

impl Graph {
    /// Counts the phases of each actor, now that all of it is known.
    pub fn count_phases(&mut self, notes: &mut Notes) {
        for actor in &mut self.actors {
            let rates = actor.ports.iter().map(|port| &port.rate);
            let count = together(rates.chain(actor.times.iter().map(|(_, times)| times)));
            actor.phases = count.unwrap_or(1) as u64;
            if count.is_none() {
                let message = format!("`{}` has more than {PHASES_MAX} phases", actor.name);
                let help =
                    "use numbers of phases with a smaller common multiple in its rates and times";
                notes.refuse(Problem::new(message).at(actor.at.clone(), "this actor").help(help));
            }
        }
    }
}

/// An actor.
#[derive(Debug)]
pub(crate) struct Actor {
    pub name: String,
    pub at: Span,
    pub ports: Vec<Port>,
    /// What a firing takes, for each type of processor.
    pub times: Vec<(String, Phases)>,
    /// Where a time of 0 stands.
    pub no_time: Option<Span>,
    pub state_bytes: Option<u64>,
    pub place: Place,
    /// After so many firings all rates and times begin anew.
    pub phases: u64,
}

impl Actor {
    /// What a firing takes; at least 1, for none means that a task does not run there.
    pub fn cycles(&self, firing: u64, by_kind: bool) -> Cycles {
        let at = |times: &Phases| times.at(firing).max(1);
        match self.times.as_slice() {
            [] => Cycles::default(),
            all if by_kind => {
                Cycles::ByKind(all.iter().map(|(kind, times)| (kind.clone(), at(times))).collect())
            }
            [(_, times), ..] => Cycles::Every(at(times)),
        }
    }
}

/// Where and when a task runs; what is `None` is as always.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Place {
    pub core: Option<u32>,
    pub priority: Option<u32>,
    pub period_ns: Option<u64>,
    pub firings: Option<u64>,
}

/// A port.
#[derive(Debug)]
pub(crate) struct Port {
    pub name: String,
    /// The same as a name of ours, of its own in its actor.
    pub ours: String,
    /// That of a port for the room of its channel, which goes the other way.
    pub room: String,
    pub at: Span,
    pub sends: bool,
    pub rate: Phases,
    pub connected: bool,
}

/// A channel.
#[derive(Debug)]
pub(crate) struct Edge {
    pub name: String,
    pub at: Span,
    /// Actor and port.
    pub from: (usize, usize),
    pub to: (usize, usize),
    pub produce: Phases,
    pub consume: Phases,
    pub initial: u32,
    pub slots: Option<u32>,
    pub slot_bytes: Option<u32>,
}
