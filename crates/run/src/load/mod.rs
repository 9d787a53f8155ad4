// SPDX-License-Identifier: Apache-2.0
//! Everything that is decided before a process is started: the application, its cores, its moves.
//! What `run`, `sim`, `bench`, `calibrate` and `explore` have in common; it uses none of them.

pub(crate) mod board;
pub mod experiment;
mod groups;
mod guests;
mod hardware;
mod moving;
mod options;
mod schedule;
pub(crate) mod sim;

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Severity;
use rustix::thread::{CpuSet, sched_getaffinity};
use whimbrel_model::{
    App, CoreName, Cores, CpuList, Kernels, Manifest, Mapping, Moving, Pacing, Period, Plan,
    PlanOptions, Problem, Setting, Source, Task, check_cores, check_kinds, check_stacks, plan,
};

pub use crate::board::boards;
pub use board::fit;
pub use guests::GuestBoards;
pub use hardware::{
    Hardware, host_file, platform, platforms, simulated_file, simulated_platform, sysfs,
};
pub use options::{Options, Polling, Runner, Simulation};
pub use schedule::{Due, MOVE_TIMEOUT_MS, Schedule, no_task};
pub use sim::{check_times, measured_work};

use crate::args::values::Spin;
use crate::args::{LayoutArgs, RunArgs};
use crate::failure::Failure;
use crate::files::{APPLICATION, Given, named, translated};
use crate::helpers;
use experiment::Experiment;
use whimbrel_text::option::{CORES, FAST, FRAME_RATE, Opt};

/// How long a target may take to attach a task before its source takes it back.
const OFFER: Duration = Duration::from_millis(100);

/// The smallest stack that the kernels of Linux and of the simulator take.
const STACK_LEAST: u64 = 16 << 10;

/// An application, and where it is from.
#[derive(Debug)]
pub struct Application {
    /// What it is.
    pub app: App,
    /// Its file.
    pub source: Source,
    /// The file's absolute path.
    pub path: String,
    /// The folder of the file.
    pub folder: PathBuf,
}

/// A run that makes sense.
#[derive(Debug)]
pub struct Loaded {
    /// The application.
    pub app: App,
    /// Its file.
    pub source: Source,
    /// Its absolute path.
    pub path: String,
    /// The folder of the file.
    pub folder: PathBuf,
    /// Its module.
    pub module: String,
    /// Which frame rate it has.
    pub pacing: Pacing,
    /// How its tasks move, and who decides.
    pub moving: Moving,
    /// The kind of each core; those that are missing are this machine's.
    pub kinds: Vec<String>,
    /// What its cores are.
    pub hardware: Hardware,
    /// What the run was told.
    pub options: Options,
    /// The moves it makes by itself.
    pub schedule: Schedule,
    /// The board that it runs on; `None`: the cores are this machine's, or simulated.
    pub board: Option<board::Target>,
    /// The boards of which some of the cores are; of a run on this machine.
    pub guests: GuestBoards,
    /// How it is repeated; of a simulation that is recorded.
    pub experiment: Option<Experiment>,
}

impl Loaded {
    /// The plan of it. `record`: a folder for the event streams; `journal`: a file for what
    /// frequencies were.
    pub fn plan(&self, record: Option<String>, journal: String) -> Plan {
        let options = PlanOptions {
            cpus: self.options.cpus.iter().map(CoreName::number).collect(),
            guests: self.guests.guests.planned(),
            guest_of: self.guests.guests.of_core.clone(),
            module: self.module.clone(),
            spin_ns: self.options.polling.spin_ns,
            spin_adapts: self.options.polling.spin_adapts,
            offer_ns: nanoseconds(OFFER),
            record,
            pacing: self.pacing,
            moving: self.moving.clone(),
            cores: self.hardware.cores.clone(),
            frequency: self.hardware.frequency,
            kinds: self.kinds.clone(),
            seed: self.options.simulation.as_ref().map_or(0, |simulation| simulation.seed),
            journal,
        };
        plan(&self.app, &options)
    }
}

/// Reads and checks everything that `run` was given.
///
/// # Errors
/// Every kind of bad input but those that only the helper can see.
pub fn load(args: &RunArgs) -> Result<Loaded, Failure> {
    if let Some(board) = &args.board {
        return board::load(args, board);
    }
    let layout = &args.common.layout;
    let read = application(&layout.app, &layout.set)?;
    let (all, hardware) = guests::cores_and_hardware(args, &read)?;
    let Application { mut app, source, path, folder } = read;
    let n_cores = all.names.len();
    let pacing = pacing(layout, &app)?;
    let kinds = all.with_kinds(kinds(&args.kinds, &app, n_cores)?, args.kinds.len());
    let cores = Cores { count: n_cores, kinds: &kinds, hz: &hardware.hz() };
    map(layout.map.as_ref(), &mut app, &source, &cores, pacing)?;
    app.check_only(Kernels::Linux)
        .and_then(|()| check_cores(&app, n_cores))
        .and_then(|()| check_kinds(&app, &kinds))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    let schedule = Schedule::new(&args.common, &app, n_cores)?;
    let checked = schedule.check_kinds(&app, &kinds);
    checked.map_err(|problem| Failure::Reports(vec![source.report(problem)]))?;
    let module = helpers::find_module(&app, &folder, &source)?;
    let points = hardware.points_hz(n_cores);
    let (moving, moving_options) =
        moving::load(&layout.moving, &mut app, &source, Some(&module), &points)?;
    all.check_coordinator(moving.coordinator)?;
    all.boards
        .guests
        .check(&app, &moving.rows, &kinds)
        .and_then(|()| schedule.check_guests(&app, &all.boards.guests).map_err(|it| vec![it]))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    let options = Options {
        cpus: all.names,
        platform: hardware.platform.clone(),
        frequency: hardware.frequency.word(),
        frame_rate: pacing.frame_rate(&app),
        fast: layout.fast,
        map: layout.map.as_ref().map(ToString::to_string),
        duration_ns: args.common.duration.map(nanoseconds),
        polling: polling(args.spin),
        exclusive: args.exclusive,
        restart: args.restart,
        moving: moving_options,
        simulation: None,
        board: None,
    };
    Ok(Loaded {
        module: utf8(&module)?,
        app,
        source,
        path,
        folder,
        pacing,
        moving,
        kinds,
        hardware,
        options,
        schedule,
        board: None,
        guests: all.boards,
        experiment: None,
    })
}

/// How long idle kernels poll; `None`: for ever.
fn polling(spin: Spin) -> Polling {
    let spin_ns = match spin {
        Spin::Auto => Some(nanoseconds(Spin::MOST)),
        Spin::Forever => None,
        Spin::For(time) => Some(nanoseconds(time)),
    };
    Polling { spin_ns, spin_adapts: spin == Spin::Auto }
}

/// Has tasks start where the command line says.
///
/// # Errors
/// As [`App::map`].
fn map(
    mapping: Option<&Mapping>,
    app: &mut App,
    source: &Source,
    cores: &Cores<'_>,
    pacing: Pacing,
) -> Result<(), Failure> {
    let mapped = mapping.map_or(Ok(()), |mapping| app.map(mapping, cores, pacing));
    mapped.map_err(|problem| Failure::Reports(vec![source.report(problem)]))
}

/// What the numbers of a simulation hide: tasks whose cycles are not known compute in no time.
pub fn without_cycles(app: &App) -> Option<Problem> {
    let takes_none = |task: &Task| task.work.is_none() && task.script.is_none();
    let first = app.tasks.first().filter(|_| app.tasks.iter().all(takes_none))?;
    let problem = Problem::new("no task has `cycles`: in virtual time they all compute in no time");
    let help = "add `cycles` to each [[task]] (docs/app-toml.md), or measure them with `whimbrel \
                calibrate --app`";
    let problem = problem.at(first.span.clone(), "the first one").help(help);
    Some(Problem { severity: Severity::Warning, ..problem })
}

/// A path as text.
///
/// # Errors
/// It is not UTF-8.
pub fn utf8(path: &Path) -> Result<String, Problem> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Problem::new(format!("the path {} is not UTF-8", path.display())).help("rename it")
    })
}

/// A time in nanoseconds, the longest there is if it is longer.
pub fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Reads an application, with some of its parameters set. Files of other tools become the text of
/// one app.toml.
///
/// # Errors
/// A file cannot be read, or is wrong.
pub fn application(paths: &[PathBuf], set: &[Setting]) -> Result<Application, Failure> {
    let read = application_for_any(paths, set)?;
    check_stacks(&read.app, STACK_LEAST)
        .map_err(|problems| Failure::in_file(&read.source, problems))?;
    Ok(read)
}

/// The same for kernels that may take smaller stacks.
fn application_for_any(paths: &[PathBuf], set: &[Setting]) -> Result<Application, Failure> {
    let source = translated(&Given::read_all(paths, APPLICATION)?)?;
    // Of several the first has the folder, which files of other tools have no use for.
    let path = named(&paths[0]);
    let path = path.canonicalize().unwrap_or(path);
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let path = utf8(&path)?;
    let here = env::current_dir().unwrap_or_default();
    let app = Manifest::parse(source.text())
        .and_then(|manifest| App::build(&manifest, set, &folder, &here))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    Ok(Application { app, source, path, folder })
}

/// The processors that this process may use.
///
/// # Errors
/// The system does not tell.
pub fn usable_cpus() -> Result<Vec<u32>, Problem> {
    let set = sched_getaffinity(None).map_err(|error| {
        Problem::new(format!("the processors of this process are not known: {error}"))
            .help("see `whimbrel doctor`")
    })?;
    let usable = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    Ok(usable.filter_map(|cpu| u32::try_from(cpu).ok()).collect())
}

/// The processors that are `wanted`; otherwise all that this process may use.
///
/// # Errors
/// It may not use one of them.
pub fn cpus(wanted: Option<&CpuList>) -> Result<Vec<u32>, Problem> {
    let usable = usable_cpus()?;
    let Some(wanted) = wanted else { return Ok(usable) };
    match wanted.0.iter().find(|cpu| !usable.contains(cpu)) {
        Some(cpu) => Err(unusable(&CORES.to_string(), *cpu, usable)),
        None => Ok(wanted.0.clone()),
    }
}

/// What is wrong with a processor that is not among those that this process may use.
fn unusable(by: &str, cpu: u32, usable: Vec<u32>) -> Problem {
    let problem = Problem::new(format!("{by}: processor {cpu} cannot be used"));
    problem.help(format!("name only processors that this process may use: {}", CpuList(usable)))
}

/// Which frame rate the application has.
///
/// # Errors
/// One that has no effect.
pub fn pacing(args: &LayoutArgs, app: &App) -> Result<Pacing, Problem> {
    match args.frame_rate {
        Some(_) if args.fast => Err(both(FRAME_RATE)),
        None if args.fast => Ok(Pacing::Fast),
        None => Ok(Pacing::Application),
        // Its own rate it has anyway.
        Some(rate) if app.frame_rate == Some(rate) => Ok(Pacing::Application),
        Some(_) if app.tasks.iter().all(|task| task.period != Period::Frame) => {
            let message = format!("{FRAME_RATE} has no effect: no task is released once per frame");
            Err(Problem::new(message).help("leave it out, or give a task `periodic = true`"))
        }
        Some(rate) => Ok(Pacing::Rate(rate)),
    }
}

/// What is wrong where a rate is given to a run as fast as it goes.
pub(crate) fn both(rate: Opt) -> Problem {
    Problem::new(format!("{rate} has no effect with {FAST}")).help("leave one of the two out")
}

/// Of each core: what the command line says, or the application.
fn kinds(wanted: &[String], app: &App, cores: usize) -> Result<Vec<String>, Problem> {
    let said = if wanted.is_empty() { &app.kinds } else { wanted };
    let Some(last) = said.last() else { return Ok(Vec::new()) };
    if wanted.len() > cores {
        let message = format!("--kinds has {} kinds for {cores} cores", wanted.len());
        return Err(
            Problem::new(message).help("name one for each, or more processors with --cores")
        );
    }
    let mut kinds: Vec<String> = said.iter().take(cores).cloned().collect();
    kinds.resize(cores, last.clone());
    Ok(kinds)
}
