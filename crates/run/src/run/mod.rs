// SPDX-License-Identifier: Apache-2.0
//! `whimbrel run`: checks everything, starts the helper, stays with the run, and sums it up.

mod accompany;
mod board;
mod callbacks;
mod complaints;
mod diagnose;
mod events;
mod exclusive;
mod floorplan;
mod guests;
mod helper;
mod latency;
mod moves;
mod place;
mod record;
mod requests;
mod results;
mod session;
mod show;
mod stalls;
mod summary;
mod throughput;
mod verdict;
mod view;
mod watchdog;
mod watchers;

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::SystemTime;

use miette::Report;
use signal_hook::consts::SIGTSTP;
use signal_hook::iterator::Signals;
use whimbrel_model::{App, Plan, Problem};
use whimbrel_text::{cure, lacks};

pub use accompany::accompany;
pub use callbacks::Callbacks;
pub use moves::reason;
pub use summary::Summary;
pub use throughput::ratio;
pub use view::{done, loads, received};

use crate::args::{CommonArgs, RunArgs};
use crate::control;
use crate::failure::{self, Answer, Failure, Outcome, say};
use crate::helpers;
use crate::load::{Loaded, Runner, load, utf8, without_cycles};
use crate::output::{print, print_json};
use crate::process::Process;
use crate::protocol::{Simulated, Started};
use crate::rundir::{Base, JOURNAL, RunDir, RunRecord, SOCKET, reclaim};
use crate::signals;
use exclusive::Exclusive;
use helper::{Helper, Input};
use record::Prepared;
use results::Results;
use session::{Ending, Opening, Session, Timing};
use view::View;

/// Runs an application.
///
/// # Errors
/// Bad input, a run that failed, or a kernel or helper that was killed.
pub fn run(args: &RunArgs) -> Outcome {
    execute(&args.common, load(args)?, |plan| plan)
}

/// The same for a run that was loaded already, on real cores or in virtual time.
///
/// # Errors
/// As [`run`].
pub fn execute(
    args: &CommonArgs,
    mut loaded: Loaded,
    complete: impl FnOnce(Plan) -> Plan,
) -> Outcome {
    let launcher = match loaded.options.runner() {
        Runner::Helper(name) => Some(helpers::find(name)?),
        Runner::Board(_) => None,
    };
    let cores = loaded.options.cpus.len();
    let folder = args.record.as_deref().map(|path| Prepared::new(path, cores)).transpose()?;
    let run = open_run(&loaded.app)?;
    let recorded = folder.as_ref().map(Prepared::path);
    let journal = utf8(&run.path().join(JOURNAL))?;
    let mut plan = complete(loaded.plan(recorded.map(utf8).transpose()?, journal));
    plan.restarts = loaded.options.restart.unwrap_or(0);
    plan.clients = loaded.app.has_clients().then(|| utf8(run.path())).transpose()?;

    let (sender, inputs) = mpsc::channel();
    listen(&run, &sender)?;
    let occupied = loaded.options.exclusive.then(|| Exclusive::begin(&loaded)).transpose()?;
    let (helper, opening) = begin(&loaded, launcher.as_deref(), &plan, &run, args.quiet, sender)?;
    let occupied = occupied.map(|mut occupied| occupied.admit(helper.process()).map(|()| occupied));
    let occupied = occupied.transpose()?;

    let mut record = first_record(&loaded, &helper);
    write_record(&run, &record);
    let on_start = |started: &Started| {
        let is_first = record.kernels.is_empty();
        record.kernels = started.processes();
        write_record(&run, &record);
        if !args.quiet && is_first {
            let name = run.name();
            say(&format!("running as {name}: whimbrel migrate {name} TASK CORE moves a task"));
        }
    };
    let schedule = std::mem::take(&mut loaded.schedule);
    let view = View::new(&loaded.app, args.quiet);
    // That of a simulation is in virtual time, and among its commands.
    let after = args.duration.filter(|_| loaded.options.simulation.is_none());
    let ending = Ending { after, at_once: !loaded.app.drains() };
    let timing = Timing { schedule, ending, frame_rate: loaded.options.frame_rate };
    let session = Session::new(helper, inputs, timing, view, on_start);
    let results = session.run(opening);
    let name = run.name().to_owned();
    drop(run);
    drop(occupied);
    let folder = folder.filter(|_| results.began()).map(Prepared::keep);
    sum_up(args, loaded, &name, folder.as_deref(), results)
}

/// Starts who runs it, and says what that is to be told first.
fn begin(
    loaded: &Loaded,
    launcher: Option<&Path>,
    plan: &Plan,
    run: &RunDir,
    quiet: bool,
    inputs: Sender<Input>,
) -> Result<(Helper, Opening), Failure> {
    if let Some(target) = &loaded.board {
        let helper = board::start(loaded, target, plan, run, quiet, inputs)?;
        return Ok((helper, board::opening(target, plan)));
    }
    let line = guests::completed(loaded, plan, run, quiet)?.line();
    let launcher = launcher.unwrap_or(Path::new(""));
    let helper = Helper::start(launcher, loaded, inputs)?;
    Ok((helper, Opening { line, ..Opening::default() }))
}

/// Keeps and shows the result of a run that is over, and says what went wrong in it.
fn sum_up(
    args: &CommonArgs,
    mut loaded: Loaded,
    name: &str,
    folder: Option<&Path>,
    results: Results,
) -> Outcome {
    let began = results.began();
    if let (Some(took), false) = (&results.simulated, args.quiet) {
        say(&speed(&results, took));
    }
    let (summary, reports) = summed(&mut loaded, name, folder, results);
    let is_simulated = loaded.options.simulation.is_some() && reports.is_empty();
    if let Some(warning) = without_cycles(&loaded.app).filter(|_| is_simulated) {
        failure::show(&loaded.source.report(warning));
    }
    let shown = show(args, &loaded.app, &summary, began);
    if !reports.is_empty() {
        // Even when nobody reads the result: the status is for whoever started the run.
        return Err(Failure::Reports(reports));
    }
    if !began {
        say("stopped before it started");
    }
    shown.map(|()| Answer::Yes)
}

/// The summary of a run that is over, kept in its folder if it has one, and what went wrong.
fn summed(
    loaded: &mut Loaded,
    name: &str,
    folder: Option<&Path>,
    mut results: Results,
) -> (Summary, Vec<Report>) {
    results.sort();
    let Loaded { app, source, path, module, options, experiment, .. } = loaded;
    let mut reports = verdict::reports(app, source, &results, options.runner());
    results.settle(app.drains());
    let ok = reports.is_empty();
    // A simulation's result is the same wherever it is made.
    let (name, module) = match options.simulation {
        Some(_) => (app.name.as_str(), Path::new(module).file_name().and_then(OsStr::to_str)),
        None => (name, Some(module.as_str())),
    };
    let origin = [name, path, module.unwrap_or_default()];
    let summary = Summary::new(app, origin, options.clone(), results, ok);
    if let Some(folder) = folder {
        let experiment = experiment.take().map_or(Ok(()), |it| it.write(folder));
        let written = experiment.and_then(|()| record::finish(folder, &summary));
        reports.extend(written.err().map(Report::new));
    }
    (summary, reports)
}

/// How fast a simulation was, in words.
fn speed(results: &Results, took: &Simulated) -> String {
    let start_ns = results.started.as_ref().map_or(0, |started| started.start_ns);
    let end_ns = results.totals().map_or(0, |status| status.time_ns);
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let (time, wall, events) = (
        end_ns.saturating_sub(start_ns) as f64 / 1e9,
        took.wall_ns.max(1) as f64 / 1e9,
        took.events as f64 / 1e6,
    );
    let per_s = events / wall;
    let steps = match took.steps {
        0 => String::new(),
        steps => format!(", {steps} steps without a switch"),
    };
    format!(
        "{time:.3} s of virtual time in {wall:.3} s: {events:.3} million events, {per_s:.2} \
         million a second{steps}"
    )
}

fn show(args: &CommonArgs, app: &App, summary: &Summary, began: bool) -> Result<(), Failure> {
    match (args.json, began) {
        (true, _) => print_json(summary),
        (false, true) if args.brief => print(&show::headline(app, summary)),
        (false, true) => print(&show::tables(app, summary)),
        (false, false) => Ok(()),
    }
}

/// Takes back what dead runs left, then makes the directory of this one.
fn open_run(app: &App) -> Result<RunDir, Failure> {
    let base = Base::open()?;
    let left = reclaim(&base).map_err(|error| {
        Problem::new(format!("what a dead run left cannot be reclaimed: {error}"))
            .help("run `whimbrel clean`: it tries again")
    })?;
    for dead in left {
        say(&format!("reclaimed what the run {} left when it was killed", dead.run));
    }
    Ok(RunDir::create(&base, &app.name)?)
}

/// Starts to listen to signals and to other terminals.
fn listen(run: &RunDir, inputs: &Sender<Input>) -> Result<(), Failure> {
    let heeded = signals::ending().into_iter().chain(signals::suspending());
    let untaken = |error: io::Error| {
        Problem::new(format!("signals cannot be taken: {error}")).help(cure(&error))
    };
    let mut signals = Signals::new(heeded.collect::<Vec<_>>()).map_err(untaken)?;
    let to_session = inputs.clone();
    let takes = thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            let input = if signal == SIGTSTP { Input::Suspend } else { Input::Signal };
            if to_session.send(input).is_err() {
                return;
            }
        }
    });
    takes.map_err(untaken)?;

    let path = run.path().join(SOCKET);
    let to_session = inputs.clone();
    control::serve(&path, move |ask| to_session.send(Input::Ask(ask)).is_ok()).map_err(
        |error| {
            let problem =
                Problem::new(format!("the socket {} cannot be made: {error}", path.display()));
            problem.help(lacks(&error).unwrap_or(
                "set XDG_RUNTIME_DIR to a shorter path: a socket's path has at most 107 bytes",
            ))
        },
    )?;
    Ok(())
}

/// What `ps` and `clean` learn of a run.
fn first_record(loaded: &Loaded, helper: &Helper) -> RunRecord {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RunRecord {
        command: Process::this().unwrap_or(Process { pid: std::process::id(), start: 0 }),
        app: loaded.app.name.clone(),
        started_s: now.as_secs(),
        cpus: loaded.options.cpus.clone(),
        helper: helper.process(),
        kernels: Vec::new(),
    }
}

fn write_record(run: &RunDir, record: &RunRecord) {
    if let Err(error) = run.write(record) {
        say(&format!("run.json cannot be written, so `ps` and `clean` know less: {error}"));
    }
}
