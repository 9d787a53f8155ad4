// SPDX-License-Identifier: Apache-2.0
//! What events carry, by number.

use serde::{Deserialize, Serialize};

use super::key::Key;

/// Ends the list of free slots: a place where no slot is.
const NO_SLOT: u32 = u32::MAX;

/// As many slots as there ever were events at once. Those that hold no event are a list, the last
/// one freed first: it is the likeliest in the cache.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: u32,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Slot<T> {
    /// While the slot is free, the next free one. Otherwise where in the heap its key was put
    /// last; it may have left the heap since.
    place: u32,
    payload: T,
}

impl<T: Copy> Slots<T> {
    pub(super) fn with_capacity(slots: usize) -> Self {
        Slots { slots: Vec::with_capacity(slots), free: NO_SLOT }
    }

    /// How many there are, free ones included.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Fills a free slot; `None` if there is none.
    #[inline]
    pub(super) fn fill(&mut self, payload: T) -> Option<u32> {
        let slot = self.free;
        let entry = self.slots.get_mut(slot as usize)?;
        self.free = entry.place;
        entry.payload = payload;
        Some(slot)
    }

    /// Fills a slot that was not there before.
    ///
    /// # Panics
    /// When there are as many as keys can name.
    pub(super) fn grow(&mut self, payload: T) -> u32 {
        assert!(self.slots.len() < Key::SLOTS, "more than 2^20 events at once");
        self.slots.push(Slot { place: 0, payload });
        self.slots.len() as u32 - 1
    }

    /// Frees a slot.
    #[inline]
    pub(super) fn take(&mut self, slot: usize) -> T {
        let entry = &mut self.slots[slot];
        entry.place = self.free;
        self.free = slot as u32;
        entry.payload
    }

    /// What a slot carries.
    #[inline]
    pub(super) fn payload_mut(&mut self, slot: usize) -> &mut T {
        &mut self.slots[slot].payload
    }

    #[inline]
    pub(super) fn place(&self, slot: usize) -> Option<usize> {
        self.slots.get(slot).map(|entry| entry.place as usize)
    }

    #[inline]
    pub(super) fn set_place(&mut self, slot: usize, place: usize) {
        self.slots[slot].place = place as u32;
    }

    /// Whether every slot is one of these events', each of another, or free. Of events in the heap
    /// slots say the place.
    pub(super) fn are_of(&self, front: &[Key], heap: &[Key]) -> bool {
        let mut seen = vec![false; self.slots.len()];
        let mut first_time =
            |slot: usize| seen.get_mut(slot).is_some_and(|seen| !std::mem::replace(seen, true));
        let placed = |(place, key): (usize, &Key)| self.place(key.slot()) == Some(place);
        if self.slots.len() > Key::SLOTS
            || !front.iter().chain(heap).all(|key| first_time(key.slot()))
            || !heap.iter().enumerate().all(placed)
        {
            return false;
        }
        // The list ends, for no slot comes twice.
        let mut free = self.free;
        while let Some(entry) = self.slots.get(free as usize) {
            if !first_time(free as usize) {
                return false;
            }
            free = entry.place;
        }
        free == NO_SLOT && seen.iter().all(|seen| *seen)
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.slots.capacity()
    }
}
