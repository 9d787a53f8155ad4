// SPDX-License-Identifier: Apache-2.0
//! A recorded run as the page takes it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};
use whimbrel_trace::{Oddities, Recorded};

use crate::Error;
use crate::gather::{Gather, Gathered};
use crate::table::Table;
use crate::timeline::Timeline;

/// Of how many channels the page shows the depth over time.
const CHANNELS: usize = 256;

/// How many migrations the page lists.
const MIGRATIONS: usize = 4000;

/// How many of what went wrong the page lists.
const LINES: usize = 200;

/// Members of the summary that have tables of their own.
const LISTS: [&str; 9] = [
    "cores",
    "tasks",
    "channels",
    "objects",
    "migrations",
    "migration_latency",
    "deaths",
    "advice",
    "errors",
];

/// A recorded run.
#[derive(Debug, Serialize)]
pub struct Run {
    folder: String,
    /// The summary without its lists; nothing of a run that was killed.
    summary: Map<String, Value>,
    cores: Table,
    tasks: Table,
    channels: Table,
    migrations: Table,
    /// How many there were.
    all_migrations: usize,
    phases: Table,
    waits: Table,
    /// How many lines there were.
    all_waits: usize,
    deaths: Table,
    advice: Table,
    errors: Table,
    /// What is missing of it, was left out or put right: a line each.
    damage: Vec<String>,
    events: Gathered,
}

impl Run {
    /// Reads the folder of a recorded run; the events of these times are kept as they are.
    ///
    /// # Errors
    /// It is none, or it cannot be read.
    pub fn read(folder: &Path, exact: &[Range<u64>]) -> Result<Self, Error> {
        let refuse = |error| Error::Recorded(Box::new(error));
        let recorded = Recorded::open(folder).map_err(refuse)?;
        let raw = raw(&recorded);
        let first = recorded.merged().find_map(|event| Some(event.ok()?.time_ns));
        let start_ns = raw["start_ns"].as_u64().or(first).unwrap_or_default();
        let streams = recorded.cores().max().map_or(0, |core| core as usize + 1);
        let shown = match list(raw, "channels") {
            [] => vec![true; CHANNELS],
            channels => busiest(channels),
        };
        let deaths = list(raw, "deaths").iter().filter_map(|death| {
            let at = death["detected_ns"].as_u64()?.saturating_sub(start_ns);
            Some((at, death["core"].as_u64()?.try_into().ok()?))
        });
        let cores: BTreeSet<u32> = recorded.cores().collect();
        let timeline = Timeline::new(cores.into_iter().collect(), deaths.collect(), exact.to_vec());
        let cores = streams.max(list(raw, "cores").len());
        let mut gather = Gather::new(start_ns, cores, &shown, timeline);
        let mut events = recorded.merged();
        for event in &mut events {
            gather.take(&event.map_err(refuse)?);
        }
        let time_ns = raw["time_ns"].as_u64().unwrap_or_default();
        let series = gather.finish(time_ns);
        Ok(Self::new(name(folder), &recorded, series, &events.oddities()))
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.folder
    }

    /// The chunks of its exact events.
    pub fn chunks(&self) -> &[String] {
        &self.events.timeline.chunks
    }

    /// What is missing of it, a line each.
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    fn new(folder: String, recorded: &Recorded, mut events: Gathered, odd: &Oddities) -> Self {
        let raw = raw(recorded);
        let table = |key: &str, columns: &[&str]| Table::of(list(raw, key), columns);
        let lines = |key: &str, columns: &[&str]| {
            let all = list(raw, key);
            Table::of(&all[..all.len().min(LINES)], columns)
        };
        let migrations = slowest(list(raw, "migrations"));
        let mut summary = raw.as_object().cloned().unwrap_or_default();
        summary.retain(|key, _| !LISTS.contains(&key.as_str()));
        let waits = std::mem::take(&mut events.waits);
        let (waits, all_waits) = waits.table(events.end_ns, recorded.summary.as_ref());
        Self {
            folder,
            summary,
            cores: table("cores", &CORE),
            tasks: table("tasks", &TASK),
            channels: table("channels", &CHANNEL),
            migrations: Table::of(&migrations, &MIGRATION),
            all_migrations: list(raw, "migrations").len(),
            phases: table("migration_latency", &PHASE),
            waits,
            all_waits,
            deaths: lines("deaths", &DEATH),
            advice: lines("advice", &["time_ns", "policy", "core", "text"]),
            errors: lines("errors", &["kind", "task", "index", "core", "text"]),
            damage: recorded.damage(odd),
            events,
        }
    }
}

const DEATH: [&str; 7] = ["core", "detected_ns", "by", "running", "moved", "lost", "back_after_ns"];
const CORE: [&str; 11] = [
    "core",
    "cpu",
    "guest",
    "load",
    "busy_ns",
    "polling_ns",
    "switches",
    "sleeps",
    "mean_hz",
    "energy_uj",
    "temperature_mc",
];
const TASK: [&str; 18] = [
    "task",
    "index",
    "core",
    "state",
    "mode",
    "busy_ns",
    "runs",
    "preemptions",
    "firings",
    "firings_per_s",
    "jobs",
    "misses",
    "worst_late_ns",
    "migrations",
    "refused",
    "restarts",
    "heap_peak_bytes",
    "response",
];
const CHANNEL: [&str; 8] =
    ["channel", "slots", "depth", "high", "low", "sent", "received", "bytes"];
const MIGRATION: [&str; 14] = [
    "task",
    "index",
    "source",
    "target",
    "status",
    "mode",
    "by",
    "request_ns",
    "parked_ns",
    "copied_ns",
    "attached_ns",
    "running_ns",
    "output_ns",
    "bytes",
];
const PHASE: [&str; 6] = ["mode", "phase", "p50_ns", "p90_ns", "max_ns", "n"];

/// The last part of a folder's path, or all of it where that says nothing.
pub fn name(folder: &Path) -> String {
    let last = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    last.unwrap_or_else(|| folder.display().to_string())
}

/// All of the summary; `null` of a run that was killed.
fn raw(recorded: &Recorded) -> &Value {
    recorded.summary.as_ref().map_or(&Value::Null, |summary| &summary.raw)
}

fn list<'a>(raw: &'a Value, key: &str) -> &'a [Value] {
    raw[key].as_array().map_or(&[], Vec::as_slice)
}

/// Marks the channels with the most messages, at most [`CHANNELS`] of them.
fn busiest(channels: &[Value]) -> Vec<bool> {
    let sent = |at: &usize| std::cmp::Reverse(channels[*at]["sent"].as_u64());
    let mut order: Vec<usize> = (0..channels.len()).collect();
    order.sort_by_key(sent);
    let mut shown = vec![false; channels.len()];
    for at in order.into_iter().take(CHANNELS) {
        shown[at] = true;
    }
    shown
}

/// The migrations that failed or took the longest, at most [`MIGRATIONS`], in the order they had.
fn slowest(migrations: &[Value]) -> Vec<Value> {
    let time = |at: usize, key: &str| migrations[at][key].as_u64().unwrap_or_default();
    let took = |at: usize| time(at, "running_ns").saturating_sub(time(at, "request_ns"));
    let failed = |at: usize| migrations[at]["status"] != "ok";
    let mut order: Vec<usize> = (0..migrations.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse((failed(*at), took(*at))));
    order.truncate(MIGRATIONS);
    order.sort_unstable();
    order.into_iter().map(|at| migrations[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_too_many_migrations_those_that_failed_and_the_slowest_are_listed_in_order() {
        let one = |n: u64| {
            let status = if n == 5 { "timeout" } else { "ok" };
            json!({"request_ns": n * 100, "running_ns": n * 101, "status": status})
        };
        let all: Vec<Value> = (0..6000).map(one).collect();
        let listed = slowest(&all);
        assert_eq!(listed.len(), MIGRATIONS);
        assert_eq!((&listed[0], &listed[1]), (&all[5], &all[2001]));
        assert_eq!(listed.last(), all.last());
    }

    #[test]
    fn the_busiest_channels_are_shown() {
        let channels: Vec<Value> = (0..300).map(|n| json!({"sent": n})).collect();
        let shown = busiest(&channels);
        assert_eq!(shown.iter().filter(|shown| **shown).count(), CHANNELS);
        assert!(!shown[43] && shown[44]);
    }
}
