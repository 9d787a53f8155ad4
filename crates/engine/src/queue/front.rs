// SPDX-License-Identifier: Apache-2.0
//! The first few events, sorted.

use serde::{Deserialize, Serialize};

use super::key::Key;

/// For the keys, and for the one behind them. A power of two: an index is masked, not checked.
const ROOM: usize = 32;
const MASK: usize = ROOM - 1;

/// Descending: the first event is at the end, for most that are added come soon and move few. A new
/// event is behind every one of its time, so that times alone say where it belongs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Front {
    /// First the least key that is not in the front, or [`Key::NONE`]: where a search ends. Then
    /// `len` keys.
    keys: [Key; ROOM],
    len: usize,
}

impl Front {
    /// As many keys as go in.
    pub(super) const MOST: usize = ROOM - 1;

    pub(super) fn new() -> Self {
        // What is beyond the last key does not matter; this takes few bytes when it is saved.
        let mut keys = [Key::new(0, 0, 0); ROOM];
        keys[0] = Key::NONE;
        Front { keys, len: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The first key; the one behind the front if that is empty.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.keys[self.len & MASK]
    }

    /// Whether another key goes in.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.len < Self::MOST
    }

    /// Whether a new event of this time belongs here.
    #[inline]
    pub(super) fn takes(&self, time: u64) -> bool {
        time < self.keys[0].time()
    }

    /// Says which key is behind the front.
    #[inline]
    pub(super) fn set_behind(&mut self, key: Key) {
        self.keys[0] = key;
    }

    /// Adds the key of a new event that belongs here, where there is room. Returns when the first
    /// event happens.
    #[inline]
    pub(super) fn push(&mut self, key: Key) -> u64 {
        self.len += 1;
        self.exchange(key)
    }

    /// The same in place of the first key.
    #[inline]
    pub(super) fn exchange(&mut self, key: Key) -> u64 {
        let first = self.len & MASK;
        let mut keys = self.keys[..=first].iter_mut().rev();
        let Some(mut gap) = keys.next() else { return key.time() };
        // Always breaks: the key behind the front is later, for the event belongs here.
        for later in keys {
            if later.time() > key.time() {
                *gap = key;
                break;
            }
            *gap = *later;
            gap = later;
        }
        self.keys[first].time()
    }

    /// Takes the first key; with it, when the next event happens.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Key, u64)> {
        let first = self.len & MASK;
        if first == 0 {
            return None;
        }
        self.len = first - 1;
        Some((self.keys[first], self.keys[first - 1].time()))
    }

    /// Fills an empty front with so many keys, given in their order.
    pub(super) fn fill(&mut self, len: usize, mut next: impl FnMut() -> Key) {
        self.len = len;
        self.keys[1..=len].iter_mut().rev().for_each(|key| *key = next());
    }

    /// Gives up so many of its keys, the latest first.
    pub(super) fn spill(&mut self, keys: usize, give: impl FnMut(Key)) {
        self.keys[1..=keys].iter().copied().for_each(give);
        self.keys.copy_within(keys..=self.len, 0);
        self.len -= keys;
    }

    /// Drops the key of this name, if it is here.
    pub(super) fn take(&mut self, name: u64) -> bool {
        let Some(held) = self.keys.get(1..=self.len) else { return false };
        let Some(place) = held.iter().position(|key| key.name() == name) else { return false };
        self.keys.copy_within(place + 2..=self.len, place + 1);
        self.len -= 1;
        true
    }

    /// The key behind the front, and those of the front: descending. `None`: it has more than go
    /// in.
    pub(super) fn keys(&self) -> Option<&[Key]> {
        self.keys.get(..=self.len)
    }
}
