// SPDX-License-Identifier: Apache-2.0
//! Transfers that share a bus by turns of one burst: first come, first served.
//!
//! A core asks for the bus when its transfer begins, and again at the end of each of its bursts,
//! behind all who wait already. Of two that ask at the same moment, one whose transfer begins goes
//! before the one whose burst ends, and of those that begin, the one that was said first. A core
//! has one transfer at a time: what it begins before its last one is over comes after that.
//!
//! While nobody comes and nobody is at its last burst, each of n cores has one burst in `n * slot`.
//! Such rounds are taken all at once, so the cost of a transfer depends on how many others begin
//! or end meanwhile, and not on how many bursts they have.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// How many, for each core, may come after others of their core before the bus moves forward by
/// what was said alone: callers that never look do not say what time it is.
const KEPT: usize = 4;

/// A transfer that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Transfer {
    core: usize,
    at_ps: u64,
    /// Which of all transfers it is.
    number: u64,
    /// Full bursts before the last one.
    full: u64,
    /// How long the last burst takes.
    last_ps: u64,
    /// When it would be over if nobody were in its way.
    alone_ps: u64,
}

/// Who has the bus, who waits for it, and who will come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    slot_ps: u64,
    /// When the last burst that was begun ends, and whose it is.
    free_ps: u64,
    served: usize,
    /// What `served` has left: it asks again then.
    again: Option<Transfer>,
    /// Those who asked, in their order.
    waiting: VecDeque<Transfer>,
    /// Those who will ask when it is time, in their order.
    coming: VecDeque<Transfer>,
    /// Those who come after another of their core, in the order in which they were said.
    behind: VecDeque<Transfer>,
}

/// A bus that is shared by turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    /// The bus as it was when it was last moved forward, at `now_ps` or before.
    line: Line,
    now_ps: u64,
    transfers: u64,
    /// By what is known: when the last transfer of each core is over, and that of all.
    ends_ps: Vec<u64>,
    dry_ps: u64,
    /// What transfers have waited, and what with those that `line` still holds.
    past_waited_ps: u64,
    waited_ps: u64,
}

impl Turns {
    /// A bus that is free.
    pub(crate) fn new(cores: usize, slot_ps: u64) -> Self {
        Self {
            line: Line { slot_ps, ..Line::default() },
            now_ps: 0,
            transfers: 0,
            ends_ps: vec![0; cores],
            dry_ps: 0,
            past_waited_ps: 0,
            waited_ps: 0,
        }
    }

    /// Takes a transfer of `full` bursts and a last one of `last_ps`. Returns when it is over if
    /// nobody else comes. What should have begun before `now_ps` begins then.
    pub(crate) fn transfer(&mut self, at_ps: u64, core: usize, full: u64, last_ps: u64) -> u64 {
        let at_ps = at_ps.max(self.now_ps);
        let alone_ps = at_ps + full * self.line.slot_ps + last_ps;
        let number = self.transfers;
        self.transfers += 1;
        if self.now_ps >= self.dry_ps {
            self.line.clear(self.dry_ps);
            self.past_waited_ps = self.waited_ps;
        }
        self.line.add(Transfer { core, at_ps, number, full, last_ps, alone_ps });
        if at_ps >= self.dry_ps {
            self.ends_ps[core] = alone_ps;
            self.dry_ps = alone_ps;
        } else {
            self.forward(self.now_ps);
            self.foresee();
        }
        let kept = KEPT * self.ends_ps.len();
        if self.line.behind.len() > kept {
            self.forward(self.line.behind[kept / 2].at_ps);
        }
        self.ends_ps[core]
    }

    /// When the last transfer of a core is over, by what is known at `now_ps`.
    #[inline]
    pub(crate) fn transfer_end(&mut self, now_ps: u64, core: usize) -> u64 {
        self.now_ps = self.now_ps.max(now_ps);
        self.ends_ps[core]
    }

    /// For how long transfers wait for others, by what is known.
    pub(crate) fn waited_ps(&self) -> u64 {
        self.waited_ps
    }

    /// Moves the bus forward: nobody comes before `now_ps` any more.
    fn forward(&mut self, now_ps: u64) {
        let waited_ps = &mut self.past_waited_ps;
        self.line.run(now_ps, |transfer, end_ps| *waited_ps += end_ps - transfer.alone_ps);
    }

    /// Says when everything is over if nobody else comes.
    fn foresee(&mut self) {
        let mut line = self.line.clone();
        let (ends_ps, mut waited_ps) = (&mut self.ends_ps, self.past_waited_ps);
        line.run(u64::MAX, |transfer, end_ps| {
            ends_ps[transfer.core] = end_ps;
            waited_ps += end_ps - transfer.alone_ps;
        });
        self.dry_ps = line.free_ps;
        self.waited_ps = waited_ps;
    }
}

impl Line {
    /// Everything is over at `free_ps`.
    fn clear(&mut self, free_ps: u64) {
        self.again = None;
        self.waiting.clear();
        self.coming.clear();
        self.behind.clear();
        self.free_ps = free_ps;
    }

    /// Lets a transfer come when it is time and its core has no other.
    fn add(&mut self, transfer: Transfer) {
        let mut all = self.again.iter().chain(&self.waiting).chain(&self.coming);
        if all.any(|other| other.core == transfer.core) {
            self.behind.push_back(transfer);
        } else if transfer.core == self.served && transfer.at_ps < self.free_ps {
            self.again = Some(transfer);
        } else {
            let key = (transfer.at_ps, transfer.number);
            let place = self.coming.partition_point(|other| (other.at_ps, other.number) < key);
            self.coming.insert(place, transfer);
        }
    }

    /// Begins every burst that begins before `until_ps`; those that ask at `until_ps` may not have
    /// come yet. Says of each transfer that ends when it does.
    fn run(&mut self, until_ps: u64, mut over: impl FnMut(&Transfer, u64)) {
        let mut singles = 0;
        while self.free_ps < until_ps {
            self.ask();
            if self.waiting.is_empty() {
                match self.coming.front() {
                    Some(next) if next.at_ps < until_ps => self.free_ps = next.at_ps,
                    _ => return,
                }
                continue;
            }
            if singles == 0 {
                self.skip(until_ps);
                singles = self.waiting.len();
            }
            singles -= 1;
            self.serve(&mut over);
        }
    }

    /// Those whose time has come by `free_ps` ask, and then the one whose burst ends there.
    fn ask(&mut self) {
        while let Some(next) = self.coming.front().filter(|next| next.at_ps <= self.free_ps) {
            self.waiting.push_back(*next);
            self.coming.pop_front();
        }
        self.waiting.extend(self.again.take());
    }

    /// Takes as many whole rounds as end before `until_ps`, before anybody comes, and before
    /// anybody's last burst.
    fn skip(&mut self, until_ps: u64) {
        let next_ps = self.coming.front().map_or(until_ps, |next| next.at_ps.min(until_ps));
        let round_ps = self.waiting.len() as u64 * self.slot_ps;
        let fit = (next_ps - 1 - self.free_ps) / round_ps;
        let rounds = self.waiting.iter().fold(fit, |rounds, one| rounds.min(one.full));
        for one in &mut self.waiting {
            one.full -= rounds;
        }
        self.free_ps += rounds * round_ps;
    }

    /// The first who waits has a burst.
    fn serve(&mut self, over: &mut impl FnMut(&Transfer, u64)) {
        let Some(mut first) = self.waiting.pop_front() else { return };
        self.served = first.core;
        if first.full > 0 {
            first.full -= 1;
            self.free_ps += self.slot_ps;
            self.again = Some(first);
            return;
        }
        self.free_ps += first.last_ps;
        over(&first, self.free_ps);
        let next = self.behind.iter().position(|other| other.core == first.core);
        if let Some(next) = next.and_then(|next| self.behind.remove(next)) {
            self.add(next);
        }
    }
}
