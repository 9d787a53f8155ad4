// SPDX-License-Identifier: Apache-2.0
//! The latency of migrations, split by the points that each of them reached.

use serde::Serialize;

use crate::protocol::Migration;

/// One phase of the migrations that went well, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// How they moved.
    pub mode: String,
    /// From which point to which.
    pub phase: String,
    /// Half of them took at most this long.
    pub p50_ns: u64,
    /// Nine of ten.
    pub p90_ns: u64,
    /// All.
    pub max_ns: u64,
    /// How many reached the end of the phase.
    pub n: usize,
}

/// A point of a migration.
struct Point {
    name: &'static str,
    /// When it was reached; 0: never.
    time_ns: u64,
}

/// From one point of a migration to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigrationPhase {
    /// The point that it begins at.
    pub from: &'static str,
    /// The point that it ends at.
    pub to: &'static str,
    /// How long it took; `None` if it did not reach the end.
    pub time_ns: Option<u64>,
}

/// The split of a migration. The context of one that copies is on its target before the task is
/// attached or after it, as its mode will have it: the step stands where its time says.
pub fn steps(migration: &Migration) -> Vec<MigrationPhase> {
    let point = |name, time_ns| Point { name, time_ns };
    let mut points = vec![
        point("request", migration.request_ns),
        point("parked", migration.parked_ns),
        point("attached", migration.attached_ns),
        point("running", migration.running_ns),
        point("first output", migration.output_ns),
    ];
    let copied = migration.copied_ns;
    if copied != 0 {
        let later = points.iter().position(|it| it.time_ns == 0 || it.time_ns >= copied);
        points.insert(later.unwrap_or(points.len()), point("copied", copied));
    }
    points.windows(2).map(|pair| step(&pair[0], &pair[1])).collect()
}

fn step(from: &Point, to: &Point) -> MigrationPhase {
    let time_ns = time_between(from.time_ns, to.time_ns);
    MigrationPhase { from: from.name, to: to.name, time_ns }
}

/// `None` where one of them was never reached.
fn time_between(start: u64, end: u64) -> Option<u64> {
    if start == 0 || end == 0 { None } else { end.checked_sub(start) }
}

/// The spread of each phase over the migrations that went well, for each mode.
pub fn of(migrations: &[Migration]) -> Vec<Latency> {
    let mut modes: Vec<&str> = migrations.iter().map(|m| m.mode.as_str()).collect();
    modes.sort_unstable();
    modes.dedup();
    let ok = |mode| migrations.iter().filter(move |m| m.status == "ok" && m.mode == mode);
    modes.into_iter().flat_map(|mode| of_mode(mode, ok(mode))).collect()
}

fn of_mode<'a>(mode: &str, migrations: impl Iterator<Item = &'a Migration>) -> Vec<Latency> {
    let mut phases: Vec<(&str, &str, Vec<u64>)> = Vec::new();
    let mut total = Vec::new();
    for migration in migrations {
        for MigrationPhase { from, to, time_ns } in steps(migration) {
            let known = phases.iter().position(|(f, t, _)| (*f, *t) == (from, to));
            let at = known.unwrap_or_else(|| {
                phases.push((from, to, Vec::new()));
                phases.len() - 1
            });
            phases[at].2.extend(time_ns);
        }
        let (parked, running) = (migration.parked_ns, migration.running_ns);
        total.extend(time_between(parked, running));
    }
    phases.push(("parked", "running", total));
    let reached = phases.into_iter().filter(|(_, _, times)| !times.is_empty());
    reached.map(|(from, to, times)| spread(mode, format!("{from} to {to}"), times)).collect()
}

fn spread(mode: &str, phase: String, mut times: Vec<u64>) -> Latency {
    times.sort_unstable();
    // The smallest that at least this part of all does not exceed (nearest rank).
    let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
    let (p50_ns, p90_ns, max_ns) = (rank(50), rank(90), rank(100));
    Latency { mode: mode.to_owned(), phase, p50_ns, p90_ns, max_ns, n: times.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migration(mode: &str, times: [u64; 5], copied_ns: u64, status: &str) -> Migration {
        let [request_ns, parked_ns, attached_ns, running_ns, output_ns] = times;
        Migration {
            task: "bpf".into(),
            index: 0,
            source: 0,
            target: 1,
            status: status.into(),
            request_ns,
            parked_ns,
            attached_ns,
            running_ns,
            output_ns,
            copied_ns,
            bytes: 0,
            mode: mode.into(),
            by: "user".into(),
        }
    }

    fn phases(latencies: &[Latency]) -> Vec<(&str, &str, u64)> {
        latencies.iter().map(|l| (l.mode.as_str(), l.phase.as_str(), l.max_ns)).collect()
    }

    #[test]
    fn the_latency_of_migrations_is_split_by_phase_and_leaves_out_those_that_failed() {
        let ok = (1..=10).map(|n| migration("handoff", [100, 100 + n, 200, 300, 0], 0, "ok"));
        let failed = migration("handoff", [1, 0, 0, 0, 0], 0, "timeout");
        let all: Vec<Migration> = ok.chain([failed]).collect();
        let latencies = of(&all);
        let (mode, phase) = ("handoff".into(), "request to parked".into());
        let first = Latency { mode, phase, p50_ns: 5, p90_ns: 9, max_ns: 10, n: 10 };
        assert_eq!(latencies[0], first);
        assert_eq!(latencies[2].p50_ns, 100);
        assert!(latencies.iter().all(|latency| latency.phase != "running to first output"));
    }

    #[test]
    fn a_run_without_migrations_has_no_latency() {
        assert!(of(&[]).is_empty());
        assert!(of(&[migration("handoff", [1, 0, 0, 0, 0], 0, "busy")]).is_empty());
    }

    #[test]
    fn what_is_copied_has_a_step_of_its_own_in_the_mode_that_copies() {
        let before = migration("recreate", [10, 20, 40, 50, 60], 35, "ok");
        let after = migration("replicate", [10, 20, 40, 50, 60], 45, "ok");
        let none = migration("handoff", [10, 20, 40, 50, 60], 0, "ok");
        let expected = [
            ("handoff", "request to parked", 10),
            ("handoff", "parked to attached", 20),
            ("handoff", "attached to running", 10),
            ("handoff", "running to first output", 10),
            ("handoff", "parked to running", 30),
            ("recreate", "request to parked", 10),
            ("recreate", "parked to copied", 15),
            ("recreate", "copied to attached", 5),
            ("recreate", "attached to running", 10),
            ("recreate", "running to first output", 10),
            ("recreate", "parked to running", 30),
            ("replicate", "request to parked", 10),
            ("replicate", "parked to attached", 20),
            ("replicate", "attached to copied", 5),
            ("replicate", "copied to running", 5),
            ("replicate", "running to first output", 10),
            ("replicate", "parked to running", 30),
        ];
        assert_eq!(phases(&of(&[before, after, none])), expected);
    }
}
