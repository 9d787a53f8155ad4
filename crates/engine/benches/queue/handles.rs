// SPDX-License-Identifier: Apache-2.0
//! The engine's heap without a front: whose events know their places, too.

use whimbrel_engine::queue::NEVER;

use crate::candidate::{Candidate, SLOT_BITS, slot_of};

const CHILDREN: usize = 4;

/// What the engine had before it had a front.
pub struct Heap {
    next: u64,
    pushed: u64,
    len: usize,
    /// Behind the last key come the greatest ones: whoever has one child has four.
    keys: Vec<u128>,
    /// Place and payload.
    slots: Vec<(u32, u32)>,
    free: Vec<u32>,
}

impl Candidate for Heap {
    type Handle = Option<u64>;
    const NAME: &str = "heap alone";
    const LARGEST: usize = usize::MAX;

    fn with_capacity(events: usize) -> Self {
        let (slots, free) = (Vec::with_capacity(events), Vec::with_capacity(events));
        let keys = Vec::with_capacity(events + CHILDREN);
        Heap { next: NEVER, pushed: 0, len: 0, keys, slots, free }
    }

    fn push(&mut self, time: u64, payload: u32) -> Option<u64> {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(held) => held.1 = payload,
            None => self.slots.push((0, payload)),
        }
        let name = self.pushed << SLOT_BITS | u64::from(slot);
        self.pushed += 1;
        if self.len == self.keys.len() {
            let more = if self.len == 0 { 1 } else { CHILDREN };
            self.keys.extend(std::iter::repeat_n(u128::MAX, more));
        }
        self.len += 1;
        self.rise(self.len - 1, u128::from(time) << 64 | u128::from(name));
        self.next = (self.keys[0] >> 64) as u64;
        Some(name)
    }

    fn pop(&mut self) -> Option<(u64, u32)> {
        let first = *self.keys.first().filter(|_| self.len > 0)?;
        Some(((first >> 64) as u64, self.take(0, first)))
    }

    fn peek_time(&self) -> u64 {
        self.next
    }

    fn cancel(&mut self, handle: Option<u64>) {
        let Some(name) = handle else { return };
        let Some(place) = self.slots.get(slot_of(name)).map(|held| held.0 as usize) else { return };
        if let Some(key) = self.keys.get(place).copied().filter(|key| *key as u64 == name) {
            self.take(place, key);
        }
    }
}

impl Heap {
    fn take(&mut self, place: usize, key: u128) -> u32 {
        self.len -= 1;
        let moved = std::mem::replace(&mut self.keys[self.len], u128::MAX);
        if place < self.len {
            if place > 0 && moved < self.keys[(place - 1) / CHILDREN] {
                self.rise(place, moved);
            } else {
                self.sink(place, moved);
            }
        }
        self.next = (self.keys[0] >> 64) as u64;
        self.free.push(slot_of(key as u64) as u32);
        self.slots[slot_of(key as u64)].1
    }

    fn rise(&mut self, mut gap: usize, key: u128) {
        while gap > 0 && key < self.keys[(gap - 1) / CHILDREN] {
            self.put(gap, self.keys[(gap - 1) / CHILDREN]);
            gap = (gap - 1) / CHILDREN;
        }
        self.put(gap, key);
    }

    fn sink(&mut self, mut gap: usize, key: u128) {
        loop {
            let children = gap * CHILDREN + 1;
            let Some(&[a, b, c, d]) = self.keys.get(children..children + CHILDREN) else { break };
            let less = |a: (usize, u128), b: (usize, u128)| if b.1 < a.1 { b } else { a };
            let (least, below) = less(
                less((children, a), (children + 1, b)),
                less((children + 2, c), (children + 3, d)),
            );
            if key < below {
                break;
            }
            self.put(gap, below);
            gap = least;
        }
        self.put(gap, key);
    }

    fn put(&mut self, place: usize, key: u128) {
        self.keys[place] = key;
        self.slots[slot_of(key as u64)].0 = place as u32;
    }
}
