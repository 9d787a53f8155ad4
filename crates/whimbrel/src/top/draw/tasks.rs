// SPDX-License-Identifier: Apache-2.0
//! The tasks, by the core that each is on.

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use whimbrel_run::output::time;
use whimbrel_run::protocol::TaskStatus;

use super::{Palette, bar, left, percent, right, title};
use crate::top::model::Model;

/// Cells of the bar of a task's load, where there is room for it.
const BAR: usize = 8;
/// What the columns of every view take: core, state, load.
const FIXED: usize = 4 + 2 + 1 + 8 + 1 + 7;

/// A further column: its title, its width, and what stands in it.
struct Column(&'static str, usize, fn(&TaskStatus) -> String);

/// What a line is made of.
#[derive(Clone, Copy)]
struct Shape {
    /// Width of the tasks' names.
    name: usize,
    /// Cells of the bar.
    bar: usize,
    /// What follows.
    columns: &'static [Column],
}

/// In the order in which they are added while there is room.
const COLUMNS: [Column; 8] = [
    Column("moved", 6, |task| task.migrations.to_string()),
    Column("refused", 8, |task| task.refused.to_string()),
    Column("misses", 7, |task| task.misses.to_string()),
    Column("mode", 10, |task| task.mode.clone()),
    Column("jobs", 8, |task| task.jobs.to_string()),
    Column(
        "latest",
        10,
        |task| if task.misses > 0 { time(task.worst_late_ns) } else { "-".into() },
    ),
    Column("heap", 10, |task| format!("{} KiB", task.heap_bytes.div_ceil(1024))),
    Column("restarts", 9, |task| task.restarts.to_string()),
];

/// The title and the tasks, scrolled so that the selected one is seen.
pub fn lines(model: &Model, palette: Palette, width: usize, height: usize) -> Vec<Line<'static>> {
    let picture = model.picture();
    let order = picture.order();
    let longest = (0..order.len()).map(|task| model.label(task).chars().count()).max().unwrap_or(4);
    let name = longest.clamp(4, 24).min(width.saturating_sub(12)).max(4);
    let left = width.saturating_sub(FIXED + name);
    let bar = if left >= BAR { BAR } else { 0 };
    let shape = Shape { name, bar, columns: columns(left - bar) };

    let rows = height.saturating_sub(1);
    let selected = order.iter().position(|task| *task == model.selected).unwrap_or(0);
    let first = selected.saturating_sub(rows.saturating_sub(1));
    let mut lines = vec![heading(palette, shape)];
    let mut above = None;
    for (row, position) in order.iter().enumerate().skip(first).take(rows) {
        let task = &picture.now.tasks[*position];
        let here = if task.is_over() { None } else { Some(task.core) };
        let shown = row == first || here != above;
        above = here;
        lines.push(line(model, palette, shape, *position, shown));
    }
    lines
}

fn columns(mut left: usize) -> &'static [Column] {
    let fit = COLUMNS.iter().take_while(|column| match left.checked_sub(column.1) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    &COLUMNS[..fit.count()]
}

fn heading(palette: Palette, shape: Shape) -> Line<'static> {
    let (name, load) = (shape.name, shape.bar + 7);
    let mut text = format!("core  {:<name$} {:<8} {:<load$}", "task", "state", "load");
    shape.columns.iter().for_each(|Column(title, width, _)| text += &right(title, *width));
    title(palette, text)
}

fn line(
    model: &Model,
    palette: Palette,
    shape: Shape,
    position: usize,
    shows_core: bool,
) -> Line<'static> {
    let task = &model.picture().now.tasks[position];
    let load = model.picture().task_load(position);
    let selected = position == model.selected;
    let core = if task.is_over() { "-".into() } else { task.core.to_string() };
    let core = if shows_core { core } else { String::new() };

    let mark = if selected { "> " } else { "  " };
    let mut spans = vec![
        Span::raw(format!("{core:>3} {mark}{} ", left(model.label(position), shape.name))),
        Span::styled(format!("{:<8} ", left(&state(task), 8)), state_style(palette, task)),
    ];
    spans.extend(bar(shape.bar, &[(load, '█', palette.good())]));
    spans.push(Span::raw(format!(" {}", percent(load))));
    for Column(title, width, text) in shape.columns {
        let text = text(task);
        let style = match *title {
            "misses" if text != "0" => palette.bad(),
            "refused" if text != "0" => palette.warning(),
            _ => Style::new(),
        };
        spans.push(Span::styled(right(&text, *width), style));
    }
    let line = Line::from(spans);
    if selected { line.patch_style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

/// Of one that keeps its core to itself, for how long.
fn state(task: &TaskStatus) -> String {
    match task.stalled_ms / 1000 {
        0 => task.state.clone(),
        s => format!("busy {s}s"),
    }
}

fn state_style(palette: Palette, task: &TaskStatus) -> Style {
    match task.state.as_str() {
        _ if task.stalled_ms > 0 => palette.warning(),
        "running" => palette.good(),
        "lost" => palette.bad(),
        "offered" | "returned" => palette.warning(),
        _ => Style::new(),
    }
}
