// SPDX-License-Identifier: Apache-2.0
//! Memories, and what has crossed to them.
//!
//! A memory answers after its latency, and then moves bytes at its bandwidth: `t = latency + bytes
//! / bandwidth`, the linear model of R. Hockney ("The communication challenge for MPP", Parallel
//! Computing 20, 1994). A private memory serves one core, which waits for it, so nobody else is in
//! its way; a shared one is behind the interconnect, which puts transfers in order: a bus burst by
//! burst, and at a mesh one body after the other.

use serde::{Deserialize, Serialize};

use crate::description::{self, Description, MemoryKind};
use crate::time::{SECOND_PS, Scale};

/// A memory's timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Memory {
    latency_ps: u64,
    per_byte: Scale,
}

impl Memory {
    /// The first memory that is a core's own.
    pub fn private_of(description: &Description, core: usize) -> Option<Self> {
        let own = description.memories.iter().find(|memory| {
            memory.kind != MemoryKind::Shared && memory.core.is_some_and(|c| c as usize == core)
        });
        own.map(Self::new)
    }

    /// Takes the timing from a description; its bandwidth must not be 0.
    pub fn new(description: &description::Memory) -> Self {
        Self {
            latency_ps: description.latency_ps,
            per_byte: Scale::ratio(SECOND_PS, description.bytes_per_s),
        }
    }

    /// Time to the first byte, in picoseconds.
    #[inline]
    pub fn latency_ps(self) -> u64 {
        self.latency_ps
    }

    /// How long so many bytes take after that, in picoseconds.
    #[inline]
    pub fn bytes_ps(self, bytes: u64) -> u64 {
        self.per_byte.of_count(bytes)
    }

    /// How long a transfer takes that nobody is in the way of, in picoseconds.
    #[inline]
    pub fn access_ps(self, bytes: u64) -> u64 {
        self.latency_ps.saturating_add(self.bytes_ps(bytes))
    }
}

/// What has crossed an interconnect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Transfers; on a bus, bursts.
    pub transfers: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// For how long the bus, or all links together, were taken.
    pub busy_ps: u64,
    /// For how long transfers waited for others.
    pub waited_ps: u64,
    /// Their energy, in attojoules.
    pub energy_aj: u128,
}

/// The energy of a byte, from picojoules to whole attojoules.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an energy that does not fit becomes the largest"
)]
pub(crate) fn attojoules(pj: f64) -> u64 {
    (pj * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::MemoryKind;

    #[test]
    fn a_memory_answers_after_its_latency_and_then_at_its_bandwidth() {
        let memory = Memory::new(&description::Memory {
            name: "ddr".into(),
            kind: MemoryKind::Shared,
            core: None,
            bytes: 1 << 20,
            latency_ps: 60_000,
            bytes_per_s: 800_000_000,
            node: (0, 0),
        });
        assert_eq!(memory.access_ps(0), 60_000);
        assert_eq!(memory.access_ps(64), 60_000 + 64 * 1_250);
    }
}
