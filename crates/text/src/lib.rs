// SPDX-License-Identifier: Apache-2.0
//! Tables, units, options and errors for people, the same in every verb; and what strangers have
//! written, without what a terminal would obey.

mod failed;
mod near;
pub mod option;
mod plain;
pub mod usage;

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use comfy_table::CellAlignment;
pub use comfy_table::Table;
pub use failed::{Failed, cure, lacks};
pub use near::{nearest, suggestion};
pub use plain::{json, plain, word};

/// Whether what is written there has colours, by the rule that clap has for the help: NO_COLOR,
/// CLICOLOR_FORCE, CLICOLOR, whether it is a terminal, and TERM.
pub fn has_colours(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Writes a text that ends a line to standard error, by one call: what other processes write there
/// comes before or after it. One that nobody reads is no reason to fail.
pub fn say(text: &str) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}

/// A table with the columns `titles`; a title that starts with `>` is aligned to the right.
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

/// The text of a table, without the blanks that it leaves at the ends of lines.
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

/// Thousandths as a number with as many digits as it needs: `50`, `37.5`.
pub fn thousandths(number: u64) -> String {
    let text = format!("{}.{:03}", number / 1000, number % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{thousandths, time};

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let shown = [0, 170, 5_700, 1_234_000, 10_000_000_000].map(time);
        assert_eq!(shown, ["0 ns", "170 ns", "5.7 µs", "1.23 ms", "10.0 s"]);
    }

    #[test]
    fn thousandths_have_as_many_digits_as_they_need() {
        assert_eq!([0, 1, 37_500, 50_000].map(thousandths), ["0", "0.001", "37.5", "50"]);
    }
}
