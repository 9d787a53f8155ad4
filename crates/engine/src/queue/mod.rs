// SPDX-License-Identifier: Apache-2.0
//! What is going to happen: events by time, and of one time in the order in which they were pushed.
//!
//! The first few are a sorted list, which is all there is to most simulations; the others are a
//! heap. Both hold keys, single 128-bit numbers of time, order and slot. A slot holds the payload
//! and says where in the heap its key is, so that any event can be cancelled. What else was tried,
//! and by how much it lost or won: docs/decisions/0009-event-queue.md.
//!
//! Nothing is allocated once the queue has been as full as it gets.

mod front;
mod heap;
mod key;
mod slots;
#[cfg(test)]
mod tests;

use std::mem;

use serde::{Deserialize, Serialize};

use front::Front;
use heap::Heap;
use key::{Key, Orders};
use slots::Slots;

/// The time of no event: later than every one.
pub const NEVER: u64 = u64::MAX;

/// How many events leave a front that is full.
const SPILLED: usize = 16;

/// So many events may come yet to a queue that is sound.
const LEFT: u64 = 1 << 20;

/// A heap with more events than this does not fill a front: of so many, few that are added come
/// before those that would follow it.
const MANY: usize = 64;

/// Names one pushed event. No other event of the same queue is ever named so, even once it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Handle(u64);

impl Handle {
    /// The name as a number for other languages, never 0.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }

    /// The handle whose number this is.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Handle(number)
    }
}

/// Events that are going to happen.
///
/// Holds at most 2^20 events, and takes fewer than 2^44 in its life: ten days at twenty million a
/// second. It panics beyond.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Queue<T> {
    /// When the first one happens, for `peek_time`.
    next: u64,
    orders: Orders,
    /// All keys here are less than all in the heap.
    front: Front,
    heap: Heap,
    slots: Slots<T>,
}

impl<T: Copy> Default for Queue<T> {
    fn default() -> Self {
        Self::with_capacity(0)
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
            next: NEVER,
            orders: Orders::new(),
            front: Front::new(),
            heap: Heap::with_capacity(events),
            slots: Slots::with_capacity(events),
        }
    }

    /// Whether it is as a queue leaves itself, with thousands of events to come. What was saved and
    /// read back is asked before it is gone on with.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let (Some([behind, front @ ..]), Some(heap)) = (self.front.keys(), self.heap.keys()) else {
            return false;
        };
        let last = front.iter().chain(heap).map(|key| key.name()).max().unwrap_or_default();
        *behind == self.heap.first()
            && front.first().is_none_or(|latest| *latest < *behind)
            && front.windows(2).all(|pair| pair[1] < pair[0])
            && self.next == self.front.first().time()
            && self.orders.are_beyond(last, LEFT)
            && self.slots.are_of(front, heap)
    }

    /// How many events are going to happen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.front.len() + self.heap.len()
    }

    /// Whether nothing is going to happen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
    /// When the queue holds 2^20 events, or has taken 2^44 less one in its life.
    #[inline]
    pub fn push(&mut self, time: u64, payload: T) -> Handle {
        // What is rare is a call at the end: nothing has to be kept over it.
        if !(self.front.has_room() && self.front.takes(time)) {
            return self.push_slowly(time, payload);
        }
        let Some(slot) = self.slots.fill(payload) else { return self.push_slowly(time, payload) };
        let key = Key::new(time, self.orders.take(), slot);
        self.next = self.front.push(key);
        Handle(key.name())
    }

    /// Adds an event and takes the first one and its time, in one step.
    #[inline]
    pub fn exchange(&mut self, time: u64, payload: T) -> (u64, T) {
        if time < self.next {
            return (time, payload);
        }
        if !self.front.takes(time) {
            return self.exchange_slowly(time, payload);
        }
        let first = self.front.first();
        let taken = mem::replace(self.slots.payload_mut(first.slot()), payload);
        let key = Key::new(time, self.orders.take(), first.slot() as u32);
        self.next = self.front.exchange(key);
        (first.time(), taken)
    }

    /// Takes the first event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, T)> {
        let Some((first, next)) = self.front.pop() else { return self.pop_slowly() };
        self.next = next;
        Some((first.time(), self.slots.take(first.slot())))
    }

    /// Takes an event before it happens; `None` if it has happened or was cancelled.
    #[inline]
    pub fn cancel(&mut self, handle: Handle) -> Option<T> {
        let slot = Key::slot_of(handle.0);
        let place = self.slots.place(slot)?;
        if self.heap.take(&mut self.slots, place, handle.0) {
            self.front.set_behind(self.heap.first());
        } else if !self.front.take(handle.0) {
            return None;
        }
        self.next = self.front.first().time();
        Some(self.slots.take(slot))
    }

    /// Cancels each event that `keeps` says no to.
    pub fn retain(&mut self, mut keeps: impl FnMut(T) -> bool) {
        let front = self.front.keys().map_or(&[][..], |keys| &keys[1..]);
        let keys = [front, self.heap.keys().unwrap_or_default()].concat();
        for key in keys {
            if !keeps(*self.slots.payload_mut(key.slot())) {
                self.cancel(Handle(key.name()));
            }
        }
    }

    /// Where the event may belong into the heap, or have no slot yet.
    #[inline(never)]
    fn push_slowly(&mut self, time: u64, payload: T) -> Handle {
        let slot = match self.slots.fill(payload) {
            Some(slot) => slot,
            None => self.grow(payload),
        };
        let key = Key::new(time, self.orders.take(), slot);
        let Queue { front, heap, slots, .. } = self;
        if !front.has_room() {
            front.spill(SPILLED, |key| heap.push(slots, key));
        }
        if front.takes(time) {
            front.push(key);
        } else {
            heap.push(slots, key);
            front.set_behind(heap.first());
        }
        self.next = self.front.first().time();
        Handle(key.name())
    }

    /// Takes a slot that was not there before. All events may come to be in the heap.
    #[cold]
    fn grow(&mut self, payload: T) -> u32 {
        let slot = self.slots.grow(payload);
        self.heap.reserve(self.slots.len());
        slot
    }

    /// Where the event may belong into the heap, or the first one be there, or no event be at all.
    #[inline(never)]
    fn exchange_slowly(&mut self, time: u64, payload: T) -> (u64, T) {
        if self.front.len() == 0 && self.heap.len() > Front::MOST {
            // One event sinks into the heap, instead of one that leaves it and one that enters.
            let first = self.heap.first();
            let taken = mem::replace(self.slots.payload_mut(first.slot()), payload);
            let key = Key::new(time, self.orders.take(), first.slot() as u32);
            self.heap.exchange(&mut self.slots, key);
            self.front.set_behind(self.heap.first());
            self.next = self.heap.first().time();
            return (first.time(), taken);
        }
        let Some(first) = self.pop() else { return (time, payload) };
        self.push_slowly(time, payload);
        first
    }

    /// Where the first event may be in the heap.
    #[inline(never)]
    fn pop_slowly(&mut self) -> Option<(u64, T)> {
        let Queue { front, heap, slots, .. } = self;
        let first = if heap.len() > MANY {
            heap.pop(slots)
        } else {
            front.fill(heap.len().min(Front::MOST), || heap.pop(slots));
            front.pop()?.0
        };
        front.set_behind(heap.first());
        self.next = front.first().time();
        Some((first.time(), self.slots.take(first.slot())))
    }
}
