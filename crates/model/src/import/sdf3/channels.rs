// SPDX-License-Identifier: Apache-2.0
//! Channels between the tasks of a graph.

use super::bounds::Bounds;
use super::graph::{Edge, Graph};
use super::tasks::Tasks;
use super::unfold::{Flow, Pair};
use crate::import::draft::Channel;
use crate::import::names::Names;
use crate::import::notes::Notes;
use crate::problem::Problem;

/// Most slots that a channel of ours has.
const SLOTS_MAX: u64 = 32768;
const SLOTS_LEAST: u64 = 14;
/// Where the file gives no size of a token.
const SLOT_BYTES: u32 = 64;
/// Of the room for a token, which goes back.
const ROOM_BYTES: u32 = 1;
/// Tokens that pass a channel while each of its tasks fires once.
const TOKENS_MAX: u64 = 1 << 20;

/// All channels; those that cannot be are told.
pub(super) fn of(graph: &Graph, tasks: &Tasks, notes: &mut Notes) -> Vec<Channel> {
    let mut channels = Vec::new();
    for number in 0..graph.edges.len() {
        let maker = Maker { graph, tasks, number, edge: &graph.edges[number] };
        maker.make(&mut channels, notes);
    }
    channels
}

struct Maker<'a> {
    graph: &'a Graph,
    tasks: &'a Tasks,
    number: usize,
    edge: &'a Edge,
}

impl Maker<'_> {
    fn make(&self, channels: &mut Vec<Channel>, notes: &mut Notes) {
        let edge = self.edge;
        let unfolded = self.tasks.unfolded[edge.from.0];
        if let Some(slots) = edge.slots {
            self.check(slots.into(), notes);
        }
        if edge.slots.is_some_and(|slots| slots < edge.initial) {
            return;
        }
        if unfolded {
            self.pairs(channels, notes);
        } else if !self.says_nothing() {
            let slots = edge.slots.map_or_else(|| self.room(None), u64::from);
            self.check(slots, notes);
            channels.push(self.channel(slots));
        }
    }

    /// It only keeps firings of an actor from overlapping, as those of a task do anyway.
    fn says_nothing(&self) -> bool {
        let Edge { produce, consume, initial, .. } = *self.edge;
        let fits = self.edge.slots.is_none_or(|slots| slots - initial >= produce);
        self.edge.from.0 == self.edge.to.0 && produce == consume && initial >= consume && fits
    }

    fn check(&self, slots: u64, notes: &mut Notes) {
        let edge = self.edge;
        if slots < edge.initial.into() || !(1..=SLOTS_MAX).contains(&slots) {
            let message = format!("`{}` would have {slots} slots", edge.name);
            let problem = Problem::new(message).at(edge.at.clone(), "this channel");
            let most =
                format!("a channel has 1 to {SLOTS_MAX}, and no fewer than its initial tokens");
            let help = match edge.slots {
                Some(_) => most,
                None => format!("{most}: give it a `bufferSize`"),
            };
            notes.refuse(problem.help(help));
        }
    }

    /// One channel between two tasks.
    fn channel(&self, slots: u64) -> Channel {
        let edge = self.edge;
        let end = |(actor, port): (usize, usize)| {
            (self.tasks.names[actor][0].clone(), self.graph.actors[actor].ports[port].ours.clone())
        };
        Channel {
            from: end(edge.from),
            to: end(edge.to),
            produce: edge.produce,
            consume: edge.consume,
            initial: edge.initial,
            slots: u32::try_from(slots).unwrap_or(u32::MAX),
            slot_bytes: edge.slot_bytes.unwrap_or(SLOT_BYTES),
            claims_at_start: edge.slots.is_some(),
        }
    }

    /// Slots enough for all tokens that there ever are, or else for as many as do not make anything
    /// slower in the long run: of the channel, or of the part of it between two of the tasks that
    /// its actors have become.
    fn room(&self, pair: Option<&Pair>) -> u64 {
        let (edge, tasks) = (self.edge, self.tasks);
        let (from, senders) = (edge.from.0, tasks.names[edge.from.0].len() as u64);
        let each = tasks.repetitions[from] * u64::from(edge.produce);
        let (rate, initial) = pair.map_or((each, edge.initial), |p| (p.rate.into(), p.initial));
        let in_step = rate.saturating_mul(tasks.spans[from]).saturating_add(initial.into());
        // So many tokens follow each other, of which each lap has its own share.
        let known = tasks.bounds.as_ref().and_then(|Bounds { tokens, .. }| tokens[self.number]);
        let known = edge.slots.map(u64::from).or(known).map(|all| match pair {
            Some(pair) => {
                let lap = Flow::of(edge).tokens(senders);
                all.min((all / lap + 1) * u64::from(pair.rate)).max(pair.initial.into())
            }
            None => all,
        });
        known.filter(|known| *known <= SLOTS_MAX).unwrap_or(in_step).max(SLOTS_LEAST)
    }

    /// As many channels as there are tasks that have tokens for each other, and back.
    fn pairs(&self, channels: &mut Vec<Channel>, notes: &mut Notes) {
        let edge = self.edge;
        let names = &self.tasks.names;
        let (from, to) = (edge.from.0, edge.to.0);
        let (senders, receivers) = (names[from].len() as u64, names[to].len() as u64);
        let flow = Flow::of(edge);
        if flow.tokens(senders) > TOKENS_MAX || u64::from(edge.initial) > TOKENS_MAX {
            let message = format!("too many tokens pass `{}`", edge.name);
            let help = "its actors fire several times at once: give them channels to themselves";
            notes.refuse(Problem::new(message).at(edge.at.clone(), "this channel").help(help));
            return;
        }
        let port =
            |(actor, port): (usize, usize)| self.graph.actors[actor].ports[port].ours.clone();
        // Firings of one task follow each other anyway.
        let loops = |pair: &Pair| from == to && pair.from == pair.to && pair.initial >= pair.rate;
        for pair in flow.pairs(senders, receivers).iter().filter(|pair| !loops(pair)) {
            let slots = self.room(Some(pair));
            self.check(slots.max(edge.initial.into()), notes);
            channels.push(Channel {
                from: (names[from][pair.from].clone(), port(edge.from)),
                to: (names[to][pair.to].clone(), port(edge.to)),
                slot_bytes: edge.slot_bytes.unwrap_or(SLOT_BYTES),
                ..between(pair, slots)
            });
        }
        let back = edge.slots.map(|slots| Flow::back(edge, slots).pairs(receivers, senders));
        for pair in back.into_iter().flatten() {
            channels.push(Channel {
                from: (names[to][pair.from].clone(), self.port_of(to, "room_out")),
                to: (names[from][pair.to].clone(), self.port_of(from, "room_in")),
                slot_bytes: ROOM_BYTES,
                ..between(&pair, edge.slots.unwrap_or(1).into())
            });
        }
    }

    /// A port that the actor itself does not have.
    fn port_of(&self, actor: usize, wanted: &str) -> String {
        let mut names = Names::default();
        for port in &self.graph.actors[actor].ports {
            names.unique(&port.ours);
        }
        names.unique(wanted)
    }
}

fn between(pair: &Pair, slots: u64) -> Channel {
    Channel {
        produce: pair.rate,
        consume: pair.rate,
        initial: pair.initial,
        slots: u32::try_from(slots).unwrap_or(u32::MAX),
        ..Channel::default()
    }
}
