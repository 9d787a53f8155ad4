// SPDX-License-Identifier: Apache-2.0
//! `whimbrel bench`: runs the benchmark helper, and other systems side by side, and shows the rows.

mod many;
mod mixed;
mod peers;
mod sim;
mod sweep;

use std::env;
use std::path::PathBuf;

use serde_json::Value;
use whimbrel_model::Problem;
use whimbrel_run::benchmark::{BenchRow, MIXED, SIM, on_this_machine, processor};
use whimbrel_run::failure::{Answer, Failure, Outcome, say};
use whimbrel_run::helpers;
use whimbrel_run::output::{Column, columns, print, print_json};
use whimbrel_text::{cure, word};

use crate::cli::BenchArgs;

/// Measures.
///
/// # Errors
/// A helper is missing or fails.
pub fn bench(args: &BenchArgs) -> Outcome {
    let wanted = |group| args.groups.is_empty() || args.groups.iter().any(|name| name == group);
    let mut rows = on_this_machine(&args.groups, None, args.quick)?;
    if args.peers && wanted("fm_radio") {
        rows.extend(peers::radio(&rows)?);
    }
    if args.peers && wanted("switch") {
        rows.extend(peers::times("switch", "switch", &rows)?);
    }
    if args.peers && wanted("call") {
        rows.extend(peers::times("call", "call.160B.spin", &rows)?);
    }
    if wanted(SIM) {
        rows.extend(in_virtual_time(args)?);
    }
    if wanted(MIXED) {
        rows.extend(mixed::rows(args)?);
    }
    let processor = processor();
    for row in &mut rows {
        row.rest.insert("processor".into(), processor.clone().into());
    }
    if args.json {
        print_json(&rows)?;
    } else {
        print(&format!("processor: {}\n\n{}", word(&processor), listing(&rows)))?;
    }
    Ok(Answer::Yes)
}

/// This command, for runs of its own.
fn this_command() -> Result<PathBuf, Failure> {
    Ok(env::current_exe().map_err(|error| {
        Problem::new(format!("the place of this command is not known: {error}")).help(cure(&error))
    })?)
}

/// What is measured of the simulator: the pipeline, ours alone or one for each peer, the sweep, and
/// many cores.
fn in_virtual_time(args: &BenchArgs) -> Result<Vec<BenchRow>, Failure> {
    if helpers::find(helpers::SIMULATOR).is_err() {
        let [one, all, many, most] = [sim::PIPELINE, sweep::SWEEP, many::MANY, many::MOST];
        let them = format!("{one}, {all}, {many} and {most} were not measured");
        say(&format!("{them}: build {} with `make build`", helpers::SIMULATOR));
        return Ok(Vec::new());
    }
    let mut rows = sim::rows(args)?;
    rows.push(sweep::row(args.quick)?);
    if !args.quick {
        rows.extend(many::rows()?);
    }
    Ok(rows)
}

fn listing(rows: &[BenchRow]) -> String {
    let (phases, rows): (Vec<&BenchRow>, Vec<&BenchRow>) =
        rows.iter().partition(|row| row.rest.contains_key("service"));
    let mut text = table(&rows);
    if !phases.is_empty() {
        text += "\nphases of calls, in ns: A copies in, B notifies, C is the service, \
                 D notifies back, E copies out\n";
        text += &table_of_phases(&phases);
    }
    text
}

/// What the phases of calls take without what it takes to record them; and how long a call takes
/// without and with being recorded.
fn table_of_phases(rows: &[&BenchRow]) -> String {
    let all = |key: &'static str| {
        move |row: &&BenchRow| short(row.rest.get(key).and_then(Value::as_f64).unwrap_or_default())
    };
    let name = |row: &&BenchRow| row.bench.trim_end_matches(".phases").to_owned();
    columns(&[
        Column::of("call", rows, name),
        Column::of(">A", rows, all("A")),
        Column::of(">B", rows, all("B")),
        Column::of(">C", rows, all("C")),
        Column::of(">D", rows, all("D")),
        Column::of(">E", rows, all("E")),
        Column::of(">service alone", rows, all("service")),
        Column::of(">call", rows, all("round")),
        Column::of(">recorded", rows, all("recorded")),
        Column::of(">a step", rows, all("step")),
    ])
}

fn table(rows: &[&BenchRow]) -> String {
    let cell = |row: &BenchRow, key: &str| match row.rest.get(key) {
        Some(Value::Number(number)) => short(number.as_f64().unwrap_or_default()),
        Some(Value::String(text)) => text.clone(),
        _ => "-".into(),
    };
    let all = |key: &'static str| move |row: &&BenchRow| cell(row, key);
    columns(&[
        Column::of("bench", rows, |row| row.bench.clone()),
        Column::of(">p50", rows, all("p50")),
        Column::of(">p90", rows, all("p90")),
        Column::of(">p99", rows, all("p99")),
        Column::of(">max", rows, all("max")),
        Column::of("unit", rows, |row| row.unit.clone()),
        Column::of("against", rows, |row| line_of(row).unwrap_or_else(|| cell(row, "against"))),
        Column::of(">p50", rows, all("against_p50")),
        Column::of(">ratio", rows, all("ratio")),
    ])
}

/// What a row says of a line through costs against sizes; `p50` is its slope.
fn line_of(row: &BenchRow) -> Option<String> {
    let r2 = row.rest.get("r2")?.as_f64()?;
    let offset_us = row.rest.get("offset_ns")?.as_f64()? / 1000.0;
    Some(format!("a line: offset {} µs, R² {r2:.4}", short(offset_us)))
}

/// A number with at least three digits that count: `0.84`, `170`, `12.5M`.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size < 10.0 => format!("{value:.2}"),
        size if size < 100.0 => format!("{value:.1}"),
        size if size < 1e6 => format!("{value:.0}"),
        _ => format!("{:.1}M", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_fields_that_only_the_helper_knows() {
        let text = r#"{"bench":"switch","unit":"ns","p50":12,"state":"idle"}"#;
        let row: BenchRow = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&row).unwrap()["state"], "idle");
        assert!(listing(&[row]).contains("switch"));
    }

    #[test]
    fn a_line_shows_its_offset_and_how_well_it_fits() {
        let text = r#"{"bench":"fit","unit":"ns/KiB","p50":47.1,"offset_ns":744000,"r2":0.99976}"#;
        let row: BenchRow = serde_json::from_str(text).unwrap();
        assert!(listing(&[row]).contains("a line: offset 744 µs, R² 0.9998"));
    }

    #[test]
    fn a_number_keeps_the_digits_that_count() {
        let shown = [0.0, 0.844, 12.34, 170.4, 12_500_000.0].map(short);
        assert_eq!(shown, ["0", "0.84", "12.3", "170", "12.5M"]);
    }
}
