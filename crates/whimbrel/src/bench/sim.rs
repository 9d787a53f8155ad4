// SPDX-License-Identifier: Apache-2.0
//! How fast the simulator is: one pipeline in virtual time, beside other simulators.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

use serde::Deserialize;
use serde_json::Map;
use whimbrel_model::Problem;
use whimbrel_run::benchmark::{BenchRow, lines_of_command, median, parse};
use whimbrel_run::failure::Failure;
use whimbrel_run::helpers;
use whimbrel_run::load::usable_cpus;

use super::peers::{self, Peer};
use crate::cli::BenchArgs;

/// Six stages in a row.
pub const PIPELINE: &str = "sim.pipeline";
/// The same with a script for each stage.
const SCRIPTS: &str = "sim.pipeline.scripts";
/// Two pipelines that have nothing in common, on two processors.
const ISLANDS: &str = "sim.islands";
const UNIT: &str = "events/s";
/// As in `bench/sim/pipeline.toml`.
const FRAMES: u64 = 4_000_000;
/// Its release, and the end of six stages; what the simulator does inside is not counted.
const EVENTS_PER_FRAME: u64 = 7;

/// What is needed of a run's summary.
#[derive(Deserialize)]
struct Run {
    ok: bool,
    frames: u64,
}

/// Rows of the pipeline, ours alone or one for each peer. Ours and theirs take turns, on one
/// processor.
///
/// # Errors
/// A run fails, or loses a frame.
pub fn rows(args: &BenchArgs) -> Result<Vec<BenchRow>, Failure> {
    let mut ours = Vec::new();
    let mut scripts = Vec::new();
    let mut theirs: BTreeMap<String, Vec<Peer>> = BTreeMap::new();
    for _ in 0..if args.quick { 1 } else { 7 } {
        ours.push(events_per_s("pipeline.toml")?);
        scripts.push(events_per_s("scripts.toml")?);
        if args.peers {
            for peer in peers::measured("sim", &["--repeats", "1"])? {
                theirs.entry(peer.peer.clone()).or_default().push(peer);
            }
        }
    }
    let ours = median(ours);
    let mut rows = if args.peers {
        let peers: Vec<Peer> = theirs.into_values().filter_map(middle).collect();
        peers::rows(PIPELINE, UNIT, ours, &peers)
    } else {
        let rest = Map::from_iter([("p50".into(), ours.into())]);
        vec![BenchRow { bench: PIPELINE.into(), unit: UNIT.into(), rest }]
    };
    rows.push(beside_actors(median(scripts), ours));
    rows.extend(islands(args.quick)?);
    Ok(rows)
}

/// One processor and two take turns; nothing where there is but one.
fn islands(quick: bool) -> Result<Option<BenchRow>, Failure> {
    let cpus = usable_cpus()?;
    let Some(two) = cpus.last_chunk::<2>() else { return Ok(None) };
    let files = Files { app: Path::new("islands.toml"), ..pipeline_files() };
    // Of both pipelines; each of their frames is a release and the ends of three stages.
    let rate = |cpus: &[u32]| rate_of(cpus, files, 2 * FRAMES, 4);
    let (mut alone, mut both) = (Vec::new(), Vec::new());
    for _ in 0..if quick { 1 } else { 7 } {
        alone.push(rate(&two[1..])?);
        both.push(rate(two)?);
    }
    let (alone, both) = (median(alone), median(both));
    let rest = Map::from_iter([
        ("p50".into(), both.into()),
        ("against".into(), "one processor".into()),
        ("against_p50".into(), alone.into()),
        ("ratio".into(), both.zip(alone).map(|(both, alone)| both / alone).into()),
    ]);
    Ok(Some(BenchRow { bench: ISLANDS.into(), unit: UNIT.into(), rest }))
}

/// Scripts take turns with the actors that do the same.
fn beside_actors(scripts: Option<f64>, actors: Option<f64>) -> BenchRow {
    let rest = Map::from_iter([
        ("p50".into(), scripts.into()),
        ("against".into(), "actors".into()),
        ("against_p50".into(), actors.into()),
        ("ratio".into(), scripts.zip(actors).map(|(scripts, actors)| scripts / actors).into()),
    ]);
    BenchRow { bench: SCRIPTS.into(), unit: UNIT.into(), rest }
}

/// An application and a platform: absolute, or in the folder of benchmarks.
#[derive(Debug, Clone, Copy)]
pub struct Files<'f> {
    /// The file of the application.
    pub app: &'f Path,
    /// That of the platform.
    pub platform: &'f Path,
}

/// The pipeline and its platform.
pub fn pipeline_files() -> Files<'static> {
    Files { app: Path::new("pipeline.toml"), platform: Path::new("flat.toml") }
}

/// Runs one of our own verbs on some processors, with the files of an application and a platform.
/// Returns what it printed, and the seconds that it took: all that the user waits for, also the
/// start of processes, which the peers do not count.
///
/// # Errors
/// It fails.
pub fn timed(
    cpus: &[u32],
    verb: &str,
    files: Files<'_>,
    more: &[&str],
) -> Result<(String, f64), Failure> {
    let folder = helpers::root()?.join("bench/sim");
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let mut options: Vec<OsString> = vec![
        "-c".into(),
        cpus.join(",").into(),
        super::this_command()?.into(),
        verb.into(),
        folder.join(files.app).into(),
        "--platform".into(),
        folder.join(files.platform).into(),
        "--json".into(),
    ];
    options.extend(more.iter().map(OsString::from));
    let start = Instant::now();
    let text = lines_of_command(Path::new("taskset"), &options)?.join("\n");
    Ok((text, start.elapsed().as_secs_f64()))
}

fn events_per_s(app: &str) -> Result<f64, Failure> {
    let files = Files { app: Path::new(app), ..pipeline_files() };
    rate_of(&[peers::cpu()?], files, FRAMES, EVENTS_PER_FRAME)
}

fn rate_of(cpus: &[u32], files: Files<'_>, frames: u64, of_each: u64) -> Result<f64, Failure> {
    let (text, seconds) = timed(cpus, "sim", files, &[])?;
    let run: Run = parse(Path::new("whimbrel sim"), &text)?;
    if !run.ok || run.frames != frames {
        let app = files.app.display();
        let message = format!("of {frames} frames of {app} came {}", run.frames);
        return Err(Problem::new(message).help("report this as a bug").into());
    }
    #[expect(clippy::cast_precision_loss, reason = "a count in the millions")]
    let events = (frames * of_each) as f64;
    Ok(events / seconds)
}

/// A peer with the median of its rates.
fn middle(runs: Vec<Peer>) -> Option<Peer> {
    let rate = median(runs.iter().filter_map(|run| run.rate).collect());
    runs.into_iter().next().map(|run| Peer { rate, ..run })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_the_median_of_its_turns() {
        let turn = |rate: f64| -> Peer {
            serde_json::from_str(&format!(r#"{{"peer": "simpy", "events_per_s": {rate}}}"#))
                .unwrap()
        };
        let peer = middle([5.0, 1.0, 3.0].map(turn).to_vec()).unwrap();
        assert_eq!((peer.peer.as_str(), peer.rate), ("simpy", Some(3.0)));
    }

    #[test]
    fn a_peer_that_is_missing_stays_missing() {
        let text = r#"{"peer": "simpy", "missing": "make"}"#;
        let peer: Peer = serde_json::from_str(text).unwrap();
        assert_eq!(middle(vec![peer.clone(), peer]).unwrap().rate, None);
    }

    #[test]
    fn the_frames_are_those_of_the_pipeline() {
        let text = include_str!("../../../../bench/sim/pipeline.toml");
        assert!(text.contains(&format!("loop = {FRAMES},")), "{text}");
        let text = include_str!("../../../../bench/sim/scripts.toml");
        assert!(text.contains(&format!("loop = {FRAMES},")), "{text}");
    }
}
