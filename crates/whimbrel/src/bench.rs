// SPDX-License-Identifier: Apache-2.0
//! `whimbrel bench`: runs the benchmark helper, and other systems side by side, and shows the rows.

use std::ffi::OsString;
use std::io::BufRead;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use whimbrel_model::Problem;

use crate::cli::BenchArgs;
use crate::failure::{Answer, Failure, Outcome, say};
use crate::helpers;
use crate::output::{lines_of, print, print_json, table};
use crate::run::usable_cpus;

/// One measured thing. Fields that are not listed here are passed on as they are.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    bench: String,
    unit: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A system measured side by side.
#[derive(Debug, Deserialize)]
struct Peer {
    peer: String,
    samples_per_s: Option<f64>,
    missing: Option<String>,
}

/// Measures.
///
/// # Errors
/// A helper is missing or fails.
pub fn bench(args: &BenchArgs) -> Outcome {
    let helper = helpers::find(helpers::BENCH)?;
    let mut options: Vec<OsString> = args.groups.iter().map(OsString::from).collect();
    if args.quick {
        options.push("--quick".into());
    }
    let lines = lines_of_command(&helper, &options)?;
    let parsed = lines.iter().filter(|line| !line.is_empty()).map(|line| parse(&helper, line));
    let mut rows = parsed.collect::<Result<Vec<Row>, Problem>>()?;
    if args.peers {
        rows.extend(peers(&rows)?);
    }
    if args.json {
        print_json(&rows)?;
    } else {
        print(&listing(&rows))?;
    }
    Ok(Answer::Yes)
}

/// Runs a helper to its end, its progress on standard error.
fn lines_of_command(program: &Path, options: &[OsString]) -> Result<Vec<String>, Failure> {
    let failed = |why: String| Problem::new(format!("{} {why}", program.display()));
    let mut child = Command::new(program)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let mut lines = Vec::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            lines.push(line.map_err(|error| failed(format!("cannot be read: {error}")))?);
        }
    }
    let status = child.wait().map_err(|error| failed(format!("cannot be waited for: {error}")))?;
    if status.success() {
        return Ok(lines);
    }
    let help = "what it wrote to standard error says why; `whimbrel doctor` shows what is missing";
    Err(failed(format!("failed: {status}")).help(help).into())
}

fn parse<T: for<'de> Deserialize<'de>>(program: &Path, text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| {
        Problem::new(format!("{} wrote what makes no sense: {error}: {text}", program.display()))
    })
}

/// Where the peers are: in the source tree that the helpers were built in.
fn peers_program() -> Result<PathBuf, Failure> {
    let path = helpers::folder()?.join("../bench/peers/run");
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("--peers: {} does not exist", path.display());
    Err(Problem::new(message).help("run this command from the bin folder of a source tree").into())
}

/// Rows of the same radio in other systems, each against ours on one core.
fn peers(ours: &[Row]) -> Result<Vec<Row>, Failure> {
    let program = peers_program()?;
    let cpu = usable_cpus()?.last().copied().unwrap_or(0);
    let options = ["--cpu".into(), cpu.to_string().into(), "--json".into()];
    let text = lines_of_command(&program, &options)?.join("\n");
    let found: Vec<Peer> = parse(&program, &text)?;
    let one_core = ours.iter().find(|row| row.bench == "fm_radio.one_core");
    let our_rate = one_core.and_then(|row| row.rest.get("p50")?.as_f64());

    let mut rows = Vec::new();
    for peer in found {
        match peer.samples_per_s {
            Some(rate) => rows.push(peer_row(&peer.peer, rate, our_rate)),
            None => {
                let why = peer.missing.unwrap_or_else(|| "it gave no result".into());
                say(&format!("{} was not measured: {why}", peer.peer));
            }
        }
    }
    Ok(rows)
}

fn peer_row(peer: &str, rate: f64, ours: Option<f64>) -> Row {
    let mut rest = Map::new();
    rest.insert("p50".into(), ours.into());
    rest.insert("against".into(), peer.into());
    rest.insert("against_p50".into(), rate.into());
    rest.insert("ratio".into(), ours.map(|ours| ours / rate).into());
    Row { bench: "fm_radio.one_core".into(), unit: "samples/s".into(), rest }
}

fn listing(rows: &[Row]) -> String {
    let titles = ["bench", ">p50", ">p90", ">p99", ">max", "unit", "against", ">p50", ">ratio"];
    let mut table = table(&titles);
    for row in rows {
        let cell = |key: &str| match row.rest.get(key) {
            Some(Value::Number(number)) => short(number.as_f64().unwrap_or_default()),
            Some(Value::String(text)) => text.clone(),
            _ => "-".into(),
        };
        table.add_row([
            row.bench.clone(),
            cell("p50"),
            cell("p90"),
            cell("p99"),
            cell("max"),
            row.unit.clone(),
            line_of(row).unwrap_or_else(|| cell("against")),
            cell("against_p50"),
            cell("ratio"),
        ]);
    }
    lines_of(&table)
}

/// What a row says of a line through costs against sizes; `p50` is its slope.
fn line_of(row: &Row) -> Option<String> {
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
        let row: Row = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&row).unwrap()["state"], "idle");
        assert!(listing(&[row]).contains("switch"));
    }

    #[test]
    fn a_line_shows_its_offset_and_how_well_it_fits() {
        let text = r#"{"bench":"fit","unit":"ns/KiB","p50":47.1,"offset_ns":744000,"r2":0.99976}"#;
        let row: Row = serde_json::from_str(text).unwrap();
        assert!(listing(&[row]).contains("a line: offset 744 µs, R² 0.9998"));
    }

    #[test]
    fn a_number_keeps_the_digits_that_count() {
        let shown = [0.0, 0.844, 12.34, 170.4, 12_500_000.0].map(short);
        assert_eq!(shown, ["0", "0.84", "12.3", "170", "12.5M"]);
    }

    #[test]
    fn a_peer_is_compared_with_our_one_core() {
        let row = peer_row("gnuradio", 2e6, Some(3e6));
        assert_eq!(row.rest["ratio"], 1.5);
        assert_eq!(peer_row("gnuradio", 2e6, None).rest["ratio"], Value::Null);
    }
}
