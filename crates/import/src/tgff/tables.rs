// SPDX-License-Identifier: Apache-2.0
//! What the tables say of types: how long a task takes, and how much an arc passes.

use std::collections::{BTreeMap, BTreeSet};

use super::parser::Table;
use crate::notes::Notes;
use whimbrel_model::{Problem, Span};

/// Columns of sizes, as generators and benchmarks call them.
const SIZES: [&str; 7] = ["quantity", "size", "bytes", "bits", "volume", "data", "commun_quant"];
/// What the tables of arcs are called.
const COMMUNICATION: &str = "@COMMUN";

/// See the module.
#[derive(Debug)]
pub(super) struct Tables<'a> {
    all: &'a [Table<'a>],
    /// The sizes of arcs in bytes, by type, and the table that they are from.
    sizes: BTreeMap<u64, f64>,
    sized: Option<&'a Table<'a>>,
}

/// The times of tasks by type, and the table that they are from.
#[derive(Debug)]
pub(super) struct Times<'a> {
    pub table: &'a Table<'a>,
    pub of: BTreeMap<u64, f64>,
    /// Tables that have times as well.
    pub others: Vec<&'a Table<'a>>,
}

impl<'a> Tables<'a> {
    pub fn of(all: &'a [Table<'a>]) -> Self {
        let size = |table: &Table<'_>| {
            let named = table.columns.iter().position(|name| SIZES.contains(&name.as_str()));
            named.or_else(|| (is_of_arcs(table) && table.columns.is_empty()).then_some(1))
        };
        let sized = all.iter().find_map(|table| Some((table, size(table)?)));
        let sizes = sized.map(|(table, column)| {
            let is_bits = table.columns.get(column).is_some_and(|name| name == "bits");
            let unit = if is_bits { 8.0 } else { 1.0 };
            by_type(table, column).into_iter().map(|(kind, size)| (kind, size / unit)).collect()
        });
        Self { all, sizes: sizes.unwrap_or_default(), sized: sized.map(|(table, _)| table) }
    }

    /// Of an arc.
    pub fn bytes(&self, kind: u64) -> Option<f64> {
        self.sizes.get(&kind).copied()
    }

    pub fn have_bytes(&self) -> bool {
        self.sized.is_some()
    }

    /// Those of the first table that has one for each of the types, or else for most; tables of
    /// arcs only where there is no other, and tables without names of columns likewise.
    pub fn times(&self, types: &BTreeSet<u64>) -> Option<Times<'a>> {
        let mut timed: Vec<Times<'a>> = self.all.iter().filter_map(times).collect();
        if timed.iter().any(|times| !times.table.columns.is_empty()) {
            timed.retain(|times| !times.table.columns.is_empty());
        }
        let missing =
            |of: &BTreeMap<u64, f64>| types.iter().filter(|t| !of.contains_key(t)).count();
        timed.sort_by_cached_key(|times| (is_of_arcs(times.table), missing(&times.of)));
        let mut timed = timed.into_iter();
        let best = timed.next()?;
        let others = timed.map(|times| times.table).filter(|table| !is_of_arcs(table));
        let mut others: Vec<&Table<'_>> = others.collect();
        others.sort_by_key(|table| table.at.start);
        Some(Times { others, ..best })
    }

    /// Tells of tables and columns without a meaning here.
    pub fn say_left_out(&self, times: Option<&Times<'_>>, notes: &mut Notes) {
        let mut say = |what: String, at: &Span, words: String| {
            notes.warn(Problem::new(what).at(at.clone(), words));
        };
        let is = |one: &Table<'_>, other: &Table<'_>| one.at == other.at;
        let others = times.map_or(&[][..], |times| times.others.as_slice());
        if let (Some(times), Some(first)) = (times, others.first()) {
            let what =
                format!("the times of {} are left out", quoted(others.iter().map(|t| &t.label)));
            say(what, &first.at, format!("those of `{}` are taken", times.table.label));
        }
        let left_out = || String::from("left out");
        for table in self.all.iter().filter(|table| !others.iter().any(|other| is(other, table))) {
            let label = &table.label;
            let used = times.is_some_and(|times| is(times.table, table));
            if !used && !self.sized.is_some_and(|sized| is(sized, table)) {
                say(format!("`{label}` has no meaning here"), &table.at, left_out());
                continue;
            }
            let unknown = table.columns.iter().filter(|name| {
                !["type", "task_type", "version", "valid"].contains(&name.as_str())
                    && !is_time(name)
                    && !SIZES.contains(&name.as_str())
            });
            let unknown = quoted(unknown);
            if !unknown.is_empty() {
                say(format!("{unknown} of `{label}` left out"), &table.at, left_out());
            }
            if let Some(at) = &table.other {
                say(format!("what `{label}` says of itself is left out"), at, left_out());
            }
        }
    }
}

fn quoted<'n>(names: impl Iterator<Item = &'n String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Whether a column is of the times of tasks: generators let a person choose its name.
fn is_time(column: &str) -> bool {
    let others = ["preempt", "bit", "commun"];
    ["exec", "wcet", "duration"].contains(&column)
        || column.ends_with("time") && !others.iter().any(|other| column.contains(other))
}

fn is_of_arcs(table: &Table<'_>) -> bool {
    table.label.to_ascii_uppercase().starts_with(COMMUNICATION)
}

/// The times of a table, if it has any.
fn times<'a>(table: &'a Table<'a>) -> Option<Times<'a>> {
    let named = table.columns.iter().position(|name| is_time(name));
    // Without names: type and time, or type, version and time.
    let unnamed = || {
        let longest = table.rows.iter().map(Vec::len).max().filter(|_| !is_of_arcs(table))?;
        table.columns.is_empty().then(|| (longest - 1).min(2)).filter(|column| *column > 0)
    };
    let of = by_type(table, named.or_else(unnamed)?);
    (!of.is_empty()).then_some(Times { table, of, others: Vec::new() })
}

/// The numbers of a column by type: of several versions the first that is valid.
fn by_type(table: &Table<'_>, column: usize) -> BTreeMap<u64, f64> {
    let valid = table.columns.iter().position(|name| name == "valid");
    let mut all = BTreeMap::new();
    for row in &table.rows {
        let is_valid = valid.and_then(|column| row.get(column)).is_none_or(|valid| *valid != 0.0);
        let kind = row.first().filter(|kind| kind.fract() == 0.0 && (0.0..1e15).contains(*kind));
        let number =
            row.get(column).filter(|number| is_valid && number.is_finite() && **number >= 0.0);
        if let (Some(kind), Some(number)) = (kind, number) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "in bounds"
            )]
            all.entry(*kind as u64).or_insert(*number);
        }
    }
    all
}
