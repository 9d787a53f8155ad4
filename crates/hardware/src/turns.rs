// SPDX-License-Identifier: Apache-2.0
//! Transfers that share a bus by turns of one burst: first come, first served.
//!
//! A core asks for the bus when its transfer begins, and again at the end of each of its bursts,
//! behind all who wait already. Of two that ask at the same moment, one whose transfer begins goes
//! before the one whose burst ends, and of those that begin, the one that was said first. A core
//! has one transfer at a time: what it begins before its last one is over comes after that. What it
//! begins some time after that, of which it says all at once, begins as long after it whenever it
//! is over.
//!
//! While nobody comes and nobody is at its last burst, each of n cores has one burst in a lap of
//! `n * slot`. So [`Line`] counts laps, not bursts: it goes from one arrival or last burst to the
//! next at once, and when a transfer will be over follows from the laps that everybody has left, by
//! one sum over the others ([`Line::end`]). What a transfer costs depends on how
//! many share the bus with it, and on nothing else.

use std::collections::VecDeque;
use std::ops::{Range, RangeBounds};

use serde::{Deserialize, Serialize};

/// How many, for each core, may come after others of their core before the bus moves forward by
/// what was said alone: callers that never look do not say what time it is.
const KEPT: usize = 4;

/// Of [`Turns::ends`]: its core may have another transfer behind the one that was over then.
const NEVER: u64 = 0;

/// A transfer that has not begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Transfer {
    core: usize,
    at_ps: u64,
    /// Which of all transfers it is.
    number: u64,
    /// Full bursts before the last one.
    full: u64,
    /// How long the last burst takes, at most as long as a full one.
    last_ps: u64,
    /// When it would be over if nobody were in its way.
    alone_ps: u64,
    /// How long after the last one of its core; `None`: it comes before that is over, as far as is
    /// known.
    pause_ps: Option<u64>,
}

/// A transfer that has the bus in turn with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Sharer {
    core: usize,
    /// The lap of its last burst.
    last_lap: u64,
    last_ps: u64,
    alone_ps: u64,
}

/// Who has the bus, who waits for it, and who will come.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    slot_ps: u64,
    /// When the last burst that was begun ends, and whose it is.
    free_ps: u64,
    served: usize,
    /// Those who have the bus in turn, in the order of their bursts in a lap: their cores,
    cores: Vec<usize>,
    /// the end of the last burst of each if every lap took one slot,
    ends_ps: Vec<u64>,
    /// and what else there is of them.
    sharers: Vec<Sharer>,
    lap: u64,
    /// How many of them have had their burst of this lap.
    next: usize,
    /// The last of these is `served`, who asks again at `free_ps`: who comes by then goes before.
    asks_again: bool,
    /// Those who will ask when it is time, in their order.
    coming: VecDeque<Transfer>,
    /// Those who come after another of their core, in the order in which they were said.
    behind: VecDeque<Transfer>,
}

/// The bus once all have come who will, after so many transfers; and whose transfers are over by
/// then, and when. It follows from `line`, so all are alike.
#[derive(Debug, Clone, Default)]
struct Ahead {
    line: Line,
    over: Vec<(usize, u64)>,
    of: u64,
}

impl PartialEq for Ahead {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Ahead {}

/// A bus that is shared by turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// The bus as it was when it was last moved forward, at `now_ps` or before.
    line: Line,
    now_ps: u64,
    transfers: u64,
    /// When the last transfer of each core is over, by what was known after so many transfers,
    ends: Vec<(u64, u64)>,
    /// and when it is over by what was told.
    told_ps: Vec<u64>,
    #[serde(skip)]
    ahead: Ahead,
    /// What transfers have waited that are over in `line`.
    waited_ps: u64,
}

impl Turns {
    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        let cores = like.ends.len();
        let line = &self.line;
        let mut named = (line.cores.iter().copied())
            .chain(line.sharers.iter().map(|sharer| sharer.core))
            .chain(line.coming.iter().chain(&line.behind).map(|transfer| transfer.core));
        (self.ends.len(), self.told_ps.len()) == (cores, like.told_ps.len())
            && line.slot_ps == like.line.slot_ps
            && line.sharers.len() == line.cores.len()
            && line.ends_ps.len() == line.cores.len()
            && line.next <= line.cores.len()
            && usize::from(line.asks_again) <= line.next
            && named.all(|core| core < cores)
    }

    /// A bus that is free.
    pub(crate) fn new(cores: usize, slot_ps: u64) -> Self {
        Self {
            line: Line { slot_ps, ..Line::default() },
            ahead: Ahead::default(),
            now_ps: 0,
            transfers: 0,
            ends: vec![(0, NEVER); cores],
            told_ps: vec![0; cores],
            waited_ps: 0,
        }
    }

    /// Takes a transfer of `full` bursts and a last one of `last_ps`. Returns when it is over if
    /// nobody else comes. What should have begun before `now_ps` begins then.
    pub(crate) fn transfer(&mut self, at_ps: u64, core: usize, full: u64, last_ps: u64) -> u64 {
        let at_ps = at_ps.max(self.now_ps);
        let alone_ps = at_ps + full * self.line.slot_ps + last_ps;
        let number = self.transfers;
        self.forward(self.now_ps);
        let pause_ps = at_ps.checked_sub(self.end(core));
        self.transfers += 1;
        self.line.add(Transfer { core, at_ps, number, full, last_ps, alone_ps, pause_ps });
        let end_ps = self.end(core);
        self.told_ps[core] = end_ps;
        let kept = KEPT * self.ends.len();
        if self.line.behind.len() > kept {
            self.forward(self.line.behind[kept / 2].at_ps);
        }
        end_ps
    }

    /// Nobody comes before `now_ps` any more.
    #[inline]
    pub(crate) fn advance(&mut self, now_ps: u64) {
        self.now_ps = self.now_ps.max(now_ps);
    }

    /// When the last transfer of a core is over, by what is known at `now_ps`.
    #[inline]
    pub(crate) fn transfer_end(&mut self, now_ps: u64, core: usize) -> u64 {
        self.advance(now_ps);
        self.end(core)
    }

    /// By how much later the last transfer of a core is over than was told, here or when it was
    /// said.
    #[inline]
    pub(crate) fn delay(&mut self, now_ps: u64, core: usize) -> u64 {
        let end_ps = self.transfer_end(now_ps, core);
        let delay_ps = end_ps.saturating_sub(self.told_ps[core]);
        self.told_ps[core] += delay_ps;
        delay_ps
    }

    /// For how long transfers wait for others, by what is known.
    pub(crate) fn waited_ps(&self) -> u64 {
        let mut waited_ps = self.waited_ps;
        self.line.clone().run(u64::MAX, |sharer, end_ps| waited_ps += end_ps - sharer.alone_ps);
        waited_ps
    }

    /// Moves the bus forward: nobody comes before `now_ps` any more.
    fn forward(&mut self, now_ps: u64) {
        let (waited_ps, ends) = (&mut self.waited_ps, &mut self.ends);
        self.line.run(now_ps, |sharer, end_ps| {
            *waited_ps += end_ps - sharer.alone_ps;
            ends[sharer.core] = (end_ps, NEVER);
        });
    }

    /// When the last transfer of a core is over if nobody else comes.
    #[inline]
    fn end(&mut self, core: usize) -> u64 {
        if self.ends[core].1 != self.transfers {
            let end_ps = self.foreseen(core).unwrap_or(self.ends[core].0);
            self.ends[core] = (end_ps, self.transfers);
        }
        self.ends[core].0
    }

    /// The same of one that is not over in `line`; `None`: it is.
    fn foreseen(&mut self, core: usize) -> Option<u64> {
        if self.line.is_in_turn() {
            return self.line.end(core);
        }
        let Ahead { line, over, of } = &mut self.ahead;
        if *of != self.transfers {
            *of = self.transfers;
            line.clone_from(&self.line);
            over.clear();
            let mut note = |sharer: &Sharer, end_ps| over.push((sharer.core, end_ps));
            while !line.is_in_turn() && line.go(u64::MAX, &mut note) {}
        }
        let over = || over.iter().rfind(|(of, _)| *of == core).map(|(_, end_ps)| *end_ps);
        line.end(core).or_else(over)
    }
}

impl Transfer {
    /// Once the one before it is over.
    fn after(self, end_ps: u64) -> Self {
        let at_ps = self.pause_ps.map_or(self.at_ps, |pause_ps| end_ps + pause_ps);
        Self { at_ps, alone_ps: at_ps + (self.alone_ps - self.at_ps), ..self }
    }
}

impl Clone for Line {
    fn clone(&self) -> Self {
        let mut line = Self::default();
        line.clone_from(self);
        line
    }

    /// Keeps the memory that it has.
    fn clone_from(&mut self, from: &Self) {
        self.cores.clone_from(&from.cores);
        self.ends_ps.clone_from(&from.ends_ps);
        self.sharers.clone_from(&from.sharers);
        self.coming.clone_from(&from.coming);
        self.behind.clone_from(&from.behind);
        let Self { slot_ps, free_ps, served, lap, next, asks_again, .. } = *from;
        (self.slot_ps, self.free_ps, self.served) = (slot_ps, free_ps, served);
        (self.lap, self.next, self.asks_again) = (lap, next, asks_again);
    }
}

impl Line {
    /// Lets a transfer come when it is time and its core has no other.
    fn add(&mut self, transfer: Transfer) {
        if self.has(transfer.core) {
            self.behind.push_back(transfer);
        } else if transfer.core == self.served && transfer.at_ps < self.free_ps {
            // Its last one has a burst still: it asks again at the end of that.
            self.join(&transfer);
            self.asks_again = true;
        } else {
            let key = (transfer.at_ps, transfer.number);
            let place = self.coming.partition_point(|other| (other.at_ps, other.number) < key);
            self.coming.insert(place, transfer);
        }
    }

    /// Whether a core has a transfer that goes on, or will when its time comes.
    fn has(&self, core: usize) -> bool {
        self.cores.contains(&core) || self.coming.iter().any(|transfer| transfer.core == core)
    }

    /// Begins every burst that begins before `until_ps`; those that ask at `until_ps` may not have
    /// come yet. Says of each transfer that ends when it does.
    fn run(&mut self, until_ps: u64, mut over: impl FnMut(&Sharer, u64)) {
        while self.go(until_ps, &mut over) {}
    }

    /// As far as the next arrival or last burst. Returns false if there is nothing left to do.
    fn go(&mut self, until_ps: u64, over: &mut impl FnMut(&Sharer, u64)) -> bool {
        if self.free_ps >= until_ps {
            return false;
        }
        while let Some(next) = self.coming.front().filter(|next| next.at_ps <= self.free_ps) {
            let next = *next;
            self.coming.pop_front();
            self.join(&next);
        }
        let next_ps = self.coming.front().map_or(until_ps, |next| next.at_ps.min(until_ps));
        if self.sharers.is_empty() {
            self.free_ps = next_ps;
            return next_ps < until_ps;
        }
        let begin = (next_ps - self.free_ps).div_ceil(self.slot_ps);
        let (last, before) = self.next_last();
        self.serve(before.min(begin));
        if before < begin {
            self.end_last(last, over);
        }
        true
    }

    /// Takes one in that asks now: behind all who wait, so before whoever asks again.
    fn join(&mut self, transfer: &Transfer) {
        let place = self.next - usize::from(self.asks_again);
        let sharer = Sharer {
            core: transfer.core,
            last_lap: self.lap + 1 + transfer.full,
            last_ps: transfer.last_ps,
            alone_ps: transfer.alone_ps,
        };
        self.cores.insert(place, sharer.core);
        self.ends_ps.insert(place, sharer.last_lap * self.slot_ps + sharer.last_ps);
        self.sharers.insert(place, sharer);
        self.next += 1;
    }

    /// Whose last burst comes first, and how many full ones before it.
    fn next_last(&self) -> (usize, u64) {
        let mut first = (u64::MAX, 0);
        for (place, sharer) in self.sharers.iter().enumerate() {
            if sharer.last_lap < first.0 {
                first = (sharer.last_lap, place);
            }
        }
        let (lap, place) = first;
        let laps = (lap - self.lap).saturating_mul(self.sharers.len() as u64);
        (place, laps.saturating_add(place as u64).saturating_sub(self.next as u64))
    }

    /// So many full bursts in turn.
    fn serve(&mut self, bursts: u64) {
        if bursts > 0 {
            let (had, all) = (self.next as u64 + bursts, self.sharers.len() as u64);
            self.lap += (had - 1) / all;
            self.next = ((had - 1) % all + 1) as usize;
            self.free_ps += bursts * self.slot_ps;
            self.served = self.sharers[self.next - 1].core;
            self.asks_again = true;
        }
    }

    /// The next burst is the last one of a transfer.
    fn end_last(&mut self, place: usize, over: &mut impl FnMut(&Sharer, u64)) {
        if self.next == self.sharers.len() {
            self.next = 0;
            self.lap += 1;
        }
        debug_assert!(self.next == place && self.sharers[place].last_lap == self.lap);
        let sharer = self.sharers.remove(place);
        self.cores.remove(place);
        self.ends_ps.remove(place);
        self.free_ps += sharer.last_ps;
        self.served = sharer.core;
        self.asks_again = false;
        if self.sharers.is_empty() {
            self.lap = 0;
        }
        over(&sharer, self.free_ps);
        let next = self.behind.iter().position(|other| other.core == sharer.core);
        if let Some(next) = next.and_then(|next| self.behind.remove(next)) {
            self.add(next.after(self.free_ps));
        }
    }

    /// Whether all who are known of have come, or come before the next burst.
    fn is_in_turn(&self) -> bool {
        self.behind.is_empty() && self.coming.back().is_none_or(|last| last.at_ps <= self.free_ps)
    }

    /// When the last transfer of a core is over if nobody else comes, all being in turn; `None`: it
    /// has none. With so many full bursts left and a last one, those who are before it
    /// in turn have one burst more than it, or all that they have left; those behind it as many.
    fn end(&self, core: usize) -> Option<u64> {
        let (all, had) = (self.cores.len(), self.next);
        let again = had - usize::from(self.asks_again);
        if let Some(place) = self.cores.iter().position(|of| *of == core) {
            let lap = self.lap + u64::from(place < had);
            let own_ps = (self.sharers[place].last_lap - lap) * self.slot_ps;
            let (most_ps, end_ps) =
                (own_ps + self.slot_ps, self.free_ps + own_ps + self.sharers[place].last_ps);
            let others_ps = if place >= had {
                self.given(had..place, most_ps)
                    + self.given(place + 1..all, own_ps)
                    + self.given(0..had, own_ps)
                    + self.given_to_coming(.., own_ps)
            } else {
                let coming_ps = if place < again { own_ps } else { most_ps };
                self.given(had..all, most_ps)
                    + self.given(0..place, most_ps)
                    + self.given(place + 1..had, own_ps)
                    + self.given_to_coming(.., coming_ps)
            };
            return Some(end_ps + others_ps);
        }
        let place = self.coming.iter().position(|transfer| transfer.core == core)?;
        let own_ps = self.coming[place].full * self.slot_ps;
        let (most_ps, end_ps) =
            (own_ps + self.slot_ps, self.free_ps + own_ps + self.coming[place].last_ps);
        let others_ps = self.given(had..all, most_ps)
            + self.given(0..again, most_ps)
            + self.given_to_coming(..place, most_ps)
            + self.given_to_coming(place + 1.., own_ps)
            + self.given(again..had, own_ps);
        Some(end_ps + others_ps)
    }

    /// What sharers, all before or all behind `next`, have of the bus, each at most so much.
    #[inline]
    fn given(&self, places: Range<usize>, most_ps: u64) -> u64 {
        let lap = self.lap + u64::from(places.start < self.next);
        let lap_ps = lap * self.slot_ps;
        self.ends_ps[places].iter().map(|end_ps| (end_ps - lap_ps).min(most_ps)).sum()
    }

    fn given_to_coming(&self, places: impl RangeBounds<usize>, most_ps: u64) -> u64 {
        let all = self.coming.range(places);
        all.map(|transfer| (transfer.full * self.slot_ps + transfer.last_ps).min(most_ps)).sum()
    }
}
