// SPDX-License-Identifier: Apache-2.0
//! Messages between Linux here and FreeRTOS under QEMU, in turns with one cache line that the two
//! hand back and forth.

use std::process::{Command, Stdio};

use serde_json::Map;
use whimbrel_model::Problem;
use whimbrel_run::benchmark::{BenchRow, MIXED, median};
use whimbrel_run::failure::{Failure, say};
use whimbrel_run::helpers;
use whimbrel_text::cure;

use super::peers;
use crate::cli::BenchArgs;

/// A round trip of 64 bytes, both sides polling.
const TRIP: &str = "mixed.64B.spin";
/// Where FreeRTOS runs.
const GUEST: &str = "virt_a64:0";

/// The row; none if it cannot be measured and was not asked for by its group's name.
///
/// # Errors
/// The run fails: its compiler or its emulator is missing, for example.
pub fn rows(args: &BenchArgs) -> Result<Vec<BenchRow>, Failure> {
    match row(args.quick) {
        Ok(row) => Ok(vec![row]),
        Err(_) if args.groups.is_empty() => {
            say(&format!("{TRIP} was not measured: `whimbrel bench {MIXED}` says why"));
            Ok(Vec::new())
        }
        Err(failure) => Err(failure),
    }
}

fn row(quick: bool) -> Result<BenchRow, Failure> {
    let app = helpers::root()?.join("bench/mixed/app.toml");
    let cores = format!("{},{GUEST}", peers::cpu()?);
    let turns = format!("turns={}", if quick { 200 } else { 2000 });
    // What an application prints goes to standard error.
    let run = Command::new(super::this_command()?)
        .arg("run")
        .arg(app)
        .args(["--cores", &cores, "--spin", "forever", "--quiet", "--set", &turns])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            Problem::new(format!("{TRIP}: the run cannot be started: {error}")).help(cure(&error))
        })?;
    let said = String::from_utf8_lossy(&run.stderr);
    let row = row_of(&said).filter(|_| run.status.success());
    Ok(row.ok_or_else(|| {
        Problem::new(format!("{TRIP}: the run failed: {said}")).help("see `whimbrel doctor`")
    })?)
}

/// The samples are what the trips of each turn took on average.
fn row_of(said: &str) -> Option<BenchRow> {
    let samples = |what: &str| -> Vec<f64> {
        let turns = said.lines().filter_map(|line| line.strip_prefix(what)?.trim().parse().ok());
        turns.collect()
    };
    let mut trips = samples("message ");
    trips.sort_unstable_by(f64::total_cmp);
    let (last, line) = (trips.len().checked_sub(1)?, median(samples("line "))?);
    let at = |percent: usize| trips[last * percent / 100];
    let trip = median(trips.clone())?;
    let rest = Map::from_iter([
        ("min".into(), at(0).into()),
        ("p10".into(), at(10).into()),
        ("p50".into(), trip.into()),
        ("p90".into(), at(90).into()),
        ("p99".into(), at(99).into()),
        ("max".into(), at(100).into()),
        ("n".into(), trips.len().into()),
        ("against".into(), "raw cache line, there and back".into()),
        ("against_p50".into(), line.into()),
        ("ratio".into(), (line / trip).into()),
    ]);
    Some(BenchRow { bench: TRIP.into(), unit: "ns".into(), rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_medians_of_its_turns() {
        let text = "line 400\nmessage 900\nline 500\nmessage 1000\nanother\nline 600\nmessage 1250";
        let row = row_of(text).unwrap();
        assert_eq!(row.rest["p50"], 1000.0);
        assert_eq!(row.rest["against_p50"], 500.0);
        assert_eq!(row.rest["ratio"], 0.5);
        assert_eq!([&row.rest["min"], &row.rest["max"]], [900.0, 1250.0]);
    }

    #[test]
    fn without_turns_there_is_no_row() {
        assert!(row_of("line 400").is_none());
        assert!(row_of("message 400").is_none());
    }
}
