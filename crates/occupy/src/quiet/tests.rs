// SPDX-License-Identifier: Apache-2.0
//! Reports of spans whose numbers are known.

use insta::assert_snapshot;

use super::columns::Line;
use super::noise::{Bucket, Noise};
use super::program::Counts;
use super::reading::{Other, Span};
use super::report::{Group, Report};
use crate::{CpuSet, TaskId};

fn line(name: &str, count: u64) -> Line {
    Line { name: name.into(), count }
}

fn other(tid: i32, name: &str, turns: u64, ran_ns: u64) -> Other {
    Other { id: TaskId { tid, start: 1 }, name: name.into(), turns, ran_ns }
}

fn noise(gaps: &[(u64, u64, u64)], switched: u64) -> Noise {
    let bucket = |&(from_us, count, lost_ns): &(u64, u64, u64)| Bucket {
        from_us,
        below_us: from_us.saturating_mul(2).max(1),
        count,
        lost_ns,
    };
    Noise {
        cpu: 1,
        watched_ns: 1_000_000_000,
        threshold_ns: 5000,
        gaps: gaps.iter().map(|gap| gap.1).sum(),
        lost_ns: gaps.iter().map(|gap| gap.2).sum(),
        longest_ns: gaps.last().map_or(0, |gap| gap.2),
        switched,
        buckets: gaps.iter().map(bucket).collect(),
    }
}

/// A second in which nothing was counted but this.
fn span(interrupts: Vec<Line>, others: Vec<Other>) -> Span {
    let softirqs = Vec::new();
    Span { seconds: 1.0, cpus: 1, ticks: [1; 8], interrupts, softirqs, switches: None, others }
}

fn report() -> Report {
    let before = Span {
        seconds: 1.0,
        cpus: 1,
        ticks: [60, 5, 20, 10, 1, 0, 3, 1],
        interrupts: vec![line("36 virtio1-req.0", 40), line("LOC Local timer interrupts", 250)],
        softirqs: vec![line("TIMER", 100), line("NET_RX", 0)],
        switches: Some(1200),
        others: vec![other(17, "cc1", 30, 400_000_000), other(22, "ksoftirqd/1", 4, 20_000)],
    };
    let during = Span {
        seconds: 4.0,
        cpus: 1,
        ticks: [398, 0, 1, 0, 0, 0, 0, 1],
        interrupts: vec![
            line("36 virtio1-req.0", 0),
            line("37 a <late> & driver", 2),
            line("LOC Local timer interrupts", 1000),
        ],
        softirqs: vec![line("TIMER", 5), line("NET_RX", 0)],
        switches: Some(6),
        others: vec![other(22, "ksoftirqd/1", 2, 12_000)],
    };
    let counts = Counts { voluntary: 4, involuntary: 2, ran_ns: 3_980_000_000, waited_ns: 12_000 };
    let mut report = Report::new(CpuSet::one(1), &before, &during, Some(counts), Vec::new());
    report.noise_before = Some(noise(&[(4, 250, 1_500_000), (8, 0, 0), (16, 3, 60_000)], 3));
    report.noise_during = Some(noise(&[(4, 250, 1_400_000)], 0));
    report
}

#[test]
fn the_table_has_before_beside_during() {
    assert_snapshot!(report());
}

#[test]
fn the_json_has_what_the_table_has() {
    assert_snapshot!(serde_json::to_string_pretty(&report()).unwrap());
}

#[test]
fn a_report_comes_back_from_its_json() {
    let text = serde_json::to_string(&report()).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report());
}

#[test]
fn the_table_has_those_that_ran_longest_and_the_json_all() {
    let many =
        (0..20).map(|tid| other(tid, "sh", 1, 1_000_000 * (1 + u64::from(tid.unsigned_abs()))));
    let nobody = span(Vec::new(), Vec::new());
    let report =
        Report::new(CpuSet::one(1), &nobody, &span(Vec::new(), many.collect()), None, Vec::new());
    let table = report.to_string();
    assert!(table.contains("19 sh") && !table.contains(" 0 sh"), "{table}");
    assert!(table.contains("and 12 that ran less"), "{table}");
    assert_eq!(report.of(Group::Others).count(), 20);
}

#[test]
fn what_never_happened_is_left_out_of_interrupts() {
    let report = report();
    let names: Vec<&str> = report.of(Group::Softirqs).map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["TIMER"]);
}

#[test]
fn a_span_of_no_time_has_no_numbers_that_are_none() {
    let nothing = || Span {
        seconds: 0.0,
        cpus: 0,
        ticks: [0; 8],
        interrupts: vec![line("LOC", 1)],
        softirqs: Vec::new(),
        switches: Some(0),
        others: vec![other(1, "x", 1, 0)],
    };
    let counts = Some(Counts::default());
    let report = Report::new(CpuSet::default(), &nothing(), &nothing(), counts, Vec::new());
    assert!(report.rows.iter().all(|row| row.during.is_finite()));
}
