// SPDX-License-Identifier: Apache-2.0
//! How far off a simulation is: the same runs on real processors and on a platform, side by side.
//! In turns with these the machine is measured again ([`now`](super::now)).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde::Serialize;
use whimbrel_model::{App, CpuList, Direction, Problem};
use whimbrel_run::benchmark::median;
use whimbrel_run::failure::{Answer, Failure, Outcome, say};
use whimbrel_run::load::{application, no_task, simulated_file, simulated_platform};
use whimbrel_run::output::{Column, columns, print, print_json};
use whimbrel_text::cure;

use super::busy::{BUSY_PERCENT, Busy, Reading};
use super::figures::{Figure, LIMIT_PERCENT, Read, Verdict, compare, confidence};
use super::measured::{self, Move, Run};
use super::now::{Change, Remeasurement};
use super::renew::is_ours;
use super::{RUNS, RUNS_QUICK, settings};
use crate::args::CalibrateArgs;

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
struct CheckReport {
    /// Whether the machine was busy in any of the scenarios.
    busy: bool,
    /// How sure the intervals of the figures are.
    confidence: f64,
    machine: Vec<During>,
    /// What the platform's file has, and what it takes now; empty: it was not measured again.
    since: Vec<Change>,
    figures: Vec<Figure>,
}

/// A way to run the application.
struct Scenario {
    /// How figures of it are called.
    name: &'static str,
    /// Its cores.
    cores: usize,
    /// Options of `run` and `sim` alike.
    options: Vec<OsString>,
    /// For how long; `None`: until it ends.
    seconds: Option<u32>,
    /// In virtual time so many times as long: figures that chance has a part in.
    longer: u32,
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
    let app = application(&[path.to_owned()], &args.set)?.app;
    let task = task(&app, args)?;
    enough_cores(args, cpus)?;
    let cpus = &different(cpus)?;
    let folder = tempfile::tempdir().map_err(|error| {
        Problem::new(format!("no folder for recorded runs: {error}")).help(cure(&error))
    })?;
    let checked = Checked { app: &app, path, args, folder: folder.path() };
    let scenarios = scenarios(&app, &task, cpus.0.len(), args.quick);
    let file = simulated_file(&args.platform)?;
    let text = fs::read_to_string(&file).unwrap_or_default();
    let again = is_ours(&text).then(|| Remeasurement::new(&app, path, args, cpus));
    let mut again = again.transpose()?;
    let real = checked.real(&scenarios, cpus, again.as_mut())?;
    let (platform, since) = match &again {
        Some(again) => again.platform(&text, folder.path())?,
        None => (file, Vec::new()),
    };
    let (mut figures, mut machine) = (Vec::new(), Vec::new());
    for (scenario, real) in scenarios.iter().zip(real) {
        let (real, during) = quiet(scenario.name, real);
        let simulated = checked.simulate(scenario, &platform)?;
        let read = |run: &Run| (scenario.figures)(&app, run);
        let runs: Vec<_> = real.iter().map(read).collect();
        figures.extend(compare(scenario.name, &runs, &read(&simulated), during.busy.busy));
        machine.push(during);
    }
    let runs = machine.iter().map(|during| during.taken()).min().unwrap_or(0);
    let busy = machine.iter().any(|during| during.busy.busy);
    show(args, &CheckReport { busy, confidence: confidence(runs), machine, since, figures })
}

impl During {
    /// How many runs its figures are the medians of.
    fn taken(&self) -> usize {
        if self.busy.busy { self.runs } else { self.quiet_runs }
    }
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

/// One processor, or two that differ: on one that is named twice, what is simulated as two cores
/// would be run on one.
fn different(cpus: &CpuList) -> Result<CpuList, Problem> {
    let [first, ..] = cpus.0[..] else { return Ok(cpus.clone()) };
    if cpus.0.len() == 1 {
        return Ok(cpus.clone());
    }
    let second = cpus.0.iter().copied().find(|cpu| *cpu != first);
    second.map(|second| CpuList(vec![first, second])).ok_or_else(|| {
        let message =
            format!("--cores: a check of two cores needs two processors, and {cpus} is one");
        Problem::new(message).help("name two that differ, or one alone")
    })
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
        mut again: Option<&mut Remeasurement<'_>>,
    ) -> Result<Vec<Vec<(Run, Busy)>>, Failure> {
        let mut all: Vec<_> = scenarios.iter().map(|_| Vec::new()).collect();
        for turn in 1..=if self.args.quick { RUNS_QUICK } else { RUNS } {
            if let Some(again) = &mut again {
                again.turn(self.folder)?;
            }
            for (scenario, runs) in scenarios.iter().zip(&mut all) {
                say(&format!("{} on real cores: turn {turn}", scenario.name));
                let list = CpuList(cpus.0[..scenario.cores].to_vec());
                let of_run = ["--cores".into(), OsString::from(list.to_string())];
                let before = Reading::take(&list)?;
                let run = self.measure("run", scenario, scenario.seconds, &of_run)?;
                runs.push((run, before.until_now(&list)?));
            }
        }
        Ok(all)
    }

    fn simulate(&self, scenario: &Scenario, platform: &Path) -> Result<Run, Problem> {
        let cores = scenario.cores.to_string();
        let words = ["--compute", "model", "--core-count", &cores, "--platform"];
        let mut own: Vec<OsString> = words.iter().map(OsString::from).collect();
        own.push(platform.into());
        let seconds = scenario.seconds.map(|seconds| seconds * scenario.longer);
        self.measure("sim", scenario, seconds, &own)
    }

    fn measure(
        &self,
        verb: &str,
        scenario: &Scenario,
        seconds: Option<u32>,
        own: &[OsString],
    ) -> Result<Run, Problem> {
        let head = [verb.into(), self.path.into()];
        let mut all = [&head[..], own, &scenario.options, &settings(&self.args.set)].concat();
        all.extend(seconds.iter().flat_map(|s| ["--duration".into(), format!("{s}s").into()]));
        if !scenario.recorded {
            return measured::run(&all);
        }
        let place = tempfile::tempdir_in(self.folder).map_err(|error| {
            Problem::new(format!("no folder for a recorded run: {error}")).help(cure(&error))
        })?;
        measured::recorded(self.app, &all, &place.path().join("run"))
    }
}

/// The task that is moved.
fn task(app: &App, args: &CalibrateArgs) -> Result<String, Failure> {
    let has = |task, direction| {
        app.ports.iter().any(|port| port.task == task && port.direction == direction)
    };
    let number = match &args.task {
        Some(name) => app.find_task(&name.name, name.index).ok_or_else(|| {
            Problem::new(format!("--task: {} has no task {name}", app.name))
                .help(no_task(app, name))
        })?,
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

/// How often a task is asked to move, each way, and by how much of a frame that is no multiple of
/// one: so far apart that requests come at every moment of a frame alike, by the golden section.
const SHUTTLE_MS: f64 = 53.0;
const OF_A_FRAME: f64 = 0.309_017;

/// Also if it has no frames.
fn shuttle_ms(app: &App) -> f64 {
    let Some(rate) = app.frame_rate.filter(|rate| *rate > 0.0) else { return SHUTTLE_MS };
    let frame_ms = 1e3 / rate;
    frame_ms * ((SHUTTLE_MS / frame_ms).floor().max(1.0) + OF_A_FRAME)
}

fn scenarios(app: &App, task: &str, cores: usize, quick: bool) -> Vec<Scenario> {
    let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
    let seconds = Some(if quick { 1 } else { 4 });
    let apart = words(&["--move", &format!("{task}=1@1us")]);
    let fast = words(&["--fast"]);
    let to_and_fro = words(&["--shuttle", &format!("{task}=1,0@{:.3}ms", shuttle_ms(app))]);
    let of = |name, cores, options, seconds, recorded, figures| {
        let longer = 1;
        Scenario { name, cores, options, seconds, longer, recorded, figures }
    };
    let fast_apart = [&fast[..], &apart].concat();
    let all = [
        of("as fast as it goes, one core", 1, fast, None, false, throughput),
        of("as fast as it goes, two cores", 2, fast_apart, None, false, throughput),
        // What is wrong here already is not of waking others.
        of("at its own rate, one core", 1, Vec::new(), seconds, true, usual),
        of("at its own rate, two cores", 2, apart, seconds, true, paced),
        Scenario { longer: 10, ..of("back and forth", 2, to_and_fro, seconds, false, phases) },
    ];
    all.into_iter().filter(|scenario| scenario.cores <= cores).collect()
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

/// The answer is no if the machine was busy.
fn show(args: &CalibrateArgs, found: &CheckReport) -> Outcome {
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
    print(&listing(found))?;
    Ok(answer)
}

/// All of it for people.
fn listing(found: &CheckReport) -> String {
    let mut text = figures(found) + &machine(found);
    if !found.since.is_empty() {
        text += &columns(&[
            Column::of("since the platform was written", &found.since, |change| {
                change.what.clone()
            }),
            Column::of(">then, µs", &found.since, |change| format!("{:.3}", change.then_us)),
            Column::of(">now, µs", &found.since, |change| format!("{:.3}", change.now_us)),
            Column::of(">change", &found.since, |change| {
                let part = (change.now_us / change.then_us - 1.0) * 100.0;
                if part.is_finite() { format!("{part:+.1} %") } else { "-".into() }
            }),
        ]);
    }
    text + &summary(found)
}

/// How many are how far off.
fn summary(found: &CheckReport) -> String {
    let of = |verdict| found.figures.iter().filter(move |figure| figure.verdict == Some(verdict));
    let told = found.figures.iter().filter(|figure| figure.verdict.is_some()).count();
    if told == 0 {
        return String::new();
    }
    let mut text = format!(
        "{} of {told} figures are within {LIMIT_PERCENT} %; {} more are where the runs leave it \
         open ({:.0} % intervals of their medians)\n",
        of(Verdict::Within).count(),
        of(Verdict::Open).count(),
        found.confidence * 100.0
    );
    for figure in of(Verdict::Off) {
        text += &format!("off: {}\n", figure.what);
    }
    text
}

fn figures(found: &CheckReport) -> String {
    let figures = &found.figures;
    let percent =
        |value: Option<f64>| value.map_or("-".into(), |percent| format!("{percent:.1} %"));
    let number =
        |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") };
    let interval = |[low, high]: [f64; 2]| format!("{} to {}", number(low), number(high));
    let verdict = |verdict: Option<Verdict>| match verdict {
        Some(Verdict::Within) => "",
        Some(Verdict::Open) => "open",
        Some(Verdict::Off) => "off",
        None => "-",
    };
    columns(&[
        Column::of("what", figures, |figure| figure.what.clone()),
        Column::of(">real", figures, |figure| number(figure.real)),
        Column::of(">simulated", figures, |figure| number(figure.simulated)),
        Column::of("unit", figures, |figure| figure.unit.into()),
        Column::of(">interval", figures, |figure| interval(figure.interval)),
        Column::of(">spread", figures, |figure| percent(figure.spread_percent)),
        Column::of(">error", figures, |figure| {
            figure.error_percent.map_or("-".into(), |percent| format!("{percent:+.1} %"))
        }),
        Column::of("", figures, |figure| verdict(figure.verdict).into()),
    ])
}

fn machine(found: &CheckReport) -> String {
    let machine = &found.machine;
    let part = |value: f64| format!("{value:.1} %");
    columns(&[
        Column::of("machine during", machine, |during| during.scenario.into()),
        Column::of(">quiet runs", machine, |d| format!("{} of {}", d.quiet_runs, d.runs)),
        Column::of(">others", machine, |during| part(during.busy.others_percent)),
        Column::of(">steal", machine, |during| part(during.busy.steal_percent)),
        Column::of(">involuntary switches/s", machine, |during| {
            format!("{:.0}", during.busy.involuntary_per_s)
        }),
    ])
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
        assert_eq!(scenarios(&app(), "t", 1, false).len(), 2);
        assert_eq!(scenarios(&app(), "t", 2, false).len(), 5);
    }

    #[test]
    fn moves_are_asked_for_at_every_moment_of_a_frame_alike() {
        let mut app = app();
        app.frame_rate = Some(50.0);
        let every_ms = shuttle_ms(&app);
        for rounds in 1..=2 {
            let mut moments: Vec<f64> =
                (0..30).map(|n| f64::from(n * rounds) * every_ms % 20.0).collect();
            moments.sort_unstable_by(f64::total_cmp);
            let gaps = moments.windows(2).map(|two| two[1] - two[0]);
            // Thirty at most five thirtieths of a frame apart.
            assert!(gaps.fold(0.0, f64::max) < 20.0 / 6.0, "{moments:?}");
        }
        assert!((40.0..60.0).contains(&every_ms), "{every_ms}");
        app.frame_rate = None;
        assert_eq!(shuttle_ms(&app), SHUTTLE_MS);
    }

    #[test]
    fn the_last_lines_say_how_many_are_how_far_off() {
        let figure = |what: &str, verdict| Figure {
            what: what.into(),
            unit: "µs",
            real: 1.0,
            simulated: 2.0,
            interval: [0.5, 3.0],
            spread_percent: None,
            error_percent: Some(100.0),
            verdict,
        };
        let found = |figures| CheckReport {
            busy: false,
            confidence: 0.961,
            machine: Vec::new(),
            since: vec![Change { what: "lpf".into(), then_us: 2.0, now_us: 3.0 }],
            figures,
        };
        let (within, open, off) = (Verdict::Within, Verdict::Open, Verdict::Off);
        let text = listing(&found(vec![
            figure("a", Some(within)),
            figure("b", Some(open)),
            figure("c", Some(off)),
            figure("d", None),
        ]));
        assert!(text.contains("1 of 3 figures are within 15 %; 1 more are where"), "{text}");
        assert!(text.contains("(96 % intervals of their medians)\noff: c\n"), "{text}");
        assert!(text.contains("0.500 to 3.000") && text.contains("+50.0 %"), "{text}");
        assert!(!listing(&found(vec![figure("d", None)])).contains("figures are within"));
    }
}
