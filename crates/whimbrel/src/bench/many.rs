// SPDX-License-Identifier: Apache-2.0
//! How large a system can be simulated: ten thousand tasks on a thousand cores.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Map;
use whimbrel_model::Problem;

use super::{Row, parse, peers, sim};
use crate::failure::Failure;

/// As in `bench/sim/many.toml`.
const CORES: usize = 1024;
/// Pipelines of this many stages, side by side.
const STAGES: usize = 5;
const PIPELINES: usize = 2000;
/// A frame every 10 ms: of a second, 200 thousand.
const PERIOD_US: usize = 10_000;
const FRAMES: u64 = (PIPELINES * 1_000_000 / PERIOD_US) as u64;

#[derive(Deserialize)]
struct Run {
    ok: bool,
    frames: u64,
}

/// The row: what one second of virtual time takes.
///
/// # Errors
/// The run fails, or loses a frame.
pub fn row() -> Result<Row, Failure> {
    let folder = tempfile::tempdir().map_err(|error| failed(&error.to_string()))?;
    let path = folder.path().join("many.toml");
    fs::write(&path, app()).map_err(|error| failed(&error.to_string()))?;
    let files = (path.as_path(), Path::new("many.toml"));
    let options = ["--duration", "1s", "--quiet"];
    let (text, seconds) = sim::timed(&[peers::cpu()?], "sim", files, &options)?;
    let run: Run = parse(Path::new("whimbrel sim"), &text)?;
    if !run.ok || run.frames != FRAMES {
        return Err(failed(&format!("of {FRAMES} frames came {}", run.frames)).into());
    }
    let rest = Map::from_iter([("p50".into(), seconds.into()), ("n".into(), 1.into())]);
    Ok(Row { bench: sim::MANY.into(), unit: "s".into(), rest })
}

fn failed(why: &str) -> Problem {
    Problem::new(format!("{}: {why}", sim::MANY))
}

/// Stage n of pipeline p is on the core after that of the stage before.
fn app() -> String {
    let mut text = String::from("[app]\nname = \"sim_many\"\ncompute = \"model\"\n");
    for stage in 0..STAGES {
        let cores = (0..PIPELINES).map(|pipeline| (pipeline * STAGES + stage) % CORES);
        let period = if stage == 0 { format!("period_us = {PERIOD_US}\n") } else { String::new() };
        let cores: Vec<usize> = cores.collect();
        let _ = write!(
            text,
            "\n[[task]]\nname = \"stage_{stage}\"\ncount = {PIPELINES}\ncore = {cores:?}\n\
             cycles = 200000\n{period}"
        );
    }
    for stage in 1..STAGES {
        let _ = write!(
            text,
            "\n[[channel]]\nfrom = \"stage_{}.out\"\nto = \"stage_{stage}.in\"\nslots = 4\n\
             slot_bytes = 64\n",
            stage - 1
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_are_those_of_the_platform() {
        let text = include_str!("../../../../bench/sim/many.toml");
        assert!(text.contains(&format!("count = {CORES}\n")), "{text}");
    }

    #[test]
    fn there_are_ten_thousand_tasks() {
        assert_eq!(app().matches("[[task]]").count() * PIPELINES, 10_000);
    }
}
