// SPDX-License-Identifier: Apache-2.0
//! From rows of `whimbrel bench` to costs of a platform, and back.
//!
//! A row measures a chain of actions as a whole, a platform has a cost for each. What no row tells
//! apart is shared out equally, so that the simulator's sum over the chain is the row again:
//!
//! | row | is the sum of |
//! |---|---|
//! | `switch` | switch |
//! | `channel.*.spin` | claim, send, commit, post, notify, serve, switch, hold, receive, release |
//! | `wake.*.notice` | the same, and the idle state's ring and exit |
//! | `wake.*.ring` | the idle state's ring, and a send that rings nobody |
//! | `wake.*.firing` | the idle state's refill, and the firing after it |
//! | `wake.*.attach` | the idle state's switch and switch, from attaching until it runs |
//! | `wake.64KiB.read` | the lines of a message of another core, beyond one of the same core |
//! | `migration.handoff.spin` | checkpoint, park, post, doorbell, serve, attach, switch |
//! | `alloc.one_kernel.64B` | heap, twice |
//! | `agent.100Hz.Ntasks`, `coordinator.…` | report, decide of N tasks, a hundred times a second |
//! | `migration.replicate.*.copy` | copy |
//! | `migration.recreate.*` | the hand-off, load, and copy twice: into the buffer, and out of it |
//!
//! A receiver that polls makes no switch, a simulated one always does. So what is left for the
//! other steps of `channel.*.spin` is the row without it, or nothing.

use std::collections::BTreeMap;

use whimbrel_hardware::{Cost, Costs, Description, IdleState};
use whimbrel_model::Problem;

/// The medians of rows, by their names; of a line, its slope.
pub type Rows = BTreeMap<String, f64>;

const KIB: f64 = 1024.0;
const LINE_BYTES: f64 = 64.0;
const PAGE_BYTES: f64 = 4096.0;
/// A millionth of a hundredth of a second, in nanoseconds: the unit of the agents' rows.
const NS_PER_PPM: f64 = 10.0;
/// Recreated tasks of the benchmark have this much stack besides what their rows name.
const STACK_BYTES: f64 = 64.0 * KIB;
/// Claim, commit, hold, release; post, doorbell, serve.
const STEPS: f64 = 7.0;

/// The groups whose rows are needed.
pub const GROUPS: [&str; 6] = ["switch", "channel", "migration", "alloc", "agent", "wake"];

/// What an action takes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Time {
    /// However many units.
    pub fixed_ns: f64,
    /// For each unit.
    pub per_unit_ns: f64,
}

/// One cost of the platform.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its table in the file, as `send` of `[costs.send]`.
    pub action: &'static str,
    /// What it takes.
    pub time: Time,
    /// The rows it is from, and how.
    pub source: &'static str,
}

/// What was fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// Costs, each action once.
    pub costs: Vec<Entry>,
    /// Until another core notices its doorbell.
    pub doorbell_ns: f64,
    /// What a core sinks into without work, from the shortest sleep to the longest.
    pub sleeps: [Sleep; SLEEPS.len()],
    /// Fetching one line of the cache that is missing.
    pub miss_ns: f64,
    /// Reading one line that another core has written.
    pub far_ns: f64,
}

/// A sleep that was measured: its name in rows, and after how long it is the state of a core:
/// half-way, by ratio, from the shorter one. The first is how long a kernel polls, as `whimbrel
/// run` has it.
const SLEEPS: [(&str, f64); 3] = [("100us", 20e3), ("1ms", 316e3), ("20ms", 4472e3)];

/// What it takes to wake a core from an idle state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sleep {
    /// The rows that it is from, as `20ms`.
    pub name: &'static str,
    /// When it begins.
    pub after_ns: f64,
    /// Until the core runs.
    pub exit_ns: f64,
    /// For who rings.
    pub ring_ns: f64,
    /// For the first switch, besides what any takes.
    pub switch_ns: f64,
    /// For the first firing.
    pub refill_ns: f64,
}

/// A straight line through two sizes; neither of its parts is negative.
fn line(small: (f64, f64), large: (f64, f64)) -> Time {
    let per_unit_ns = ((large.1 - small.1) / (large.0 - small.0)).max(0.0);
    Time { fixed_ns: (small.1 - small.0 * per_unit_ns).max(0.0), per_unit_ns }
}

const fn fixed(fixed_ns: f64) -> Time {
    Time { fixed_ns, per_unit_ns: 0.0 }
}

/// A row that must be there.
fn row(rows: &Rows, name: &str) -> Result<f64, Problem> {
    match rows.get(name) {
        Some(value) if value.is_finite() && *value >= 0.0 => Ok(*value),
        Some(value) => Err(Problem::new(format!("the row {name} of the benchmarks is {value}"))
            .help("measure again: a time from 0 is needed")),
        None => Err(Problem::new(format!("the benchmarks have no row {name}"))
            .help(format!("measure with `whimbrel bench {}`", GROUPS.join(" ")))),
    }
}

/// What a tick takes for each task, by the part of a core that a hundred of them a second take.
fn ticks(rows: &Rows, who: &str) -> Result<Time, Problem> {
    let at = |n: f64| row(rows, &format!("{who}.100Hz.{n}tasks")).map(|ppm| (n, ppm * NS_PER_PPM));
    Ok(line(at(8.0)?, at(16.0)?))
}

/// What the rows of a sleep are beyond those without one.
fn sleep(rows: &Rows, (name, after_ns): (&'static str, f64)) -> Result<Sleep, Problem> {
    let row = |name: &str| row(rows, name);
    let beyond = |what: &str| {
        let name = format!("wake.{name}.{what}");
        Ok::<f64, Problem>((row(&name)? - row(&format!("{name} against"))?).max(0.0))
    };
    let ring_ns = beyond("ring")?;
    let notice = row(&format!("wake.{name}.notice"))?;
    Ok(Sleep {
        name,
        after_ns,
        exit_ns: (notice - ring_ns - row("channel.64B.spin")?).max(0.0),
        ring_ns,
        switch_ns: (row(&format!("wake.{name}.attach against"))? - row("switch")?).max(0.0),
        refill_ns: beyond("firing")?,
    })
}

/// The same of every sleep.
///
/// # Errors
/// A row is missing, or is no time.
pub fn sleeps(rows: &Rows) -> Result<[Sleep; SLEEPS.len()], Problem> {
    let [short, long, longest] = SLEEPS.map(|one| sleep(rows, one));
    Ok([short?, long?, longest?])
}

/// What a line of a message of another core takes longer.
///
/// # Errors
/// As [`sleeps`].
pub fn far_ns(rows: &Rows) -> Result<f64, Problem> {
    let beyond_ns = row(rows, "wake.64KiB.read")? - row(rows, "wake.64KiB.read against")?;
    Ok((beyond_ns / (64.0 * KIB / LINE_BYTES)).max(0.0))
}

/// Fits costs to rows.
///
/// # Errors
/// A row is missing, or is no time.
pub fn fit(rows: &Rows) -> Result<Fitted, Problem> {
    let row = |name: &str| row(rows, name);
    let switch = row("switch")?;
    let spin = row("channel.64B.spin")?;
    let byte = line((LINE_BYTES, spin), (PAGE_BYTES, row("channel.4KiB.spin")?)).per_unit_ns / 2.0;
    let step = ((spin - switch - 2.0 * LINE_BYTES * byte) / STEPS).max(0.0);
    let handoff = row("migration.handoff.spin")?;
    let half = ((handoff - switch - 3.0 * step) / 3.0).max(0.0);
    let copy = line(
        (4.0 * KIB, row("migration.replicate.4KiB.copy")?),
        (256.0 * KIB, row("migration.replicate.256KiB.copy")?),
    );
    let load = |kib: f64, name| {
        let copied = 2.0 * (copy.fixed_ns + copy.per_unit_ns * kib * KIB);
        row(name).map(|ns| (kib * KIB + STACK_BYTES, (ns - handoff - copied).max(0.0)))
    };
    let load =
        line(load(64.0, "migration.recreate.64KiB")?, load(4096.0, "migration.recreate.4MiB")?);
    let entry = |action, time, source| Entry { action, time, source };
    let each = "channel.64B.spin without the switch and the bytes, an equal part of seven steps";
    let bytes = "channel.4KiB.spin against channel.64B.spin, half of it for either side";
    let third = "migration.handoff.spin without the switch and the note, an equal part of three";
    let copied = Time { fixed_ns: 0.0, per_unit_ns: byte };
    let costs = vec![
        entry("send", copied, bytes),
        entry("receive", copied, bytes),
        entry("claim", fixed(step), each),
        entry("hold", fixed(step), each),
        entry("commit", fixed(step), each),
        entry("release", fixed(step), each),
        entry("checkpoint", fixed(half), third),
        entry("post", fixed(step), each),
        entry("serve", fixed(step), each),
        entry("park", fixed(half), third),
        entry("attach", fixed(half), third),
        entry(
            "heap",
            fixed(row("alloc.one_kernel.64B")? / 2.0),
            "alloc.one_kernel.64B, half of it",
        ),
        entry("report", ticks(rows, "agent")?, "agent.100Hz of 8 and 16 tasks"),
        entry("decide", ticks(rows, "coordinator")?, "coordinator.100Hz of 8 and 16 tasks"),
        entry("switch", fixed(switch), "switch"),
        entry("copy", copy, "migration.replicate copy of 4 and 256 KiB"),
        entry(
            "load",
            load,
            "migration.recreate of 64 KiB and 4 MiB without the hand-off and the copies",
        ),
    ];
    Ok(Fitted {
        costs,
        doorbell_ns: step,
        sleeps: sleeps(rows)?,
        far_ns: far_ns(rows)?,
        miss_ns: ((row(COLD)? - row(WARM)?) / (2.0 * 64.0 * KIB / LINE_BYTES)).max(0.0),
    })
}

/// A plain copy of 64 KiB, which the rows have beside ours, with caches warm and empty.
const WARM: &str = "migration.replicate.64KiB against memcpy";
const COLD: &str = "migration.replicate.64KiB.cold against memcpy";

/// Until a core that is rung in each of its idle states runs, in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
fn wakes(platform: &Description) -> [f64; SLEEPS.len()] {
    let states = platform.cores.first().map_or(&[][..], |core| &core.idle_states);
    let ps = |number| {
        states.get(number).map_or(0, |state: &IdleState| state.exit_ps + state.waking.ring_ps)
    };
    std::array::from_fn(|number| ps(number) as f64 / 1e3)
}

/// What the actions of a row take on a platform, for every row that is known here.
pub fn given_back(platform: &Description) -> Rows {
    let hz = platform.cores.first().and_then(|core| core.points.last()).map_or(1, |p| p.hz);
    #[expect(clippy::cast_precision_loss, reason = "times and frequencies are far below 2^53")]
    let ns = |cost: &Cost, units: f64| {
        cost.ps as f64 / 1e3 + (cost.cycles + units * cost.cycles_per_unit) * 1e9 / hz as f64
    };
    let costs = &platform.costs;
    let action = |name: &str, units: f64| {
        let number = Costs::ACTIONS.iter().position(|known| *known == name);
        number.and_then(|n| costs.actions.get(n)).map_or(0.0, |cost| ns(cost, units))
    };
    let all = |names: &[&str]| names.iter().map(|name| action(name, 1.0)).sum::<f64>();
    let switch = ns(&costs.switch, 1.0);
    #[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
    let latency = platform.doorbell.latency_ps as f64 / 1e3;
    let [wake, wake_1ms, wake_20ms] = wakes(platform);
    let rung = ns(&platform.doorbell.send, 1.0) + latency + ns(&platform.doorbell.receive, 1.0);
    let note = all(&["post", "serve"]) + rung + switch;
    let channel = |bytes: f64| {
        all(&["claim", "commit", "hold", "release"])
            + action("send", bytes)
            + action("receive", bytes)
            + note
    };
    let handoff = all(&["checkpoint", "park", "attach"]) + note;
    // From when it is parked: the note, and the second half of the move.
    let arrival = all(&["post", "serve", "attach"]) + rung;
    let copy = |kib: f64| ns(&costs.copy, kib * KIB);
    let recreate = |kib: f64| handoff + ns(&costs.load, kib * KIB + STACK_BYTES) + 2.0 * copy(kib);
    let rows = [
        ("switch", switch),
        ("channel.64B.spin", channel(LINE_BYTES)),
        ("channel.4KiB.spin", channel(PAGE_BYTES)),
        ("channel.64B.block", channel(LINE_BYTES) + wake),
        ("channel.4KiB.block", channel(PAGE_BYTES) + wake),
        ("migration.handoff.spin", handoff),
        ("migration.handoff.sleep", handoff + wake),
        ("wake.100us.notice", channel(LINE_BYTES) + wake),
        ("wake.1ms.notice", channel(LINE_BYTES) + wake_1ms),
        ("wake.20ms.notice", channel(LINE_BYTES) + wake_20ms),
        ("wake.100us.attach", arrival + wake),
        ("wake.1ms.attach", arrival + wake_1ms),
        ("wake.20ms.attach", arrival + wake_20ms),
        ("migration.replicate.4KiB.copy", copy(4.0)),
        ("migration.replicate.64KiB.copy", copy(64.0)),
        ("migration.replicate.256KiB.copy", copy(256.0)),
        ("migration.recreate.64KiB", recreate(64.0)),
        ("migration.recreate.1MiB", recreate(1024.0)),
        ("migration.recreate.4MiB", recreate(4096.0)),
        ("alloc.one_kernel.64B", 2.0 * action("heap", 1.0)),
        ("agent.100Hz.8tasks", action("report", 8.0) / NS_PER_PPM),
        ("agent.100Hz.16tasks", action("report", 16.0) / NS_PER_PPM),
        ("coordinator.100Hz.8tasks", action("decide", 8.0) / NS_PER_PPM),
        ("coordinator.100Hz.16tasks", action("decide", 16.0) / NS_PER_PPM),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use whimbrel_model::Platform;

    use super::super::file::{self, Firings};
    use super::super::machine::Machine;
    use super::super::steady::Disturbed;
    use super::super::work::Firing;
    use super::*;

    /// A machine that nobody has: every row is told apart by its value.
    fn rows() -> Rows {
        [
            ("switch", 50.0),
            ("channel.64B.spin", 150.0),
            ("channel.4KiB.spin", 553.2),
            ("wake.100us.notice", 45_600.0),
            ("wake.100us.ring", 15_600.0),
            ("wake.100us.ring against", 60.0),
            ("wake.100us.firing", 2_000.0),
            ("wake.100us.firing against", 1_100.0),
            ("wake.1ms.notice", 52_800.0),
            ("wake.1ms.ring", 12_900.0),
            ("wake.1ms.ring against", 50.0),
            ("wake.1ms.firing", 850.0),
            ("wake.1ms.firing against", 1_060.0),
            ("wake.100us.attach against", 260.0),
            ("wake.1ms.attach against", 250.0),
            ("wake.20ms.notice", 92_500.0),
            ("wake.20ms.ring", 24_300.0),
            ("wake.20ms.ring against", 60.0),
            ("wake.20ms.firing", 2_350.0),
            ("wake.20ms.firing against", 1_090.0),
            ("wake.20ms.attach against", 1_090.0),
            ("wake.64KiB.read", 19_000.0),
            ("wake.64KiB.read against", 8_760.0),
            ("migration.handoff.spin", 345.0),
            ("migration.replicate.4KiB.copy", 400.0),
            ("migration.replicate.256KiB.copy", 6_000.0),
            ("migration.recreate.64KiB", 900_000.0),
            ("migration.recreate.4MiB", 6_000_000.0),
            ("alloc.one_kernel.64B", 6.8),
            ("agent.100Hz.8tasks", 17.0),
            ("agent.100Hz.16tasks", 26.0),
            ("coordinator.100Hz.8tasks", 16.0),
            ("coordinator.100Hz.16tasks", 23.0),
            (WARM, 600.0),
            (COLD, 5_600.0),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    fn platform(fitted: &Fitted) -> Description {
        described(fitted, &[], Disturbed::default())
    }

    fn described(fitted: &Fitted, work: &[Firing], disturbed: Disturbed) -> Description {
        let machine = Machine {
            model: "made \"up\"".into(),
            hz: 2_500_000_000,
            source: "a test",
            cores: 2,
            cache_bytes: 1 << 20,
        };
        let text =
            file::text("made_up", &machine, None, fitted, Firings { of_tasks: work, disturbed });
        Platform::parse(&text).unwrap().description().unwrap()
    }

    #[test]
    fn the_costs_of_the_file_give_every_fitted_row_back() {
        let rows = rows();
        let back = given_back(&platform(&fit(&rows).unwrap()));
        let told = |name: &str| !name.contains(" against") && back.contains_key(name);
        assert!(rows.keys().filter(|name| told(name)).count() > 15);
        for (name, measured) in rows.iter().filter(|(name, _)| told(name)) {
            let error = (back[name] - measured).abs() / measured;
            assert!(error < 1e-4, "{name}: {measured} became {}", back[name]);
        }
    }

    #[test]
    fn what_a_sleep_costs_is_told_apart_by_who_pays_and_is_never_negative() {
        let sleeps = fit(&rows()).unwrap().sleeps;
        let deep = sleeps[2];
        assert_eq!((deep.ring_ns, deep.refill_ns, deep.switch_ns), (24_240.0, 1_260.0, 1_040.0));
        assert_eq!(deep.exit_ns, 92_500.0 - 24_240.0 - 150.0);
        assert_eq!(sleeps[1].refill_ns, 0.0, "a firing that was quicker than the one after it");
        assert!(sleeps.windows(2).all(|pair| pair[0].after_ns < pair[1].after_ns));
        let states = &platform(&fit(&rows()).unwrap()).cores[0].idle_states;
        assert_eq!(states[2].waking.ring_ps, 24_240_000);
        assert_eq!(
            (states[2].waking.switch_ps, states[2].waking.refill_ps),
            (1_040_000, 1_260_000)
        );
        assert_eq!((states[2].exit_ps, states[2].after_ps), (68_110_000, 4_472_000_000));
    }

    #[test]
    fn every_action_has_at_most_one_cost_and_a_name_that_platforms_know() {
        let fitted = fit(&rows()).unwrap();
        let known = |name: &str| {
            Costs::ACTIONS.contains(&name) || ["switch", "copy", "load"].contains(&name)
        };
        for (number, entry) in fitted.costs.iter().enumerate() {
            assert!(known(entry.action), "{}", entry.action);
            assert!(fitted.costs[..number].iter().all(|other| other.action != entry.action));
        }
    }

    #[test]
    fn a_row_that_is_less_than_its_parts_makes_no_cost_negative() {
        let mut rows = rows();
        rows.extend([
            ("channel.64B.spin".to_owned(), 20.0),
            ("migration.handoff.spin".to_owned(), 10.0),
        ]);
        rows.insert("coordinator.100Hz.16tasks".into(), 1.0);
        let fitted = fit(&rows).unwrap();
        assert!(fitted.costs.iter().all(|e| e.time.fixed_ns >= 0.0 && e.time.per_unit_ns >= 0.0));
        let back = given_back(&platform(&fitted));
        assert!(back["channel.64B.spin"] > 20.0, "a receiver's switch cannot be taken back");
    }

    #[test]
    fn a_row_that_is_missing_or_no_time_is_named() {
        for name in rows().into_keys() {
            let mut some = rows();
            some.remove(&name);
            assert!(fit(&some).unwrap_err().to_string().contains(&name), "{name}");
            some.insert(name.clone(), -1.0);
            assert!(fit(&some).unwrap_err().to_string().contains("is -1"), "{name}");
        }
    }

    #[test]
    fn a_missing_line_costs_what_an_empty_cache_adds_to_a_copy() {
        // 64 KiB read and as many written, in lines of 64 bytes.
        assert!((fit(&rows()).unwrap().miss_ns - 5_000.0 / 2_048.0).abs() < 1e-9);
    }

    #[test]
    fn a_line_of_another_core_costs_what_it_adds_to_reading_a_message() {
        // 1024 lines.
        assert_eq!(fit(&rows()).unwrap().far_ns, 10.0);
        let found = platform(&fit(&rows()).unwrap());
        assert_eq!(found.cores[0].cache.unwrap().far_ps, 10_000);
    }

    #[test]
    fn firings_that_are_disturbed_are_in_the_file_and_every_task_can_be() {
        let (warm_ns, cold_ns) = (30e3, 30e3);
        let work = [Firing { app: "a".into(), task: "t".into(), warm_ns, cold_ns }];
        let found =
            described(&fit(&rows()).unwrap(), &work, Disturbed { part: 0.12, mean_ns: 7e4 });
        let cache = found.cores[1].cache.unwrap();
        assert_eq!(cache.disturbance.part_ppm, 120_000);
        assert_eq!(cache.disturbance.mean_ps, 70_000_000);
        // Who misses nothing is not disturbed.
        assert_eq!(found.work[0].working_bytes, Some(64));
        let calm = described(&fit(&rows()).unwrap(), &work, Disturbed::default());
        assert_eq!(calm.cores[1].cache.unwrap().disturbance.part_ppm, 0);
        assert_eq!(calm.work[0].working_bytes, None);
    }
}
