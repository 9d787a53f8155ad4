// SPDX-License-Identifier: Apache-2.0
//! The ladder queue of Tang, Goh and Thng, *Ladder queue: an O(1) priority queue structure for
//! large-scale discrete event simulation*, 2005.

use crate::candidate::Keys;

/// Buckets of more keys than this become rungs of their own.
const CROWDED: usize = 50;
const RUNGS: usize = 8;

#[derive(Default)]
struct Rung {
    start: u64,
    width: u64,
    /// The buckets before this one are empty for good.
    current: usize,
    used: usize,
    buckets: Vec<Vec<u128>>,
}

impl Rung {
    fn takes(&self, time: u64) -> bool {
        let from = self.width.saturating_mul(self.current as u64).saturating_add(self.start);
        self.current < self.used && time >= from
    }

    /// What is later than the last bucket belongs there too: the next rung begins after it.
    fn put(&mut self, key: u128) {
        let bucket = ((time_of(key) - self.start) / self.width) as usize;
        self.buckets[bucket.min(self.used - 1)].push(key);
    }
}

/// Far events unsorted, nearer ones in buckets of buckets, the nearest sorted.
pub struct Ladder {
    top: Vec<u128>,
    top_start: u64,
    /// The first `depth` are in use, the widest first.
    rungs: Vec<Rung>,
    depth: usize,
    /// The first at the end.
    bottom: Vec<u128>,
    spare: Vec<u128>,
}

fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

impl Ladder {
    /// Spreads `spare` over a new rung, narrower than those there are.
    fn spread(&mut self) {
        let times = || self.spare.iter().map(|key| time_of(*key));
        let (Some(least), Some(most)) = (times().min(), times().max()) else { return };
        if self.rungs.len() == self.depth {
            self.rungs.push(Rung::default());
        }
        let rung = &mut self.rungs[self.depth];
        (rung.start, rung.current) = (least, 0);
        rung.width = (most - least) / self.spare.len() as u64 + 1;
        rung.used = ((most - least) / rung.width + 1) as usize;
        if rung.buckets.len() < rung.used {
            rung.buckets.resize_with(rung.used, Vec::new);
        }
        for key in self.spare.drain(..) {
            rung.put(key);
        }
        self.depth += 1;
    }

    fn refill(&mut self) {
        while self.bottom.is_empty() {
            let Some(rung) = self.depth.checked_sub(1).map(|last| &mut self.rungs[last]) else {
                if self.top.is_empty() {
                    return;
                }
                std::mem::swap(&mut self.top, &mut self.spare);
                let last = self.spare.iter().copied().max().map_or(0, time_of);
                self.top_start = last.saturating_add(1);
                self.spread();
                continue;
            };
            let at = (rung.current..rung.used).find(|at| !rung.buckets[*at].is_empty());
            let Some(at) = at else {
                self.depth -= 1;
                continue;
            };
            rung.current = at + 1;
            if rung.buckets[at].len() > CROWDED && rung.width > 1 && self.depth < RUNGS {
                std::mem::swap(&mut rung.buckets[at], &mut self.spare);
                self.spread();
                continue;
            }
            std::mem::swap(&mut rung.buckets[at], &mut self.bottom);
            self.bottom.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

impl Keys for Ladder {
    const NAME: &str = "ladder";

    fn with_capacity(keys: usize) -> Self {
        let vec = || Vec::with_capacity(keys);
        let (rungs, depth) = (Vec::new(), 0);
        Ladder { top: vec(), top_start: 0, rungs, depth, bottom: vec(), spare: vec() }
    }

    fn push(&mut self, key: u128) {
        let time = time_of(key);
        if time >= self.top_start {
            return self.top.push(key);
        }
        let taking = self.rungs[..self.depth].iter_mut().find(|rung| rung.takes(time));
        if let Some(rung) = taking {
            return rung.put(key);
        }
        let place = self.bottom.partition_point(|held| *held > key);
        self.bottom.insert(place, key);
    }

    fn pop(&mut self) -> Option<u128> {
        self.refill();
        self.bottom.pop()
    }

    fn first(&mut self) -> Option<u128> {
        self.refill();
        self.bottom.last().copied()
    }
}
