// SPDX-License-Identifier: Apache-2.0
//! Actors that fire several times at once, as several tasks: the graph unfolded (K. K. Parhi, D. G.
//! Messerschmitt: "Static Rate-Optimal Scheduling of Iterative Data-Flow Programs via Optimum
//! Unfolding", IEEE Transactions on Computers 40(2), 1991).
//!
//! An actor that fires r times in an iteration becomes n × r tasks, which fire in turn: each once
//! in n iterations, and always in the same phase. So each takes always the same of the tokens that
//! pass a channel, from the same tasks, and a channel becomes one between each two of them that
//! have tokens for each other. The order of the tokens is that of the graph. A buffer becomes a
//! channel of tokens that go back: one for each token that fits, claimed and freed with it.

use std::collections::BTreeMap;

use super::graph::Edge;
use super::phases::Phases;

/// A channel between two tasks, by their numbers among those of their actors.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pair {
    pub from: usize,
    pub to: usize,
    /// Put by each firing of the one, and taken by each of the other.
    pub rate: u32,
    pub initial: u32,
}

/// Tokens and the ends that they pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow<'g> {
    pub produce: &'g Phases,
    pub consume: &'g Phases,
    pub initial: u32,
}

impl<'g> Flow<'g> {
    /// The tokens of a channel.
    pub fn of(edge: &'g Edge) -> Self {
        Self { produce: &edge.produce, consume: &edge.consume, initial: edge.initial }
    }

    /// The room of a channel, which goes back.
    pub fn back(edge: &'g Edge, slots: u32) -> Self {
        let initial = slots - edge.initial;
        Self { produce: &edge.consume, consume: &edge.produce, initial }
    }

    /// How many tokens pass while each of so many senders fires once.
    pub fn tokens(self, senders: u64) -> u64 {
        self.produce.sum(senders)
    }

    /// The channels between so many senders and receivers, in the order of these.
    pub fn pairs(self, senders: u64, receivers: u64) -> Vec<Pair> {
        let mut pairs: BTreeMap<(u64, u64), (u32, u32)> = BTreeMap::new();
        let initial = u64::from(self.initial);
        let all = self.tokens(senders);
        // Tokens at the start are those of firings before the first.
        let laps = initial.div_ceil(all);
        let ends = |token: u64| {
            let from = self.produce.passes(token + laps * all - initial) % senders;
            (from, self.consume.passes(token) % receivers)
        };
        for token in 0..all {
            pairs.entry(ends(token)).or_default().0 += 1;
        }
        for token in 0..initial {
            pairs.entry(ends(token)).or_default().1 += 1;
        }
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let pair = |((from, to), (rate, initial))| Pair {
            from: number(from),
            to: number(to),
            rate,
            initial,
        };
        pairs.into_iter().map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(rates: [u64; 2], initial: u32, tasks: [u64; 2]) -> Vec<(usize, usize, u32, u32)> {
        let [produce, consume] = &rates.map(Phases::one);
        let pairs = Flow { produce, consume, initial }.pairs(tasks[0], tasks[1]);
        pairs.iter().map(|pair| (pair.from, pair.to, pair.rate, pair.initial)).collect()
    }

    #[test]
    fn firings_in_turn_meet_in_turn() {
        assert_eq!(pairs([1, 1], 0, [2, 2]), [(0, 0, 1, 0), (1, 1, 1, 0)]);
        // The first receiver takes the token of the start, so the first sender's is the second's.
        assert_eq!(pairs([1, 1], 1, [2, 2]), [(0, 1, 1, 0), (1, 0, 1, 1)]);
        assert_eq!(pairs([1, 1], 5, [2, 2]), [(0, 1, 1, 2), (1, 0, 1, 3)]);
    }

    #[test]
    fn tokens_of_one_firing_go_to_all_that_take_them() {
        assert_eq!(pairs([3, 1], 0, [1, 3]), [(0, 0, 1, 0), (0, 1, 1, 0), (0, 2, 1, 0)]);
        let two_and_three = [(0, 0, 2, 0), (1, 0, 1, 0), (1, 1, 1, 0), (2, 1, 2, 0)];
        assert_eq!(pairs([2, 3], 0, [3, 2]), two_and_three);
    }

    #[test]
    fn firings_in_phases_without_tokens_meet_nobody() {
        let (produce, consume) = (&Phases::new(&[2, 0, 1]), &Phases::one(1));
        let pairs = Flow { produce, consume, initial: 0 }.pairs(3, 3);
        let ends: Vec<_> = pairs.iter().map(|pair| (pair.from, pair.to, pair.rate)).collect();
        assert_eq!(ends, [(0, 0, 1), (0, 1, 1), (2, 2, 1)]);
    }

    #[test]
    fn every_token_passes_between_the_same_two_tasks_in_every_lap() {
        for (produce, consume) in [(1, 1), (2, 3), (3, 2), (4, 6)] {
            for (initial, laps) in [(0, 1), (1, 2), (5, 1), (13, 3)] {
                let (senders, receivers) = (laps * 12 / produce, laps * 12 / consume);
                let (puts, takes) = (Phases::one(produce.into()), Phases::one(consume.into()));
                let flow = Flow { produce: &puts, consume: &takes, initial };
                let pairs = flow.pairs(senders.into(), receivers.into());
                let sum: u32 = pairs.iter().map(|pair| pair.initial).sum();
                assert_eq!(sum, initial);
                for sender in 0..senders as usize {
                    let put: u32 = pairs.iter().filter(|p| p.from == sender).map(|p| p.rate).sum();
                    assert_eq!(put, produce);
                }
                for receiver in 0..receivers as usize {
                    let into = pairs.iter().filter(|p| p.to == receiver);
                    assert_eq!(into.map(|p| p.rate).sum::<u32>(), consume);
                }
            }
        }
    }
}
