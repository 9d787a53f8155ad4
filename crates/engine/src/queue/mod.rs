// SPDX-License-Identifier: Apache-2.0
//! What is going to happen: events by time, and of one time in the order in which they were pushed.
//!
//! An implicit heap of four children per node (Johnson, *Priority queues with update and finding
//! minimum spanning trees*, 1975) whose keys are single 128-bit numbers. A key holds time, order
//! and slot; the four keys of a node's children fill one cache line. A slot holds the payload and
//! says where its key is, so that any event can be cancelled. What else was tried, and by how much
//! it lost or won: docs/decisions/0009-event-queue.md.
//!
//! Nothing is allocated once the queue has been as full as it gets.

mod key;
#[cfg(test)]
mod tests;

use std::{iter, mem};

use serde::{Deserialize, Serialize};

use key::Key;

/// The time of no event: later than every one.
pub const NEVER: u64 = u64::MAX;

const CHILDREN: usize = 4;

/// Names one pushed event. No other event of the same queue is ever named so, even once it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handle(u64);

impl Handle {
    /// The name as a number for other languages, never 0.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0 + 1
    }

    /// The handle whose number this is.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Handle(number.wrapping_sub(1))
    }
}

/// Events that are going to happen.
///
/// Holds at most 2^20 events, and takes at most 2^44 in its life: ten days at twenty million a
/// second. It panics beyond either.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Queue<T> {
    /// When the first one happens, for `peek_time`.
    next: u64,
    /// How many were ever pushed.
    pushed: u64,
    /// How many there are.
    len: usize,
    /// A heap: no key is above those of its children. Behind the last key come [`Key::NONE`], so
    /// that whoever has one child has four.
    keys: Vec<Key>,
    slots: Vec<Slot<T>>,
    /// Slots that hold no event, the last one freed at the end: it is the likeliest in the cache.
    free: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Slot<T> {
    /// Where the key of this event is. Means nothing while the slot is free.
    place: u32,
    payload: T,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue {
            next: NEVER,
            pushed: 0,
            len: 0,
            keys: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T: Copy> Queue<T> {
    /// A queue without events.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A queue without events that allocates nothing for as many as this.
    #[must_use]
    pub fn with_capacity(events: usize) -> Self {
        Queue {
            keys: Vec::with_capacity(events + CHILDREN),
            slots: Vec::with_capacity(events),
            free: Vec::with_capacity(events),
            ..Self::default()
        }
    }

    /// How many events are going to happen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is going to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// When the first event happens, in picoseconds; [`NEVER`] if none does. One load.
    #[must_use]
    #[inline(always)]
    pub fn peek_time(&self) -> u64 {
        self.next
    }

    /// Adds an event at a time in picoseconds, behind those of the same time.
    ///
    /// # Panics
    /// When the queue holds 2^20 events, or has ever taken 2^44.
    #[inline]
    pub fn push(&mut self, time: u64, payload: T) -> Handle {
        let place = self.len as u32;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Slot { place, payload };
                slot
            }
            None => {
                self.slots.push(Slot { place, payload });
                place
            }
        };
        let key = Key::new(time, self.pushed, slot);
        self.pushed += 1;
        if self.len == self.keys.len() {
            let more = if self.len == 0 { 1 } else { CHILDREN };
            self.keys.extend(iter::repeat_n(Key::NONE, more));
        }
        self.len += 1;
        self.rise(place as usize, key);
        self.next = self.keys[0].time();
        Handle(key.name())
    }

    /// Adds an event and takes the first one and its time, in one step.
    #[inline]
    pub fn exchange(&mut self, time: u64, payload: T) -> (u64, T) {
        if time < self.next || self.len == 0 {
            self.pushed += 1;
            return (time, payload);
        }
        let first = self.keys[0];
        let slot = &mut self.slots[first.slot()];
        let taken = mem::replace(&mut slot.payload, payload);
        let key = Key::new(time, self.pushed, first.slot() as u32);
        self.pushed += 1;
        self.sink(0, key);
        self.next = self.keys[0].time();
        (first.time(), taken)
    }

    /// Takes the first event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, T)> {
        let first = *self.keys.first().filter(|_| self.len > 0)?;
        let payload = self.take(0, first);
        Some((first.time(), payload))
    }

    /// Takes an event before it happens; `None` if it has happened or was cancelled.
    #[inline]
    pub fn cancel(&mut self, handle: Handle) -> Option<T> {
        let place = self.slots.get(Key::slot_of(handle.0))?.place as usize;
        let key = *self.keys.get(place)?;
        (key.name() == handle.0).then(|| self.take(place, key))
    }

    /// Takes the event whose key is there.
    #[inline]
    fn take(&mut self, place: usize, key: Key) -> T {
        self.len -= 1;
        let moved = mem::replace(&mut self.keys[self.len], Key::NONE);
        if place < self.len {
            // The last key may belong above the gap: it need not be a descendant of it.
            if place > 0 && moved < self.keys[(place - 1) / CHILDREN] {
                self.rise(place, moved);
            } else {
                self.sink(place, moved);
            }
        }
        self.next = self.keys[0].time();
        self.free.push(key.slot() as u32);
        self.slots[key.slot()].payload
    }

    /// Moves a gap up until this key may stand in it.
    #[inline]
    fn rise(&mut self, mut gap: usize, key: Key) {
        while gap > 0 {
            let parent = (gap - 1) / CHILDREN;
            let above = self.keys[parent];
            if above < key {
                break;
            }
            self.put(gap, above);
            gap = parent;
        }
        self.put(gap, key);
    }

    /// Moves a gap down until this key may stand in it.
    #[inline]
    fn sink(&mut self, mut gap: usize, key: Key) {
        loop {
            let children = gap * CHILDREN + 1;
            let Some(&[a, b, c, d]) = self.keys.get(children..children + CHILDREN) else { break };
            // In pairs: two comparisons wait for each other, not three.
            let less = |a: (usize, Key), b: (usize, Key)| if b.1 < a.1 { b } else { a };
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

    #[inline]
    fn put(&mut self, place: usize, key: Key) {
        self.keys[place] = key;
        self.slots[key.slot()].place = place as u32;
    }
}
