// SPDX-License-Identifier: Apache-2.0
//! How large a system can be simulated: ten thousand tasks on a thousand cores, and 65,536.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Map;
use whimbrel_model::Problem;
use whimbrel_run::benchmark::{BenchRow, parse};
use whimbrel_run::failure::Failure;

use super::{peers, sim};

/// The smaller system, and the larger one.
pub const MANY: &str = "sim.many";
pub const MOST: &str = "sim.many.65536";
/// As in `bench/sim/many.toml`.
const CORES: usize = 1024;

/// Pipelines, side by side.
struct Many {
    bench: &'static str,
    stages: usize,
    pipelines: usize,
    /// Of the frames of each.
    period_us: usize,
}

/// 200 thousand frames in a second, and 164 thousand: of the larger system it is its size that
/// takes time, not what happens in it.
const ALL: [Many; 2] = [
    Many { bench: MANY, stages: 5, pipelines: 2000, period_us: 10_000 },
    Many { bench: MOST, stages: 4, pipelines: 16_384, period_us: 100_000 },
];

/// Of tasks of one name there may be so many.
const COUNT_MAX: usize = 4096;

#[derive(Deserialize)]
struct Run {
    ok: bool,
    frames: u64,
}

/// The rows: what one second of virtual time takes.
///
/// # Errors
/// A run fails, or loses a frame.
pub fn rows() -> Result<Vec<BenchRow>, Failure> {
    ALL.iter().map(row).collect()
}

fn row(many: &Many) -> Result<BenchRow, Failure> {
    let failed = |why: &str| {
        Problem::new(format!("{}: {why}", many.bench)).help("run `whimbrel bench sim` again")
    };
    let folder = tempfile::tempdir().map_err(|error| failed(&error.to_string()))?;
    let path = folder.path().join("many.toml");
    fs::write(&path, app(many)).map_err(|error| failed(&error.to_string()))?;
    let files = sim::Files { app: &path, platform: Path::new("many.toml") };
    let options = ["--duration", "1s", "--quiet"];
    let (text, seconds) = sim::timed(&[peers::cpu()?], "sim", files, &options)?;
    let run: Run = parse(Path::new("whimbrel sim"), &text)?;
    let frames = (many.pipelines * 1_000_000 / many.period_us) as u64;
    if !run.ok || run.frames != frames {
        return Err(failed(&format!("of {frames} frames came {}", run.frames)).into());
    }
    let rest = Map::from_iter([("p50".into(), seconds.into()), ("n".into(), 1.into())]);
    Ok(BenchRow { bench: many.bench.into(), unit: "s".into(), rest })
}

/// Stage n of pipeline p is on the core after that of the stage before.
fn app(many: &Many) -> String {
    let Many { stages, pipelines, period_us, .. } = *many;
    let mut text = String::from("[app]\nname = \"sim_many\"\ncompute = \"model\"\n");
    for first in (0..pipelines).step_by(COUNT_MAX) {
        let group = first / COUNT_MAX;
        let pipelines = first..pipelines.min(first + COUNT_MAX);
        for stage in 0..stages {
            let cores: Vec<usize> =
                pipelines.clone().map(|pipeline| (pipeline * stages + stage) % CORES).collect();
            let count = pipelines.len();
            let period =
                if stage == 0 { format!("period_us = {period_us}\n") } else { String::new() };
            let _ = write!(
                text,
                "\n[[task]]\nname = \"stage_{group}_{stage}\"\ncount = {count}\ncore = {cores:?}\n\
                 cycles = 200000\n{period}"
            );
        }
        for stage in 1..stages {
            let before = stage - 1;
            let _ = write!(
                text,
                "\n[[channel]]\nfrom = \"stage_{group}_{before}.out\"\n\
                 to = \"stage_{group}_{stage}.in\"\nslots = 4\nslot_bytes = 64\n"
            );
        }
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
    fn there_are_ten_thousand_tasks_and_two_to_the_sixteenth() {
        let tasks = |many: &Many| -> usize {
            let app = app(many);
            let counts = app.lines().filter_map(|line| line.strip_prefix("count = "));
            counts.map(|count| count.parse::<usize>().unwrap()).sum()
        };
        assert_eq!(ALL.each_ref().map(tasks), [10_000, 65_536]);
    }
}
