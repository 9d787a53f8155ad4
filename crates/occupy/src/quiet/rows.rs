// SPDX-License-Identifier: Apache-2.0
//! A report from what was counted in two spans of time.

use std::collections::BTreeMap;

use super::columns::Line;
use super::program::Counts;
use super::reading::{Other, Span};
use super::report::{EventCount, Group, Report, Unit};
use super::ticks::KINDS;
use crate::CpuSet;

impl Report {
    /// Puts two spans side by side.
    pub(super) fn new(
        cpus: CpuSet,
        before: &Span,
        during: &Span,
        program: Option<Counts>,
        missing: Vec<String>,
    ) -> Self {
        let mut rows = time(before, during);
        rows.extend(switches(before, during));
        rows.extend(program.into_iter().flat_map(|counts| program_rows(&counts, during)));
        rows.extend(others(before, during));
        let lines = [
            (Group::Interrupts, &before.interrupts, &during.interrupts),
            (Group::Softirqs, &before.softirqs, &during.softirqs),
        ];
        for (group, first, then) in lines {
            rows.extend(per_second(group, (first, before), (then, during)));
        }
        Self {
            cpus,
            before_s: before.seconds,
            during_s: during.seconds,
            rows,
            missing,
            noise_before: None,
            noise_during: None,
        }
    }
}

/// What the processors' time went to, in percent.
fn time(before: &Span, during: &Span) -> Vec<EventCount> {
    let share = |span: &Span, kind: usize| part(span.ticks[kind], span.ticks.iter().sum());
    let row = |(kind, name): (usize, &&str)| EventCount {
        group: Group::Time,
        name: (*name).to_owned(),
        unit: Unit::Percent,
        before: Some(share(before, kind)),
        during: share(during, kind),
        count: None,
    };
    KINDS.iter().enumerate().map(row).collect()
}

fn switches(before: &Span, during: &Span) -> Option<EventCount> {
    let count = during.switches?;
    Some(EventCount {
        group: Group::Switches,
        name: "all tasks".into(),
        unit: Unit::PerSecond,
        before: before.switches.map(|count| rate(count, before)),
        during: rate(count, during),
        count: Some(count),
    })
}

fn program_rows(counts: &Counts, during: &Span) -> [EventCount; 4] {
    let row = |name: &str, unit, during, count| EventCount {
        group: Group::Program,
        name: name.into(),
        unit,
        before: None,
        during,
        count,
    };
    let switches = |name, count| row(name, Unit::PerSecond, rate(count, during), Some(count));
    let time = |name, ns| row(name, Unit::Percent, of_time(ns, during), None);
    [
        switches("lost the processor", counts.involuntary),
        switches("gave it away", counts.voluntary),
        time("ran", counts.ran_ns),
        time("waited for it", counts.waited_ns),
    ]
}

/// The tasks, by the time that they took during the occupation, then before.
fn others(before: &Span, during: &Span) -> Vec<EventCount> {
    let mut rows = BTreeMap::new();
    // A task's name is that of the later span.
    for other in during.others.iter().chain(&before.others) {
        rows.entry(other.id).or_insert_with(|| EventCount {
            group: Group::Others,
            name: format!("{} {}", other.id.tid, other.name),
            unit: Unit::Percent,
            before: Some(0.0),
            during: 0.0,
            count: Some(0),
        });
    }
    for Other { id, ran_ns, .. } in &before.others {
        rows.entry(*id).and_modify(|row| row.before = Some(of_time(*ran_ns, before)));
    }
    for Other { id, ran_ns, turns, .. } in &during.others {
        let ran = of_time(*ran_ns, during);
        rows.entry(*id).and_modify(|row| (row.during, row.count) = (ran, Some(*turns)));
    }
    let mut rows: Vec<EventCount> = rows.into_values().collect();
    let before = |row: &EventCount| row.before.unwrap_or(0.0);
    rows.sort_by(|a, b| b.during.total_cmp(&a.during).then(before(b).total_cmp(&before(a))));
    rows
}

/// The sources of interrupts that there were, in the kernel's order.
fn per_second(group: Group, before: (&[Line], &Span), during: (&[Line], &Span)) -> Vec<EventCount> {
    let counts: BTreeMap<&str, u64> = before.0.iter().map(|l| (l.name.as_str(), l.count)).collect();
    let row = |line: &Line| {
        let count = counts.get(line.name.as_str()).copied().unwrap_or(0);
        let row = EventCount {
            group,
            name: line.name.clone(),
            unit: Unit::PerSecond,
            before: Some(rate(count, before.1)),
            during: rate(line.count, during.1),
            count: Some(line.count),
        };
        (count > 0 || line.count > 0).then_some(row)
    };
    during.0.iter().filter_map(row).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a rate is not exact anyway")]
fn rate(count: u64, span: &Span) -> f64 {
    count as f64 / span.seconds.max(f64::MIN_POSITIVE)
}

#[expect(clippy::cast_precision_loss, reason = "a part is not exact anyway")]
fn part(of: u64, total: u64) -> f64 {
    100.0 * of as f64 / total.max(1) as f64
}

/// A time as a part of that of all the processors of a span, in percent.
#[expect(clippy::cast_precision_loss, reason = "a part is not exact anyway")]
fn of_time(ns: u64, span: &Span) -> f64 {
    100.0 * ns as f64 / 1e9 / (span.seconds * span.cpus as f64).max(f64::MIN_POSITIVE)
}
