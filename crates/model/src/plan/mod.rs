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
use crate::in_c::{self, InC, Kind, Tables, members};
use crate::platform::{Core, Frequency, Point};
use crate::schema::words;
use moving::RATE_MAX;
pub use moving::{Moving, NO_POLICY, POINT_OFF, PolicyName, TableRow, millihz};
pub use script::{PlanEvent, PlanScript};

/// Of the messages to a helper.
const VERSION: u32 = 2;

/// What a plan says beyond the application itself.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// The processor of each core; of a guest, the core of its board.
    pub cpus: Vec<u32>,
    /// The guests; their commands are for the helper alone.
    pub guests: Vec<PlanGuest>,
    /// The guest of each core, from 1; 0, and where it is missing: none.
    pub guest_of: Vec<u32>,
    /// Where the module was found.
    pub module: String,
    /// How long an idle kernel polls before it sleeps; `None`: for ever.
    pub spin_ns: Option<u64>,
    /// That long at most: as what came of late makes it worth.
    pub spin_adapts: bool,
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
            guests: Vec::new(),
            guest_of: Vec::new(),
            module: module.to_owned(),
            spin_ns: None,
            spin_adapts: false,
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

members! {
    /// A plan as a helper takes it.
    #[derive(Default)]
    pub struct Plan: "plan" as "message" at "plan." {
        /// The version of the protocol: 2.
        needed version: u32, "version";
        /// The application's shared object.
        needed module: String;
        /// The application's static program, for tasks that are recreated.
        always program: Option<String>;
        /// An existing folder for the event streams; `null`: the run is not recorded.
        always record: Option<String>;
        /// Needed for `cpufreq`: a new file for what frequencies were; gone once they are put back.
        always journal: Option<String>;
        /// Needed where a task's `entry` is `wb_client`: an existing folder for their sockets.
        always clients: Option<String>;
        /// Memory for `wb_app_alloc`.
        always memory_bytes: u64;
        /// The pool of `wb_shared_malloc`.
        always shared_bytes: u64, most "WB_SHARED_MAX";
        /// The time that an idle kernel polls before it sleeps; `null`: it never sleeps.
        always spin_ns: Option<u64>;
        /// Whether `spin_ns` is the most that an idle kernel polls: less where that is of no use.
        maybe spin_adapts: bool;
        /// The time that a target may take to attach a task.
        always offer_ns: u64;
        /// The hash of this plan, which the images of its guests have.
        maybe hash: Option<String>;
        /// Programs of other kinds in emulators, which run some of the cores.
        maybe guests: Vec<PlanGuest>;
        /// How replicated contexts travel.
        always transport: Option<ContextTransport>;
        /// How operating points are set.
        always frequency: Frequency;
        /// Whether tasks only take the time of their work, and compute nothing.
        always models_compute: bool;
        /// Where every draw of cycles begins.
        always seed: u64;
        /// The cores.
        needed cores: Vec<PlanCore>;
        /// The application's parameters.
        always params: Vec<Param>;
        /// Channels and mailboxes.
        always channels: Vec<Channel>;
        /// The tasks.
        needed tasks: Vec<PlanTask>;
        /// The ports, each with its task and its channel.
        always ports: Vec<Port>;
        /// What scripts have in common.
        always objects: Vec<Object>;
        /// The scripts of tasks.
        always scripts: Vec<PlanScript>;
        /// The period of the agents; 0: they do not report.
        always agents_ns: u64, most "INT64_MAX";
        /// The core that the coordinator runs on.
        always coordinator: u32;
        /// Who decides; `null`: nothing moves by itself.
        always policy: Option<PolicyName>;
        /// The rows of the table policy, ascending.
        always rows: Vec<TableRow>, "rows";
        /// Frames per second in thousandths at the start; 0: none.
        always rate_millihz: u32;
        /// How often a kernel that was killed is started again.
        maybe restarts: u32;
        /// Of a simulation: its hardware as a text of JSON.
        always platform: Option<String>, "plan.sim.platform";
        /// Of a simulation: what it does at a time.
        always commands: Vec<At>, "plan.sim.commands";
        /// Of a simulation: a file to resume from.
        always restore: Option<SavedFile>, "plan.sim";
        /// Of a simulation: an error of kind `limit` when the run has not ended by then.
        always limit: Option<Limit>, "plan.sim";
    }
}

members! {
    /// A guest of a plan.
    #[derive(PartialEq, Eq)]
    pub struct PlanGuest: "plan_guest" {
        /// The name of its board.
        needed name: String;
        /// A program and its words, with its image among them: the helper adds the devices.
        needed command: Vec<String>;
        /// The number of its board's cores.
        needed cores: u32;
    }
}

members! {
    /// A core of a plan.
    pub struct PlanCore: "plan_core" {
        /// The processor of the machine; of a guest, the core of its board; in the simulator of
        /// none.
        needed cpu: u32;
        /// The guest, from 1; 0: the core is this machine's.
        maybe guest: u32;
        /// The number of its kind.
        always kind: usize, most "WB_KINDS_MAX - 1";
        /// Its operating points, from the lowest frequency to the highest.
        always points: Vec<Point>;
        /// The point at which it begins.
        always start: usize;
        /// Whether its kernel lets a task run until it waits.
        maybe to_completion: bool;
        /// Of a simulation with independent islands: the one it belongs to, from 1; 0: its core has
        /// no tasks.
        maybe island: u32;
    }
}

members! {
    /// A task of a plan.
    pub struct PlanTask: "plan_task" {
        /// The name that it shares with the others of its `count`.
        needed name: String, "config.name";
        /// Which of them it is, from 0.
        maybe index: u32, "config.index";
        /// The function that it runs: a symbol.
        needed entry: Entry;
        /// How it moves.
        needed mode: Mode, "config.mode";
        /// The core where it starts.
        maybe core: u32, "config.core";
        /// The cores that share it, a bit for each; 0: it stays where it is.
        maybe cores: u32, "config.cores";
        /// Larger is more urgent.
        maybe priority: u32, "config.priority", most "31";
        /// Its share of a fair core; 0: 1024, that of a nice of 0.
        maybe weight: u32, most "1 << 20";
        /// The size of its stack.
        needed stack_bytes: u64, "config.stack_bytes";
        /// The size of its heap.
        maybe heap_bytes: u64, "config.heap_bytes";
        /// Whether it may move.
        maybe migratable: bool, "config.migratable";
        /// Whether it starts again after its kernel died.
        maybe restart: bool, "config.restart";
        /// The time between two releases; 0: it has none.
        maybe period_ns: u64, "config.period_ns";
        /// The time after its release when a job is late.
        maybe deadline_ns: u64, "config.deadline_ns";
        /// Its first release, after the start.
        maybe offset_ns: u64, "config.offset_ns";
        /// Of a task that goes by frames: the frames per second, in thousandths.
        maybe rate_millihz: u32, "config.rate_millihz";
        /// What rounding `period_ns` down left, in parts of a nanosecond: `rate_millihz` of them.
        maybe period_rest: u32, "config.period_rest";
        /// The same of `offset_ns`.
        maybe offset_rest: u32, "config.offset_rest";
        /// The most that a job begins after its release, evenly drawn.
        maybe jitter_ns: u64, "config.jitter_ns";
        /// The mean time between two releases beyond its period, exponentially drawn.
        maybe gap_ns: u64, "config.gap_ns";
        /// Whether its period follows the frame rate.
        maybe follows_rate: bool, "config.follows_rate";
        /// Whether it moves also where it waits.
        maybe moves_at_waits: bool, "config.moves_at_waits";
        /// The checkpoints from one image to the next; 0: no images.
        maybe checkpoint_every: u32, "config.checkpoint_every";
        /// Whether messages since the image come again.
        maybe replay: bool, "config.replay";
        /// What it computes in each firing; `null`: that is not known.
        maybe work: Option<PlanWork>;
        /// Of `scripts`, from 1; 0: it has none.
        maybe script: u32;
    }
}

members! {
    /// What a task of a plan computes in each firing.
    #[derive(PartialEq, Eq)]
    pub struct PlanWork: "wb_work_config" pointed "work" {
        /// How cycles vary.
        needed distribution: Distribution;
        /// By how much, in millionths of the mean.
        maybe spread_ppm: u32;
        /// Memory that a firing comes back to.
        maybe working_bytes: u64;
        /// Bytes over the interconnect in addition to messages.
        maybe traffic_bytes: u64;
        /// The number of firings after which it ends; 0: no end.
        maybe firings: u64;
        /// The cycles for each kind of core, 0 where it does not run; or one for all.
        needed cycles: Vec<u64>;
    }
}

members! {
    /// A command that is obeyed by itself.
    pub struct At: "plan_at" {
        /// When, after the start.
        needed at_ns: u64;
        /// The time until it is obeyed again; 0: once.
        always every_ns: u64;
        /// A command of this protocol, or `save`.
        needed command: Command;
    }
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

members! {
    /// A simulation that was saved, and what it must be of.
    pub struct SavedFile: "plan_sim" {
        /// The file.
        needed path: String, "restore";
        /// What it must be of, at most 31 bytes.
        needed id: String, "restore_id";
    }
}

members! {
    /// Longer or more is an error.
    pub struct Limit: "plan_sim" {
        /// The time of its end; 0: no limit.
        always until_ns: u64;
        /// The events of the simulator; 0: no limit.
        always events: u64;
    }
}

words! {
    /// How replicated contexts travel between kernels.
    pub enum ContextTransport {
        /// As is quicker.
        Auto = "auto", "WB_TRANSPORT_AUTO";
        /// The target reads the source's private memory.
        Alias = "alias", "WB_TRANSPORT_ALIAS";
        /// The source fills a buffer while the target empties it.
        Buffer = "buffer", "WB_TRANSPORT_BUFFER";
    }
}

/// The function of a task: its name; on boards its address as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Entry {
    /// A symbol.
    pub name: String,
    /// Whether the tables of an image have its address.
    #[serde(skip)]
    pub in_image: InImage,
}

impl Entry {
    /// What the tables of an image refer to. Only the application's own functions have the second
    /// name: a function of the C library does not become a task's.
    pub fn symbol(&self) -> Option<String> {
        match self.in_image {
            InImage::Always => Some(self.name.clone()),
            InImage::IfDefined => Some(format!("whimbrel_entry_{}", self.name)),
            InImage::Never => None,
        }
    }
}

/// Whether the tables of an image have the address of a task's function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InImage {
    /// The image has it.
    Always,
    /// The image has it if the application's sources for a board do; else the address is NULL.
    IfDefined,
    /// The address is NULL: the image does not run the task.
    Never,
}

impl InC for Entry {
    const KIND: Kind = String::KIND;

    fn initialiser(&self, tables: &mut Tables, name: &str) -> Option<String> {
        self.name.initialiser(tables, name)
    }

    fn fields(&self, tables: &mut Tables, name: &str, path: &str, to: &mut Vec<String>) {
        self.name.fields(tables, name, path, to);
        if let Some(symbol) = self.symbol() {
            to.push(format!(".config.{path} = {symbol}"));
        }
    }
}

impl InC for Command {
    const KIND: Kind = Kind::By("take_command");

    fn initialiser(&self, _: &mut Tables, _: &str) -> Option<String> {
        None
    }
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
    /// The kernel of a core begins anew.
    Restart {
        id: String,
        core: u32,
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
    /// Its members.
    pub const MEMBERS: &in_c::Object = &Self::OBJECT;

    /// The message of it.
    pub fn line(&self) -> String {
        #[derive(Serialize)]
        struct Message<'a> {
            plan: &'a Plan,
        }
        // Made in place: the plan of a thousand cores is half a megabyte.
        json(&Message { plan: self }) + "\n"
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
        spin_adapts: options.spin_adapts,
        offer_ns: options.offer_ns,
        // Once all else is there.
        hash: None,
        guests: options.guests.clone(),
        transport: moving.transport,
        frequency: options.frequency,
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
        rate_millihz: rate.map_or(0, |rate| saturated(millihz(rate))),
        // What is added before it is told: by runs on this machine, and by simulations.
        clients: None,
        restarts: 0,
        platform: None,
        commands: Vec::new(),
        restore: None,
        limit: None,
    }
}

/// The kinds of cores in the order of their numbers, and the cores. Cores of a guest have numbers
/// of their own: by those a policy sees which tasks cannot go there.
fn cores(options: &PlanOptions) -> (Vec<&str>, Vec<PlanCore>) {
    let mut kinds: Vec<(&str, u32)> = Vec::new();
    let mut cores = Vec::new();
    for (core, cpu) in options.cpus.iter().enumerate() {
        let kind = options.kinds.get(core).map_or(HOST_KIND, String::as_str);
        let guest = options.guest_of.get(core).copied().unwrap_or(0);
        let known = kinds.iter().position(|known| *known == (kind, guest));
        let number = known.unwrap_or(kinds.len());
        if number == kinds.len() {
            kinds.push((kind, guest));
        }
        let (points, start) = options
            .cores
            .get(core)
            .map_or((Vec::new(), 0), |core| (core.points.clone(), core.start));
        let to_completion = kind == DSP_KIND;
        cores.push(PlanCore {
            cpu: *cpu,
            guest,
            kind: number,
            points,
            start,
            to_completion,
            island: 0,
        });
    }
    (kinds.into_iter().map(|(kind, _)| kind).collect(), cores)
}

fn plan_task(app: &App, task: &Task, pacing: Pacing, kinds: &[&str]) -> PlanTask {
    let rhythm = Rhythm::of(app, task, pacing);
    PlanTask {
        name: task.name.clone(),
        index: task.index,
        entry: Entry { name: task.entry.get_ref().clone(), in_image: InImage::Always },
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
        rate_millihz: saturated(rhythm.rate_millihz()),
        period_rest: saturated(rhythm.periods(1.0).1),
        offset_rest: saturated(rhythm.periods(task.offset_frames).1),
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

/// What fits 32 bits; all above is one to a helper.
fn saturated(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
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
