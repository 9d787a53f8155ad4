// SPDX-License-Identifier: Apache-2.0
//! A bus that is shared by turns against the same bus burst by burst.

use std::collections::VecDeque;

use proptest::prelude::*;
use whimbrel_hardware::bus::Bus;
use whimbrel_hardware::memory::{Memory, Traffic};
use whimbrel_hardware::{self as hardware, Arbitration};

const CORES: usize = 4;
const BURST_BYTES: u64 = 16;

/// 1 GHz, 4 bytes a cycle, a cycle of setup: 5 ns for a full burst of 16 bytes.
fn bus() -> Bus {
    bus_of(CORES)
}

fn bus_of(cores: usize) -> Bus {
    let description = hardware::Bus {
        arbitration: Arbitration::Fcfs,
        hz: 1_000_000_000,
        width_bytes: 4,
        setup_cycles: 1,
        burst_bytes: 16,
        pj_per_byte: 1.0,
        slots: 0,
    };
    Bus::new(&description, cores, Memory::default())
}

/// What a core does: it pauses for so many picoseconds, and then moves so many bytes.
type Program = Vec<(u64, u64)>;

/// When each transfer of each core ends, and for how long all of them wait.
#[derive(Debug, PartialEq)]
struct Ends {
    of: Vec<Vec<u64>>,
    waited_ps: u64,
}

/// One burst after the other.
struct Reference<'a> {
    bus: &'a Bus,
    programs: &'a [Program],
    /// Which transfer each core is at, when it comes, and what it has left.
    at: Vec<usize>,
    comes_ps: Vec<Option<u64>>,
    left: Vec<u64>,
    waiting: VecDeque<usize>,
    ends: Ends,
}

impl<'a> Reference<'a> {
    fn new(bus: &'a Bus, programs: &'a [Program]) -> Self {
        let cores = programs.len();
        let comes_ps = programs.iter().map(|program| program.first().map(|first| first.0));
        Self {
            bus,
            programs,
            at: vec![0; cores],
            comes_ps: comes_ps.collect(),
            left: vec![0; cores],
            waiting: VecDeque::new(),
            ends: Ends { of: vec![Vec::new(); cores], waited_ps: 0 },
        }
    }

    /// Those who have come ask in the order of time, and of cores.
    fn ask(&mut self, now_ps: u64) {
        let mut come: Vec<(u64, usize)> = Vec::new();
        for (core, comes_ps) in self.comes_ps.iter_mut().enumerate() {
            if comes_ps.is_some_and(|ps| ps <= now_ps) {
                come.extend(comes_ps.take().map(|ps| (ps, core)));
            }
        }
        come.sort_unstable();
        for (ps, core) in come {
            let bytes = self.programs[core][self.at[core]].1;
            self.left[core] = bytes;
            // What it takes beyond its bursts, it waits.
            self.ends.waited_ps = self.ends.waited_ps.wrapping_sub(ps);
            self.waiting.push_back(core);
        }
    }

    fn run(mut self) -> Ends {
        let mut now_ps = 0;
        loop {
            self.ask(now_ps);
            let Some(core) = self.waiting.pop_front() else {
                match self.comes_ps.iter().flatten().min() {
                    Some(next_ps) => now_ps = *next_ps,
                    None => return self.ends,
                }
                continue;
            };
            let bytes = self.left[core].min(BURST_BYTES);
            now_ps += self.bus.occupied_ps(bytes);
            self.ends.waited_ps = self.ends.waited_ps.wrapping_sub(self.bus.occupied_ps(bytes));
            self.left[core] -= bytes;
            if self.left[core] > 0 {
                self.ask(now_ps);
                self.waiting.push_back(core);
                continue;
            }
            self.ends.of[core].push(now_ps);
            self.ends.waited_ps = self.ends.waited_ps.wrapping_add(now_ps);
            self.at[core] += 1;
            let next = self.programs[core].get(self.at[core]);
            self.comes_ps[core] = next.map(|next| now_ps + next.0);
        }
    }
}

/// Cores that wait until a transfer is over as far as is known, and look again then.
fn simulate(bus: &mut Bus, programs: &[Program]) -> Ends {
    let mut ends = Ends { of: vec![Vec::new(); programs.len()], waited_ps: 0 };
    let first = |program: &Program| program.first().map(|first| (first.0, false));
    let mut wakes: Vec<Option<(u64, bool)>> = programs.iter().map(first).collect();
    while let Some((now_ps, core)) =
        wakes.iter().enumerate().filter_map(|(core, wake)| Some(((*wake)?.0, core))).min()
    {
        let number = ends.of[core].len();
        let waits = wakes[core].is_some_and(|wake| wake.1);
        let end_ps = if waits {
            bus.transfer_end(now_ps, core)
        } else {
            bus.transfer(now_ps, core, programs[core][number].1)
        };
        if end_ps > now_ps {
            wakes[core] = Some((end_ps, true));
            continue;
        }
        assert_eq!(end_ps, now_ps, "nobody looks too late");
        ends.of[core].push(now_ps);
        wakes[core] = programs[core].get(number + 1).map(|next| (now_ps + next.0, false));
    }
    ends.waited_ps = bus.traffic().waited_ps;
    ends
}

/// Cores that say all of their transfers at once, look when the last one is over by what was told,
/// and again as long after that as they are told then. When each is done.
fn simulate_at_once(bus: &mut Bus, programs: &[Program]) -> Vec<u64> {
    let mut wakes = vec![0; programs.len()];
    for (core, program) in programs.iter().enumerate() {
        for (pause_ps, bytes) in program {
            wakes[core] = bus.transfer(wakes[core] + pause_ps, core, *bytes);
        }
    }
    let mut waiting: Vec<usize> = (0..programs.len()).collect();
    while let Some(next) = (0..waiting.len()).min_by_key(|place| wakes[waiting[*place]]) {
        let core = waiting[next];
        match bus.delay(wakes[core], core) {
            0 => _ = waiting.swap_remove(next),
            delay_ps => wakes[core] += delay_ps,
        }
    }
    wakes
}

/// The energy of what is moved, and for how long the bus is taken.
fn traffic(bus: &Bus, transfers: impl Iterator<Item = u64>) -> Traffic {
    let mut traffic = Traffic::default();
    for bytes in transfers {
        let (full, last) = ((bytes - 1) / BURST_BYTES, (bytes - 1) % BURST_BYTES + 1);
        traffic.transfers += full + 1;
        traffic.bytes += bytes;
        traffic.busy_ps += full * bus.occupied_ps(BURST_BYTES) + bus.occupied_ps(last);
        traffic.energy_aj += u128::from(bytes) * 1_000_000;
    }
    traffic
}

/// Pauses that often end together with bursts, and sizes from a byte to many bursts.
fn program() -> impl Strategy<Value = Program> {
    let pause = prop_oneof![Just(0), (0..60u64).prop_map(|ns| ns * 1_000), 0..60_000u64];
    let bytes = prop_oneof![1..100u64, (1..8u64).prop_map(|n| n * BURST_BYTES), 1..3_000u64];
    prop::collection::vec((pause, bytes), 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn transfers_end_when_they_do_burst_by_burst(
        programs in prop::collection::vec(program(), CORES),
    ) {
        let mut bus = bus();
        let ours = simulate(&mut bus, &programs);
        prop_assert_eq!(&ours, &Reference::new(&bus, &programs).run());
        let all = programs.iter().flatten().map(|transfer| transfer.1);
        let waited_ps = ours.waited_ps;
        prop_assert_eq!(bus.traffic(), Traffic { waited_ps, ..traffic(&bus, all) });
    }

    #[test]
    fn forty_transfers_at_a_time_end_when_they_do_burst_by_burst(
        programs in prop::collection::vec(program(), 40),
    ) {
        let mut bus = bus_of(40);
        let ours = simulate(&mut bus, &programs);
        prop_assert_eq!(&ours, &Reference::new(&bus, &programs).run());
    }

    #[test]
    fn transfers_that_are_said_at_once_end_when_they_do_one_after_the_other(
        mut programs in prop::collection::vec(program(), CORES),
    ) {
        // No more than it keeps in mind.
        programs.iter_mut().for_each(|program| program.truncate(4));
        let mut bus = bus();
        let done = simulate_at_once(&mut bus, &programs);
        let ends: Vec<u64> = (0..CORES).map(|core| bus.transfer_end(0, core)).collect();
        let reference = Reference::new(&bus, &programs).run();
        let last = reference.of.iter().map(|ends| ends.last().copied().unwrap_or(0));
        prop_assert_eq!(&ends, &last.collect::<Vec<_>>());
        prop_assert_eq!(bus.traffic().waited_ps, reference.waited_ps);
        prop_assert!(done.iter().zip(&ends).all(|(done, end)| done >= end));
    }

    #[test]
    fn it_does_not_matter_in_which_order_transfers_are_said_that_begin_later(
        begins in prop::collection::btree_set(0..40u64, CORES),
        sizes in prop::collection::vec(1..800u64, CORES),
        early in prop::collection::vec(0..40u64, CORES),
        looks in prop::collection::vec(0..60u64, 0..6),
    ) {
        let begins: Vec<u64> = begins.into_iter().map(|ns| ns * 1_000).collect();
        let one = |(at, bytes): (&u64, &u64)| vec![(*at, *bytes)];
        let programs: Vec<Program> = begins.iter().zip(&sizes).map(one).collect();
        let mut bus = bus();
        // Looks come first: what is said then begins then at the earliest.
        let says = |core: usize| (begins[core].saturating_sub(early[core] * 1_000), 1, core);
        let mut calls: Vec<(u64, u32, usize)> = (0..CORES).map(says).collect();
        calls.extend(looks.iter().enumerate().map(|(i, ns)| (ns * 1_000, 0, i % CORES)));
        calls.sort_unstable();
        for (now_ps, kind, core) in calls {
            match kind {
                0 => _ = bus.transfer_end(now_ps, core),
                _ => prop_assert!(bus.transfer(begins[core], core, sizes[core]) > begins[core]),
            }
        }
        let of = (0..CORES).map(|core| vec![bus.transfer_end(u64::MAX, core)]).collect();
        let ours = Ends { of, waited_ps: bus.traffic().waited_ps };
        prop_assert_eq!(ours, Reference::new(&bus, &programs).run());
    }

    #[test]
    fn whatever_is_called_when_the_bus_moves_everything_and_never_back_in_time(
        calls in prop::collection::vec((0..200u64, 0..CORES, 0..200u64, 0..4), 1..300),
    ) {
        let mut bus = bus();
        let mut bytes = Vec::new();
        for (ns, core, size, kind) in calls {
            if kind == 0 {
                bus.transfer_end(ns * 1_000, core);
            } else if size > 0 {
                // As it is known now: others may have made it end sooner than was said.
                let last_ps = bus.clone().transfer_end(0, core);
                let end_ps = bus.transfer(ns * 1_000, core, size);
                prop_assert!(end_ps > ns * 1_000 && end_ps > last_ps);
                bytes.push(size);
            }
        }
        let ends = (0..CORES).map(|core| bus.transfer_end(0, core)).max().unwrap_or(0);
        let expected = traffic(&bus, bytes.into_iter());
        prop_assert!(ends >= expected.busy_ps);
        let waited_ps = bus.traffic().waited_ps;
        prop_assert_eq!(bus.traffic(), Traffic { waited_ps, ..expected });
    }
}

#[test]
fn a_transfer_may_end_before_the_one_ahead_of_it_was_said_to() {
    let mut bus = bus();
    for (ns, core, size) in [(178, 1, 29), (87, 3, 113), (0, 1, 13), (187, 3, 61)] {
        bus.transfer(ns * 1_000, core, size);
    }
    bus.transfer_end(73_000, 0);
    let said = bus.transfer(0, 1, 17);
    bus.transfer(0, 2, 117);
    let ahead = bus.clone().transfer_end(0, 1);
    let end = bus.transfer(0, 1, 1);
    assert!(ahead < end && end < said);
}

#[test]
fn a_gibibyte_beside_another_takes_no_longer_to_compute_than_a_kibibyte() {
    let mut bus = bus();
    let bytes = 1 << 30;
    let alone = (bytes / BURST_BYTES) * 5_000;
    assert_eq!(bus.transfer(0, 0, bytes), alone);
    for core in 1..CORES {
        assert_eq!(bus.transfer(1, core, bytes), (core as u64 + 1) * alone);
    }
    // Each is delayed by all bursts of the others but those of its last round behind it.
    let ends: Vec<u64> = (0..CORES).map(|core| bus.transfer_end(alone, core)).collect();
    assert_eq!(ends, [3, 2, 1, 0].map(|before| 4 * alone - before * 5_000));
}

#[test]
fn what_is_said_of_a_transfer_behind_others_of_its_core_is_not_the_end_of_one_before() {
    let mut bus = bus();
    for i in 1..20 * CORES as u64 {
        let end_ps = bus.transfer(0, 0, BURST_BYTES);
        assert_eq!(end_ps, i * 5_000);
        assert_eq!(bus.transfer_end(0, 0), end_ps);
    }
}

#[test]
fn who_does_more_after_a_transfer_is_told_of_the_delay_alone() {
    let mut bus = bus();
    // Two bursts of each in turn: core 0 is over at 15 ns instead of 10, whenever it looks.
    assert_eq!(bus.transfer(0, 0, 2 * BURST_BYTES), 10_000);
    assert_eq!(bus.transfer(1_000, 1, 2 * BURST_BYTES), 20_000);
    assert_eq!([bus.delay(12_000, 0), bus.delay(17_000, 0)], [5_000, 0]);
    assert_eq!(bus.delay(20_000, 1), 0);
    // The second of core 2 begins 3 ns after its first, which core 3 delays by a burst.
    assert_eq!(bus.transfer(100_000, 2, BURST_BYTES), 105_000);
    assert_eq!(bus.transfer(108_000, 2, BURST_BYTES), 113_000);
    assert_eq!(bus.transfer(99_000, 3, BURST_BYTES), 104_000);
    assert_eq!((bus.delay(113_000, 2), bus.transfer_end(113_000, 2)), (4_000, 117_000));
}

#[test]
fn what_is_over_is_forgotten_also_if_nobody_looks() {
    let mut bus = bus();
    let mut free = [0; CORES];
    let mut largest = 0;
    for i in 0..10_000 {
        let core = (0..CORES).min_by_key(|core| free[*core]).unwrap_or(0);
        free[core] = bus.transfer(free[core], core, 1 + i * 37 % 300);
        largest = largest.max(serde_json::to_string(&bus).unwrap().len());
    }
    assert!(largest < 8_000, "{largest} bytes");
    assert!(free.iter().all(|free| free.abs_diff(bus.traffic().busy_ps) < 1_000_000), "{free:?}");
}
