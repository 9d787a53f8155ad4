// SPDX-License-Identifier: Apache-2.0
//! The log: migrations, deaths, kernels that are there again, ignored decisions; the latest last.

use ratatui::text::{Line, Span};
use whimbrel_run::output::time;
use whimbrel_run::protocol::{Advice, Migration};

use super::{Palette, title};
use crate::top::model::Model;
use crate::top::picture::Entry;

/// The title and the latest entries.
pub fn lines(model: &Model, palette: Palette, height: usize) -> Vec<Line<'static>> {
    let log = &model.picture().log;
    let mut lines = vec![title(palette, "log")];
    let rows = height.saturating_sub(1);
    lines.extend(log.iter().skip(log.len().saturating_sub(rows)).map(|entry| {
        let at = entry.time_ns().saturating_sub(model.portrait.start_ns);
        let (text, style) = match entry {
            Entry::Migration(migration) => (
                moved(model, migration),
                if migration.status == "ok" { palette.good() } else { palette.warning() },
            ),
            Entry::Death(death) => (death.words(), palette.bad()),
            Entry::Restart(restart) => (restart.words(), palette.good()),
            Entry::Advice(advice) => (ignored(advice), palette.warning()),
        };
        Line::from(vec![Span::raw(format!("{:>10}  ", stamp(at))), Span::styled(text, style)])
    }));
    lines
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn stamp(at_ns: u64) -> String {
    format!("{:.3} s", at_ns as f64 / 1e9)
}

/// What moved, where, how long it was on no core, how long it took to get to its checkpoint.
fn moved(model: &Model, migration: &Migration) -> String {
    let Migration { source, target, status, .. } = migration;
    let task = model.label_of(&migration.task, migration.index);
    let outcome = if status == "ok" {
        let step = |from: u64, to: u64| time(to.saturating_sub(from));
        let away = step(migration.parked_ns, migration.running_ns);
        format!("away {away} after {}", step(migration.request_ns, migration.parked_ns))
    } else {
        format!("did not move: {status}")
    };
    let by = if migration.by.is_empty() { String::new() } else { format!("  by {}", migration.by) };
    format!("{task} {source} → {target}  {outcome}{by}")
}

fn ignored(advice: &Advice) -> String {
    let Advice { policy, core, text, .. } = advice;
    format!("policy {policy}: {text} (core {core})")
}
