// SPDX-License-Identifier: Apache-2.0
//! Results on standard output: tables for people, JSON for programs.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;
use whimbrel_text::{json, plain};
pub use whimbrel_text::{lines_of, table, thousandths, time, word};

use crate::failure::Failure;

/// Writes text for people to standard output: what strangers have written in it is made plain.
pub fn print(text: &str) -> Result<(), Failure> {
    put(&plain(text))
}

/// Writes what a program reads to standard output: as it is, but for a terminal.
pub fn print_data(text: &str) -> Result<(), Failure> {
    if io::stdout().is_terminal() { print(text) } else { put(text) }
}

fn put(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}

/// Writes a value as JSON, indented, to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text =
        serde_json::to_string_pretty(value).map_err(|e| Failure::Output(io::Error::other(e)))?;
    text.push('\n');
    put(&json(&text))
}

/// One column of a table, with everything in it.
#[derive(Debug)]
pub struct Column<'a> {
    title: &'a str,
    cells: Vec<String>,
    shown: bool,
}

impl<'a> Column<'a> {
    /// What `cell` says of each row; a title that starts with `>` is aligned to the right.
    pub fn of<T>(title: &'a str, rows: &[T], cell: impl Fn(&T) -> String) -> Self {
        let cells = rows.iter().map(|row| word(&cell(row)).into_owned()).collect();
        Self { title, cells, shown: true }
    }

    /// Leaves it out unless this holds.
    pub fn when(self, says_something: bool) -> Self {
        Self { shown: says_something, ..self }
    }
}

/// The text of a table of columns of one length, without those that are left out; empty when it
/// has no row.
pub fn columns(all: &[Column<'_>]) -> String {
    let shown: Vec<&Column<'_>> = all.iter().filter(|column| column.shown).collect();
    let titles: Vec<&str> = shown.iter().map(|column| column.title).collect();
    let rows = shown.first().map_or(0, |column| column.cells.len());
    if rows == 0 {
        return String::new();
    }
    let mut table = table(&titles);
    for row in 0..rows {
        table.add_row(shown.iter().map(|column| &column.cells[row]));
    }
    lines_of(&table)
}

/// A size in whole KiB, so that none that is used looks like 0: `64 KiB`.
pub fn kib(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}

/// A part of a whole in percent: `41 %`.
pub fn percent(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_no_table() {
        let name = Column::of("name", &["a\nb\u{1b}[2J"], |row| (*row).to_owned());
        assert_eq!(columns(&[name]), "name\na?b?[2J\n");
    }

    #[test]
    fn a_column_that_says_nothing_is_left_out_and_so_is_a_table_without_rows() {
        let rows = [1, 22];
        let text = |shown| {
            let name = Column::of("name", &rows, |row| format!("task {row}"));
            columns(&[name, Column::of(">n", &rows, ToString::to_string).when(shown)])
        };
        assert_eq!(text(true), "name      n\ntask 1    1\ntask 22  22\n");
        assert_eq!(text(false), "name\ntask 1\ntask 22\n");
        assert_eq!(columns(&[Column::of("name", &[(); 0], |()| String::new())]), "");
    }
}
