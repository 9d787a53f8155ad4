// SPDX-License-Identifier: Apache-2.0
//! One number that orders events and finds them again.

use serde::{Deserialize, Serialize};

const SLOT_BITS: u32 = 20;
const ORDER_BITS: u32 = 64 - SLOT_BITS;

/// Time (64 bits), order (44 bits) and slot (20 bits), from the top: comparing two keys compares
/// times and then orders. Orders differ, so the slot never decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Key(u128);

impl Key {
    /// Later than that of every event.
    pub(super) const NONE: Key = Key(u128::MAX);

    /// # Panics
    /// When `order` or `slot` needs more bits than it has.
    #[inline]
    pub(super) fn new(time: u64, order: u64, slot: u32) -> Key {
        assert!(slot >> SLOT_BITS == 0, "more than 2^20 events at once");
        assert!(order >> ORDER_BITS == 0, "more than 2^44 events in one run");
        Key(u128::from(time) << 64 | u128::from(order) << SLOT_BITS | u128::from(slot))
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
