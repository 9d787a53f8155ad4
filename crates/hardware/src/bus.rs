// SPDX-License-Identifier: Apache-2.0
//! A shared bus with arbitration, bursts and contention.
//!
//! The bus is held for a whole burst, the memory's answer included (no split transactions, as on
//! AMBA AHB: ARM IHI 0011A): `t = setup + latency + max(bytes on the bus, bytes at the memory)`. A
//! long transfer gives the bus back after every burst.
//!
//! First come, first served: a burst begins when the bus is free, and whoever has more to move asks
//! again at its end, behind those who wait; so n long transfers have an n-th of the bus each (round
//! robin: L. Kleinrock, "Queueing Systems", volume 2, 1976, with a quantum of one burst). TDMA:
//! time is cut into slots of one full burst, which belong to the cores in turn, used or not; a
//! burst begins with the next slot of its core, so a core waits for at most one round, whatever the
//! others do (J. Rosén, A. Andrei, P. Eles, Z. Peng: "Bus access optimization for predictable
//! implementation of real-time applications on multiprocessor systems-on-chip", RTSS 2007).
//!
//! [`Bus::transfer`] says when a transfer is over by what is known; those who come later may delay
//! it. Who waits until then, asks [`Bus::delay`], and waits on for that long, ends exactly when it
//! would if the bus were simulated burst by burst; so does who does more after it, or says several
//! transfers at once with other things between them, and asks at the end of all. A transfer may be
//! said before it begins, and others that begin earlier after it; what they change may then make it
//! end sooner than was said. The cost of a call does not depend on the number of bursts.

use serde::{Deserialize, Serialize};

use crate::description::{self, Arbitration};
use crate::memory::{Memory, Traffic, attojoules};
use crate::time::Clock;
use crate::turns::Turns;

/// A bus and what is on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bus {
    clock: Clock,
    width_bytes: u64,
    lead_ps: u64,
    burst_bytes: u64,
    aj_per_byte: u64,
    memory: Memory,
    /// How long a full burst takes.
    slot_ps: u64,
    order: Order,
    traffic: Traffic,
}

/// Who has the bus, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Order {
    Fcfs(Box<Turns>),
    /// When each core has done what it has begun.
    Tdma(Vec<u64>),
}

impl Bus {
    /// A bus that is free, of so many cores (those that are left out included), and the memory
    /// behind it.
    pub fn new(description: &description::Bus, cores: usize, memory: Memory) -> Self {
        let clock = Clock::new(description.hz);
        let cores = cores.max(1);
        let mut bus = Self {
            clock,
            width_bytes: description.width_bytes.into(),
            lead_ps: clock.ps(description.setup_cycles.into()) + memory.latency_ps(),
            burst_bytes: description.burst_bytes.into(),
            aj_per_byte: attojoules(description.pj_per_byte),
            memory,
            slot_ps: 0,
            order: Order::Tdma(vec![0; cores]),
            traffic: Traffic::default(),
        };
        bus.slot_ps = bus.occupied_ps(bus.burst_bytes).max(1);
        if description.arbitration == Arbitration::Fcfs {
            bus.order = Order::Fcfs(Box::new(Turns::new(cores, bus.slot_ps)));
        }
        bus
    }

    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        let times = |bus: &Self| (bus.clock, bus.lead_ps, bus.slot_ps, bus.memory);
        let bytes = |bus: &Self| (bus.width_bytes, bus.burst_bytes, bus.aj_per_byte);
        let order = match (&self.order, &like.order) {
            (Order::Fcfs(own), Order::Fcfs(like)) => own.is_state_of(like),
            (Order::Tdma(own), Order::Tdma(like)) => own.len() == like.len(),
            _ => false,
        };
        order && times(self) == times(like) && bytes(self) == bytes(like)
    }

    /// For how long a burst of `bytes` holds the bus, in picoseconds.
    pub fn occupied_ps(&self, bytes: u64) -> u64 {
        let on_bus_ps = self.clock.ps(bytes.div_ceil(self.width_bytes));
        self.lead_ps + on_bus_ps.max(self.memory.bytes_ps(bytes))
    }

    /// Moves all bytes, burst after burst, from `at_ps` on. Returns when the last one ends, by what
    /// is known.
    pub fn transfer(&mut self, at_ps: u64, core: usize, bytes: u64) -> u64 {
        if bytes == 0 {
            return at_ps;
        }
        let full = (bytes - 1) / self.burst_bytes;
        let last_ps = self.occupied_ps(bytes - full * self.burst_bytes);
        let occupied_ps = full * self.slot_ps + last_ps;
        self.traffic.transfers += full + 1;
        self.traffic.bytes += bytes;
        self.traffic.busy_ps += occupied_ps;
        self.traffic.energy_aj += u128::from(self.aj_per_byte) * u128::from(bytes);
        match &mut self.order {
            Order::Fcfs(turns) => turns.transfer(at_ps, core, full, last_ps),
            Order::Tdma(free_ps) => {
                let round_ps = self.slot_ps * free_ps.len() as u64;
                let ready_ps = at_ps.max(free_ps[core]);
                let offset_ps = core as u64 * self.slot_ps;
                let rounds = ready_ps.saturating_sub(offset_ps).div_ceil(round_ps);
                let end_ps = offset_ps + (rounds + full) * round_ps + last_ps;
                free_ps[core] = end_ps;
                self.traffic.waited_ps += end_ps - at_ps - occupied_ps;
                end_ps
            }
        }
    }

    /// Nobody comes before `now_ps` any more.
    #[inline]
    pub fn advance(&mut self, now_ps: u64) {
        if let Order::Fcfs(turns) = &mut self.order {
            turns.advance(now_ps);
        }
    }

    /// When the last transfer of a core is over, by what is known at `now_ps`: later than said
    /// before if others came since, and at most `now_ps` if it is over. With TDMA nobody delays
    /// it, so it is `now_ps`.
    #[inline]
    pub fn transfer_end(&mut self, now_ps: u64, core: usize) -> u64 {
        match &mut self.order {
            Order::Fcfs(turns) => turns.transfer_end(now_ps, core),
            Order::Tdma(_) => now_ps,
        }
    }

    /// By how much later the last transfer of a core is over than was told, here or when it was
    /// said; nothing with TDMA.
    #[inline]
    pub fn delay(&mut self, now_ps: u64, core: usize) -> u64 {
        match &mut self.order {
            Order::Fcfs(turns) => turns.delay(now_ps, core),
            Order::Tdma(_) => 0,
        }
    }

    /// What has crossed it, or will.
    pub fn traffic(&self) -> Traffic {
        match &self.order {
            Order::Fcfs(turns) => Traffic { waited_ps: turns.waited_ps(), ..self.traffic },
            Order::Tdma(_) => self.traffic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 MHz, 4 bytes a cycle, 2 cycles of setup, bursts of 64 bytes: 18 cycles, 180 ns.
    fn description(arbitration: Arbitration) -> description::Bus {
        description::Bus {
            arbitration,
            hz: 100_000_000,
            width_bytes: 4,
            setup_cycles: 2,
            burst_bytes: 64,
            pj_per_byte: 2.5,
            slots: 0,
        }
    }

    fn bus(arbitration: Arbitration) -> Bus {
        Bus::new(&description(arbitration), 3, Memory::default())
    }

    const BURST: u64 = 180_000;

    #[test]
    fn those_who_come_first_are_served_first() {
        let mut bus = bus(Arbitration::Fcfs);
        assert_eq!(bus.transfer(1_000, 2, 64), 1_000 + BURST);
        assert_eq!(bus.transfer(2_000, 0, 64), 1_000 + 2 * BURST);
        assert_eq!(bus.transfer(3_000, 1, 4), 1_000 + 2 * BURST + 30_000);
        assert_eq!(bus.transfer(10 * BURST, 0, 64), 11 * BURST);
        assert_eq!(bus.traffic().waited_ps, (BURST - 1_000) + (2 * BURST - 2_000));
        assert_eq!(bus.traffic().energy_aj, 196 * 2_500_000);
    }

    #[test]
    fn others_have_their_turn_between_the_bursts_of_a_long_transfer() {
        let mut bus = bus(Arbitration::Fcfs);
        assert_eq!(bus.transfer(0, 0, 128), 2 * BURST);
        assert_eq!(bus.transfer(10, 1, 64), 2 * BURST);
        assert_eq!(bus.transfer_end(2 * BURST, 0), 3 * BURST);
        assert_eq!(bus.transfer_end(2 * BURST, 1), 2 * BURST);
        assert_eq!(bus.traffic().waited_ps, BURST + (BURST - 10));
    }

    #[test]
    fn who_comes_at_the_end_of_a_burst_goes_before_the_one_whose_burst_it_was() {
        let mut bus = bus(Arbitration::Fcfs);
        bus.transfer(0, 0, 128);
        assert_eq!(bus.transfer_end(BURST, 0), 2 * BURST);
        assert_eq!(bus.transfer(BURST, 1, 64), 2 * BURST);
        assert_eq!(bus.transfer(BURST, 2, 64), 3 * BURST);
        assert_eq!(bus.transfer_end(BURST, 0), 4 * BURST);
    }

    #[test]
    fn a_transfer_that_is_said_before_it_begins_is_in_nobodys_way_until_then() {
        let mut bus = bus(Arbitration::Fcfs);
        assert_eq!(bus.transfer(10 * BURST, 0, 128), 12 * BURST);
        assert_eq!(bus.transfer(0, 1, 64), BURST);
        assert_eq!(bus.transfer(8 * BURST, 2, 4 * 64), 14 * BURST);
        assert_eq!(bus.transfer_end(8 * BURST, 0), 13 * BURST);
        assert_eq!(bus.transfer_end(8 * BURST, 1), BURST);
    }

    #[test]
    fn what_a_core_begins_before_its_last_transfer_is_over_comes_after_that() {
        let mut bus = bus(Arbitration::Fcfs);
        assert_eq!(bus.transfer(0, 0, 3 * 64), 3 * BURST);
        assert_eq!(bus.transfer(10, 0, 64), 4 * BURST);
        assert_eq!(bus.transfer(20, 1, 2 * 64), 4 * BURST);
        assert_eq!(bus.transfer_end(20, 0), 6 * BURST);
    }

    #[test]
    fn a_transfer_alone_takes_what_its_bursts_take() {
        let mut fcfs = bus(Arbitration::Fcfs);
        let mut tdma = bus(Arbitration::Tdma);
        let mut at = 0;
        for bytes in [1u64, 63, 64, 65, 1000, 64 * 1024] {
            at += 99_999 * BURST;
            let full = (bytes - 1) / 64;
            let last = 20_000 + (bytes - full * 64).div_ceil(4) * 10_000;
            assert_eq!(fcfs.transfer(at, 1, bytes), at + full * BURST + last, "{bytes} bytes");
            // Each begins at the end of a round of three; the slot of core 1 is the second.
            assert_eq!(tdma.transfer(at, 1, bytes), at + BURST + full * 3 * BURST + last);
        }
        assert_eq!(fcfs.traffic().transfers, tdma.traffic().transfers);
        assert_eq!(fcfs.traffic().busy_ps, tdma.traffic().busy_ps);
        assert_eq!(fcfs.traffic().waited_ps, 0);
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
            bus.transfer(0, 0, 64);
            bus.transfer(0, 2, 64);
        }
        // Core 1 has just missed its slot at 1 * 180 ns: its next begins a round later.
        let missed = BURST + 1;
        assert_eq!(bus.transfer(missed, 1, 64), BURST + 3 * BURST + BURST);
        let waited: Vec<u64> = (0..4 * 3 * BURST)
            .step_by(7_919)
            .map(|now| self::bus(Arbitration::Tdma).transfer(now, 1, 64) - now)
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
        let bus = Bus::new(&description(Arbitration::Fcfs), 1, memory);
        // 20 ns setup, 50 ns latency, 64 bytes at 10 ns each, slower than the bus.
        assert_eq!(bus.occupied_ps(64), 20_000 + 50_000 + 640_000);
    }
}
