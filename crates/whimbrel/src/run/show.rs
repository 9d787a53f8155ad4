// SPDX-License-Identifier: Apache-2.0
//! The result of a run as tables.

use std::fmt::Write;

use whimbrel_model::App;

use super::show_power::power;
use super::summary::{Summary, phases};
use crate::output::{lines_of, percent, table, time};

/// How many migrations are listed; the rest is in `--json`.
const LISTED: usize = 10;

/// Everything a person wants to know first, longest table last.
pub fn tables(app: &App, summary: &Summary) -> String {
    let mut out = headline(app, summary);
    let parts = [
        cores(summary),
        power(summary),
        tasks(app, summary),
        channels(summary),
        latencies(summary),
        migrations(app, summary),
    ];
    for part in parts.iter().filter(|part| !part.is_empty()) {
        out.push('\n');
        out.push_str(part);
    }
    out
}

fn headline(app: &App, summary: &Summary) -> String {
    let ended = match summary.ended {
        "finished" => "finished",
        "stopped" => "stopped by its user",
        "duration" => "ended after its time",
        "forced" => "was forced to end",
        _ => "failed",
    };
    let Summary { frames, frames_per_s, deadline_misses, time_ns, .. } = summary;
    let mut line = format!("{} {ended} after {}\n", app.name, time(*time_ns));
    let moved = summary.tasks.iter().map(|task| task.migrations).sum::<u64>();
    let refused = summary.tasks.iter().map(|task| task.refused).sum::<u64>();

    // Writing to a String cannot fail.
    let _ = write!(
        line,
        "{frames} frames ({frames_per_s:.1}/s), {deadline_misses} deadline misses, \
         {moved} migrations"
    );
    if refused > 0 {
        let _ = write!(line, " ({refused} refused)");
    }
    if summary.dropped_events > 0 {
        let _ = write!(line, ", {} events not recorded", summary.dropped_events);
    }
    line.push('\n');
    line
}

fn cores(summary: &Summary) -> String {
    let mut table =
        table(&["core", ">cpu", ">load", ">busy", ">polling", ">switches", ">sleeps", "state"]);
    for core in &summary.cores {
        let totals = &core.totals;
        table.add_row([
            totals.core.to_string(),
            core.cpu.to_string(),
            percent(core.load),
            time(totals.busy_ns),
            time(totals.polling_ns),
            totals.switches.to_string(),
            totals.sleeps.to_string(),
            totals.state.clone(),
        ]);
    }
    lines_of(&table)
}

fn tasks(app: &App, summary: &Summary) -> String {
    let mut table = table(&[
        "task",
        ">core",
        ">busy",
        ">jobs",
        ">misses",
        ">latest",
        ">moved",
        ">heap peak",
        "state",
    ]);
    for task in &summary.tasks {
        let late = if task.misses > 0 { time(task.worst_late_ns) } else { "-".into() };
        table.add_row([
            app.label(&task.task, task.index),
            task.core.to_string(),
            time(task.busy_ns),
            task.jobs.to_string(),
            task.misses.to_string(),
            late,
            task.migrations.to_string(),
            format!("{} KiB", task.heap_peak_bytes.div_ceil(1024)),
            task.state.clone(),
        ]);
    }
    lines_of(&table)
}

fn channels(summary: &Summary) -> String {
    if summary.channels.is_empty() {
        return String::new();
    }
    let mut table = table(&["channel", ">slots", ">high", ">low", ">left", ">sent", ">MB"]);
    for channel in &summary.channels {
        #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
        let megabytes = channel.bytes as f64 / 1e6;
        table.add_row([
            channel.channel.clone(),
            channel.slots.to_string(),
            channel.high.to_string(),
            channel.low.map_or_else(|| "-".into(), |low| low.to_string()),
            channel.depth.to_string(),
            channel.sent.to_string(),
            format!("{megabytes:.1}"),
        ]);
    }
    lines_of(&table)
}

fn latencies(summary: &Summary) -> String {
    if summary.migration_latency.is_empty() {
        return String::new();
    }
    let mut table = table(&["migrations", ">p50", ">p90", ">max", ">n"]);
    for latency in &summary.migration_latency {
        table.add_row([
            latency.phase.to_owned(),
            time(latency.p50_ns),
            time(latency.p90_ns),
            time(latency.max_ns),
            latency.n.to_string(),
        ]);
    }
    lines_of(&table)
}

fn migrations(app: &App, summary: &Summary) -> String {
    if summary.migrations.is_empty() {
        return String::new();
    }
    let titles =
        ["migration", "cores", ">at", ">parked", ">attached", ">running", ">output", "status"];
    let mut table = table(&titles);
    let skipped = summary.migrations.len().saturating_sub(LISTED);
    for migration in &summary.migrations[skipped..] {
        let step = |i: usize| phases(migration)[i].1.map_or_else(|| "-".into(), time);
        table.add_row([
            app.label(&migration.task, migration.index),
            format!("{} → {}", migration.source, migration.target),
            time(migration.request_ns.saturating_sub(summary.start_ns)),
            step(0),
            step(1),
            step(2),
            step(3),
            migration.status.clone(),
        ]);
    }
    let mut text = lines_of(&table);
    if skipped > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "({skipped} earlier migrations are in --json)");
    }
    text
}
