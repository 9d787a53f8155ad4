// SPDX-License-Identifier: Apache-2.0
//! What a result says of moves: modes and what they reserve, the latency of migrations, the
//! migrations, and what a policy decided in vain. Columns that would say nothing are left out.

use std::fmt::Write;

use whimbrel_model::{App, Mode};

use super::latency::steps;
use super::summary::{ENDED, Summary};
use crate::output::{Column, columns, kib, time};
use crate::protocol::Migration;

/// How many migrations are listed, and how many ignored decisions; the rest is in `--json`.
const LISTED: usize = 10;

/// Why a task was not moved, and what to do about it.
pub fn reason(status: &str) -> (&'static str, &'static str) {
    match status {
        "busy" => {
            ("another migration of it is under way", "wait for that one to end, then try again")
        }
        "pinned" => {
            ("it may not move", "change `migratable = false` of its [[task]], and run again")
        }
        "inval" => (
            "there is no such task or core, or the core is of a kind that the task is not for",
            "see `whimbrel ps`: it lists the tasks and cores of a run; app.toml has the `kinds`",
        ),
        "gone" => (
            "the task has ended or the core's kernel is dead",
            "see `whimbrel ps`: it lists the tasks that still run and where",
        ),
        "held" => (
            "at its checkpoint it held a mutex or a C++ exception, which cannot move with it",
            "let it release them before wb_checkpoint(), then try again",
        ),
        "timeout" => (
            "it reached no checkpoint, or the core did not take it, in time",
            "give it longer with --timeout; a long computation needs wb_checkpoint() in it",
        ),
        _ => ("the run refuses", "see `whimbrel ps`"),
    }
}

/// Whether a mode is worth a word: hand-off is what happens when nobody asks for another.
pub fn is_special(mode: &str) -> bool {
    !mode.is_empty() && mode != Mode::Handoff.to_string()
}

/// Whether tasks reserve more than the stack and the heap that every task has.
pub fn reserve_more(summary: &Summary) -> bool {
    let mut all = summary.tasks.iter().map(|task| &task.totals);
    all.any(|task| is_special(&task.mode) || task.images > 0)
}

/// Who decided at the end; empty if nobody did.
pub fn decider(summary: &Summary) -> String {
    match (summary.policy.as_str(), summary.coordinator) {
        ("", _) => String::new(),
        (policy, Some(core)) => format!("policy {policy}, coordinator on core {core}\n"),
        (policy, None) => format!("policy {policy}, no coordinator\n"),
    }
}

/// The tables, some of them empty.
pub fn tables(app: &App, summary: &Summary) -> [String; 4] {
    [of_modes(summary), latencies(summary), migrations(app, summary), advice(summary)]
}

fn of_modes(summary: &Summary) -> String {
    let modes = &summary.modes;
    if !reserve_more(summary) {
        return String::new();
    }
    columns(&[
        Column::of("mode", modes, |mode| mode.mode.clone()),
        Column::of(">tasks", modes, |mode| mode.tasks.to_string()),
        Column::of(">reserved", modes, |mode| kib(mode.reserved_bytes)),
    ])
}

fn latencies(summary: &Summary) -> String {
    let all = &summary.migration_latency;
    let several = all.iter().any(|latency| latency.mode != all[0].mode);
    columns(&[
        Column::of("migrations", all, |latency| latency.phase.clone()),
        Column::of("mode", all, |latency| latency.mode.clone()).when(several),
        Column::of(">p50", all, |latency| time(latency.p50_ns)),
        Column::of(">p90", all, |latency| time(latency.p90_ns)),
        Column::of(">max", all, |latency| time(latency.max_ns)),
        Column::of(">n", all, |latency| latency.n.to_string()),
    ])
}

fn migrations(app: &App, summary: &Summary) -> String {
    let skipped = summary.migrations.len().saturating_sub(LISTED);
    let all = &summary.migrations[skipped..];
    let any = |what: fn(&Migration) -> bool| all.iter().any(what);
    let reach = |to: &'static str| {
        move |migration: &Migration| {
            let step = steps(migration).into_iter().find(|step| step.to == to);
            step.and_then(|step| step.time_ns).map_or_else(|| "-".into(), time)
        }
    };
    let start = |migration: &Migration| migration.request_ns.saturating_sub(summary.start_ns);
    let mut text = columns(&[
        Column::of("migration", all, |m| app.label(&m.task, m.index)),
        Column::of("mode", all, |m| m.mode.clone()).when(any(|m| is_special(&m.mode))),
        Column::of("cores", all, |m| format!("{} → {}", m.source, m.target)),
        Column::of("by", all, |m| m.by.clone()).when(any(|m| !matches!(&*m.by, "" | "user"))),
        Column::of(">at", all, |m| time(start(m))),
        Column::of(">parked", all, reach("parked")),
        Column::of(">copied", all, reach("copied")).when(any(|m| m.copied_ns > 0)),
        Column::of(">attached", all, reach("attached")),
        Column::of(">running", all, reach("running")),
        Column::of(">output", all, reach("first output")),
        Column::of(">carried", all, |m| kib(m.bytes)).when(any(|m| m.bytes > 0)),
        Column::of("status", all, |m| m.status.clone()),
    ]);
    if any(|m| m.status == ENDED) {
        text += "(ended: the task, or the run, ended before the move; it is not counted)\n";
    }
    if skipped > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "({skipped} earlier migrations are in --json)");
    }
    text
}

fn advice(summary: &Summary) -> String {
    let skipped = summary.advice.len().saturating_sub(LISTED);
    let all = &summary.advice[skipped..];
    let mut text = columns(&[
        Column::of("ignored", all, |advice| advice.text.clone()),
        Column::of("policy", all, |advice| advice.policy.clone()),
        Column::of(">core", all, |advice| advice.core.to_string()),
        Column::of(">at", all, |advice| time(advice.time_ns.saturating_sub(summary.start_ns))),
    ]);
    if skipped > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "({skipped} earlier decisions that were ignored are in --json)");
    }
    text
}
