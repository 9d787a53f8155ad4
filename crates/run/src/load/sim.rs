// SPDX-License-Identifier: Apache-2.0
//! Everything that is decided before a simulation is started.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use whimbrel_hardware::{Description, Memory, MemoryKind};
use whimbrel_model::{
    App, At, Core, CoreName, Cores, Cycles, Frequency, Kernels, Moving, POINT_OFF, Pacing, Problem,
    Source, TableRow, Work, check_cores, check_kinds, millihz,
};
use whimbrel_text::option::{CORE_COUNT, MAP, Opt, POINTS};

use super::{
    Application, GuestBoards, Hardware, Loaded, Options, Polling, Schedule, Simulation,
    application, groups, map, moving, nanoseconds, pacing, simulated_platform, utf8,
};
use crate::args::values::CorePoints;
use crate::args::{LayoutArgs, PLATFORM, SimArgs};
use crate::failure::Failure;
use crate::files::named;
use crate::helpers;

/// The longest time that is taken: virtual time counts picoseconds in 64 bits, 213 days of them.
const DAYS_MOST: u64 = 200;

/// A simulation that makes sense.
#[derive(Debug)]
pub struct Simulated {
    /// What it has in common with a run on real cores.
    pub run: Loaded,
    /// The hardware, as JSON.
    pub platform: String,
    /// What is to happen at a time.
    pub commands: Vec<At>,
}

/// Reads and checks everything that `sim` was given.
///
/// # Errors
/// Every kind of bad input but those that only the helper can see.
pub fn load(args: &SimArgs) -> Result<Simulated, Failure> {
    let layout = &args.common.layout;
    let Application { mut app, source, folder, .. } = application(&layout.app, &layout.set)?;

    let (name, cores, mut description) = hardware(args)?;
    measured_work(&mut app, &description);
    let pacing = pacing(layout, &app)?;
    let mut hardware = Hardware { platform: name, cores, frequency: Frequency::None };
    lay_out(args, &mut app, &source, (&hardware, &description), pacing)?;
    let numbers = begin_at(args.points.as_ref(), &mut app, &mut hardware, &mut description)?;
    let kinds: Vec<String> = description.cores.iter().map(|core| core.kind.clone()).collect();
    let n = hardware.cores.len();
    app.set_compute(args.compute.unwrap_or(app.compute))
        .and_then(|()| app.check_only(Kernels::Simulator))
        .and_then(|()| check_cores(&app, n))
        .and_then(|()| check_kinds(&app, &kinds))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    let schedule = Schedule::new(&args.common, &app, n)?;
    schedule.check_kinds(&app, &kinds).map_err(|it| Failure::Reports(vec![source.report(it)]))?;
    let module = helpers::find_module(&app, &folder, &source)?;
    let (mut moving, moving_options) =
        moving::load(&layout.moving, &mut app, &source, Some(&module), &hardware.points_hz(n))?;
    groups::check(&description, &mut app, &moving, &schedule)?;
    begin_by_table(layout, &mut app, &mut moving, &mut hardware.cores, &mut description, pacing);
    let run = Loaded {
        options: Options {
            cpus: numbers.into_iter().map(CoreName::Cpu).collect(),
            platform: hardware.platform.clone(),
            frequency: "simulated",
            frame_rate: pacing.frame_rate(&app),
            fast: layout.fast,
            map: layout.map.as_ref().map(ToString::to_string),
            duration_ns: args.common.duration.map(nanoseconds),
            polling: Polling::NONE,
            exclusive: false,
            restart: None,
            moving: moving_options,
            simulation: Some(Simulation {
                seed: args.seed.unwrap_or_default(),
                compute: app.compute.to_string(),
                thermal: description.thermal.clone(),
                islands: islands(args, &app, &moving, &description, &schedule.commands()),
                groups: description.groups(),
            }),
            board: None,
        },
        // Short, so that the result is the same wherever the files are.
        path: file_name(&named(&layout.app[0])),
        module: utf8(&module)?,
        kinds,
        app,
        source,
        folder,
        pacing,
        moving,
        hardware,
        schedule: Schedule::default(),
        board: None,
        guests: GuestBoards::default(),
        experiment: None,
    };
    Ok(Simulated { run, platform: json(&description)?, commands: schedule.commands() })
}

/// Gives channels and tasks what the options say of them.
fn lay_out(
    args: &SimArgs,
    app: &mut App,
    source: &Source,
    (hardware, description): (&Hardware, &Description),
    pacing: Pacing,
) -> Result<(), Failure> {
    let here = |problem: Problem| Failure::Reports(vec![source.report(problem)]);
    app.set_channels(args.slots.as_ref(), args.channels.as_ref())?;
    let internal = description.internal().map(|memory| memory.bytes);
    app.check_internal(&format!("the platform {}", hardware.platform), internal).map_err(here)?;
    let kinds: Vec<String> = description.cores.iter().map(|core| core.kind.clone()).collect();
    let hz = hardware.hz();
    let cores = Cores { count: hz.len(), kinds: &kinds, hz: &hz };
    map(args.common.layout.map.as_ref(), app, source, &cores, pacing)?;
    app.pin(&args.pins, &cores).map_err(here)
}

/// Begins each core at its point. Those that are off are not there, and the others have numbers
/// without a gap, as an exploration runs a candidate; gives their numbers on the platform.
fn begin_at(
    points: Option<&CorePoints>,
    app: &mut App,
    hardware: &mut Hardware,
    description: &mut Description,
) -> Result<Vec<u32>, Problem> {
    let have = hardware.cores.len();
    let Some(CorePoints(points)) = points else { return Ok((0..).take(have).collect()) };
    if points.len() != have {
        let message = format!("{POINTS}: {} cores for the {have} of the platform", points.len());
        return Err(Problem::new(message).help("write the megahertz of each, or - if it is off"));
    }
    let mut on = Vec::new();
    for (core, hz) in points.iter().enumerate().filter_map(|(core, hz)| Some((core, (*hz)?))) {
        let known = &description.cores[core].points;
        let start = known.iter().position(|point| point.hz == hz).ok_or_else(|| {
            #[expect(clippy::cast_precision_loss, reason = "at most 1e12")]
            let mhz = |hz: u64| format!("{}", hz as f64 / 1e6);
            let all: Vec<String> = known.iter().map(|point| mhz(point.hz)).collect();
            Problem::new(format!("{POINTS}: core {core} has no point of {} MHz", mhz(hz)))
                .help(format!("write one of {} MHz, or - if it is off", all.join(", ")))
        })?;
        on.push((core, start));
    }
    if on.is_empty() {
        let help = "write a frequency for at least one";
        return Err(Problem::new(format!("{POINTS}: every core is off")).help(help));
    }
    let number = |core: u32| {
        let place = on.iter().position(|(known, _)| *known == core as usize);
        place.and_then(|place| u32::try_from(place).ok())
    };
    for place in 0..app.tasks.len() {
        let core = *app.tasks[place].core.get_ref();
        let Some(number_there) = number(core) else {
            let label = app.label(&app.tasks[place].name, app.tasks[place].index);
            let message = format!("{POINTS}: `{label}` starts on core {core}, which is off");
            let help = format!("give that core a frequency, or the task another core with {MAP}");
            return Err(Problem::new(message).help(help));
        };
        *app.tasks[place].core.get_mut() = number_there;
        let shared_by = std::mem::take(&mut app.tasks[place].shared_by);
        app.tasks[place].shared_by = shared_by.into_iter().filter_map(number).collect();
    }
    description.select(&on);
    hardware.cores = description.cores.iter().map(Core::from).collect();
    Ok(on.iter().filter_map(|(core, _)| u32::try_from(*core).ok()).collect())
}

/// The islands of a simulation: see [`App::islands`]. None where they would have hardware, a
/// policy or a command in common.
fn islands(
    args: &SimArgs,
    app: &App,
    moving: &Moving,
    description: &Description,
    commands: &[At],
) -> Vec<u32> {
    let is_shared = |memory: &Memory| memory.kind == MemoryKind::Shared;
    let has_fabric =
        description.interconnect.is_some() && description.memories.iter().any(is_shared);
    let is_one = has_fabric
        || description.thermal.is_some()
        || moving.policy.is_some()
        || !commands.is_empty()
        || !args.frame_rate_changes.is_empty();
    let islands = app.islands(&description.groups()).filter(|_| !is_one);
    islands.filter(|islands| islands.iter().any(|island| *island > 1)).unwrap_or_default()
}

/// Begins as the row says that holds at the start, where a table decides: tasks are on its cores,
/// these at its points, and those that are off are that from the first moment on. A task that does
/// not run on the core of the row stays where it is, as the policy leaves it there. Where `--map`
/// places the tasks, they begin there.
fn begin_by_table(
    layout: &LayoutArgs,
    app: &mut App,
    moving: &mut Moving,
    cores: &mut [Core],
    description: &mut Description,
    pacing: Pacing,
) {
    let decides = moving.policy.as_ref().is_some_and(|policy| policy.name == moving::BY_TABLE)
        && layout.map.is_none();
    let rate = pacing.frame_rate(app).filter(|_| decides);
    let Some(row) = rate.and_then(|rate| TableRow::at(&moving.rows, millihz(rate))) else { return };
    for (task, core) in app.tasks.iter_mut().zip(&row.cores) {
        if task.runs_on(&description.cores[*core as usize].kind) {
            *task.core.get_mut() = *core;
        }
    }
    for (core, point) in row.points.iter().enumerate() {
        description.cores[core].off = *point == POINT_OFF;
        let point = if *point == POINT_OFF { 0 } else { *point as usize };
        (cores[core].start, description.cores[core].start) = (point, point);
    }
    // The coordinator needs a core that is on.
    let is_off = |core: &u32| description.cores[*core as usize].off;
    if is_off(&moving.coordinator) {
        let on = (0..).take(cores.len()).find(|core| !is_off(core));
        moving.coordinator = on.unwrap_or(moving.coordinator);
    }
}

/// Refuses times, each of an option, beyond what virtual time can count.
///
/// # Errors
/// One for the first that is too long.
pub fn check_times(times: &[(Opt, Duration)]) -> Result<(), Problem> {
    let most = Duration::from_secs(DAYS_MOST * 24 * 3600);
    match times.iter().find(|(_, time)| *time > most) {
        Some((option, time)) => {
            let time = humantime::format_duration(*time);
            let message = format!("{option}: {time} is longer than virtual time can be");
            Err(Problem::new(message).help(format!("write at most {DAYS_MOST}days")))
        }
        None => Ok(()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn json(description: &Description) -> Result<String, Problem> {
    serde_json::to_string(description).map_err(|error| {
        Problem::new(format!("the platform cannot be passed on: {error}"))
            .help("report this as a bug")
    })
}

/// The cores that are used, as a run and as the simulator see them.
fn hardware(args: &SimArgs) -> Result<(String, Vec<Core>, Description), Failure> {
    let platform = simulated_platform(args.platform.as_deref().unwrap_or(PLATFORM))?;
    let mut description = platform.description()?;
    let mut cores = platform.cores;
    let wanted = args.core_count.map_or(cores.len(), |n| n as usize);
    if wanted == 0 || wanted > cores.len() {
        let (name, have) = (platform.name, cores.len());
        let message = format!("{CORE_COUNT}: the platform {name} has {have} cores");
        return Err(Problem::new(message).help(format!("name a number from 1 to {have}")).into());
    }
    cores.truncate(wanted);
    description.truncate(wanted);
    Ok((platform.name, cores, description))
}

/// Cycles that were measured on the platform go before those of the application, those of one task
/// before those of all of its name, and of these those of one kind of core before those of all.
pub fn measured_work(app: &mut App, description: &Description) {
    let mut works: Vec<_> = description.work.iter().filter(|work| work.app == app.name).collect();
    works.sort_by_key(|work| (work.index.is_some(), work.kind.is_some()));
    for measured in works {
        let is_meant = |name: &str, index: u32| {
            name == measured.task && measured.index.is_none_or(|wanted| wanted == index)
        };
        for task in app.tasks.iter_mut().filter(|task| is_meant(&task.name, task.index)) {
            let known = task.work.as_ref().map(|work| &work.cycles);
            let cycles = match &measured.kind {
                None => Cycles::Every(measured.cycles),
                Some(kind) => of_kind(known, kind, measured.cycles, description),
            };
            let work = task.work.get_or_insert_with(|| Work::constant(cycles.clone()));
            work.cycles = cycles;
            work.working_bytes = measured.working_bytes.unwrap_or(work.working_bytes);
        }
    }
}

/// The cycles `known`, but for those on one kind of core of the platform.
fn of_kind(known: Option<&Cycles>, kind: &str, cycles: u64, description: &Description) -> Cycles {
    let mut all: BTreeMap<String, u64> = match known {
        Some(Cycles::ByKind(kinds)) => kinds.iter().cloned().collect(),
        Some(Cycles::Every(every)) => {
            description.cores.iter().map(|core| (core.kind.clone(), *every)).collect()
        }
        None => BTreeMap::new(),
    };
    all.insert(kind.to_owned(), cycles);
    Cycles::ByKind(all.into_iter().collect())
}
