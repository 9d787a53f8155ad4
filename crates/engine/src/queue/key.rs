// SPDX-License-Identifier: Apache-2.0
//! One number that orders events and finds them again.

use serde::{Deserialize, Serialize};

const SLOT_BITS: u32 = 20;

/// Time (64 bits), order (44 bits) and slot (20 bits), from the top: comparing two keys compares
/// times and then orders. Orders differ, so the slot never decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key(u128);

impl Key {
    /// Later than that of every event.
    pub(super) const NONE: Key = Key(u128::MAX);

    /// So many slots can be told apart.
    pub(super) const SLOTS: usize = 1 << SLOT_BITS;

    /// `order` is one of [`Orders`].
    #[inline]
    pub(super) fn new(time: u64, order: u64, slot: u32) -> Key {
        Key(u128::from(time) << 64 | u128::from(order | u64::from(slot)))
    }

    #[inline]
    pub(super) fn time(self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    pub(super) fn slot(self) -> usize {
        Key::slot_of(self.name())
    }

    /// Order and slot: what no other event of the queue has.
    #[inline]
    pub(super) fn name(self) -> u64 {
        self.0 as u64
    }

    /// The slot in a name.
    #[inline]
    pub(super) fn slot_of(name: u64) -> usize {
        (name & ((1 << SLOT_BITS) - 1)) as usize
    }
}

/// Orders, each greater than the one before, where a name has them: above the slot.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Orders {
    /// Above 0: no name is 0. 0 once they are used up.
    next: u64,
}

impl Orders {
    const ONE: u64 = 1 << SLOT_BITS;

    pub(super) fn new() -> Orders {
        Orders { next: Self::ONE }
    }

    /// # Panics
    /// When none is left.
    #[inline]
    pub(super) fn take(&mut self) -> u64 {
        let order = self.next;
        assert!(order != 0, "as many as 2^44 events in one run");
        self.next = order.wrapping_add(Self::ONE);
        order
    }

    /// Whether this many are left, and none of them is a key's: `last` is the greatest of those.
    pub(super) fn are_beyond(&self, last: u64, many: u64) -> bool {
        let free = (u64::MAX - self.next) / Self::ONE;
        self.next > last && self.next % Self::ONE == 0 && free >= many
    }

    /// Only the last one is left.
    #[cfg(test)]
    pub(super) fn last() -> Orders {
        Orders { next: 0_u64.wrapping_sub(Self::ONE) }
    }
}
