// SPDX-License-Identifier: Apache-2.0
//! `whimbrel check`: what `run` or `sim` would do with an application, without doing it.

use std::fs;
use std::ops::Range;

use miette::Severity;
use serde::Serialize;
use whimbrel_model::{Cores, POLICIES, Problem, Task, instead_of_policy};
use whimbrel_run::args::values::Spin;
use whimbrel_run::args::{CommonArgs, RunArgs, SimArgs};
use whimbrel_run::failure::{Answer, Failure, Outcome, show};
use whimbrel_run::load::{Loaded, load, without_cycles};
use whimbrel_run::output::{Column, columns, kib, percent, print, print_json, time};
use whimbrel_run::prepared;
use whimbrel_text::option::POLICY;

use crate::cli::CheckArgs;

/// What is planned.
#[derive(Debug, Serialize)]
struct Checked {
    app: String,
    path: String,
    platform: String,
    cores: Vec<CheckedCore>,
    tasks: Vec<CheckedTask>,
    channels: Vec<CheckedChannel>,
    /// Slots of all channels.
    channel_bytes: u64,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckedCore {
    core: usize,
    /// Its processor, or its place on a board.
    place: String,
    kind: String,
    /// Of a simulation that has several islands, from 1; 0: no task begins on this core.
    #[serde(skip_serializing_if = "Option::is_none")]
    island: Option<u32>,
    tasks: usize,
    /// From 0 to 1, or more where it has too much to do; `null`: not known. Of cores that share a
    /// scheduler, the mean of all of them.
    load: Option<f64>,
}

#[derive(Debug, Serialize)]
struct CheckedTask {
    task: String,
    index: u32,
    core: u32,
    priority: u32,
    /// `null`: it has none.
    period_ns: Option<f64>,
    mode: String,
    migratable: bool,
    stack_bytes: u64,
    heap_bytes: u64,
    load: Option<f64>,
}

#[derive(Debug, Serialize)]
struct CheckedChannel {
    channel: String,
    slots: u32,
    slot_bytes: u32,
}

/// Checks an application.
///
/// # Errors
/// Whatever `run` or `sim` would refuse.
pub fn check(args: &CheckArgs) -> Outcome {
    let loaded = planned(args)?;
    check_policy(&loaded)?;
    let (checked, warnings) = found(&loaded, args.platform.is_some());
    for warning in warnings {
        show(&loaded.source.report(warning));
    }
    if args.json {
        print_json(&checked)?;
    } else {
        print(&tables(&loaded, &checked))?;
    }
    Ok(Answer::Yes)
}

/// As `sim` plans it on a platform, otherwise as `run` does.
fn planned(args: &CheckArgs) -> Result<Loaded, Failure> {
    let common = CommonArgs {
        layout: args.layout.clone(),
        moves: Vec::new(),
        shuttles: Vec::new(),
        duration: None,
        record: None,
        json: args.json,
        brief: false,
        quiet: true,
    };
    if let Some(platform) = &args.platform {
        let args = SimArgs {
            platform: Some(platform.clone()),
            core_count: None,
            points: None,
            pins: Vec::new(),
            slots: None,
            channels: None,
            candidate: None,
            seed: None,
            compute: None,
            max_time: None,
            max_events: None,
            save: None,
            resume: None,
            frame_rate_changes: Vec::new(),
            common,
        };
        return prepared(&args).map(|(loaded, _)| loaded);
    }
    load(&RunArgs {
        cores: args.cores.clone(),
        kinds: Vec::new(),
        board: args.board.clone(),
        image: None,
        platform: None,
        frequency: None,
        exclusive: false,
        restart: None,
        spin: Spin::Forever,
        common,
    })
}

/// Whether the policy is one of Whimbrel's, or of the module: helpers find it there by its symbol.
fn check_policy(loaded: &Loaded) -> Result<(), Problem> {
    let Some(policy) = &loaded.moving.policy else { return Ok(()) };
    let symbol = format!("wb_policy_{}\0", policy.name);
    let is_known = POLICIES.iter().any(|known| known.name == policy.name)
        || fs::read(&loaded.module)
            .is_ok_and(|module| module.windows(symbol.len()).any(|part| part == symbol.as_bytes()));
    if is_known {
        return Ok(());
    }
    let problem =
        Problem::new(format!("{POLICY} {}: there is no policy of this name", policy.name));
    Err(problem.help(instead_of_policy(&policy.name, "")))
}

fn found(loaded: &Loaded, is_simulated: bool) -> (Checked, Vec<Problem>) {
    let (app, options) = (&loaded.app, &loaded.options);
    let hz = loaded.hardware.hz();
    let cores = Cores { count: options.cpus.len(), kinds: &loaded.kinds, hz: &hz };
    // Cycles tell a load where the frequency is known.
    let loads = app.loads(&cores, loaded.pacing).filter(|_| hz.iter().any(|hz| *hz > 0));
    let mut warnings: Vec<Problem> =
        without_cycles(app).filter(|_| is_simulated).into_iter().collect();
    if cores.count == 1 && app.tasks.iter().any(|task| task.migratable) {
        let problem = Problem::new("there is one core: no task can move");
        warnings.push(problem.help("name a processor twice for two kernels, as in --cores 0,0"));
    }
    let simulation = options.simulation.as_ref();
    let groups = simulation.map_or(&[][..], |simulation| &simulation.groups);
    let mut all = Vec::new();
    for (core, name) in options.cpus.iter().enumerate() {
        let is_here = |task: &Task| *task.core.get_ref() as usize == core;
        let tasks = app.tasks.iter().filter(|task| is_here(task)).count();
        let group = group_of(core, groups);
        let load = loads.as_ref().map(|loads| mean_load(&app.tasks, loads, &group));
        if let Some(load) = load.filter(|load| *load > 1.0 && group.start == core) {
            warnings.push(overload(&group, load));
        }
        let kind = loaded.kinds.get(core).map_or("host", String::as_str).to_owned();
        let island = simulation.and_then(|simulation| simulation.islands.get(core)).copied();
        all.push(CheckedCore { core, place: name.to_string(), kind, island, tasks, load });
    }
    for (task, load) in app.tasks.iter().zip(loads.iter().flatten()) {
        // One core at a time, however many its scheduler has.
        if *load > 1.0 && group_of(*task.core.get_ref() as usize, groups).len() > 1 {
            let label = app.label(&task.name, task.index);
            let message = format!("`{label}` has too much to do for one core: {}", percent(*load));
            warnings.push(Problem::new(message).help("lower its `cycles`, or the frame rate"));
        }
    }
    for warning in &mut warnings {
        warning.severity = Severity::Warning;
    }
    let channels = app.channels.iter().map(|channel| CheckedChannel {
        channel: channel.name.clone(),
        slots: channel.slots,
        slot_bytes: channel.slot_bytes,
    });
    let checked = Checked {
        app: app.name.clone(),
        path: loaded.path.clone(),
        platform: options.board.clone().unwrap_or_else(|| options.platform.clone()),
        cores: all,
        tasks: tasks(loaded, loads.as_deref()),
        channels: channels.collect(),
        channel_bytes: app.channels.iter().map(whimbrel_model::Channel::bytes).sum(),
        warnings: warnings.iter().map(Problem::line).collect(),
    };
    (checked, warnings)
}

/// The cores among which the scheduler of a core moves tasks. They have consecutive numbers.
fn group_of(core: usize, groups: &[u32]) -> Range<usize> {
    let Some(own) = groups.get(core).filter(|group| **group != 0) else { return core..core + 1 };
    let first = groups.iter().take_while(|group| *group != own).count();
    first..first + groups.iter().filter(|group| *group == own).count()
}

/// The load of each of some cores, if they share all of the tasks that begin there.
#[expect(clippy::cast_precision_loss, reason = "a number of cores")]
fn mean_load(tasks: &[Task], loads: &[f64], cores: &Range<usize>) -> f64 {
    let is_there = |task: &Task| cores.contains(&(*task.core.get_ref() as usize));
    let there = tasks.iter().zip(loads).filter(|(task, _)| is_there(task));
    there.fold(0.0, |sum, (_, load)| sum + load) / cores.len() as f64
}

fn overload(cores: &Range<usize>, load: f64) -> Problem {
    let (first, load) = (cores.start, percent(load));
    if cores.len() == 1 {
        return Problem::new(format!("core {first} has too much to do: {load}"))
            .help("map its tasks by `--map load`, or lower the frame rate");
    }
    let last = cores.end - 1;
    Problem::new(format!("cores {first} to {last} have too much to do: {load} each"))
        .help("map their tasks to other cores by `--map load`, or lower the frame rate")
}

fn tasks(loaded: &Loaded, loads: Option<&[f64]>) -> Vec<CheckedTask> {
    let one = |(number, task): (usize, &Task)| CheckedTask {
        task: task.name.clone(),
        index: task.index,
        core: *task.core.get_ref(),
        priority: task.priority,
        period_ns: Some(loaded.app.period_ns(task, loaded.pacing)).filter(|ns| *ns > 0.0),
        mode: task.mode.to_string(),
        migratable: task.migratable,
        stack_bytes: *task.stack_bytes.get_ref(),
        heap_bytes: task.heap_bytes,
        load: loads.map(|loads| loads[number]),
    };
    loaded.app.tasks.iter().enumerate().map(one).collect()
}

fn tables(loaded: &Loaded, checked: &Checked) -> String {
    let Checked { app, platform, cores, tasks, channels, channel_bytes, .. } = checked;
    let load = |load: Option<f64>| load.map_or_else(|| "-".into(), percent);
    let is_known = cores.iter().any(|core| core.load.is_some());
    let has_islands = cores.iter().any(|core| core.island.is_some());
    let island = |core: &CheckedCore| match core.island {
        None | Some(0) => "-".into(),
        Some(island) => island.to_string(),
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a period")]
    let period = |task: &CheckedTask| task.period_ns.map_or("-".into(), |ns| time(ns as u64));
    let on_cores = columns(&[
        Column::of("core", cores, |core| core.core.to_string()),
        Column::of(">cpu", cores, |core| core.place.clone()),
        Column::of("kind", cores, |core| core.kind.clone()),
        Column::of(">island", cores, island).when(has_islands),
        Column::of(">tasks", cores, |core| core.tasks.to_string()),
        Column::of(">load", cores, |core| load(core.load)).when(is_known),
    ]);
    let of_tasks = columns(&[
        Column::of("task", tasks, |task| loaded.app.label(&task.task, task.index)),
        Column::of(">core", tasks, |task| task.core.to_string()),
        Column::of(">priority", tasks, |task| task.priority.to_string()),
        Column::of(">period", tasks, period),
        Column::of(">load", tasks, |task| load(task.load)).when(is_known),
        Column::of(">stack", tasks, |task| kib(task.stack_bytes)),
        Column::of(">heap", tasks, |task| kib(task.heap_bytes)),
        Column::of("mode", tasks, |task| task.mode.clone()),
        Column::of("may move", tasks, |t| if t.migratable { "yes" } else { "no" }.to_owned()),
    ]);
    let counted = format!(
        "{app} is valid for {platform}: tasks {}, cores {}, channels {} ({})",
        tasks.len(),
        cores.len(),
        channels.len(),
        kib(*channel_bytes)
    );
    format!("{counted}\n\n{on_cores}\n{of_tasks}")
}
