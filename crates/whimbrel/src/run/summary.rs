// SPDX-License-Identifier: Apache-2.0
//! The result of a run: what `--json` prints and `summary.json` keeps. See `docs/recorded-run.md`.

use serde::Serialize;
use serde_json::{Map, Value, json};
use whimbrel_model::{App, Pacing, ParamKind};

use super::gathered::{Gathered, Stop};
use super::view::received;
use crate::protocol::{
    Advice, ChannelStatus, CoreDied, CoreStatus, HelperError, Migration, TaskStatus,
};

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
    pub platform: &'static str,
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
    /// counts each frame once.
    pub frames: u64,
    /// The same per second.
    pub frames_per_s: f64,
    /// Over all tasks.
    pub deadline_misses: u64,
    /// One per core.
    pub cores: Vec<CoreSummary>,
    /// One per task.
    pub tasks: Vec<TaskStatus>,
    /// One per channel and mailbox.
    pub channels: Vec<ChannelStatus>,
    /// In the order in which they ended.
    pub migrations: Vec<Migration>,
    /// The split of the latency of those that went well.
    pub migration_latency: Vec<Latency>,
    /// Kernels that were killed.
    pub deaths: Vec<CoreDied>,
    /// What a policy decided and could not be done.
    pub advice: Vec<Advice>,
    /// What went wrong.
    pub errors: Vec<HelperError>,
    /// Events that could not be recorded fast enough.
    pub dropped_events: u64,
    /// Migrations that are not in `migrations`.
    pub dropped_migrations: u64,
}

/// What a run was told.
#[derive(Debug, Clone, Serialize)]
pub struct Options {
    /// The processor of each core.
    pub cpus: Vec<u32>,
    /// Frames per second; `null`: as fast as it goes, or without a rate.
    pub frame_rate: Option<f64>,
    /// Whether no task had a period.
    pub fast: bool,
    /// The limit, if there was one.
    pub duration_ns: Option<u64>,
    /// How long idle kernels polled; `null`: for ever.
    pub spin_ns: Option<u64>,
}

/// One core.
#[derive(Debug, Serialize)]
pub struct CoreSummary {
    /// Its processor.
    pub cpu: u32,
    /// Part of the time in tasks, without polling, from 0 to 1.
    pub load: f64,
    /// The totals.
    #[serde(flatten)]
    pub totals: CoreStatus,
}

/// One phase of the migrations that went well, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// From which point to which.
    pub phase: &'static str,
    /// Half of them took at most this long.
    pub p50_ns: u64,
    /// Nine of ten.
    pub p90_ns: u64,
    /// All.
    pub max_ns: u64,
    /// How many reached the end of the phase.
    pub n: usize,
}

impl Options {
    /// The frame rate that a pacing gives an application.
    pub fn frame_rate_of(app: &App, pacing: Pacing) -> Option<f64> {
        match pacing {
            Pacing::Application => app.frame_rate,
            Pacing::Rate(rate) => Some(rate),
            Pacing::Fast => None,
        }
    }
}

impl Summary {
    /// Sums up the run `run` of an application from the file `path` with the module `module`.
    pub fn new(
        app: &App,
        [run, path, module]: [&str; 3],
        options: Options,
        gathered: Gathered,
        ok: bool,
    ) -> Self {
        let totals = gathered.totals().cloned().unwrap_or_default();
        let start_ns = gathered.started.as_ref().map_or(0, |started| started.start_ns);
        let time_ns = totals.time_ns.saturating_sub(start_ns);
        let frames = received(&app.sinks(), &totals);
        let dropped = gathered
            .end
            .as_ref()
            .map_or((0, 0), |end| (end.dropped_events, end.dropped_migrations));
        let cores = totals.cores.into_iter().zip(&options.cpus);
        Self {
            version: VERSION,
            run: run.into(),
            app: app_json(app, path, module),
            platform: "host",
            ended: ended(&gathered, ok),
            ok,
            clock: gathered.started.as_ref().map_or_else(String::new, |s| s.clock.clone()),
            start_ns,
            time_ns,
            gvm_bytes: gathered.started.as_ref().map_or(0, |started| started.gvm_bytes),
            frames,
            frames_per_s: ratio(frames, time_ns) * 1e9,
            deadline_misses: totals.tasks.iter().map(|task| task.misses).sum(),
            cores: cores
                .map(|(totals, cpu)| CoreSummary {
                    cpu: *cpu,
                    load: ratio(totals.busy_ns, time_ns),
                    totals,
                })
                .collect(),
            options,
            tasks: totals.tasks,
            channels: totals.channels,
            migration_latency: latencies(&gathered.migrations),
            migrations: gathered.migrations,
            deaths: gathered.deaths,
            advice: gathered.advice,
            errors: gathered.errors,
            dropped_events: dropped.0,
            dropped_migrations: dropped.1 + gathered.migrations_left_out,
        }
    }
}

fn ended(gathered: &Gathered, ok: bool) -> &'static str {
    match gathered.stop {
        _ if !ok => "failed",
        _ if gathered.forced => "forced",
        Some(Stop::User) => "stopped",
        Some(Stop::Duration) => "duration",
        None => "finished",
    }
}

#[expect(clippy::cast_precision_loss, reason = "a ratio of measurements")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
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

/// The split of a migration: from one point to the next, and the whole.
pub fn phases(migration: &Migration) -> [(&'static str, Option<u64>); 5] {
    let Migration { request_ns, parked_ns, attached_ns, running_ns, output_ns, .. } = *migration;
    let step = |from: u64, to: u64| if from == 0 || to == 0 { None } else { to.checked_sub(from) };
    [
        ("request to parked", step(request_ns, parked_ns)),
        ("parked to attached", step(parked_ns, attached_ns)),
        ("attached to running", step(attached_ns, running_ns)),
        ("running to first output", step(running_ns, output_ns)),
        ("parked to running", step(parked_ns, running_ns)),
    ]
}

/// The spread of each phase over the migrations that went well.
fn latencies(migrations: &[Migration]) -> Vec<Latency> {
    let mut times: [(&'static str, Vec<u64>); 5] = Default::default();
    for migration in migrations.iter().filter(|migration| migration.status == "ok") {
        for ((name, all), (phase, time)) in times.iter_mut().zip(phases(migration)) {
            *name = phase;
            all.extend(time);
        }
    }
    times.into_iter().filter(|(_, all)| !all.is_empty()).map(spread).collect()
}

fn spread((phase, mut times): (&'static str, Vec<u64>)) -> Latency {
    times.sort_unstable();
    // The smallest that at least this part of all does not exceed (nearest rank).
    let rank = |percent: usize| times[(times.len() * percent).div_ceil(100).max(1) - 1];
    Latency { phase, p50_ns: rank(50), p90_ns: rank(90), max_ns: rank(100), n: times.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migration(times: [u64; 5], status: &str) -> Migration {
        let [request_ns, parked_ns, attached_ns, running_ns, output_ns] = times;
        Migration {
            task: "bpf".into(),
            index: 0,
            source: 0,
            target: 1,
            status: status.into(),
            request_ns,
            parked_ns,
            attached_ns,
            running_ns,
            output_ns,
            copied_ns: 0,
            bytes: 0,
            mode: "handoff".into(),
            by: "user".into(),
        }
    }

    #[test]
    fn the_latency_of_migrations_is_split_by_phase_and_leaves_out_those_that_failed() {
        let ok = (1..=10).map(|n| migration([100, 100 + n, 200, 300, 0], "ok"));
        let all: Vec<Migration> = ok.chain([migration([1, 0, 0, 0, 0], "timeout")]).collect();
        let latencies = latencies(&all);
        assert_eq!(
            latencies[0],
            Latency { phase: "request to parked", p50_ns: 5, p90_ns: 9, max_ns: 10, n: 10 }
        );
        assert_eq!(latencies[2].p50_ns, 100);
        assert!(latencies.iter().all(|latency| latency.phase != "running to first output"));
    }

    #[test]
    fn a_run_without_migrations_has_no_latency() {
        assert!(latencies(&[]).is_empty());
    }
}
