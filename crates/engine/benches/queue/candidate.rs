// SPDX-License-Identifier: Apache-2.0
//! What is measured: the engine's queue, and others of the same events and handles.

use whimbrel_engine::queue::{Handle, NEVER, Queue};

/// A queue of events that can be cancelled.
pub trait Candidate {
    /// Names a pushed event.
    type Handle: Copy + Default;
    const NAME: &str;
    /// More of them than this would take minutes.
    const LARGEST: usize;
    fn with_capacity(events: usize) -> Self;
    fn push(&mut self, time: u64, payload: u32) -> Self::Handle;
    fn pop(&mut self) -> Option<(u64, u32)>;
    fn peek_time(&self) -> u64;
    fn cancel(&mut self, handle: Self::Handle);
}

impl Candidate for Queue<u32> {
    type Handle = Option<Handle>;
    const NAME: &str = "engine";
    const LARGEST: usize = usize::MAX;

    fn with_capacity(events: usize) -> Self {
        Queue::with_capacity(events)
    }

    fn push(&mut self, time: u64, payload: u32) -> Option<Handle> {
        Some(Queue::push(self, time, payload))
    }

    fn pop(&mut self) -> Option<(u64, u32)> {
        Queue::pop(self)
    }

    fn peek_time(&self) -> u64 {
        Queue::peek_time(self)
    }

    fn cancel(&mut self, handle: Option<Handle>) {
        handle.and_then(|handle| Queue::cancel(self, handle));
    }
}

/// Keys in order: time, then order, then slot, as the engine packs them.
pub trait Keys {
    const NAME: &str;
    const LARGEST: usize = usize::MAX;
    fn with_capacity(keys: usize) -> Self;
    fn push(&mut self, key: u128);
    fn pop(&mut self) -> Option<u128>;
    /// Not `&self`: a ladder sorts when it is looked at.
    fn first(&mut self) -> Option<u128>;
}

/// Events over keys that cannot be taken from the middle: what is cancelled stays until it comes.
pub struct Lazy<K> {
    keys: K,
    next: u64,
    pushed: u64,
    /// Payload, and the low half of the key that holds the slot; 0 once it is over.
    slots: Vec<(u32, u64)>,
    free: Vec<u32>,
}

pub const SLOT_BITS: u32 = 20;

pub fn slot_of(name: u64) -> usize {
    (name & ((1 << SLOT_BITS) - 1)) as usize
}

impl<K: Keys> Lazy<K> {
    /// A slot is free again only when its key is gone: no two keys share one.
    fn release(&mut self, key: u128) -> Option<u32> {
        let slot = slot_of(key as u64);
        let (payload, name) = self.slots[slot];
        self.slots[slot].1 = 0;
        self.free.push(slot as u32);
        (name != 0).then_some(payload)
    }

    fn drop_cancelled(&mut self) {
        while let Some(key) = self.keys.first() {
            if self.slots[slot_of(key as u64)].1 != 0 {
                self.next = (key >> 64) as u64;
                return;
            }
            self.keys.pop();
            self.release(key);
        }
        self.next = NEVER;
    }
}

impl<K: Keys> Candidate for Lazy<K> {
    type Handle = u64;
    const NAME: &str = K::NAME;
    const LARGEST: usize = K::LARGEST;

    fn with_capacity(events: usize) -> Self {
        let (slots, free) = (Vec::with_capacity(events), Vec::with_capacity(events));
        Lazy { keys: K::with_capacity(events), next: NEVER, pushed: 0, slots, free }
    }

    fn push(&mut self, time: u64, payload: u32) -> u64 {
        self.pushed += 1;
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        let name = self.pushed << SLOT_BITS | u64::from(slot);
        match self.slots.get_mut(slot as usize) {
            Some(held) => *held = (payload, name),
            None => self.slots.push((payload, name)),
        }
        self.keys.push(u128::from(time) << 64 | u128::from(name));
        self.next = self.next.min(time);
        name
    }

    fn pop(&mut self) -> Option<(u64, u32)> {
        let key = self.keys.pop()?;
        let payload = self.release(key)?;
        self.drop_cancelled();
        Some(((key >> 64) as u64, payload))
    }

    fn peek_time(&self) -> u64 {
        self.next
    }

    fn cancel(&mut self, handle: u64) {
        if let Some(held) = self.slots.get_mut(slot_of(handle)).filter(|held| held.1 == handle) {
            held.1 = 0;
            self.drop_cancelled();
        }
    }
}
