// SPDX-License-Identifier: Apache-2.0
//! The plan: what a helper is told before it lays an application out and starts it; and the
//! commands that steer a run. See `docs/kernels-linux-protocol.md`.

mod moving;
mod script;

use serde::Serialize;

use crate::app::{
    App, Channel, Compute, Cycles, DSP_KIND, Distribution, HOST_KIND, Mode, Moves, NotifyPolicy,
    Object, OnCrash, Pacing, Param, Period, Port, Task, Work,
};
use crate::platform::{Core, Frequency, Point};
use moving::RATE_MAX;
pub use moving::{Moving, NO_POLICY, POINT_OFF, PolicyName, TableRow, millihz};
pub use script::{PlanEvent, PlanScript};

/// Of the messages to a helper.
const VERSION: u32 = 2;

/// Whether a helper takes a member to be so that is not there: plans of many tasks are long.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a plan says beyond the application itself.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// The processor of each core.
    pub cpus: Vec<u32>,
    /// Where the module was found.
    pub module: String,
    /// How long an idle kernel polls before it sleeps; `None`: for ever.
    pub spin_ns: Option<u64>,
    /// How long a target may take to attach a task.
    pub offer_ns: u64,
    /// An existing folder for the event streams.
    pub record: Option<String>,
    /// The frame rate.
    pub pacing: Pacing,
    /// Who decides on moves, and how what moves travels.
    pub moving: Moving,
    /// The operating points of each core; empty: they are not known.
    pub cores: Vec<Core>,
    /// The kind of each core, as `arm9`; missing ones are [`HOST_KIND`].
    pub kinds: Vec<String>,
    /// Where every draw of cycles begins.
    pub seed: u64,
    /// How they are set.
    pub frequency: Frequency,
    /// A file to note in what frequencies were before they were set.
    pub journal: String,
}

impl PlanOptions {
    /// Those of a run that was told nothing else: it goes at the application's pace, and idle
    /// kernels poll.
    #[must_use]
    pub fn plain(cpus: Vec<u32>, module: &str) -> Self {
        Self {
            cpus,
            module: module.to_owned(),
            spin_ns: None,
            offer_ns: 1,
            record: None,
            pacing: Pacing::Application,
            moving: Moving::default(),
            cores: Vec::new(),
            kinds: Vec::new(),
            seed: 0,
            frequency: Frequency::None,
            journal: String::new(),
        }
    }
}

/// A plan as a helper takes it.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Plan {
    pub version: u32,
    pub module: String,
    pub program: Option<String>,
    pub record: Option<String>,
    pub journal: Option<String>,
    /// An existing folder for the sockets of clients; `None`: there are none.
    pub clients: Option<String>,
    pub memory_bytes: u64,
    pub shared_bytes: u64,
    /// `None`: an idle kernel never sleeps.
    pub spin_ns: Option<u64>,
    pub offer_ns: u64,
    pub transport: Option<String>,
    pub frequency: String,
    pub models_compute: bool,
    pub seed: u64,
    pub cores: Vec<PlanCore>,
    pub params: Vec<Param>,
    pub channels: Vec<Channel>,
    pub tasks: Vec<PlanTask>,
    pub ports: Vec<Port>,
    pub objects: Vec<Object>,
    pub scripts: Vec<PlanScript>,
    pub agents_ns: u64,
    pub coordinator: u32,
    pub policy: Option<PolicyName>,
    pub rows: Vec<TableRow>,
    pub rate_millihz: u64,
    /// The hardware to simulate, as JSON; `None`: no simulation.
    pub platform: Option<String>,
    /// What a simulation is to do at a time.
    pub commands: Vec<At>,
    pub restore: Option<SavedFile>,
    pub limit: Option<Limit>,
}

/// A core of a plan.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct PlanCore {
    pub cpu: u32,
    pub kind: usize,
    pub points: Vec<Point>,
    pub start: usize,
    #[serde(skip_serializing_if = "is_default")]
    pub to_completion: bool,
}

/// A task of a plan.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct PlanTask {
    pub name: String,
    #[serde(skip_serializing_if = "is_default")]
    pub index: u32,
    pub entry: String,
    pub mode: Mode,
    #[serde(skip_serializing_if = "is_default")]
    pub core: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub cores: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub priority: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub weight: u32,
    pub stack_bytes: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub heap_bytes: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub migratable: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub restart: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub period_ns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub deadline_ns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub offset_ns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub rate_millihz: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub period_rest: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub offset_rest: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub jitter_ns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub gap_ns: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub follows_rate: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub moves_at_waits: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub checkpoint_every: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub replay: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub work: Option<PlanWork>,
    /// Of [`Plan::scripts`], from 1; 0: it has none.
    #[serde(skip_serializing_if = "is_default")]
    pub script: u32,
}

/// What a task of a plan computes in each firing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct PlanWork {
    pub distribution: Distribution,
    #[serde(skip_serializing_if = "is_default")]
    pub spread_ppm: u32,
    #[serde(skip_serializing_if = "is_default")]
    pub working_bytes: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub traffic_bytes: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub firings: u64,
    /// For each kind of core, or one for all.
    pub cycles: Vec<u64>,
}

/// A command that is obeyed by itself, after the start and again each so often; 0: once.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct At {
    pub at_ns: u64,
    pub every_ns: u64,
    pub command: Command,
}

impl At {
    /// Once.
    pub fn once(at_ns: u64, command: Command) -> Self {
        Self { at_ns, every_ns: 0, command }
    }

    /// The end of an application at a time: its sources end, and its channels have `drain_ns` to
    /// drain; one that would not end by that is over at once.
    pub fn ending(app: &App, end_ns: u64, drain_ns: u64) -> Vec<Self> {
        if !app.drains() {
            return vec![Self::once(end_ns, Command::Kill {})];
        }
        let forced_ns = end_ns.saturating_add(drain_ns);
        vec![Self::once(end_ns, Command::Stop {}), Self::once(forced_ns, Command::Kill {})]
    }
}

/// A simulation that was saved, and what it must be of.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct SavedFile {
    pub path: String,
    pub id: String,
}

/// Longer or more is an error; 0: no limit.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the protocol's own names")]
pub struct Limit {
    pub until_ns: u64,
    pub events: u64,
}

/// What is asked of a run.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the protocol's own names")]
pub enum Command {
    Status {},
    Migrate {
        id: String,
        task: String,
        index: u32,
        core: u32,
        timeout_ms: u64,
    },
    /// Without a policy none decides any more.
    Policy {
        id: String,
        policy: Option<PolicyName>,
    },
    Rate {
        id: String,
        millihz: u64,
    },
    /// Another notify policy for a channel.
    Channel {
        id: String,
        channel: String,
        #[serde(flatten)]
        notify: NotifyPolicy,
    },
    /// Sources end, and channels drain.
    Stop {},
    Kill {},
    /// Of a simulation's plan only.
    Save(SavedFile),
    /// The answer of whoever decides in the place of a policy.
    Decision(Decision),
}

/// What is to change: tasks and cores by their places in the plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Tasks that are to move.
    pub moves: Vec<DecidedMove>,
    /// Operating points that are to be set.
    pub points: Vec<DecidedPoint>,
}

/// A task that is to move to a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DecidedMove {
    /// Which.
    pub task: u32,
    /// Where to.
    pub core: u32,
}

/// A core that is to be set to an operating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DecidedPoint {
    /// Which.
    pub core: u32,
    /// By its place among the core's points.
    pub point: u32,
}

impl Command {
    /// The message of it.
    pub fn line(&self) -> String {
        json(self) + "\n"
    }
}

impl Plan {
    /// The message of it.
    pub fn line(&self) -> String {
        format!("{{\"plan\":{}}}\n", json(self))
    }
}

/// What consists of numbers and text always is JSON.
fn json(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

/// Lays out an application as the options say.
pub fn plan(app: &App, options: &PlanOptions) -> Plan {
    let (kinds, cores) = cores(options);
    let moving = &options.moving;
    // Without agents nobody decides, and the periods say the rate already.
    let rate = options.pacing.frame_rate(app).filter(|_| moving.agents_ns != 0);
    Plan {
        version: VERSION,
        module: options.module.clone(),
        program: moving.program.clone(),
        record: options.record.clone(),
        journal: (options.frequency == Frequency::Cpufreq).then(|| options.journal.clone()),
        memory_bytes: *app.memory_bytes.get_ref(),
        shared_bytes: *app.shared_bytes.get_ref(),
        spin_ns: options.spin_ns,
        offer_ns: options.offer_ns,
        transport: moving.transport.clone(),
        frequency: options.frequency.word().to_owned(),
        models_compute: app.compute == Compute::Model,
        seed: options.seed,
        cores,
        params: app.params.clone(),
        channels: app.channels.clone(),
        tasks: app.tasks.iter().map(|task| plan_task(app, task, options.pacing, &kinds)).collect(),
        ports: app.ports.clone(),
        objects: app.objects.clone(),
        scripts: app.scripts.iter().map(|it| script::planned(it, &kinds)).collect(),
        agents_ns: moving.agents_ns,
        coordinator: moving.coordinator,
        policy: moving.policy.clone(),
        rows: moving.rows.clone(),
        rate_millihz: rate.map_or(0, |rate| millihz(rate).min(RATE_MAX)),
        // What is added before it is told: by runs with clients, and by simulations.
        clients: None,
        platform: None,
        commands: Vec::new(),
        restore: None,
        limit: None,
    }
}

/// The kinds of cores in the order of their numbers, and the cores.
fn cores(options: &PlanOptions) -> (Vec<&str>, Vec<PlanCore>) {
    let mut kinds: Vec<&str> = Vec::new();
    let mut cores = Vec::new();
    for (core, cpu) in options.cpus.iter().enumerate() {
        let kind = options.kinds.get(core).map_or(HOST_KIND, String::as_str);
        let number = kinds.iter().position(|known| *known == kind).unwrap_or(kinds.len());
        if number == kinds.len() {
            kinds.push(kind);
        }
        let (points, start) = options
            .cores
            .get(core)
            .map_or((Vec::new(), 0), |core| (core.points.clone(), core.start));
        let to_completion = kind == DSP_KIND;
        cores.push(PlanCore { cpu: *cpu, kind: number, points, start, to_completion });
    }
    (kinds, cores)
}

fn plan_task(app: &App, task: &Task, pacing: Pacing, kinds: &[&str]) -> PlanTask {
    let rhythm = Rhythm::of(app, task, pacing);
    PlanTask {
        name: task.name.clone(),
        index: task.index,
        entry: task.entry.get_ref().clone(),
        mode: task.mode,
        core: *task.core.get_ref(),
        cores: task.shared_by.iter().fold(0, |cores, core| cores | 1 << core),
        priority: task.priority,
        weight: if task.nice == 0 { 0 } else { weight(task.nice) },
        stack_bytes: *task.stack_bytes.get_ref(),
        heap_bytes: task.heap_bytes,
        migratable: task.migratable,
        restart: task.restart,
        period_ns: rhythm.periods(1.0).0,
        deadline_ns: rhythm.periods(task.deadline_frames).0,
        offset_ns: rhythm.periods(task.offset_frames).0,
        rate_millihz: rhythm.rate_millihz(),
        period_rest: rhythm.periods(1.0).1,
        offset_rest: rhythm.periods(task.offset_frames).1,
        jitter_ns: if rhythm.is_never() { 0 } else { rounded(task.jitter_ns) },
        gap_ns: if rhythm.is_never() {
            0
        } else {
            task.gap_ns.map_or(0, |gap| rounded(gap).max(1))
        },
        follows_rate: rhythm.rate_millihz() > 0,
        moves_at_waits: task.moves == Moves::Waits,
        checkpoint_every: task.checkpoint_every,
        replay: task.checkpoint_every > 0 && task.on_crash == OnCrash::Replay,
        work: plan_work(task, kinds),
        script: task.script.map_or(0, |at| u32::try_from(at + 1).unwrap_or(u32::MAX)),
    }
}

/// Its share of a fair core: 1024 for a nice of 0, and a quarter more for each step below. Linux'
/// table is the same, rounded otherwise by up to 1.7 %.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "15 to 88818")]
fn weight(nice: i32) -> u32 {
    (1024.0 / 1.25_f64.powi(nice)).round() as u32
}

/// Of a task whose cycles are not known, only on which kinds it runs.
fn plan_work(task: &Task, kinds: &[&str]) -> Option<PlanWork> {
    let unknown = || (!task.kinds.is_empty()).then(|| Work::constant(Cycles::default()));
    let work = task.work.clone().or_else(unknown)?;
    let on = |kind: &&str| work.cycles.on(kind).filter(|_| task.runs_on(kind)).unwrap_or(0);
    let cycles = match &work.cycles {
        Cycles::Every(cycles) if task.kinds.is_empty() => vec![*cycles],
        _ => kinds.iter().map(on).collect(),
    };
    Some(PlanWork {
        distribution: work.distribution,
        spread_ppm: work.spread_ppm,
        working_bytes: work.working_bytes,
        traffic_bytes: work.traffic_bytes,
        firings: work.firings,
        cycles,
    })
}

/// How often a task is released in a run.
#[derive(Debug, Clone, Copy)]
enum Rhythm {
    Never,
    /// Frames per second, in thousandths: up to four million a second.
    Frames(u64),
    Nanoseconds(f64),
}

impl Rhythm {
    fn of(app: &App, task: &Task, pacing: Pacing) -> Self {
        match (task.period, pacing.frame_rate(app)) {
            (Period::Own(ns), _) if pacing != Pacing::Fast => Rhythm::Nanoseconds(ns),
            (Period::Frame, Some(rate)) if pacing != Pacing::Fast => {
                let counted = (1..=RATE_MAX).contains(&millihz(rate));
                if counted {
                    Rhythm::Frames(millihz(rate))
                } else {
                    Rhythm::Nanoseconds(1e9 / rate)
                }
            }
            _ => Rhythm::Never,
        }
    }

    fn is_never(self) -> bool {
        matches!(self, Rhythm::Never)
    }

    fn rate_millihz(self) -> u64 {
        if let Rhythm::Frames(rate) = self { rate } else { 0 }
    }

    /// So many periods, in whole nanoseconds; and of frames what rounding down leaves, in parts of
    /// a nanosecond that has as many as the rate has millihertz.
    fn periods(self, count: f64) -> (u64, u64) {
        match self {
            Rhythm::Never => (0, 0),
            Rhythm::Nanoseconds(period) => (rounded(period * count), 0),
            Rhythm::Frames(rate) => {
                let parts = u128::from(rounded(count.trunc())) * PARTS_OF_FRAMES
                    + u128::from(rounded(count.fract() * 1e12));
                let rate = u128::from(rate);
                (parts.div_euclid(rate) as u64, parts.rem_euclid(rate) as u64)
            }
        }
    }
}

/// How often a task is released, in nanoseconds; 0: it is not.
#[expect(clippy::cast_precision_loss, reason = "a rate is at most 1e12 thousandths")]
pub(crate) fn period_ns(app: &App, task: &Task, pacing: Pacing) -> f64 {
    match Rhythm::of(app, task, pacing) {
        Rhythm::Never => 0.0,
        Rhythm::Frames(rate) => PARTS_OF_FRAMES as f64 / rate as f64,
        Rhythm::Nanoseconds(period) => period,
    }
}

/// A frame takes so many parts, by its rate in millihertz.
const PARTS_OF_FRAMES: u128 = 1_000_000_000_000;

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is positive, and a cast saturates"
)]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}
