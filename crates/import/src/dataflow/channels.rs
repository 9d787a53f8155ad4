// SPDX-License-Identifier: Apache-2.0
//! Channels between the tasks of a graph.

use super::bounds::Bounds;
use super::graph::{Edge, Graph};
use super::phases::Phases;
use super::script::{BEGIN, END};
use super::tasks::{Form, Tasks};
use super::unfold::{Flow, Pair};
use crate::draft::Channel;
use crate::notes::Notes;
use whimbrel_model::Problem;

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
    for (actor, names) in tasks.names.iter().enumerate() {
        let bounds = tasks.bounds.as_ref().and_then(|bounds| bounds.at_once[actor]);
        if tasks.forms[actor] == Form::Scripts && bounds.is_some_and(|most| most > 1) {
            turns(names, &mut channels);
        }
    }
    channels
}

/// What keeps the order of tasks that take turns: a message for each goes round.
fn turns(names: &[String], channels: &mut Vec<Channel>) {
    for (out, into) in [BEGIN, END] {
        for (number, name) in names.iter().enumerate() {
            let next = (number + 1) % names.len();
            channels.push(Channel {
                from: (name.clone(), out.into()),
                to: (names[next].clone(), into.into()),
                initial: u32::from(next == 0),
                slots: 1,
                slot_bytes: ROOM_BYTES,
                ..between(&Pair::default(), 1)
            });
        }
    }
}

/// Of scripts each event says how much it passes.
pub(super) fn without_rates(channels: &mut [Channel], scripted: impl Fn(&str) -> bool) {
    for channel in channels.iter_mut().filter(|channel| scripted(&channel.from.0)) {
        (channel.produce, channel.consume) = (1, 1);
    }
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
        if let Some(slots) = edge.slots {
            self.check(slots.into(), notes);
        }
        if edge.slots.is_some_and(|slots| slots < edge.initial) {
            return;
        }
        let form = self.tasks.forms[edge.from.0];
        if matches!(form, Form::Actors | Form::Scripts) {
            self.pairs(form, channels, notes);
        } else if !self.says_nothing(form) {
            let slots = edge.slots.map_or_else(|| self.room(None, notes), u64::from);
            self.check(slots, notes);
            match form {
                Form::Script => self.of_scripts(slots, channels),
                _ => channels.push(self.channel(slots)),
            }
        }
    }

    /// It only keeps firings of an actor from overlapping, as those of a task do anyway. With
    /// phases the graph is known to go on for ever, so there is always enough in it.
    fn says_nothing(&self, form: Form) -> bool {
        let Edge { from, to, produce, consume, initial, .. } = self.edge;
        let initial = u64::from(*initial);
        let fits = |slots: u32| u64::from(slots) - initial >= produce.all();
        let enough = produce == consume && initial >= consume.all();
        from.0 == to.0 && (form == Form::Script || enough && self.edge.slots.is_none_or(fits))
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
                None => format!("{most}: give it a `{}`", self.graph.words.room),
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
            produce: rate(&edge.produce),
            consume: rate(&edge.consume),
            initial: edge.initial,
            slots: u32::try_from(slots).unwrap_or(u32::MAX),
            slot_bytes: edge.slot_bytes.unwrap_or(SLOT_BYTES),
            claims_at_start: edge.slots.is_some(),
        }
    }

    /// One channel between two scripts, and for a buffer one back, with a message for each space.
    fn of_scripts(&self, slots: u64, channels: &mut Vec<Channel>) {
        let plain =
            Channel { produce: 1, consume: 1, claims_at_start: false, ..self.channel(slots) };
        if let Some(size) = self.edge.slots {
            let end = |(actor, port): (usize, usize)| {
                let name = self.tasks.names[actor][0].clone();
                (name, self.graph.actors[actor].ports[port].room.clone())
            };
            let (from, to) = (end(self.edge.to), end(self.edge.from));
            let initial = size - self.edge.initial;
            channels.push(Channel { from, to, initial, slot_bytes: ROOM_BYTES, ..plain.clone() });
        }
        channels.push(plain);
    }

    /// Slots enough for all tokens that there ever are, or else for as many as do not make anything
    /// slower in the long run: of the channel, or of the part of it between two of the tasks that
    /// its actors have become. Where a channel of ours holds less than that, but two iterations at
    /// least, it is as large as can be.
    fn room(&self, pair: Option<&Pair>, notes: &mut Notes) -> u64 {
        let (edge, tasks) = (self.edge, self.tasks);
        let (from, senders) = (edge.from.0, tasks.names[edge.from.0].len() as u64);
        let each = edge.produce.sum(tasks.repetitions[from]);
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
        let slots = known.filter(|known| *known <= SLOTS_MAX).unwrap_or(in_step).max(SLOTS_LEAST);
        let two = rate.saturating_mul(2).saturating_add(initial.into());
        if slots <= SLOTS_MAX || two > SLOTS_MAX {
            return slots;
        }
        let message = format!("`{}` has {SLOTS_MAX} slots, the maximum", edge.name);
        let warning = Problem::new(message).at(edge.at.clone(), "this channel");
        notes.warn(warning.help("expect a slower graph: an actor that is further ahead waits"));
        SLOTS_MAX
    }

    /// As many channels as there are tasks that have tokens for each other, and back.
    fn pairs(&self, form: Form, channels: &mut Vec<Channel>, notes: &mut Notes) {
        let edge = self.edge;
        let names = &self.tasks.names;
        let (from, to) = (edge.from.0, edge.to.0);
        let (senders, receivers) = (names[from].len() as u64, names[to].len() as u64);
        let flow = Flow::of(edge);
        if flow.tokens(senders) > TOKENS_MAX || u64::from(edge.initial) > TOKENS_MAX {
            let message = format!("too many tokens pass `{}`", edge.name);
            let help = "give its actors channels to themselves: their firings overlap";
            notes.refuse(Problem::new(message).at(edge.at.clone(), "this channel").help(help));
            return;
        }
        let port = |(actor, port): (usize, usize)| &self.graph.actors[actor].ports[port];
        // A script names what it waits at: each of its channels has a port of its own.
        let name = |plain: &str, scripts: &str, peer: usize| match form {
            Form::Scripts => format!("{scripts}{}_{peer}", self.number),
            _ => plain.to_owned(),
        };
        // Firings of one task follow each other anyway.
        let loops = |pair: &Pair| from == to && pair.from == pair.to && pair.initial >= pair.rate;
        for pair in flow.pairs(senders, receivers).iter().filter(|pair| !loops(pair)) {
            let slots = self.room(Some(pair), notes);
            self.check(slots.max(edge.initial.into()), notes);
            channels.push(Channel {
                from: (names[from][pair.from].clone(), name(&port(edge.from).ours, "out", pair.to)),
                to: (names[to][pair.to].clone(), name(&port(edge.to).ours, "in", pair.from)),
                slot_bytes: edge.slot_bytes.unwrap_or(SLOT_BYTES),
                ..between(pair, slots)
            });
        }
        let back = edge.slots.map(|slots| Flow::back(edge, slots).pairs(receivers, senders));
        for pair in back.into_iter().flatten() {
            channels.push(Channel {
                from: (names[to][pair.from].clone(), name(&port(edge.to).room, "free", pair.to)),
                to: (names[from][pair.to].clone(), name(&port(edge.from).room, "room", pair.from)),
                slot_bytes: ROOM_BYTES,
                ..between(&pair, edge.slots.unwrap_or(1).into())
            });
        }
    }
}

/// Of each firing.
fn rate(phases: &Phases) -> u32 {
    u32::try_from(phases.all()).unwrap_or(u32::MAX)
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
