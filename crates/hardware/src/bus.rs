// SPDX-License-Identifier: Apache-2.0
//! A shared bus with arbitration, bursts and contention.
//!
//! The bus is held for a whole burst, the memory's answer included (no split transactions, as on
//! AMBA AHB: ARM IHI 0011A): `t = setup + latency + max(bytes on the bus, bytes at the memory)`. A
//! long transfer gives the bus back after every burst.
//!
//! First come, first served: a burst begins when the bus is free. TDMA: time is cut into slots of
//! one full burst, which belong to the cores in turn, used or not; a burst begins with the next
//! slot of its core, so a core waits for at most one round, whatever the others do (J. Rosén, A.
//! Andrei, P. Eles, Z. Peng: "Bus access optimization for predictable implementation of real-time
//! applications on multiprocessor systems-on-chip", RTSS 2007).
//!
//! Calls come in the order of virtual time. [`Bus::burst`] is exact: the caller comes back with the
//! rest at the end of the burst, after others that asked meanwhile. [`Bus::transfer`] does all
//! bursts at once, so later callers wait for the whole of it.

use serde::{Deserialize, Serialize};

use crate::description::Arbitration;
use crate::memory::{Memory, Traffic, attojoules};
use crate::time::Clock;

/// What a bus is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Who is next.
    pub arbitration: Arbitration,
    /// Its clock, in hertz.
    pub hz: u64,
    /// Bytes in each cycle; not 0.
    pub width_bytes: u32,
    /// Cycles before the first byte of a burst.
    pub setup_cycles: u32,
    /// The longest burst; not 0.
    pub burst_bytes: u32,
    /// Energy of each byte.
    pub pj_per_byte: f64,
    /// How many cores share it.
    pub cores: usize,
    /// The memory behind it.
    pub memory: Memory,
}

/// A bus and what is on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bus {
    arbitration: Arbitration,
    clock: Clock,
    width_bytes: u64,
    lead_ps: u64,
    burst_bytes: u64,
    aj_per_byte: u64,
    memory: Memory,
    /// TDMA: a slot, and a round of all cores' slots.
    slot_ps: u64,
    round_ps: u64,
    /// When the bus is free: of each core with TDMA, else of all in the first.
    free_ps: Vec<u64>,
    traffic: Traffic,
}

impl Bus {
    /// A bus that is free.
    pub fn new(parts: &Parts) -> Self {
        let clock = Clock::new(parts.hz);
        let cores = parts.cores.max(1);
        let own = match parts.arbitration {
            Arbitration::Fcfs => 1,
            Arbitration::Tdma => cores,
        };
        let mut bus = Self {
            arbitration: parts.arbitration,
            clock,
            width_bytes: parts.width_bytes.into(),
            lead_ps: clock.ps(parts.setup_cycles.into()) + parts.memory.latency_ps(),
            burst_bytes: parts.burst_bytes.into(),
            aj_per_byte: attojoules(parts.pj_per_byte),
            memory: parts.memory,
            slot_ps: 0,
            round_ps: 0,
            free_ps: vec![0; own],
            traffic: Traffic::default(),
        };
        bus.slot_ps = bus.held_ps(bus.burst_bytes).max(1);
        bus.round_ps = bus.slot_ps * cores as u64;
        bus
    }

    /// For how long a burst of `bytes` holds the bus, in picoseconds.
    pub fn held_ps(&self, bytes: u64) -> u64 {
        let on_bus_ps = self.clock.ps(bytes.div_ceil(self.width_bytes));
        self.lead_ps + on_bus_ps.max(self.memory.bytes_ps(bytes))
    }

    /// Moves one burst: at most `bytes`. Returns when it ends, and how many bytes are left.
    #[inline]
    pub fn burst(&mut self, now_ps: u64, core: usize, bytes: u64) -> (u64, u64) {
        let taken = bytes.min(self.burst_bytes);
        let held_ps = self.held_ps(taken);
        let begin_ps = self.grant(now_ps, core);
        let own = self.own(core);
        self.free_ps[own] = begin_ps + held_ps;
        self.note(1, taken, held_ps, begin_ps - now_ps);
        (begin_ps + held_ps, bytes - taken)
    }

    /// Moves all bytes, burst after burst. Returns when the last one ends. The cost of the call
    /// does not depend on how many they are.
    pub fn transfer(&mut self, now_ps: u64, core: usize, bytes: u64) -> u64 {
        if bytes == 0 {
            return now_ps;
        }
        let full = (bytes - 1) / self.burst_bytes;
        let last_ps = self.held_ps(bytes - full * self.burst_bytes);
        let begin_ps = self.grant(now_ps, core);
        let step_ps = match self.arbitration {
            Arbitration::Fcfs => self.slot_ps,
            Arbitration::Tdma => self.round_ps,
        };
        let end_ps = begin_ps + full * step_ps + last_ps;
        let held_ps = full * self.slot_ps + last_ps;
        let own = self.own(core);
        self.free_ps[own] = end_ps;
        self.note(full + 1, bytes, held_ps, end_ps - now_ps - held_ps);
        end_ps
    }

    /// What has crossed it.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// When a burst of `core` may begin.
    #[inline]
    fn grant(&self, now_ps: u64, core: usize) -> u64 {
        let ready_ps = now_ps.max(self.free_ps[self.own(core)]);
        match self.arbitration {
            Arbitration::Fcfs => ready_ps,
            Arbitration::Tdma => {
                let offset_ps = core as u64 * self.slot_ps;
                let rounds = ready_ps.saturating_sub(offset_ps).div_ceil(self.round_ps);
                offset_ps + rounds * self.round_ps
            }
        }
    }

    fn own(&self, core: usize) -> usize {
        match self.arbitration {
            Arbitration::Fcfs => 0,
            Arbitration::Tdma => core,
        }
    }

    fn note(&mut self, bursts: u64, bytes: u64, held_ps: u64, waited_ps: u64) {
        self.traffic.transfers += bursts;
        self.traffic.bytes += bytes;
        self.traffic.busy_ps += held_ps;
        self.traffic.waited_ps += waited_ps;
        self.traffic.energy_aj += u128::from(self.aj_per_byte) * u128::from(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 MHz, 4 bytes a cycle, 2 cycles of setup, bursts of 64 bytes: 18 cycles, 180 ns.
    fn bus(arbitration: Arbitration) -> Bus {
        Bus::new(&Parts {
            arbitration,
            hz: 100_000_000,
            width_bytes: 4,
            setup_cycles: 2,
            burst_bytes: 64,
            pj_per_byte: 2.5,
            cores: 3,
            memory: Memory::default(),
        })
    }

    const BURST: u64 = 180_000;

    #[test]
    fn those_who_come_first_are_served_first() {
        let mut bus = bus(Arbitration::Fcfs);
        assert_eq!(bus.burst(1_000, 2, 64), (1_000 + BURST, 0));
        assert_eq!(bus.burst(2_000, 0, 64), (1_000 + 2 * BURST, 0));
        assert_eq!(bus.burst(3_000, 1, 4), (1_000 + 2 * BURST + 30_000, 0));
        assert_eq!(bus.burst(10 * BURST, 0, 64), (11 * BURST, 0));
        assert_eq!(bus.traffic().waited_ps, (BURST - 1_000) + (2 * BURST - 2_000));
        assert_eq!(bus.traffic().energy_aj, 196 * 2_500_000);
    }

    #[test]
    fn others_have_their_turn_between_the_bursts_of_a_long_transfer() {
        let mut bus = bus(Arbitration::Fcfs);
        let (end, left) = bus.burst(0, 0, 128);
        assert_eq!((end, left), (BURST, 64));
        assert_eq!(bus.burst(10, 1, 64).0, 2 * BURST);
        assert_eq!(bus.burst(end, 0, left), (3 * BURST, 0));
    }

    #[test]
    fn a_whole_transfer_takes_what_its_bursts_take_one_by_one() {
        for arbitration in [Arbitration::Fcfs, Arbitration::Tdma] {
            let (mut whole, mut parts) = (bus(arbitration), bus(arbitration));
            for bytes in [1, 63, 64, 65, 1000, 64 * 1024] {
                let mut at = (123, bytes);
                while at.1 > 0 {
                    at = parts.burst(at.0, 1, at.1);
                }
                assert_eq!(whole.transfer(123, 1, bytes), at.0, "{bytes} bytes, {arbitration:?}");
                assert_eq!(whole.traffic().transfers, parts.traffic().transfers);
                assert_eq!(whole.traffic().busy_ps, parts.traffic().busy_ps);
            }
        }
    }

    #[test]
    fn a_bus_that_is_asked_for_more_than_it_has_gives_all_of_it() {
        let mut bus = bus(Arbitration::Fcfs);
        let mut end = 0;
        for i in 0..3_000u64 {
            end = bus.transfer(i * BURST / 2, i as usize % 3, 64);
        }
        assert_eq!(end, 3_000 * BURST);
        assert_eq!(bus.traffic().busy_ps, end);
    }

    #[test]
    fn with_tdma_a_core_waits_for_a_round_at_most_whatever_the_others_do() {
        let mut bus = bus(Arbitration::Tdma);
        for _ in 0..100 {
            bus.burst(0, 0, 64);
            bus.burst(0, 2, 64);
        }
        // Core 1 has just missed its slot at 1 * 180 ns: its next begins a round later.
        let missed = BURST + 1;
        assert_eq!(bus.burst(missed, 1, 64).0, BURST + 3 * BURST + BURST);
        let waited: Vec<u64> = (0..4 * 3 * BURST)
            .step_by(7_919)
            .map(|now| self::bus(Arbitration::Tdma).burst(now, 1, 64).0 - now)
            .collect();
        assert!(waited.iter().all(|wait| (BURST..4 * BURST).contains(wait)));
        assert!(waited.iter().any(|wait| *wait > 4 * BURST - 10_000));
    }

    #[test]
    fn the_memory_behind_it_holds_it_until_it_has_answered() {
        let memory = Memory::new(&crate::Memory {
            name: "slow".into(),
            kind: crate::MemoryKind::Shared,
            core: None,
            bytes: 1,
            latency_ps: 50_000,
            bytes_per_s: 100_000_000,
            node: (0, 0),
        });
        let bus = Bus::new(&Parts {
            arbitration: Arbitration::Fcfs,
            hz: 100_000_000,
            width_bytes: 4,
            setup_cycles: 2,
            burst_bytes: 64,
            pj_per_byte: 0.0,
            cores: 1,
            memory,
        });
        // 20 ns setup, 50 ns latency, 64 bytes at 10 ns each, slower than the bus.
        assert_eq!(bus.held_ps(64), 20_000 + 50_000 + 640_000);
    }
}
