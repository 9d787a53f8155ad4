// SPDX-License-Identifier: Apache-2.0
//! The result of a run: what `--json` prints and `summary.json` keeps. See `docs/recorded-run.md`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use whimbrel_model::{App, CoreName, Object, ParamKind};

use super::floorplan::Floorplan;
use super::latency::{self, Latency};
use super::results::{Results, Stop};
use super::throughput::{self, GraphSummary, TaskSummary, ratio};
use super::view::received;
use crate::board::link::Counts;
use crate::load::Options;
use crate::protocol::{
    Advice, ChannelStatus, CoreDied, CoreStatus, HelperError, Migration, PointStatus, TaskStatus,
};

/// The status of a move that its task did not live to make.
pub const ENDED: &str = "ended";

/// Version of the format.
const VERSION: u32 = 1;

/// Everything about a run that is over.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Version of this format.
    pub version: u32,
    /// The run's name, as `ps` listed it.
    pub run: String,
    /// The application: name, path, module, parameters.
    pub app: Value,
    /// The platform.
    pub platform: String,
    /// What the run was told.
    pub options: Options,
    /// `finished`, `stopped` by its user, after its `duration`, `forced` to end, or `failed`.
    pub ended: &'static str,
    /// Whether nothing went wrong.
    pub ok: bool,
    /// What the clock is made of.
    pub clock: String,
    /// The start on that clock.
    pub start_ns: u64,
    /// From the start to the end.
    pub time_ns: u64,
    /// Size of globally visible memory.
    pub gvm_bytes: u64,
    /// Messages received by the tasks that send to no channel; one that joins several channels
    /// counts each frame once. `null`: there is no such task.
    pub frames: Option<u64>,
    /// The same per second.
    pub frames_per_s: Option<f64>,
    /// One for each part of the application that channels connect.
    pub graphs: Vec<GraphSummary>,
    /// From the source of a frame until it arrived at the end of the application, in the median;
    /// `null`: none did.
    pub latency_ns: Option<u64>,
    /// Over all tasks.
    pub deadline_misses: u64,
    /// What it consumed.
    pub energy: Energy,
    /// Of a simulated run on a platform with one; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floorplan: Option<Floorplan>,
    /// One per core.
    pub cores: Vec<CoreSummary>,
    /// One per task.
    pub tasks: Vec<TaskSummary>,
    /// One per channel and mailbox.
    pub channels: Vec<ChannelStatus>,
    /// What scripts have in common; absent where there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// In the order in which they ended.
    pub migrations: Vec<Migration>,
    /// The split of the latency of those that went well, per mode.
    pub migration_latency: Vec<Latency>,
    /// Kernels that were killed.
    pub deaths: Vec<CoreDied>,
    /// What a policy decided and could not be done.
    pub advice: Vec<Advice>,
    /// The policy that decided at the end; empty if none did.
    pub policy: String,
    /// Where its coordinator ran at the end; `null`: there was none.
    pub coordinator: Option<u32>,
    /// The frame rate at the end, in thousandths per second; 0: none, or the agents did not report.
    pub rate_millihz: u64,
    /// One per mode that tasks have.
    pub modes: Vec<ModeSummary>,
    /// What went wrong.
    pub errors: Vec<HelperError>,
    /// Events that could not be recorded fast enough.
    pub dropped_events: u64,
    /// Migrations that are not in `migrations`.
    pub dropped_migrations: u64,
    /// Ignored decisions that are not in `advice`.
    pub dropped_advice: u64,
    /// What had to be sent again over the line of a board; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Counts>,
}

/// What a run consumed, in microjoules.
#[derive(Debug, Serialize)]
pub struct Energy {
    /// `platform`: estimated from operating points; `powercap`: only the machine's is measured;
    /// `simulation`: by the models of the platform; empty: not known.
    pub source: String,
    /// Estimated or simulated, over all cores.
    pub cores_uj: u64,
    /// Measured or simulated, of the whole machine; 0: not known.
    pub machine_uj: u64,
}

/// One core.
#[derive(Debug, Serialize)]
pub struct CoreSummary {
    /// Its processor; of a guest, the core of its board.
    pub cpu: u32,
    /// The board whose core it is; absent: it is this machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
    /// Part of the time in tasks, without polling, from 0 to 1.
    pub load: f64,
    /// Its frequency in the mean over time; `null`: not known.
    pub mean_hz: Option<f64>,
    /// The totals.
    #[serde(flatten)]
    pub totals: CoreStatus,
}

impl CoreSummary {
    /// Its processor, or the core of a board, in words.
    pub fn place(&self) -> String {
        let of_board = |board: &String| format!("{board}:{}", self.cpu);
        self.guest.as_ref().map_or_else(|| self.cpu.to_string(), of_board)
    }
}

/// The tasks of one mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModeSummary {
    /// How they move.
    pub mode: String,
    /// How many there are.
    pub tasks: u64,
    /// What is reserved for them over all kernels: stacks, heaps, checkpoint images.
    pub reserved_bytes: u64,
}

/// One for each mode that tasks have.
pub fn modes(tasks: &[TaskStatus]) -> Vec<ModeSummary> {
    let mut modes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for task in tasks {
        let (tasks, reserved_bytes) = modes.entry(&task.mode).or_default();
        *tasks += 1;
        *reserved_bytes += task.reserved_bytes;
    }
    let summary = |(mode, (tasks, reserved_bytes)): (&str, _)| {
        let mode = mode.to_owned();
        ModeSummary { mode, tasks, reserved_bytes }
    };
    modes.into_iter().map(summary).collect()
}

impl Summary {
    /// Sums up the run `run` of an application from the file `path` with the module `module`.
    pub fn new(
        app: &App,
        [run, path, module]: [&str; 3],
        options: Options,
        mut results: Results,
        ok: bool,
    ) -> Self {
        let totals = results.totals().cloned().unwrap_or_default();
        let start_ns = results.started.as_ref().map_or(0, |started| started.start_ns);
        let time_ns = totals.time_ns.saturating_sub(start_ns);
        let sinks = app.sinks();
        let frames = (!sinks.is_empty()).then(|| received(&sinks, &totals));
        let (mut responses, mut latency_ns) = (Vec::new(), None);
        if let Some(end) = &mut results.end {
            responses = std::mem::take(&mut end.responses);
            latency_ns = end.latency_ns;
        }
        let dropped =
            results.end.as_ref().map_or((0, 0), |end| (end.dropped_events, end.dropped_migrations));
        let energy = Energy {
            cores_uj: totals.cores.iter().map(|core| core.energy_uj).sum(),
            machine_uj: totals.machine_energy_uj,
            source: totals.energy_source,
        };
        let floorplan = floorplan(&options, &results);
        let cores = totals.cores.into_iter().zip(&options.cpus);
        Self {
            version: VERSION,
            run: run.into(),
            app: app_json(app, path, module),
            platform: options.platform.clone(),
            ended: ended(&results, ok),
            ok,
            clock: results.started.as_ref().map_or_else(String::new, |s| s.clock.clone()),
            start_ns,
            time_ns,
            gvm_bytes: results.started.as_ref().map_or(0, |started| started.gvm_bytes),
            frames,
            frames_per_s: frames.map(|frames| ratio(frames, time_ns) * 1e9),
            graphs: throughput::graphs(app, &totals.tasks, time_ns),
            latency_ns,
            deadline_misses: totals.tasks.iter().map(|task| task.misses).sum(),
            energy,
            floorplan,
            cores: cores.map(|(totals, name)| core(totals, name, time_ns)).collect(),
            options,
            modes: modes(&totals.tasks),
            policy: totals.policy,
            coordinator: totals.coordinator,
            rate_millihz: totals.rate_millihz,
            tasks: throughput::tasks(totals.tasks, responses, time_ns),
            channels: totals.channels,
            objects: app.objects.clone(),
            migration_latency: latency::of(&results.migrations),
            migrations: told_apart(results.migrations, &results.deaths),
            deaths: results.deaths,
            advice: results.advice,
            errors: results.errors,
            dropped_events: dropped.0,
            dropped_migrations: dropped.1 + results.migrations_left_out,
            dropped_advice: results.advice_left_out,
            line: results.line,
        }
    }
}

/// Kernels say `gone` of a move whose task had ended, as at the end of a run, and of one whose core
/// had died. The first is no failure.
fn told_apart(mut migrations: Vec<Migration>, deaths: &[CoreDied]) -> Vec<Migration> {
    for migration in migrations.iter_mut().filter(|migration| migration.status == "gone") {
        let cores = [migration.source, migration.target];
        if !deaths.iter().any(|death| cores.contains(&death.core)) {
            migration.status = ENDED.into();
        }
    }
    migrations
}

/// Of a simulation on a platform with one.
fn floorplan(options: &Options, results: &Results) -> Option<Floorplan> {
    let thermal = options.simulation.as_ref()?.thermal.as_ref()?;
    Floorplan::new(thermal, results.simulated.as_ref()?)
}

fn core(totals: CoreStatus, name: &CoreName, time_ns: u64) -> CoreSummary {
    let (load, mean_hz) = (ratio(totals.busy_ns, time_ns), mean_hz(&totals.points));
    let guest = name.board().map(str::to_owned);
    CoreSummary { cpu: name.number(), guest, load, mean_hz, totals }
}

fn ended(results: &Results, ok: bool) -> &'static str {
    match results.stop {
        _ if !ok => "failed",
        _ if results.forced => "forced",
        Some(Stop::User) => "stopped",
        Some(Stop::Duration) => "duration",
        None => "finished",
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean of measurements")]
fn mean_hz(points: &[PointStatus]) -> Option<f64> {
    let time = |point: &PointStatus| (point.active_ns + point.idle_ns) as f64;
    let all: f64 = points.iter().map(time).sum();
    let cycles: f64 = points.iter().map(|point| point.hz as f64 * time(point)).sum();
    (all > 0.0).then(|| cycles / all)
}

fn app_json(app: &App, path: &str, module: &str) -> Value {
    let value = |param: &whimbrel_model::Param| match param.kind {
        ParamKind::Text => json!(param.text),
        ParamKind::Number => json!(param.numbers[0]),
        ParamKind::Boolean => json!(param.text == "true"),
        ParamKind::Numbers => json!(param.numbers),
    };
    let params: Map<String, Value> =
        app.params.iter().map(|param| (param.key.clone(), value(param))).collect();
    json!({
        "name": app.name,
        "description": app.description,
        "path": path,
        "module": module,
        "params": params,
    })
}
