// SPDX-License-Identifier: Apache-2.0
//! How far off a simulation is: the same runs on real processors and on a platform, side by side.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;
use whimbrel_model::{App, Direction, Problem};

use super::busy::{BUSY_PERCENT, Busy, Reading};
use super::measured::{self, Move, Run};
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
    /// The highest real one beyond the lowest, in percent of the median; `null`: that is 0.
    spread_percent: Option<f64>,
    /// The simulated one beyond the real one, in percent of the real one; `null`: that is 0, or the
    /// machine was busy, and there is none.
    error_percent: Option<f64>,
}

/// How busy the machine was during the runs of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct During {
    /// Which scenario.
    scenario: &'static str,
    /// Runs that nobody disturbed, whose medians were taken if they were most.
    quiet_runs: usize,
    /// All runs.
    runs: usize,
    /// What others took during all of them, or if most were quiet, during those.
    #[serde(flatten)]
    busy: Busy,
}

/// All that was found.
#[derive(Debug, Serialize)]
struct Found {
    /// Whether the machine was busy in any of the scenarios.
    busy: bool,
    machine: Vec<During>,
    figures: Vec<Figure>,
}

/// A figure of one run: what, in which unit, and how much.
type Read = (String, &'static str, f64);

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
    /// What is read off a run of the application.
    figures: fn(&App, &Run) -> Vec<Read>,
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
    let checked = Checked { app: &app, path, args, folder: folder.path() };
    let scenarios = scenarios(&task, cpus.0.len(), args.quick);
    let real = checked.real(&scenarios, cpus)?;
    let (mut figures, mut machine) = (Vec::new(), Vec::new());
    for (scenario, real) in scenarios.iter().zip(real) {
        let (real, during) = quiet(scenario.name, real);
        let of_sim = [
            "--cores".into(),
            scenario.cores.to_string().into(),
            "--platform".into(),
            OsString::from(&args.platform),
            "--compute".into(),
            "model".into(),
        ];
        let simulated = checked.measure("sim", scenario, &of_sim)?;
        figures.extend(compare(&app, scenario, &real, &simulated, during.busy.busy));
        machine.push(during);
    }
    show(args, &Found { busy: machine.iter().any(|during| during.busy.busy), machine, figures })
}

/// The runs that nobody disturbed if they are most, else all of them, and the machine was busy.
fn quiet(scenario: &'static str, real: Vec<(Run, Busy)>) -> (Vec<Run>, During) {
    let runs = real.len();
    let quiet_runs = real.iter().filter(|(_, busy)| !busy.busy).count();
    let most = 2 * quiet_runs > runs;
    let taken: Vec<(Run, Busy)> =
        real.into_iter().filter(|(_, busy)| !most || !busy.busy).collect();
    let (taken, all): (Vec<Run>, Vec<Busy>) = taken.into_iter().unzip();
    let busy = Busy { busy: !most, ..Busy::mean(&all) };
    (taken, During { scenario, quiet_runs, runs, busy })
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

/// What is checked.
struct Checked<'a> {
    app: &'a App,
    path: &'a Path,
    args: &'a CalibrateArgs,
    /// For recorded runs.
    folder: &'a Path,
}

impl Checked<'_> {
    /// Real runs of each scenario, and what others took meanwhile. In turns: how fast a machine
    /// that is shared is changes within a minute, and each scenario is to see all of it.
    fn real(
        &self,
        scenarios: &[Scenario],
        cpus: &CpuList,
    ) -> Result<Vec<Vec<(Run, Busy)>>, Problem> {
        let mut all: Vec<_> = scenarios.iter().map(|_| Vec::new()).collect();
        for turn in 1..=if self.args.quick { RUNS_QUICK } else { RUNS } {
            for (scenario, runs) in scenarios.iter().zip(&mut all) {
                say(&format!("{} on real cores: turn {turn}", scenario.name));
                let list = CpuList(cpus.0[..scenario.cores].to_vec());
                let of_run = ["--cores".into(), OsString::from(list.to_string())];
                let before = Reading::take(&list)?;
                let run = self.measure("run", scenario, &of_run)?;
                runs.push((run, before.until_now(&list)?));
            }
        }
        Ok(all)
    }

    fn measure(&self, verb: &str, scenario: &Scenario, own: &[OsString]) -> Result<Run, Problem> {
        let head = [verb.into(), self.path.into()];
        let all = [&head[..], own, &scenario.options, &settings(&self.args.set)].concat();
        if !scenario.recorded {
            return measured::run(&all);
        }
        let place = tempfile::tempdir_in(self.folder)
            .map_err(|error| Problem::new(format!("no folder for a recorded run: {error}")))?;
        measured::recorded(self.app, &all, &place.path().join("run"))
    }
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
    // No multiple of usual periods: requests come at every moment of one.
    let to_and_fro = format!("{task}=1,0@53ms");
    let all = [
        (
            "as fast as it goes, one core",
            1,
            words(&["--fast"]),
            false,
            throughput as fn(&App, &Run) -> Vec<_>,
        ),
        (
            "as fast as it goes, two cores",
            2,
            words(&["--fast", "--move", &apart]),
            false,
            throughput,
        ),
        // What is wrong here already is not of waking others.
        ("at its own rate, one core", 1, words(&["--duration", time]), true, usual),
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

fn throughput(_: &App, run: &Run) -> Vec<Read> {
    vec![("throughput".into(), "frames/s", run.frames_per_s)]
}

/// Loads, of all firings and as most firings were (see `steady.rs`), and what most firings took.
fn usual(app: &App, run: &Run) -> Vec<Read> {
    let loads = run.cores.iter().enumerate().flat_map(|(number, core)| {
        let usual = run.firings.usual_load(number, run.time_ns);
        [
            (format!("load of core {number}"), "%", core.load * 100.0),
            (format!("usual load of core {number}"), "%", usual * 100.0),
        ]
    });
    let mut names: Vec<&str> = app.tasks.iter().map(|task| task.name.as_str()).collect();
    names.dedup();
    let firings = names.into_iter().filter_map(|name| {
        let ns = run.firings.usual_ns(app, name)?;
        Some((format!("a firing of {name}"), "µs", ns / 1e3))
    });
    loads.chain(firings).collect()
}

fn paced(app: &App, run: &Run) -> Vec<Read> {
    let mut all = usual(app, run);
    for channel in &run.channels {
        let depth = |which: &str| format!("{which} depth of {}", channel.channel);
        all.push((depth("high"), "messages", channel.high));
        all.extend(channel.low.map(|low| (depth("low"), "messages", low)));
        all.extend(channel.mean.map(|mean| (depth("mean"), "messages", mean)));
    }
    all
}

/// What a phase of a move is called, when it begins and when it ends.
type Phase = (&'static str, fn(&Move) -> u64, fn(&Move) -> u64);

const PHASES: [Phase; 5] = [
    ("request to parked", |m| m.request_ns, |m| m.parked_ns),
    ("parked to attached", |m| m.parked_ns, |m| m.attached_ns),
    ("attached to running", |m| m.attached_ns, |m| m.running_ns),
    ("running to first output", |m| m.running_ns, |m| m.output_ns),
    ("parked to running", |m| m.parked_ns, |m| m.running_ns),
];

/// Medians of the phases of moves, those to each core apart: the one has just run other tasks, the
/// other has slept for long, so that a median over both would be of neither.
#[expect(clippy::cast_precision_loss, reason = "times far below 2^53")]
fn phases(_: &App, run: &Run) -> Vec<Read> {
    let targets: BTreeSet<u32> = run.migrations.iter().map(|m| m.target).collect();
    let phase = |target, (name, from, to): Phase| {
        let moves = run.migrations.iter().filter(|m| m.target == target);
        let reached = moves.filter(|m| from(m) != 0 && to(m) >= from(m));
        let ns = median(reached.map(|m| (to(m) - from(m)) as f64).collect())?;
        Some((format!("{name} of core {target}"), "µs", ns / 1e3))
    };
    let all = targets.into_iter().flat_map(|target| PHASES.map(|one| phase(target, one)));
    all.flatten().collect()
}

/// Medians of what real runs have, beside the simulated; what only one side has is left out. Runs
/// on a busy machine have no error.
fn compare(
    app: &App,
    scenario: &Scenario,
    real: &[Run],
    simulated: &Run,
    busy: bool,
) -> Vec<Figure> {
    let runs: Vec<_> = real.iter().map(|run| (scenario.figures)(app, run)).collect();
    let figures =
        (scenario.figures)(app, simulated).into_iter().filter_map(|(what, unit, simulated)| {
            let same = runs.iter().flatten().filter(|(name, ..)| *name == what);
            let all: Vec<f64> = same.map(|(_, _, value)| *value).collect();
            let (low, high) = all
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (v.min(l), v.max(h)));
            let real = median(all)?;
            let percent = |part: f64| (real != 0.0).then(|| part / real * 100.0);
            let error_percent = percent(simulated - real).filter(|_| !busy);
            Some(Figure {
                what: format!("{}: {what}", scenario.name),
                unit,
                real,
                simulated,
                spread_percent: percent(high - low),
                error_percent,
            })
        });
    figures.collect()
}

/// The answer is no if the machine was busy.
fn show(args: &CalibrateArgs, found: &Found) -> Outcome {
    let answer = if found.busy { Answer::No } else { Answer::Yes };
    for During { scenario, quiet_runs, runs, busy } in &found.machine {
        if busy.busy {
            say(&format!(
                "{scenario}: the machine was busy in {} of {runs} runs: {}; from {BUSY_PERCENT} % \
                 on there is no error to tell",
                runs - quiet_runs,
                busy.words()
            ));
        }
    }
    if found.busy {
        say("stop what else runs, or name other processors with --cores, and check again");
    }
    if args.json {
        print_json(found)?;
        return Ok(answer);
    }
    let figures = &found.figures;
    let percent =
        |value: Option<f64>| value.map_or("-".into(), |percent| format!("{percent:.1} %"));
    let number =
        |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
    print(&columns(&[
        Column::of("what", figures, |figure| figure.what.clone()),
        Column::of(">real", figures, |figure| number(figure.real)),
        Column::of(">simulated", figures, |figure| number(figure.simulated)),
        Column::of("unit", figures, |figure| figure.unit.into()),
        Column::of(">spread", figures, |figure| percent(figure.spread_percent)),
        Column::of(">error", figures, |figure| {
            figure.error_percent.map_or("-".into(), |percent| format!("{percent:+.1} %"))
        }),
    ]))?;
    let machine = &found.machine;
    let part = |value: f64| format!("{value:.1} %");
    print(&columns(&[
        Column::of("machine during", machine, |during| during.scenario.into()),
        Column::of(">quiet runs", machine, |d| format!("{} of {}", d.quiet_runs, d.runs)),
        Column::of(">others", machine, |during| part(during.busy.others_percent)),
        Column::of(">steal", machine, |during| part(during.busy.steal_percent)),
        Column::of(">involuntary switches/s", machine, |during| {
            format!("{:.0}", during.busy.involuntary_per_s)
        }),
    ]))?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use whimbrel_model::Manifest;

    use super::*;

    fn app() -> App {
        let text = "[app]\nname = \"test\"\n[[task]]\nname = \"t\"\ncycles = 1\nperiod_us = 1000";
        let here = Path::new("/");
        App::build(&Manifest::parse(text).unwrap(), &[], here, here).unwrap()
    }

    fn run(rate: f64) -> Run {
        Run { frames_per_s: rate, ..Run::default() }
    }

    fn scenario() -> Scenario {
        scenarios("t", 1, true).remove(0)
    }

    #[test]
    fn an_error_is_against_the_median_of_the_real_runs() {
        let figures =
            compare(&app(), &scenario(), &[run(100.0), run(90.0), run(1.0)], &run(81.0), false);
        assert_eq!((figures[0].real, figures[0].error_percent), (90.0, Some(-10.0)));
    }

    #[test]
    fn beside_a_real_zero_there_is_no_error_in_percent() {
        assert_eq!(
            compare(&app(), &scenario(), &[run(0.0)], &run(1.0), false)[0].error_percent,
            None
        );
    }

    #[test]
    fn what_only_the_simulation_has_is_left_out() {
        let scenario = scenarios("t", 2, true).pop().unwrap();
        let moved = Run {
            migrations: vec![Move { parked_ns: 1, attached_ns: 6, ..Move::default() }],
            ..Run::default()
        };
        assert_eq!(compare(&app(), &scenario, &[Run::default()], &moved, false), []);
    }

    #[test]
    fn on_a_busy_machine_there_is_no_error_and_the_spread_says_how_steady_it_was() {
        let real = [run(100.0), run(90.0), run(110.0)];
        let figures = compare(&app(), &scenario(), &real, &run(81.0), true);
        assert_eq!((figures[0].spread_percent, figures[0].error_percent), (Some(20.0), None));
    }

    #[test]
    fn runs_that_were_disturbed_are_left_out_while_most_were_not() {
        let busy = |busy| Busy { busy, seconds: 1.0, others_percent: 40.0, ..Busy::default() };
        let of = |flags: &[bool]| {
            let real = flags.iter().map(|flag| (run(1.0), busy(*flag))).collect();
            let (taken, during) = quiet("s", real);
            (taken.len(), during.quiet_runs, during.runs, during.busy.busy)
        };
        assert_eq!(of(&[false, true, false]), (2, 2, 3, false));
        assert_eq!(of(&[true, true, false]), (3, 1, 3, true));
        assert_eq!(of(&[true, false]), (2, 1, 2, true));
    }

    #[test]
    fn moves_to_each_core_have_medians_of_their_own_and_what_was_not_reached_has_none() {
        let to = |target, parked_ns, attached_ns| Move {
            target,
            parked_ns,
            attached_ns,
            ..Move::default()
        };
        let migrations = vec![to(1, 10, 90), to(0, 100, 120), to(1, 200, 290), to(0, 300, 0)];
        let found = phases(&app(), &Run { migrations, ..Run::default() });
        let of = |name: &str| found.iter().find(|(what, ..)| what == name).map(|f| f.2);
        assert_eq!(of("parked to attached of core 1"), Some(0.085));
        assert_eq!(of("parked to attached of core 0"), Some(0.02));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn the_load_of_all_firings_stays_beside_that_of_most() {
        let busy = measured::Core { load: 0.25 };
        let found = usual(&app(), &Run { cores: vec![busy], time_ns: 1000, ..Run::default() });
        let found: Vec<_> = found.iter().map(|(what, _, value)| (what.as_str(), *value)).collect();
        assert_eq!(found, [("load of core 0", 25.0), ("usual load of core 0", 0.0)]);
    }

    #[test]
    fn one_processor_is_checked_without_moves() {
        assert_eq!(scenarios("t", 1, false).len(), 2);
        assert_eq!(scenarios("t", 2, false).len(), 5);
    }
}
