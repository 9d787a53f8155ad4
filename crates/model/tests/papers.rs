// SPDX-License-Identifier: Apache-2.0
//! The platforms say what their papers and data sheets say.

use std::fs;
use std::path::Path;

use whimbrel_hardware::time::SECOND_PS;
use whimbrel_hardware::{Charge, Costs, Description, Hardware};
use whimbrel_model::Platform;

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;

fn description(name: &str) -> Description {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join(format!("platforms/{name}.toml"))).unwrap();
    Platform::parse(&text).unwrap().description().unwrap()
}

fn action(name: &str) -> Charge {
    let number = Costs::ACTIONS.iter().position(|action| *action == name).unwrap();
    Charge::action(number).unwrap()
}

/// A migration without its bytes: from the checkpoint to the task's resumption.
fn migration_ps(board: &Hardware, core: usize) -> u64 {
    let alone = |charge| board.cost_ps(core, charge, 1);
    let actions = ["checkpoint", "park", "post", "serve", "attach"].map(|name| alone(action(name)));
    let charges = [Charge::RING, Charge::RUNG, Charge::SWITCH].map(alone);
    actions.iter().chain(&charges).sum()
}

#[test]
fn mpsoc3_moves_a_task_of_no_size_in_104986_cycles() {
    let mut board = Hardware::new(&description("mpsoc3"));
    board.set_point(0, 0, 0);
    assert_eq!(migration_ps(&board, 0), 104_986 * 10_000);
    assert!(board.cost_ps(0, Charge::COPY, 64 << 10) > 104_986 * 10_000);
    let loading = board.cost_ps(0, Charge::LOAD, 64 << 10);
    assert!(loading > 0, "recreation comes on top of replication");
}

#[test]
fn mpsoc3_spends_at_most_a_quarter_percent_on_the_report_of_16_tasks() {
    let mut board = Hardware::new(&description("mpsoc3"));
    board.set_point(0, 0, 0);
    let share = |tasks| board.cost_ps(0, action("report"), tasks) * 100;
    assert!(share(16) <= SECOND_PS / 400, "{}", share(16));
    assert!(share(8) < share(16));
}

#[test]
fn mpsoc3_runs_the_radio_at_the_rates_of_the_paper() {
    let platform = description("mpsoc3");
    let cycles = |task: &str| platform.work.iter().find(|work| work.task == task).unwrap().cycles;
    let others = cycles("lpf") + 3 * cycles("bpf") + cycles("sum");
    let all = others + cycles("demodulator");
    assert!(all * 450 < 100_000_000, "one core at the lowest frequency");
    assert!(all * 900 > 100_000_000, "one is not enough");
    assert!(others.max(cycles("demodulator")) * 900 < 100_000_000, "two are");
    let most = 500_000_000 / all;
    assert!((3_000..3_300).contains(&most), "one core at the highest: {most}");
}

/// Mean milliwatts of the second after the first, without what heat adds.
fn milliwatts(mut at_ms: impl FnMut(&mut Hardware, u64)) -> u128 {
    let mut board = Hardware::new(&Description { thermal: None, ..description("ca9x4") });
    let all = |board: &Hardware| (0..4).map(|core| board.state(core).energy_aj()).sum::<u128>();
    let mut first_aj = 0;
    for ms in 0..2_000 {
        if ms == 1_000 {
            board.settle(ms * MS);
            first_aj = all(&board);
        }
        at_ms(&mut board, ms);
    }
    board.settle(2_000 * MS);
    (all(&board) - first_aj) / 1_000_000_000_000_000
}

#[test]
fn ca9x4_draws_900_mw_spread_and_550_mw_collected() {
    // Four videos of 25 frames per second that fill a core together.
    let spread = milliwatts(|board, ms| {
        for core in 0..4 {
            match ms % 40 {
                0 => _ = board.wake(ms * MS, core),
                10 => board.rest(ms * MS, core),
                _ => {}
            }
        }
    });
    let collected = milliwatts(|board, ms| {
        board.wake(ms * MS, 0);
    });
    assert_eq!((spread, collected), (900, 550));
}

#[test]
fn ca9x4_moves_a_task_in_100_ms() {
    let board = Hardware::new(&description("ca9x4"));
    let milliseconds = migration_ps(&board, 0) as f64 / MS as f64;
    assert!((milliseconds - 100.0).abs() < 0.1, "{milliseconds}");
    assert_eq!(board.cost_ps(0, action("checkpoint"), 1), 7_500, "three cycles");
}

#[test]
fn davinci_copies_and_notifies_in_the_times_of_figure_8() {
    let mut board = Hardware::new(&description("davinci"));
    let us = |ps| ps as f64 / US as f64;
    let mut now = 0;
    // What the simulator charges: the action, and its bytes on their way to the external memory.
    let mut copy = |name, bytes| {
        now += SECOND_PS;
        us(board.cost_ps(0, action(name), bytes) + board.transfer(now, 0, bytes) - now)
    };
    let copies = [
        (copy("send", 128), 148.77),
        (copy("send", 32 << 10), 4121.62),
        (copy("receive", 128), 143.77),
        (copy("receive", 32 << 10), 4101.70),
    ];
    // Who is rung serves its inbox, and switches to the task that waits.
    let sum =
        |core, charges: &[Charge]| us(charges.iter().map(|it| board.cost_ps(core, *it, 1)).sum());
    let ring = [Charge::RING, action("post")];
    let rung = [Charge::RUNG, action("serve"), Charge::SWITCH];
    let phases =
        [(sum(0, &ring), 131.22), (sum(1, &rung) + sum(1, &ring), 75.51), (sum(0, &rung), 114.37)];
    for (ours, paper) in copies.into_iter().chain(phases) {
        assert!((ours / paper - 1.0).abs() < 1e-4, "{ours} us, the paper {paper}");
    }
}

#[test]
fn davinci_copies_bytes_into_internal_memory_in_6_percent_of_the_time() {
    let mut board = Hardware::new(&description("davinci"));
    let bytes = 8 << 10;
    for name in ["send", "receive"] {
        let external = |board: &mut Hardware, bytes| {
            board.cost_ps(0, action(name), bytes) + board.transfer(SECOND_PS, 0, bytes) - SECOND_PS
        };
        let internal =
            |board: &Hardware, bytes| board.internal_ps(0, action(name).internal(), bytes);
        // What it takes besides the copy is the same for both.
        let fixed = board.cost_ps(0, action(name), 0);
        let (far, near) = (external(&mut board, bytes), internal(&board, bytes));
        let part = (near - fixed) as f64 / (far - fixed) as f64;
        assert!((part - 0.06).abs() < 0.001, "{name}: {part}");
    }
}

#[test]
fn smp2_switches_in_a_tenth_of_the_947_cycles_of_the_paper() {
    let board = Hardware::new(&description("smp2"));
    let switch = board.cost_ps(1, Charge::SWITCH, 1);
    assert_eq!(switch, board.clock(1).ps(58));
    assert!(switch < board.clock(1).ps(947) / 10);
}

/// Runs `tasks` of 2 KiB for 200 rounds on smp2; returns the cycles that went into caches.
fn warming(tasks: u32, moving: bool) -> u64 {
    let mut board = Hardware::new(&description("smp2"));
    let mut ps = 0;
    for round in 0..200 {
        for task in 0..tasks {
            let core = if moving { (round + task) % 2 } else { task % 2 };
            if moving {
                board.forget(1 - core as usize, task);
            }
            let now = u64::from(round * tasks + task) * MS;
            ps += board.refill(now, core as usize, task, 2 << 10);
        }
    }
    ps / 10_000
}

#[test]
fn on_smp2_moving_costs_the_few_tasks_of_the_image_filter_and_not_the_many_of_the_packets() {
    // Three tasks fit both caches; eleven push each other out wherever they are.
    let (filter, filter_moving) = (warming(3, false), warming(3, true));
    let (packets, packets_moving) = (warming(11, false), warming(11, true));
    assert!(filter_moving > 100 * filter, "{filter} {filter_moving}");
    assert!(packets_moving < packets * 11 / 10, "{packets} {packets_moving}");
}

#[test]
fn am62p_moves_a_task_between_cores_under_freertos_in_1035_cycles() {
    let board = Hardware::new(&description("am62p"));
    // Each act is rounded to a picosecond.
    assert!(migration_ps(&board, 1).abs_diff(board.clock(1).ps(1035)) < 8);
}

#[test]
fn am62p_rings_by_a_system_call_under_linux_and_by_a_register_under_freertos() {
    let board = Hardware::new(&description("am62p"));
    let ns = |core, charge| board.cost_ps(core, charge, 1) / 1000;
    for core in [0, 3] {
        assert_eq!((ns(core, Charge::RING), ns(core, Charge::RUNG)), (670, 6250));
    }
    for core in [1, 2] {
        assert_eq!((ns(core, Charge::RING), ns(core, Charge::RUNG)), (7, 44));
    }
    assert_eq!(board.ring(0, 0, 1), 693_000);
}

#[test]
fn mesh64_draws_what_the_processor_it_is_made_after_does() {
    let platform = description("mesh64");
    assert_eq!((platform.cores.len(), platform.cores[63].node), (64, (7, 7)));
    let watts = |point: usize| 48.0 * f64::from(platform.cores[0].points[point].active_uw) / 1e6;
    assert!((watts(0) - 5.1).abs() < 0.1 && (watts(4) - 87.7).abs() < 0.1);
    let thermal = platform.thermal.unwrap();
    assert_eq!((thermal.blocks.len(), thermal.blocks[63].core), (64, Some(63)));
}

#[test]
fn mesh64_is_hotter_where_work_is_concentrated() {
    let mut spread = Hardware::new(&description("mesh64"));
    let mut concentrated = Hardware::new(&description("mesh64"));
    for i in 0..16 {
        spread.wake(0, i / 4 * 16 + i % 4 * 2);
        concentrated.wake(0, i / 4 * 8 + i % 4);
    }
    for _ in 0..500 {
        spread.heat();
        concentrated.heat();
    }
    let gradient = |board: &Hardware| {
        let all: Vec<i32> = (0..64).map(|core| board.temperature_mc(core).unwrap()).collect();
        all.iter().max().unwrap() - all.iter().min().unwrap()
    };
    let (spread, concentrated) = (gradient(&spread), gradient(&concentrated));
    assert!(concentrated > spread * 5 / 4, "{spread} {concentrated}");
}

#[test]
fn xu4_draws_twice_its_dynamic_power_with_one_busy_core_as_its_sensors_showed() {
    let platform = description("xu4");
    let rail = |cores: std::ops::Range<usize>, coefficient: f64| {
        let first = &platform.cores[cores.start];
        for (number, point) in first.points.iter().enumerate() {
            let idle_uw = |core: usize| f64::from(platform.cores[core].points[number].idle_uw);
            let others_uw: f64 = cores.clone().skip(1).map(idle_uw).sum();
            let (mhz, volts) = (point.hz as f64 / 1e6, f64::from(point.microvolts) / 1e6);
            let measured_uw = 2.0 * coefficient * mhz * volts * volts;
            let ours = (f64::from(point.active_uw) + others_uw) / measured_uw;
            assert!((ours - 1.0).abs() < 0.02, "{mhz} MHz: {ours}");
        }
    };
    rail(0..4, 90.0);
    rail(4..8, 310.0);
}

#[test]
fn rpi4_draws_3_7_w_more_with_four_busy_cores() {
    let point = description("rpi4").cores[0].points[9];
    assert_eq!((point.hz, 4 * (point.active_uw - point.idle_uw)), (1_500_000_000, 3_700_000));
}
