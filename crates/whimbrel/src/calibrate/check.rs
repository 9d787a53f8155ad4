// SPDX-License-Identifier: Apache-2.0
//! How far off a simulation is: the same runs on real processors and on a platform, side by side.

use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;
use whimbrel_model::{App, Direction, Problem};

use super::measured::{self, Run};
use super::{RUNS, RUNS_QUICK, settings};
use crate::bench::median;
use crate::cli::{CalibrateArgs, CpuList};
use crate::failure::{Answer, Failure, Outcome, say};
use crate::load::{application, simulated_platform};
use crate::output::{Column, columns, print, print_json};

/// One figure, measured and simulated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What.
    what: String,
    /// In which unit.
    unit: &'static str,
    /// The median over real runs.
    real: f64,
    /// In virtual time.
    simulated: f64,
    /// The simulated one beyond the real one, in percent of the real one; `null`: that is 0.
    error_percent: Option<f64>,
}

/// A way to run the application.
struct Scenario {
    /// How figures of it are called.
    name: &'static str,
    /// Its cores.
    cores: usize,
    /// Options of `run` and `sim` alike.
    options: Vec<OsString>,
    /// Whether its events are needed.
    recorded: bool,
    /// What is read off a run.
    figures: fn(&Run) -> Vec<(String, &'static str, f64)>,
}

/// Runs an application on `cpus` and on the platform in turns, and shows the errors.
///
/// # Errors
/// Bad input, a platform with too few cores, or a run that fails.
pub fn check(args: &CalibrateArgs, path: &Path, cpus: &CpuList) -> Outcome {
    let app = application(path, &args.set)?.app;
    let task = task(&app, args)?;
    enough_cores(args, cpus)?;
    let folder = tempfile::tempdir()
        .map_err(|error| Problem::new(format!("no folder for recorded runs: {error}")))?;
    let mut figures = Vec::new();
    for scenario in scenarios(&task, cpus.0.len(), args.quick) {
        let mut real = Vec::new();
        for turn in 1..=if args.quick { RUNS_QUICK } else { RUNS } {
            say(&format!("{} on real cores: turn {turn}", scenario.name));
            let list = CpuList(cpus.0[..scenario.cores].to_vec()).to_string();
            let place = folder.path().join(format!("{}{turn}", figures.len()));
            let of_run = ["--cores".into(), OsString::from(list)];
            real.push(measure("run", path, args, &scenario, &of_run, &place)?);
        }
        let of_sim = [
            "--cores".into(),
            scenario.cores.to_string().into(),
            "--platform".into(),
            OsString::from(&args.platform),
            "--compute".into(),
            "model".into(),
        ];
        let place = folder.path().join(format!("{}simulated", figures.len()));
        let simulated = measure("sim", path, args, &scenario, &of_sim, &place)?;
        figures.extend(compare(&scenario, &real, &simulated));
    }
    show(args, &figures)
}

/// Looks at the platform before real runs, which take a while.
fn enough_cores(args: &CalibrateArgs, cpus: &CpuList) -> Result<(), Failure> {
    let platform = simulated_platform(&args.platform)?;
    if platform.description()?.cores.len() >= cpus.0.len().min(2) {
        return Ok(());
    }
    let message = format!("--platform: {} has 1 core, and runs on two are compared", platform.name);
    Err(Problem::new(message).help("name one processor with --cores").into())
}

fn measure(
    verb: &str,
    app: &Path,
    args: &CalibrateArgs,
    scenario: &Scenario,
    own: &[OsString],
    folder: &Path,
) -> Result<Run, Problem> {
    let all = [&[verb.into(), app.into()], own, &scenario.options, &settings(&args.set)].concat();
    if scenario.recorded { measured::recorded(&all, folder) } else { measured::run(&all) }
}

/// The task that is moved.
fn task(app: &App, args: &CalibrateArgs) -> Result<String, Failure> {
    let has = |task, direction| {
        app.ports.iter().any(|port| port.task == task && port.direction == direction)
    };
    let number = match &args.task {
        Some(name) => app
            .find_task(&name.name, name.index)
            .ok_or_else(|| Problem::new(format!("--task: {} has no task {name}", app.name)))?,
        None => (0..app.tasks.len())
            .find(|n| app.tasks[*n].migratable && has(*n, Direction::In) && has(*n, Direction::Out))
            .ok_or_else(|| {
                Problem::new(format!("no task of {} may move, receives and sends", app.name))
                    .help("name the one to move with --task")
            })?,
    };
    let task = &app.tasks[number];
    Ok(if app.count(&task.name) > 1 {
        format!("{}.{}", task.name, task.index)
    } else {
        task.name.clone()
    })
}

fn scenarios(task: &str, cores: usize, quick: bool) -> Vec<Scenario> {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let time = if quick { "1s" } else { "4s" };
    let apart = format!("{task}=1@1us");
    let to_and_fro = format!("{task}=1,0@50ms");
    let all = [
        (
            "as fast as it goes, one core",
            1,
            words(&["--fast"]),
            false,
            throughput as fn(&Run) -> Vec<_>,
        ),
        (
            "as fast as it goes, two cores",
            2,
            words(&["--fast", "--move", &apart]),
            false,
            throughput,
        ),
        (
            "at its own rate, two cores",
            2,
            words(&["--duration", time, "--move", &apart]),
            true,
            paced,
        ),
        ("to and fro", 2, words(&["--duration", time, "--shuttle", &to_and_fro]), false, phases),
    ];
    all.into_iter()
        .filter(|(_, wanted, ..)| *wanted <= cores)
        .map(|(name, cores, options, recorded, figures)| Scenario {
            name,
            cores,
            options,
            recorded,
            figures,
        })
        .collect()
}

fn throughput(run: &Run) -> Vec<(String, &'static str, f64)> {
    vec![("throughput".into(), "frames/s", run.frames_per_s)]
}

fn paced(run: &Run) -> Vec<(String, &'static str, f64)> {
    let mut all: Vec<(String, &'static str, f64)> = Vec::new();
    for (number, core) in run.cores.iter().enumerate() {
        all.push((format!("load of core {number}"), "%", core.load * 100.0));
    }
    for channel in &run.channels {
        let depth = |which: &str| format!("{which} depth of {}", channel.channel);
        all.push((depth("high"), "messages", channel.high));
        all.extend(channel.low.map(|low| (depth("low"), "messages", low)));
        all.extend(channel.mean.map(|mean| (depth("mean"), "messages", mean)));
    }
    all
}

#[expect(clippy::cast_precision_loss, reason = "times far below 2^53")]
fn phases(run: &Run) -> Vec<(String, &'static str, f64)> {
    let all = run.migration_latency.iter();
    all.map(|phase| (phase.phase.clone(), "µs", phase.p50_ns as f64 / 1e3)).collect()
}

/// Medians of what real runs have, beside the simulated; what only one side has is left out.
fn compare(scenario: &Scenario, real: &[Run], simulated: &Run) -> Vec<Figure> {
    let runs: Vec<_> = real.iter().map(scenario.figures).collect();
    let figures =
        (scenario.figures)(simulated).into_iter().filter_map(|(what, unit, simulated)| {
            let same = runs.iter().flatten().filter(|(name, ..)| *name == what);
            let real = median(same.map(|(_, _, value)| *value).collect())?;
            let error_percent = (real != 0.0).then(|| (simulated - real) / real * 100.0);
            Some(Figure {
                what: format!("{}: {what}", scenario.name),
                unit,
                real,
                simulated,
                error_percent,
            })
        });
    figures.collect()
}

fn show(args: &CalibrateArgs, figures: &[Figure]) -> Outcome {
    if args.json {
        print_json(&figures)?;
        return Ok(Answer::Yes);
    }
    let number =
        |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
    print(&columns(&[
        Column::of("what", figures, |figure| figure.what.clone()),
        Column::of(">real", figures, |figure| number(figure.real)),
        Column::of(">simulated", figures, |figure| number(figure.simulated)),
        Column::of("unit", figures, |figure| figure.unit.into()),
        Column::of(">error", figures, |figure| {
            figure.error_percent.map_or("-".into(), |percent| format!("{percent:+.1} %"))
        }),
    ]))?;
    Ok(Answer::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rate: f64) -> Run {
        Run { frames_per_s: rate, ..Run::default() }
    }

    fn scenario() -> Scenario {
        scenarios("t", 1, true).remove(0)
    }

    #[test]
    fn an_error_is_against_the_median_of_the_real_runs() {
        let figures = compare(&scenario(), &[run(100.0), run(90.0), run(1.0)], &run(81.0));
        assert_eq!((figures[0].real, figures[0].error_percent), (90.0, Some(-10.0)));
    }

    #[test]
    fn beside_a_real_zero_there_is_no_error_in_percent() {
        assert_eq!(compare(&scenario(), &[run(0.0)], &run(1.0))[0].error_percent, None);
    }

    #[test]
    fn what_only_the_simulation_has_is_left_out() {
        let scenario = scenarios("t", 2, true).pop().unwrap();
        let moved = Run {
            migration_latency: vec![measured::Phase { phase: "parked".into(), p50_ns: 5 }],
            ..Run::default()
        };
        assert_eq!(compare(&scenario, &[Run::default()], &moved), []);
    }

    #[test]
    fn one_processor_is_checked_without_moves() {
        assert_eq!(scenarios("t", 1, false).len(), 1);
        assert_eq!(scenarios("t", 2, false).len(), 4);
    }
}
