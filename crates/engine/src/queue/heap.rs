// SPDX-License-Identifier: Apache-2.0
//! The events behind the front: an implicit heap of four children per node (Johnson, *Priority
//! queues with update and finding minimum spanning trees*, 1975). The keys of a node's children
//! fill one cache line.

use std::{iter, mem};

use serde::{Deserialize, Serialize};

use super::key::Key;
use super::slots::Slots;

const CHILDREN: usize = 4;

/// No key is above those of its children. Slots know where their keys are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Heap {
    /// Behind the last key come [`Key::NONE`], so that whoever has one child has four.
    keys: Vec<Key>,
    len: usize,
}

impl Heap {
    pub(super) fn with_capacity(keys: usize) -> Self {
        Heap { keys: Vec::with_capacity(keys + CHILDREN), len: 0 }
    }

    /// Allocates for so many keys in all.
    pub(super) fn reserve(&mut self, keys: usize) {
        self.keys.reserve((keys + CHILDREN).saturating_sub(self.keys.len()));
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The least key, or [`Key::NONE`].
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.keys.first().copied().unwrap_or(Key::NONE)
    }

    #[inline]
    pub(super) fn push<T: Copy>(&mut self, slots: &mut Slots<T>, key: Key) {
        if self.len == self.keys.len() {
            let more = if self.len == 0 { 1 } else { CHILDREN };
            self.keys.extend(iter::repeat_n(Key::NONE, more));
        }
        self.len += 1;
        self.rise(slots, self.len - 1, key);
    }

    /// Takes the least key, or [`Key::NONE`].
    #[inline]
    pub(super) fn pop<T: Copy>(&mut self, slots: &mut Slots<T>) -> Key {
        let first = self.first();
        if self.len > 0 {
            self.remove(slots, 0);
        }
        first
    }

    /// Adds a key in place of the least one.
    pub(super) fn exchange<T: Copy>(&mut self, slots: &mut Slots<T>, key: Key) {
        self.sink(slots, 0, key);
    }

    /// Takes the key of this name, if it is at this place.
    #[inline]
    pub(super) fn take<T: Copy>(&mut self, slots: &mut Slots<T>, place: usize, name: u64) -> bool {
        let there = self.keys.get(place).is_some_and(|key| key.name() == name);
        if there {
            self.remove(slots, place);
        }
        there
    }

    /// Takes the key of a place.
    #[inline]
    fn remove<T: Copy>(&mut self, slots: &mut Slots<T>, place: usize) {
        self.len -= 1;
        let moved = mem::replace(&mut self.keys[self.len], Key::NONE);
        if place == self.len {
            return;
        }
        // The last key may belong above the gap: it need not be a descendant of it.
        if place > 0 && moved < self.keys[(place - 1) / CHILDREN] {
            self.rise(slots, place, moved);
        } else {
            self.sink(slots, place, moved);
        }
    }

    /// Moves a gap up until this key may stand in it.
    #[inline]
    fn rise<T: Copy>(&mut self, slots: &mut Slots<T>, mut gap: usize, key: Key) {
        while gap > 0 {
            let parent = (gap - 1) / CHILDREN;
            let above = self.keys[parent];
            if above < key {
                break;
            }
            self.put(slots, gap, above);
            gap = parent;
        }
        self.put(slots, gap, key);
    }

    /// Moves a gap down until this key may stand in it.
    #[inline]
    fn sink<T: Copy>(&mut self, slots: &mut Slots<T>, mut gap: usize, key: Key) {
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
            self.put(slots, gap, below);
            gap = least;
        }
        self.put(slots, gap, key);
    }

    #[inline]
    fn put<T: Copy>(&mut self, slots: &mut Slots<T>, place: usize, key: Key) {
        self.keys[place] = key;
        slots.set_place(key.slot(), place);
    }

    /// The keys; `None`: they are not as the head of [`Heap`] says.
    pub(super) fn keys(&self) -> Option<&[Key]> {
        let (keys, beyond) = self.keys.split_at_checked(self.len)?;
        let is_above =
            |(place, key): (usize, &Key)| place == 0 || keys[(place - 1) / CHILDREN] < *key;
        let has_groups = self.keys.is_empty() || self.keys.len() % CHILDREN == 1;
        (has_groups
            && beyond.iter().all(|key| *key == Key::NONE)
            && keys.iter().enumerate().all(is_above))
        .then_some(keys)
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.keys.capacity()
    }
}
