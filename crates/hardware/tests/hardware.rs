// SPDX-License-Identifier: Apache-2.0
//! All models together, as the simulator calls them.

use whimbrel_hardware::{
    Arbitration, Block, Bus, Cache, Charge, Core, Cost, Costs, Description, Disturbance, Doorbell,
    DoorbellKind, Hardware, IdleState, Interconnect, Leakage, Memory, MemoryKind, Mesh, Migration,
    OwnCosts, Point, Scheduling, Thermal, Transition, Waking,
};

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;

fn core(kind: &str, node: (u32, u32)) -> Core {
    let point = |mhz: u64, active_uw| Point {
        hz: mhz * 1_000_000,
        microvolts: 1_000_000,
        active_uw,
        idle_uw: active_uw / 4,
        static_uw: active_uw / 10,
    };
    Core {
        kind: kind.into(),
        points: vec![point(100, 84_000), point(500, 1_000_000)],
        start: 0,
        transition: Transition { time_ps: 20 * US, energy_pj: 1_000 },
        idle_states: vec![IdleState {
            name: "off".into(),
            power_uw: 1_000,
            enter_ps: 10 * US,
            exit_ps: 50 * US,
            after_ps: MS,
            loses_cache: false,
            waking: Waking::default(),
        }],
        leakage: Some(Leakage { reference_mc: 25_000, slope_c: 40.0 }),
        cache: Some(Cache {
            bytes: 16 << 10,
            line_bytes: 32,
            miss_ps: 10_000,
            far_ps: 0,
            disturbance: Disturbance::default(),
        }),
        node,
        scheduling: Scheduling::default(),
        migration: Migration::default(),
        group: 0,
        slice_ps: 0,
        tick_ps: 0,
        timer_slack_ps: 0,
        own: OwnCosts::default(),
        off: false,
        number: None,
    }
}

fn board() -> Description {
    let memory = |name: &str, kind, core, latency_ps| Memory {
        name: name.into(),
        kind,
        core,
        bytes: 1 << 20,
        latency_ps,
        bytes_per_s: 400_000_000,
        node: (0, 0),
    };
    let block = |core: u32| Block {
        name: format!("core{core}"),
        core: Some(core),
        x_mm: 2.0 * f64::from(core),
        y_mm: 0.0,
        width_mm: 2.0,
        height_mm: 2.0,
    };
    Description {
        name: "board".into(),
        cores: vec![core("arm", (0, 0)), core("arm", (1, 0)), core("dsp", (2, 0))],
        costs: Costs {
            actions: vec![Cost { cycles: 100.0, cycles_per_unit: 0.5, ps: 0 }],
            ..Costs::default()
        },
        memories: vec![
            memory("local", MemoryKind::Private, Some(1), 5_000),
            memory("ddr", MemoryKind::Shared, None, 60_000),
        ],
        interconnect: Some(Interconnect::Bus(Bus {
            arbitration: Arbitration::Fcfs,
            hz: 100_000_000,
            width_bytes: 4,
            setup_cycles: 2,
            burst_bytes: 32,
            pj_per_byte: 10.0,
            slots: 0,
        })),
        doorbell: Doorbell {
            kind: DoorbellKind::Polling,
            latency_ps: US,
            interval_ps: 100 * US,
            ..Doorbell::default()
        },
        thermal: Some(Thermal {
            ambient_mc: 25_000,
            blocks: vec![block(0), block(1)],
            thickness_mm: 0.5,
            conductivity: 100.0,
            capacity: 1.75e6,
            sink_k_per_w: 20.0,
            sink_j_per_k: 0.01,
            step_ps: 10 * MS,
        }),
        work: Vec::new(),
    }
}

#[test]
fn a_copy_crosses_the_bus_once_and_private_memory_once() {
    let mut hardware = Hardware::new(&board());
    let bytes = 64;
    // Two bursts of 20 ns setup, 60 ns latency, and 32 bytes at 400 MB/s.
    let bus_ps = 2 * (20_000 + 60_000 + 80_000);
    let private_ps = 5_000 + 160_000;
    assert_eq!(hardware.copy_ps(0, 0, bytes), bus_ps);
    assert_eq!(hardware.copy_ps(US, 1, bytes), bus_ps + private_ps);
    assert_eq!(hardware.traffic().bytes, 2 * bytes);
}

#[test]
fn a_message_in_internal_memory_crosses_no_bus() {
    let mut description = board();
    let send = Charge::action(0).unwrap();
    assert!(!description.memories.iter().any(|memory| memory.kind == MemoryKind::Scratchpad));
    assert_eq!(
        (
            description.internal().map(|m| m.bytes),
            Hardware::new(&description).internal_ps(0, send.internal(), 64)
        ),
        (None, Hardware::new(&description).cost_ps(0, send, 64))
    );

    let mut tcm = description.memories[0].clone();
    (tcm.kind, tcm.core) = (MemoryKind::Scratchpad, Some(2));
    description.memories.push(tcm.clone());
    let hardware = Hardware::new(&description);
    let access_ps = tcm.latency_ps + 64 * 2_500; // 400 MB/s
    assert_eq!(description.internal().map(|m| m.bytes), Some(tcm.bytes));
    let external_ps = hardware.cost_ps(0, send, 64);
    assert_eq!(hardware.internal_ps(0, send.internal(), 64), external_ps + access_ps);

    let cost = Cost { cycles: 10.0, cycles_per_unit: 0.0, ps: 0 };
    description.costs.send_internal = Some(cost);
    let hardware = Hardware::new(&description);
    let internal_ps = hardware.cost_ps(0, send.internal(), 64);
    assert!(internal_ps < external_ps);
    assert_eq!(hardware.internal_ps(0, send.internal(), 64), internal_ps + access_ps);
    assert_eq!(hardware.traffic().bytes, 0);
}

#[test]
fn what_would_begin_when_virtual_time_has_ended_is_in_nobodys_way() {
    let mut hardware = Hardware::new(&board());
    for at_ps in [u64::MAX, u64::MAX - 1, 202 * 24 * 3600 * 1_000_000 * US] {
        assert_eq!(hardware.transfer_after(7, at_ps, 0, u64::MAX), 7);
    }
    assert_eq!(hardware.transfer_after(u64::MAX, US, 0, 1), u64::MAX);
    assert_eq!(hardware.transfer_after(0, 0, 0, 64), 2 * 160_000);
}

#[test]
fn time_follows_the_point_that_a_core_is_at() {
    let mut board = Hardware::new(&board());
    let send = Charge::action(0).unwrap();
    assert_eq!(board.clock(0).ps(1_000), 10 * US);
    assert_eq!(board.cost_ps(0, send, 64), 132 * 10_000);
    assert_eq!(board.set_point(0, 0, 1), 20 * US);
    assert_eq!(board.clock(0).ps(1_000), 2 * US);
    assert_eq!(board.cost_ps(0, send, 64), 132 * 2_000);
    assert_eq!(board.clock(0).cycles(2 * US), 1_000);
    assert_eq!((board.clock(1).ps(1_000), board.kind(2)), (10 * US, "dsp"));
}

#[test]
fn cores_wait_for_each_other_before_the_shared_memory_and_not_before_their_own() {
    let mut board = Hardware::new(&board());
    // 20 ns setup, 60 ns latency, 32 bytes in 80 ns.
    let burst = 160_000;
    assert_eq!(board.transfer(0, 0, 64), 2 * burst);
    assert_eq!(board.transfer(1_000, 1, 32), 2 * burst);
    assert_eq!(board.transfer(2_000, 2, 40), 4 * burst + 100_000);
    assert_eq!(board.transfer(3_000, 2, 0), 3_000);
    assert_eq!([0, 1].map(|core| board.transfer_delay(burst, core)), [2 * burst, 0]);
    assert_eq!(board.transfer_delay(burst, 0), 0);
    assert_eq!(board.traffic().energy_aj, 136 * 10_000_000);
    assert_eq!((board.local_ps(1, 64), board.local_ps(0, 64)), (5_000 + 64 * 2_500, 0));
}

#[test]
fn a_core_that_is_left_out_keeps_its_slot_of_the_bus() {
    let mut whole = board();
    whole.cores.push(core("dsp", (3, 0)));
    if let Some(Interconnect::Bus(Bus { arbitration, .. })) = &mut whole.interconnect {
        *arbitration = Arbitration::Tdma;
    }
    // Ten bursts: nine rounds of four slots, and then a slot.
    for cores in [4, 2, 1] {
        let mut left = whole.clone();
        left.truncate(cores);
        assert_eq!(Hardware::new(&left).transfer(0, 0, 320), 37 * 160_000, "{cores} cores");
        left.truncate(1);
        assert_eq!(Hardware::new(&left).transfer(0, 0, 320), 37 * 160_000, "{cores} cores");
    }
}

#[test]
fn a_core_that_slept_deeply_finds_an_empty_cache_and_one_that_only_rested_does_not() {
    let mut board = board();
    for core in &mut board.cores {
        core.idle_states[0].loses_cache = true;
    }
    let mut board = Hardware::new(&board);
    let wake = |board: &mut Hardware, rested_ps: u64, now_ps: u64| {
        board.rest(now_ps - rested_ps, 0);
        board.wake(now_ps, 0);
        board.refill(now_ps, 0, 7, 4 << 10)
    };
    let cold = wake(&mut board, 0, 1);
    assert!(cold > 0);
    assert_eq!(wake(&mut board, MS - 1, 10 * MS), 0);
    assert_eq!(wake(&mut board, MS, 20 * MS), cold);
}

#[test]
fn only_the_first_switch_and_firing_after_a_sleep_take_longer_and_only_who_rings_a_sleeper_pays() {
    let mut board = board();
    for core in &mut board.cores {
        core.cache = None;
        core.idle_states[0].waking = Waking { ring_ps: 7 * US, switch_ps: 300, refill_ps: 2 * US };
    }
    let mut board = Hardware::new(&board);
    let (switch, ring) = (board.cost_ps(0, Charge::SWITCH, 1), board.cost_ps(1, Charge::RING, 1));
    let costs = |board: &mut Hardware, now_ps| (board.switch(0), board.refill(now_ps, 0, 7, 0));
    assert_eq!(board.ring_cost_ps(MS - 1, 1, 0), ring);
    assert_eq!(board.ring_cost_ps(MS, 1, 0), ring + 7 * US);
    board.wake(MS, 0);
    assert_eq!(board.ring_cost_ps(MS, 1, 0), ring);
    assert_eq!(costs(&mut board, MS), (switch + 300, 2 * US));
    assert_eq!(costs(&mut board, MS), (switch, 0));
    // Not long enough for the state.
    board.rest(2 * MS, 0);
    board.wake(3 * MS - 1, 0);
    assert_eq!(costs(&mut board, 3 * MS), (switch, 0));
    assert!(board.has_waking_costs(0));
}

#[test]
fn a_task_that_moves_warms_up_its_new_cache_and_finds_the_old_one_stale() {
    let mut board = Hardware::new(&board());
    let cold = board.refill(0, 0, 7, 4 << 10);
    assert_eq!(cold, 128 * 10_000 + 128 * 160_000);
    assert_eq!(board.refill(MS * 100, 0, 7, 4 << 10), 0);
    board.forget(0, 7);
    assert_eq!(board.refill(MS * 200, 1, 7, 4 << 10), cold);
    assert_eq!(board.refill(MS * 300, 0, 7, 4 << 10), cold);
    assert_eq!(board.reuse(0).hits * 2, board.reuse(0).misses);
    assert!(board.reuse(0).hits > 0);
}

#[test]
fn an_idle_core_that_polls_learns_late_and_pays_to_wake() {
    let mut board = Hardware::new(&board());
    let arrival = board.ring(3 * MS, 0, 1);
    assert_eq!(arrival, 3 * MS + US);
    let noticed = board.notice(1, arrival);
    assert_eq!(noticed, 3 * MS + 100 * US);
    assert_eq!(board.wake(noticed, 1), 50 * US);
    assert_eq!(board.notice(1, noticed + 7), noticed + 7);
    assert_eq!(board.power_uw(noticed, 1), 84_000);
}

fn mesh() -> Description {
    let mesh = Mesh {
        columns: 3,
        rows: 1,
        hz: 1_000_000_000,
        width_bytes: 4,
        hop_cycles: 3,
        pj_per_byte_hop: 1.0,
    };
    Description { interconnect: Some(Interconnect::Mesh(mesh)), ..board() }
}

#[test]
fn a_ring_through_a_mesh_takes_the_way_of_its_head() {
    let mut board = Hardware::new(&mesh());
    assert_eq!(board.ring(0, 0, 2), US + 3 * 3_000);
    // The memory at (0, 0) needs 2.5 ns for each byte, the way 3 routers and 8 cycles.
    assert_eq!(board.transfer(0, 2, 32), 80_000 + 60_000);
}

#[test]
fn the_memory_at_a_mesh_has_its_bandwidth_once_for_all_cores() {
    let mut description = mesh();
    description.memories[1].bytes_per_s = 100_000_000;
    let mut board = Hardware::new(&description);
    let bytes = 80 << 20;
    let ends = [0, 1, 2].map(|core| board.transfer(0, core, bytes));
    for (end, seconds) in ends.into_iter().zip([0.838_860_8, 1.677_721_6, 2.516_582_4]) {
        assert!((end as f64 / 1e12 - seconds).abs() < 1e-7, "{ends:?}");
    }
    // Each waits for those before it, at the memory or at the link before it.
    let waited = board.traffic().waited_ps as f64 / 1e12;
    assert!((waited - 0.838_860_8 * 3.0).abs() < 1e-7, "{waited}");
    // Nobody is in the way any more, and then the first takes what it took at first.
    assert_eq!(board.transfer(ends[2], 1, bytes) - ends[2], ends[0]);
}

#[test]
fn one_after_the_other_nobody_waits_at_a_mesh() {
    let mut description = mesh();
    description.memories[1].latency_ps = 0;
    let mut board = Hardware::new(&description);
    let mut now = 0;
    for i in 0..100 {
        now = board.transfer(now, i % 3, 1 + i as u64 * 7);
    }
    assert_eq!(board.traffic().waited_ps, 0);
}

#[test]
fn cores_heat_their_neighbours_and_leak_more_when_they_are_hot() {
    let mut board = Hardware::new(&board());
    board.wake(0, 0);
    board.set_point(0, 0, 1);
    assert_eq!(board.temperature_mc(2), None);
    let mut last = board.power_uw(0, 0);
    for step in 1..=600 {
        assert_eq!(board.heat_due_ps(), Some(step * 10 * MS));
        board.heat();
        let power = board.power_uw(step * 10 * MS, 0);
        assert!(power >= last, "step {step}: {power} after {last}");
        last = power;
    }
    let temperatures = [0, 1].map(|core| board.temperature_mc(core).unwrap());
    assert!(temperatures[0] > temperatures[1] && temperatures[1] > 25_000);
    // The fixed point of power and temperature, each from the other.
    let network = board.network().unwrap();
    let watts = [last as f64 / 1e6, 0.001];
    let steady = network.steady(&watts)[0] * 1e3 + 25_000.0;
    assert!((steady - f64::from(temperatures[0])).abs() < 20.0, "{steady} {temperatures:?}");
    let leak = 100_000.0 * libm::exp(f64::from(temperatures[0] - 25_000) / 40_000.0);
    assert!((last as f64 - 900_000.0 - leak).abs() < 2.0, "{last} {leak}");
}

/// A run of everything, with arithmetic that stands for the events of a simulation.
fn exercise(board: &mut Hardware, from: u64, to: u64) {
    for i in from..to {
        let (core, now) = (i as usize % 3, i * 313 * US);
        while board.heat_due_ps().is_some_and(|due| due <= now) {
            board.heat();
        }
        match i % 7 {
            0 | 3 => _ = board.wake(now, core),
            1 => _ = board.set_point(now, core, (i / 7) as usize % 2),
            2 => _ = board.refill(now, core, (i / 3) as u32 % 5, 6 << 10),
            4 => _ = board.transfer(now, core, i % 500),
            _ => board.rest(now, core),
        }
    }
    board.settle(to * 313 * US);
}

#[test]
fn a_run_that_is_saved_and_restored_goes_on_bit_for_bit() {
    let (mut whole, mut begun) = (Hardware::new(&board()), Hardware::new(&board()));
    exercise(&mut whole, 0, 1_000);
    exercise(&mut whole, 1_000, 2_000);
    exercise(&mut begun, 0, 1_000);
    let saved = serde_json::to_string(&begun).unwrap();
    let mut restored: Hardware = serde_json::from_str(&saved).unwrap();
    exercise(&mut restored, 1_000, 2_000);
    let [whole, restored] = [&whole, &restored].map(|h| serde_json::to_string(h).unwrap());
    assert_eq!(whole, restored);
}

#[test]
fn a_description_survives_its_way_as_json() {
    let text = serde_json::to_string(&board()).unwrap();
    assert_eq!(serde_json::from_str::<Description>(&text).unwrap(), board());
}

#[test]
fn a_thousand_cores_that_are_alike_share_their_tables() {
    let mut description = board();
    description.thermal = None;
    description.cores = (0..1_024).map(|i| core("arm", (i % 32, i / 32))).collect();
    let board = Hardware::new(&description);
    let saved = serde_json::to_string(&board).unwrap();
    assert_eq!(board.cores(), 1_024);
    assert_eq!(saved.matches("\"costs\"").count(), 2, "one table for each of two points");
}
