// SPDX-License-Identifier: Apache-2.0
//! What an exploration knows of an application and a platform: enough to tell which candidates
//! there are, which of them are alike, and which cannot keep up.

use whimbrel_hardware::{
    Arbitration, Core as CoreDescription, Description, Interconnect, MemoryKind,
};
use whimbrel_model::{App, Direction, Distribution, Period, Transport};

/// An application on a platform.
#[derive(Debug, Clone)]
pub struct System {
    /// The application's name.
    pub app: String,
    /// The platform's name.
    pub platform: String,
    /// The application's own frame rate, in thousandths per second; 0: none.
    pub rate_millihz: u64,
    /// Whether it runs until it is stopped, whoever it runs on.
    pub endless: bool,
    /// Every task.
    pub tasks: Vec<Task>,
    /// Every core of the platform.
    pub cores: Vec<Core>,
    /// Every channel and mailbox.
    pub channels: Vec<Channel>,
    /// How much internal memory there is, and whose it is: without that core it is not there.
    pub internal_bytes: u64,
    /// See above.
    pub internal_core: Option<usize>,
    /// Whether cores have temperatures, and places on a floorplan that these depend on.
    pub has_floorplan: bool,
}

/// One task.
#[derive(Debug, Clone)]
pub struct Task {
    /// The name it shares with the others of its `count`.
    pub name: String,
    /// Which of them it is.
    pub index: u32,
    /// What people call it.
    pub label: String,
    /// Where the application starts it.
    pub start: usize,
    /// Whether it may be anywhere else.
    pub migratable: bool,
    /// Cycles of one firing on each core, 0: it does not run there; `None`: not known.
    pub cycles: Option<Vec<u64>>,
    /// Whether every firing takes these cycles, not only their mean.
    pub steady: bool,
    /// How often it fires.
    pub firing: Firing,
    /// The ends of channels at it, sorted: tasks of one name and equal wires can be exchanged.
    pub wires: Vec<Wire>,
}

/// How often a task fires.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Firing {
    /// Nothing says so.
    Unknown,
    /// So many times for each frame.
    PerFrame(f64),
    /// So many times in a second, whatever the frame rate.
    PerSecond(f64),
}

/// One end of a channel, by what is at the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wire {
    /// Whether the task sends.
    pub sends: bool,
    /// The task's own port.
    pub port: String,
    /// The tasks at the other end.
    pub peers: Vec<usize>,
    /// Position in [`System::channels`].
    pub channel: usize,
}

/// A channel or a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// What the application gives it.
    pub slots: u32,
    /// With fewer slots it would be refused.
    pub least: u32,
    /// Messages at the start.
    pub initial: u32,
    /// Bytes of one message.
    pub slot_bytes: u32,
    /// Whether it is a mailbox, or of answers: its task looks into it when it likes.
    pub mailbox: bool,
    /// Whether room is claimed when the sender's firing begins, and free when the receiver's ends.
    pub claims_at_start: bool,
    /// What the application says of how messages go through it.
    pub way: Transport,
    /// What its slots take of memory, for each.
    pub bytes_each: u64,
}

/// One core.
#[derive(Debug, Clone)]
pub struct Core {
    /// Its operating points, from the lowest frequency.
    pub points: Vec<Point>,
    /// Cores with the same number can be exchanged.
    pub alike: usize,
}

/// An operating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Frequency.
    pub hz: u64,
    /// Power below which the core cannot be at this point, in microwatts.
    pub floor_uw: u32,
}

impl System {
    /// What is to be known of `app` on `platform`.
    pub fn new(app: &App, platform: &Description) -> Self {
        let firings = firings(app);
        let tasks = app.tasks.iter().enumerate().map(|(position, task)| Task {
            name: task.name.clone(),
            index: task.index,
            label: app.label(&task.name, task.index),
            start: *task.core.get_ref() as usize,
            migratable: task.migratable,
            cycles: cycles(app, task, platform),
            steady: task.script.is_none()
                && task.work.as_ref().is_none_or(|w| w.distribution == Distribution::Constant),
            firing: firings[position],
            wires: wires(app, position),
        });
        let internal = platform.internal();
        Self {
            internal_bytes: internal.map_or(0, |memory| memory.bytes),
            internal_core: internal.and_then(|memory| memory.core).map(|core| core as usize),
            has_floorplan: platform.thermal.is_some(),
            app: app.name.clone(),
            platform: platform.name.clone(),
            rate_millihz: app.frame_rate.map_or(0, millihz),
            endless: app.synthetic
                && app.tasks.iter().all(|task| task.work.as_ref().is_none_or(|w| w.firings == 0)),
            tasks: tasks.collect(),
            cores: cores(platform),
            channels: (0..app.channels.len()).map(|channel| self::channel(app, channel)).collect(),
        }
    }

    /// The part of a core that a task takes at a frequency; 0 where that is not known.
    #[expect(clippy::cast_precision_loss, reason = "a load needs no more digits")]
    pub fn load(&self, task: usize, core: usize, hz: u64, rate_millihz: u64) -> f64 {
        let Task { cycles, firing, .. } = &self.tasks[task];
        let cycles = cycles.as_ref().map_or(0, |cycles| cycles[core]) as f64;
        let per_second = match firing {
            Firing::Unknown => 0.0,
            Firing::PerFrame(n) => n * rate_millihz as f64 / 1e3,
            Firing::PerSecond(n) => *n,
        };
        cycles * per_second / hz as f64
    }

    /// Whether a task runs on cores of this kind at all.
    pub fn runs(&self, task: usize, core: usize) -> bool {
        self.tasks[task].cycles.as_ref().is_none_or(|cycles| cycles[core] > 0)
    }
}

/// Frames per second in thousandths.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates are positive, and a cast saturates"
)]
pub fn millihz(rate: f64) -> u64 {
    (rate * 1e3).round() as u64
}

/// Cycles on each core: what the platform measured of a task goes before what the application says,
/// but not on kinds of cores that the task does not run on.
fn cycles(app: &App, task: &whimbrel_model::Task, platform: &Description) -> Option<Vec<u64>> {
    let same = |work: &&whimbrel_hardware::Work| work.app == app.name && work.task == task.name;
    let of_kind = |kind: Option<&str>| {
        let mut all = platform.work.iter().filter(same);
        all.find(|work| work.kind.as_deref() == kind).map(|work| work.cycles)
    };
    let on = |core: &CoreDescription| {
        let measured = of_kind(Some(&core.kind)).or_else(|| of_kind(None));
        match &task.work {
            Some(work) => work.cycles.on(&core.kind).map_or(0, |own| measured.unwrap_or(own)),
            None => measured.unwrap_or(0),
        }
    };
    let known = platform.work.iter().any(|work| same(&work)) || task.work.is_some();
    known.then(|| platform.cores.iter().map(on).collect())
}

/// Tasks with a period fire once in it; what is connected to them follows by the rates of the
/// channels: a task fires `produce / consume` times for each firing of the one it receives from.
fn firings(app: &App) -> Vec<Firing> {
    #[expect(clippy::cast_precision_loss, reason = "days, in nanoseconds")]
    let of_script = |script: usize| match app.scripts[script].period_ns() {
        Some(ns) => Firing::PerSecond(1e9 / ns as f64),
        None => Firing::Unknown,
    };
    let own = |task: &whimbrel_model::Task| match (task.script, task.period) {
        (Some(script), _) => of_script(script),
        (None, Period::None) => Firing::Unknown,
        (None, Period::Frame) => Firing::PerFrame(1.0),
        (None, Period::Own(ns)) => Firing::PerSecond(1e9 / ns),
    };
    let mut firings: Vec<Firing> = app.tasks.iter().map(own).collect();
    let mut todo: Vec<usize> =
        (0..firings.len()).filter(|task| firings[*task] != Firing::Unknown).collect();
    // How many messages a firing of a script passes is its own matter.
    let is_actor = |task: usize| app.tasks[task].script.is_none();
    while let Some(task) = todo.pop() {
        if !is_actor(task) {
            continue;
        }
        for port in app.ports.iter().filter(|port| port.task == task) {
            if !app.channels[port.channel].flows() {
                continue;
            }
            let others = app.ports.iter().filter(|p| p.channel == port.channel);
            for peer in others.filter(|p| p.direction != port.direction) {
                if firings[peer.task] == Firing::Unknown && is_actor(peer.task) {
                    let ratio = f64::from(port.rate) / f64::from(peer.rate);
                    firings[peer.task] = firings[task].times(ratio);
                    todo.push(peer.task);
                }
            }
        }
    }
    firings
}

impl Firing {
    fn times(self, ratio: f64) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::PerFrame(n) => Self::PerFrame(n * ratio),
            Self::PerSecond(n) => Self::PerSecond(n * ratio),
        }
    }
}

/// The tasks at the other end of a channel.
fn peers(app: &App, channel: usize, own: Direction) -> Vec<usize> {
    let others = app.ports.iter().filter(|port| port.channel == channel && port.direction != own);
    others.map(|port| port.task).collect()
}

fn wires(app: &App, task: usize) -> Vec<Wire> {
    let wire = |port: &whimbrel_model::Port| Wire {
        sends: port.direction == Direction::Out,
        port: port.name.clone(),
        peers: peers(app, port.channel, port.direction),
        channel: port.channel,
    };
    let mut wires: Vec<Wire> = app.ports.iter().filter(|p| p.task == task).map(wire).collect();
    wires.sort();
    wires
}

fn channel(app: &App, channel: usize) -> Channel {
    let known = &app.channels[channel];
    Channel {
        name: known.name.clone(),
        slots: known.slots,
        least: app.least_slots(channel),
        initial: known.initial,
        slot_bytes: known.slot_bytes,
        mailbox: !known.flows(),
        claims_at_start: known.claims_at_start,
        way: Transport { notify: known.notify, internal: known.internal },
        bytes_each: known.bytes() / u64::from(known.slots),
    }
}

fn cores(platform: &Description) -> Vec<Core> {
    let mut cores: Vec<Core> = Vec::new();
    for (number, core) in platform.cores.iter().enumerate() {
        let first = (0..number).find(|other| alike(platform, *other, number));
        let alike = first.map_or(number, |first| cores[first].alike);
        cores.push(Core { points: core.points.iter().map(|p| point(core, *p)).collect(), alike });
    }
    cores
}

/// Whether two cores can be exchanged: equal themselves, equal in memory of their own, and in
/// places that make no difference. On a mesh places do, and in the round of a bus with slots; on a
/// floorplan they do if power follows temperature, be it that of a third core next to one of them.
/// Whether a policy sees places is another matter (`policy.rs`). The point a core begins at is part
/// of a candidate.
fn alike(platform: &Description, a: usize, b: usize) -> bool {
    let (one, other) = (&platform.cores[a], &platform.cores[b]);
    let on_mesh = matches!(platform.interconnect, Some(Interconnect::Mesh(_)));
    let in_slots = matches!(&platform.interconnect,
                            Some(Interconnect::Bus(bus)) if bus.arbitration == Arbitration::Tdma);
    let leaks = platform.cores.iter().any(|core| core.leakage.is_some());
    let in_place = in_slots || (platform.thermal.is_some() && leaks);
    // The memory for channels that are internal is there with its core only.
    let internal = |core: usize| {
        platform.internal().is_some_and(|memory| memory.core.map(|c| c as usize) == Some(core))
    };
    let anonymous = |core: &CoreDescription| CoreDescription {
        start: 0,
        node: if on_mesh { core.node } else { (0, 0) },
        ..core.clone()
    };
    let own = |core: usize| {
        let memories = platform.memories.iter().filter(|memory| memory.kind != MemoryKind::Shared);
        let memories = memories.filter(|memory| memory.core.map(|c| c as usize) == Some(core));
        let facts = memories.map(|m| (m.kind, m.bytes, m.latency_ps, m.bytes_per_s));
        facts.collect::<Vec<_>>()
    };
    let equal = anonymous(one) == anonymous(other) && own(a) == own(b);
    !in_place && !internal(a) && !internal(b) && equal
}

/// Power is least in the deepest idle state, or when cold if it follows temperature.
fn point(core: &CoreDescription, point: whimbrel_hardware::Point) -> Point {
    let cold = if core.leakage.is_some() { point.static_uw } else { 0 };
    let states = core.idle_states.iter().map(|state| state.power_uw);
    let idle = point.idle_uw.min(point.active_uw).saturating_sub(cold);
    Point { hz: point.hz, floor_uw: states.fold(idle, u32::min) }
}
