// SPDX-License-Identifier: Apache-2.0
//! Turns a manifest and the settings of a run into an application, or says everything that
//! stands in the way.

use std::collections::HashMap;
use std::path::Path;

use toml::Spanned;

use super::amount::amount;
use super::keys::TaskTable;
use super::manifest::Manifest;
use super::script::{self, Scripts};
use super::{client, modes, param, synthetic, wiring, work};
use crate::app::{App, Arrival, Names, Param, ParamKind, Period, STDIN, Setting, Task, Work};
use crate::problem::{Problem, Problems, Span, none_or};
use crate::reader::given;

/// Beyond this a period would be no whole nanosecond.
const RATE_MAX: f64 = 1e9;
const RATE_MIN: f64 = 1e-3;

impl App {
    /// Checks a manifest with some of its parameters replaced.
    ///
    /// `app_folder` is what paths in the file are relative to, `here` what paths in settings are.
    ///
    /// # Errors
    /// Everything that is wrong: names that nothing has, settings that do not fit, expressions
    /// without a value, loops of channels that block.
    pub fn build(
        manifest: &Manifest,
        settings: &[Setting],
        app_folder: &Path,
        here: &Path,
    ) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut params = manifest.params.clone();
        for setting in settings {
            problems.extend(param::set(&mut params, setting).err());
        }
        resolve_paths(manifest, &mut params, settings, app_folder, here, &mut problems);

        let frame_rate = frame_rate(manifest, &params, &mut problems);
        synthetic::check_tables(manifest, &mut problems);
        let scripts = script::build(manifest, &params, &mut problems);
        let tasks = build_tasks(manifest, &params, &scripts, &mut problems);
        let compute = work::compute(manifest, &mut problems);
        let names = Names::new(&tasks);
        let (channels, ports) = wiring::connect(manifest, &params, &tasks, &names, &mut problems);
        let app = Self {
            name: manifest.app.name.get_ref().clone(),
            description: manifest.app.description.clone(),
            module: synthetic::module(&manifest.app),
            synthetic: manifest.app.module.is_none(),
            compute,
            memory_bytes: manifest.app.memory_bytes.clone(),
            shared_bytes: manifest.app.shared_bytes.clone(),
            frame_rate,
            cores: manifest.app.cores.0.clone(),
            kinds: manifest.app.kinds.clone(),
            params,
            paths: manifest.app.paths.iter().map(|key| key.get_ref().clone()).collect(),
            tasks,
            channels,
            ports,
            scripts: scripts.all,
            objects: scripts.objects,
            limited: manifest.limited.clone(),
            names,
        };
        modes::check_images(&manifest.tasks, &app, &mut problems);
        // Wrong ends of channels would look like wrong loops and rates.
        if problems.is_empty() {
            synthetic::check(&app, manifest, &mut problems);
        }
        none_or(problems, || app)
    }
}

/// `WB_HOLDERS_MAX` of the middleware.
const TASKS_MAX: usize = (1 << 17) - 1;

fn resolve_paths(
    manifest: &Manifest,
    params: &mut [Param],
    settings: &[Setting],
    app_folder: &Path,
    here: &Path,
    problems: &mut Vec<Problem>,
) {
    for path in &manifest.app.paths {
        let key = path.get_ref();
        let param = params.iter_mut().find(|p| p.key == *key && p.kind == ParamKind::Text);
        let Some(param) = param else {
            let message = format!("`paths` has `{key}`, which is not the name of a text parameter");
            problems.push(
                Problem::new(message)
                    .help("name a parameter of [params] whose value is a text")
                    .at(path.span(), "this name"),
            );
            continue;
        };
        let set = settings.iter().any(|setting| setting.key == *key);
        let base = if set { here } else { app_folder };
        let is_file = !param.text.is_empty() && param.text != STDIN && !param.text.contains("://");
        if is_file {
            param.text = base.join(&param.text).to_string_lossy().into_owned();
        }
    }
}

fn frame_rate(manifest: &Manifest, params: &[Param], problems: &mut Vec<Problem>) -> Option<f64> {
    let written = manifest.app.frame_rate.as_ref()?;
    match amount(written, params, "frame_rate") {
        Ok(rate) if (RATE_MIN..=RATE_MAX).contains(&rate) => Some(rate),
        Ok(rate) => {
            let problem = Problem::new(format!("invalid frame rate of {rate} per second"));
            let help = format!("write a rate between {RATE_MIN} and {RATE_MAX} frames per second");
            problems.push(problem.at(written.span(), "this").help(help));
            Some(1.0)
        }
        Err(problem) => {
            problems.push(problem);
            Some(1.0)
        }
    }
}

fn build_tasks(
    manifest: &Manifest,
    params: &[Param],
    scripts: &Scripts,
    problems: &mut Vec<Problem>,
) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut named: HashMap<&str, Span> = HashMap::new();
    let rate = manifest.app.frame_rate.is_some();

    if manifest.tasks.is_empty() && problems.is_empty() {
        problems.push(Problem::new("the application has no task").help("add a [[task]]"));
    }
    for (table, script) in manifest.tasks.iter().zip(&scripts.of_table) {
        let name = table.name.get_ref();
        if let Some(first) = named.get(name.as_str()) {
            let message = format!("two tasks are called `{name}`");
            let problem = Problem::new(message).at(table.name.span(), "the second");
            let help = "give one of them another name, or use `count` to make several";
            problems.push(problem.at(first.clone(), "the first").help(help));
            continue;
        }
        named.insert(name, table.name.span());
        let period = period(table, rate, problems);
        check_arrival(table, period, problems);
        modes::check_task(table, problems);
        client::check(table, manifest, problems);
        let work = match script {
            Some(script) => scripts.work(*script),
            None => work::build(table, params, problems),
        };
        let entry = synthetic::entry(manifest, table);
        tasks.extend(instances(table, &entry, period, work.as_ref(), *script, problems));
        if tasks.len() > TASKS_MAX {
            let message = format!("an application of more than {TASKS_MAX} tasks cannot be");
            let problem = Problem::new(message).at(table.name.span(), "one of these is too many");
            problems.push(problem.help("leave tasks out, or let one do the work of several"));
            break;
        }
    }
    tasks
}

fn instances(
    table: &TaskTable,
    entry: &Spanned<String>,
    period: Period,
    work: Option<&Work>,
    script: Option<usize>,
    problems: &mut Vec<Problem>,
) -> Vec<Task> {
    let count = *table.count.get_ref();
    let cores = table.cores.get_ref();

    if cores.len() > 1 && cores.len() != count as usize {
        let (name, n) = (table.name.get_ref(), cores.len());
        let problem = Problem::new(format!("`{name}` has {n} cores for {count} tasks"));
        let help = "name one core for all of them, or one for each";
        problems.push(problem.at(table.cores.span(), "these cores").help(help));
    }
    let core = |index: u32| {
        let shared = table.shared_by.as_ref().and_then(|shared| shared.get_ref().first());
        let core = cores.get(index as usize).or(cores.first()).or(shared).cloned();
        core.unwrap_or_else(|| Spanned::new(table.name.span(), 0))
    };
    let task = |index| Task {
        name: table.name.get_ref().clone(),
        index,
        entry: entry.clone(),
        client: given(&table.client),
        kinds: table.kinds.clone(),
        core: core(index),
        shared_by: modes::shared_by(table),
        priority: table.priority,
        nice: table.nice,
        stack_bytes: table.stack_bytes.clone(),
        heap_bytes: table.heap_bytes,
        migratable: table.migratable && !given(&table.client),
        restart: table.restart || given(&table.client),
        mode: given(&table.mode),
        moves: given(&table.moves),
        checkpoint_every: given(&table.checkpoint_every),
        on_crash: given(&table.on_crash),
        period,
        deadline_frames: table.deadline_frames.as_ref().map_or(1.0, |d| *d.get_ref()),
        offset_frames: given(&table.offset_frames),
        jitter_ns: given(&table.jitter_us) * 1e3,
        gap_ns: table.mean_gap_us.as_ref().map(|gap| gap.get_ref() * 1e3),
        work: work.cloned(),
        script,
        span: table.name.span(),
    };
    (0..count).map(task).collect()
}

fn period(table: &TaskTable, has_rate: bool, problems: &mut Vec<Problem>) -> Period {
    let per_frame = table.periodic.as_ref().filter(|periodic| *periodic.get_ref());
    let name = table.name.get_ref();
    let mut refuse = |message: String, at: Span, help: &str| {
        problems.push(Problem::new(message).at(at, "this key").help(help));
    };
    match (per_frame, &table.period_us) {
        (Some(_), Some(own)) => {
            let message = format!("`{name}` has two periods");
            refuse(message, own.span(), "keep `periodic` or `period_us`, not both");
            Period::Frame
        }
        (Some(at), None) => {
            if !has_rate {
                let message =
                    format!("`{name}` is periodic, but the application has no frame rate");
                refuse(message, at.span(), "add `frame_rate` to [app], or use `period_us`");
            }
            Period::Frame
        }
        (None, Some(own)) => Period::Own(own.get_ref() * 1e3),
        (None, None) => {
            if let Some(at) = table.deadline_frames.as_ref().or(table.offset_frames.as_ref()) {
                let message = format!("`{name}` has a deadline or an offset, but no period");
                refuse(message, at.span(), "add `periodic = true` or `period_us`");
            }
            Period::None
        }
    }
}

/// Jitter and sporadic releases are of a task that has a period, and a jitter is at most as long.
fn check_arrival(table: &TaskTable, period: Period, problems: &mut Vec<Problem>) {
    let name = table.name.get_ref();
    let mut refuse = |message: String, at: Span, help: &str| {
        problems.push(Problem::new(message).at(at, "this key").help(help));
    };
    let sporadic = table.arrival.as_ref().filter(|word| *word.get_ref() == Arrival::Sporadic);
    match (&sporadic, &table.mean_gap_us) {
        (Some(at), _) if !matches!(period, Period::Own(_)) => refuse(
            format!("`{name}` is sporadic, but has no `period_us`"),
            at.span(),
            "add `period_us`: the least time between two of its releases",
        ),
        (Some(at), None) => refuse(
            format!("`{name}` is sporadic, but has no `mean_gap_us`"),
            at.span(),
            "add `mean_gap_us`: the mean time between two releases beyond `period_us`",
        ),
        (None, Some(at)) => refuse(
            format!("`{name}` has gaps, but is not sporadic"),
            at.span(),
            "add `arrival = \"sporadic\"`",
        ),
        _ => {}
    }
    match (&table.jitter_us, period) {
        (Some(at), Period::None) => refuse(
            format!("`{name}` has jitter, but no period"),
            at.span(),
            "add `periodic = true` or `period_us`",
        ),
        (Some(at), Period::Own(ns)) if at.get_ref() * 1e3 > ns => refuse(
            format!("the jitter of `{name}` is longer than its period"),
            at.span(),
            "a job is released before the next: at most `period_us`",
        ),
        _ => {}
    }
}
