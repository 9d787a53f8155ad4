// SPDX-License-Identifier: Apache-2.0
//! How many independent simulations a machine does: `whimbrel explore` on all of its processors,
//! against as many times what it does on one.

use std::path::Path;

use serde::Deserialize;
use serde_json::Map;
use whimbrel_run::benchmark::{BenchRow, median, parse};
use whimbrel_run::failure::Failure;
use whimbrel_run::load::usable_cpus;

use super::sim::{self, Files};

/// The name of the row.
pub const SWEEP: &str = "sim.sweep";
/// Each of its 51 mappings with each of these slots is a run of its own.
const SLOTS: &str = "2,3,4,5,6,7,8,9,10,11,12,13,14";
/// The same for a short look.
const FEW_SLOTS: &str = "4,14";
/// How long one lasts in virtual time: it takes some milliseconds.
const DURATION: &str = "500ms";

#[derive(Deserialize)]
struct Exploration {
    rates: Vec<Rate>,
}

#[derive(Deserialize)]
struct Rate {
    ran: u64,
}

/// The row of the sweep. One processor and all of them take turns.
///
/// # Errors
/// An exploration fails.
pub fn row(quick: bool) -> Result<BenchRow, Failure> {
    let cpus = usable_cpus()?;
    let (mut one, mut all) = (Vec::new(), Vec::new());
    for _ in 0..if quick { 1 } else { 5 } {
        one.push(runs_per_s(&cpus[cpus.len().saturating_sub(1)..], quick)?);
        all.push(runs_per_s(&cpus, quick)?);
    }
    Ok(compare(cpus.len(), median(one), median(all)))
}

#[expect(clippy::cast_precision_loss, reason = "a number of processors")]
fn compare(cpus: usize, one: Option<f64>, all: Option<f64>) -> BenchRow {
    let limit = one.map(|one| one * cpus as f64);
    let rest = Map::from_iter([
        ("p50".into(), all.into()),
        ("against".into(), format!("{cpus} × one processor").into()),
        ("against_p50".into(), limit.into()),
        ("ratio".into(), all.zip(limit).map(|(all, limit)| all / limit).into()),
    ]);
    BenchRow { bench: SWEEP.into(), unit: "runs/s".into(), rest }
}

/// What the user waits for, from the start of the command to its end.
fn runs_per_s(cpus: &[u32], quick: bool) -> Result<f64, Failure> {
    let slots = if quick { FEW_SLOTS } else { SLOTS };
    let options = ["--slots", slots, "--duration", DURATION, "--quiet"];
    let files = Files { app: Path::new("sweep.toml"), ..sim::pipeline_files() };
    let (text, seconds) = sim::timed(cpus, "explore", files, &options)?;
    let found: Exploration = parse("whimbrel explore".as_ref(), &text)?;
    let ran: u64 = found.rates.iter().map(|rate| rate.ran).sum();
    #[expect(clippy::cast_precision_loss, reason = "some hundred runs")]
    let ran = ran as f64;
    Ok(ran / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processors_are_compared_with_as_many_times_one() {
        let row = compare(4, Some(10.0), Some(38.0));
        assert_eq!(row.rest["against"], "4 × one processor");
        assert_eq!(
            (row.rest["against_p50"].as_f64(), row.rest["p50"].as_f64()),
            (Some(40.0), Some(38.0))
        );
        assert_eq!(row.rest["ratio"], 0.95);
    }
}
