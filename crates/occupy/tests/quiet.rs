// SPDX-License-Identifier: Apache-2.0
//! Processors that are disturbed by this test's own children, and what is reported of it.

use std::ops::RangeInclusive;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use std::{fs, io};

use procfs::FromRead;
use procfs::process::{Schedstat, Stat};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::thread::{CpuSet as Mask, sched_getaffinity, sched_setaffinity};
use whimbrel_occupy::quiet::{Before, Group, Report, Unit, noise};
use whimbrel_occupy::{CpuSet, Error, Machine, TaskId};

/// A shell that computes until it is ended.
const ENDLESS: &str = "while :; do :; done";
/// One that computes for a part of a second.
const SOME: &str = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";

/// A child of the test on one processor, which does not outlive it.
struct Pinned(Child);

impl Pinned {
    fn new(script: &str, cpu: usize) -> Self {
        let mut command = Command::new("sh");
        let pin = move || {
            let mut mask = Mask::new();
            mask.set(cpu);
            sched_setaffinity(None, &mask).map_err(io::Error::from)
        };
        // SAFETY: between fork and exec it makes one system call and touches no shared memory.
        unsafe { command.args(["-c", script]).pre_exec(pin) };
        Self(command.spawn().unwrap())
    }

    fn id(&self) -> TaskId {
        let tid = i32::try_from(self.0.id()).unwrap();
        let stat = fs::read_to_string(format!("/proc/{tid}/stat")).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        TaskId { tid, start: fields.split(' ').nth(19).unwrap().parse().unwrap() }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// For how many seconds a task has run on processors so far.
fn ran_s(id: TaskId) -> f64 {
    let counted = Schedstat::from_file(format!("/proc/{}/schedstat", id.tid)).unwrap();
    counted.sum_exec_runtime as f64 / 1e9
}

/// The same, at least and at most, of one that has ended, with the children that it has waited for:
/// Linux tells four times, each in whole ticks.
fn ran_in_all_s(id: TaskId) -> (f64, f64) {
    let stat = Stat::from_file(format!("/proc/{}/stat", id.tid)).unwrap();
    let children = u64::try_from(stat.cutime + stat.cstime).unwrap();
    let (ticks, tick_s) =
        (stat.utime + stat.stime + children, 1.0 / procfs::ticks_per_second() as f64);
    (ticks as f64 * tick_s, (ticks + 4) as f64 * tick_s)
}

/// The last processor that this test may use.
fn last_cpu() -> usize {
    let mask = sched_getaffinity(None).unwrap();
    (0..Mask::MAX_CPU).rfind(|cpu| mask.is_set(*cpu)).unwrap()
}

fn value(report: &Report, group: Group, name: &str) -> (f64, Option<u64>) {
    let row = report.of(group).find(|row| row.name == name);
    row.map_or_else(|| panic!("no {name} in\n{report}"), |row| (row.during, row.count))
}

#[test]
fn a_busy_neighbour_is_seen_as_noise() {
    let cpu = last_cpu();
    let before = sched_getaffinity(None).unwrap();
    let neighbour = Pinned::new(ENDLESS, cpu);
    let noise = noise::run(cpu, Duration::from_secs(1), noise::THRESHOLD).unwrap();
    drop(neighbour);

    assert!(noise.lost_share() > 0.2, "{noise}");
    assert!(noise.switched > 0, "{noise}");
    assert_eq!(noise.gaps, noise.buckets.iter().map(|bucket| bucket.count).sum::<u64>());
    assert_eq!(noise.lost_ns, noise.buckets.iter().map(|bucket| bucket.lost_ns).sum::<u64>());
    assert!(noise.watched_ns >= 1_000_000_000 && noise.lost_ns <= noise.watched_ns, "{noise}");
    assert_eq!(sched_getaffinity(None).unwrap(), before, "the caller's affinity stays");
}

#[test]
fn a_processor_that_may_not_be_used_is_refused_with_those_that_may() {
    for cpu in [Mask::MAX_CPU - 1, Mask::MAX_CPU, usize::MAX] {
        match noise::run(cpu, Duration::ZERO, noise::THRESHOLD) {
            Err(Error::Unusable { cpu: refused, usable }) => {
                assert_eq!(refused, cpu);
                assert!(usable.has(last_cpu()) && !usable.has(cpu), "{usable}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_report_tells_the_program_from_its_neighbour() {
    let cpu = last_cpu();
    let mut watch = Before::take(&Machine::here(), &CpuSet::one(cpu)).unwrap();
    let neighbour = Pinned::new(ENDLESS, cpu);
    let (first, ran_first) = (Instant::now(), ran_s(neighbour.id()));
    watch.begin(None).unwrap();
    let (begun, ran_begun) = (Instant::now(), ran_s(neighbour.id()));
    // Two children at once, which have ended and were waited for by the program when it ends.
    let mut program = Pinned::new(&format!("({SOME}) & ({SOME}) & wait; exit 3"), cpu);
    let id = program.id();
    watch.look(id).unwrap();
    let child = WaitId::Pid(Pid::from_raw(id.tid).unwrap());
    waitid(child, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let (least, most) = ran_in_all_s(id);
    let (inside_s, ran_inside) = (begun.elapsed().as_secs_f64(), ran_s(neighbour.id()));
    let report = watch.during(Some(id)).unwrap();
    let (outside_s, ran_last) = (first.elapsed().as_secs_f64(), ran_s(neighbour.id()));
    // What was counted lies within what was read here, whatever else has run.
    let percent = |least: f64, most: f64| -> RangeInclusive<f64> {
        100.0 * least / outside_s..=100.0 * most / inside_s
    };

    assert_eq!(program.0.wait().unwrap().code(), Some(3), "it can still be waited for");
    let (ran, _) = value(&report, Group::Program, "ran");
    let (_, lost) = value(&report, Group::Program, "lost the processor");
    assert!(ran > 0.0 && percent(least, most).contains(&ran), "{report}");
    assert!(lost > Some(0), "{report}");
    let (share, turns) = value(&report, Group::Others, &format!("{} sh", neighbour.id().tid));
    let of_neighbour = percent(ran_inside - ran_begun, ran_last - ran_first);
    assert!(share > 0.0 && of_neighbour.contains(&share), "{of_neighbour:?}\n{report}");
    assert!(turns > Some(0), "{report}");
    let own = report.of(Group::Others).any(|row| row.name.starts_with(&format!("{} ", id.tid)));
    assert!(!own, "{report}");
    let time: f64 = report.of(Group::Time).map(|row| row.during).sum();
    assert!((time - 100.0).abs() < 0.1, "{report}");
    assert!(report.of(Group::Time).all(|row| row.unit == Unit::Percent));
    let counted = report.of(Group::Switches).inspect(|row| assert!(row.count > Some(0))).count();
    let uncounted = report.missing.iter().filter(|what| what.contains("context switches")).count();
    assert_eq!(counted + uncounted, 1, "counted, or said why not");
}

#[test]
fn of_a_program_that_runs_already_only_what_comes_is_counted() {
    let cpu = last_cpu();
    let machine = Machine::here();
    let mut watch = Before::take(&machine, &CpuSet::one(cpu)).unwrap();
    let program = Pinned::new(&format!("{SOME}; exec sleep 600"), cpu);
    let id = program.id();
    // What Linux counts of one that runs is up to a tick old, which is longer than this watches.
    let stat = || fs::read_to_string(format!("/proc/{}/stat", id.tid)).unwrap();
    let asleep = || stat().contains("(sleep) S");
    while !asleep() {
        std::thread::sleep(Duration::from_millis(10));
    }
    watch.begin(Some(id)).unwrap();
    let report = watch.during(Some(id)).unwrap();
    // It cannot have run for longer than it was watched, but for much longer before.
    let (ran, _) = value(&report, Group::Program, "ran");
    assert!(ran <= 100.0, "{report}");
}

#[test]
fn a_program_that_is_gone_is_counted_as_at_the_last_look() {
    let cpu = last_cpu();
    let mut watch = Before::take(&Machine::here(), &CpuSet::one(cpu)).unwrap();
    watch.begin(None).unwrap();
    let program = Pinned::new("exec sleep 600", cpu);
    let id = program.id();
    watch.look(id).unwrap();
    drop(program);
    let report = watch.during(Some(id)).unwrap();
    assert_eq!(report.of(Group::Program).count(), 4, "{report}");
}

#[test]
fn a_program_that_was_never_seen_has_no_rows() {
    let mut watch = Before::take(&Machine::here(), &CpuSet::one(last_cpu())).unwrap();
    watch.begin(None).unwrap();
    let report = watch.during(Some(TaskId { tid: i32::MAX, start: 0 })).unwrap();
    assert_eq!(report.of(Group::Program).count(), 0, "{report}");
}

#[test]
fn a_processor_that_is_off_line_is_refused_with_those_that_are_not() {
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/linux-6.1-8-without-3-5");
    let machine = Machine { proc: recorded.into(), ..Machine::here() };
    match Before::take(&machine, &"2,3".parse().unwrap()) {
        Err(Error::Offline { cpu: 3, online }) => assert_eq!(online.to_string(), "0-2,4,6-7"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_container_hides_is_told_and_the_rest_is_counted() {
    let proc = tempfile::tempdir().unwrap();
    let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recorded/linux-6.1-1/stat");
    fs::copy(recorded, proc.path().join("stat")).unwrap();
    let machine = Machine { proc: proc.path().into(), ..Machine::here() };
    let watch = Before::take(&machine, &CpuSet::one(0)).unwrap();
    let report = watch.during(None).unwrap();
    for hidden in ["interrupts: ", "soft interrupts: ", "other tasks"] {
        assert!(report.missing.iter().any(|what| what.starts_with(hidden)), "{hidden}: {report}");
    }
    assert_eq!(report.of(Group::Time).count(), 8);
}
