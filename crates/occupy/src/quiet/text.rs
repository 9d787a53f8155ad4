// SPDX-License-Identifier: Apache-2.0
//! Tables for people.

use comfy_table::{CellAlignment, Table};

/// The columns of a bar that is full.
const FULL: usize = 30;

/// A table with these columns; a title that starts with `>` is aligned to the right.
pub fn table(titles: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(titles.iter().map(|title| title.trim_start_matches('>')));
    for (column, title) in table.column_iter_mut().zip(titles) {
        column.set_padding((0, 2));
        if title.starts_with('>') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Its lines, without the blanks at their ends.
pub fn lines_of(table: &Table) -> String {
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A time in the unit that suits it: `170 ns`, `5.7 µs`, `1.23 ms`, `10.0 s`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn time(ns: u64) -> String {
    let ns_f = ns as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} µs", ns_f / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns_f / 1e6),
        _ => format!("{:.1} s", ns_f / 1e9),
    }
}

/// A bar for a part of a whole, from 0 to 1; what is not nothing is to be seen.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub fn bar(part: f64) -> String {
    let full = (part.clamp(0.0, 1.0) * FULL as f64).round() as usize;
    if part > 0.0 { "█".repeat(full.max(1)) } else { String::new() }
}
