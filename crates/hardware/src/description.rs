// SPDX-License-Identifier: Apache-2.0
//! The description of a platform: plain data, complete, checked by who made it.
//!
//! Units are in the names: picoseconds (`_ps`), hertz, microwatts (`_uw`), picojoules (`_pj`),
//! thousandths of a degree Celsius (`_mc`), millimetres (`_mm`). Times are 64-bit picoseconds: 213
//! days.

use serde::{Deserialize, Serialize};

/// A whole platform.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Description {
    /// Its name.
    pub name: String,
    /// Every core, in order.
    pub cores: Vec<Core>,
    /// What the middleware's actions and the kernels' work cost.
    pub costs: Costs,
    /// Memories that cores reach; the first that is shared holds globally visible memory.
    pub memories: Vec<Memory>,
    /// What connects cores and shared memories; `None`: nothing that could be in the way.
    pub interconnect: Option<Interconnect>,
    /// How cores ring each other.
    pub doorbell: Doorbell,
    /// The floorplan and what heat does on it; `None`: temperatures are not known.
    pub thermal: Option<Thermal>,
    /// Measured cycles of applications' tasks on this platform; they go before those of the
    /// application.
    pub work: Vec<Work>,
}

impl Description {
    /// Leaves only the first cores: memories, blocks and work of the others go with them.
    pub fn truncate(&mut self, cores: usize) {
        let stays = |core: Option<u32>| core.is_none_or(|core| (core as usize) < cores);
        self.keep_slots();
        self.cores.truncate(cores);
        self.memories.retain(|memory| stays(memory.core));
        for block in self.thermal.iter_mut().flat_map(|thermal| &mut thermal.blocks) {
            // The silicon stays, and is dark.
            block.core = block.core.filter(|core| stays(Some(*core)));
        }
    }

    /// The group of each core; 0: its scheduler is its own.
    pub fn groups(&self) -> Vec<u32> {
        self.cores.iter().map(|core| core.group).collect()
    }

    /// Leaves only some cores, each with the operating point that it begins at, and numbers them
    /// anew: nothing else consumes energy.
    pub fn select(&mut self, cores: &[(usize, usize)]) {
        let place = |core: Option<u32>| {
            let known = |core: u32| cores.iter().position(|(known, _)| *known == core as usize);
            core.and_then(known).and_then(|place| u32::try_from(place).ok())
        };
        let all = std::mem::take(&mut self.cores);
        self.cores.extend(cores.iter().map(|(core, start)| Core {
            start: *start,
            number: u32::try_from(*core).ok(),
            ..all[*core].clone()
        }));
        self.memories.retain(|memory| memory.core.is_none() || place(memory.core).is_some());
        for memory in &mut self.memories {
            memory.core = place(memory.core);
        }
        // The block of a core that is off stays on the die, cold.
        let blocks = self.thermal.iter_mut().flat_map(|thermal| &mut thermal.blocks);
        blocks.for_each(|block| block.core = place(block.core));
    }

    /// A bus with slots keeps one for each of the cores that there are now, also when some of them
    /// are left out. Says so only once.
    pub fn keep_slots(&mut self) {
        if let Some(Interconnect::Bus(Bus { slots: slots @ 0, .. })) = &mut self.interconnect {
            *slots = u32::try_from(self.cores.len()).unwrap_or(u32::MAX);
        }
    }
}

/// One core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Core {
    /// Its kind, as `arm9` or `dsp`: tasks have cycles for each kind they run on.
    pub kind: String,
    /// Operating points, from the lowest frequency to the highest; at least one.
    pub points: Vec<Point>,
    /// The position of the one it begins at.
    pub start: usize,
    /// What going from one to another costs.
    pub transition: Transition,
    /// Idle states, from the shallowest to the deepest; none: an idle core is at `idle_uw`.
    pub idle_states: Vec<IdleState>,
    /// How static power follows temperature; `None`: it does not.
    pub leakage: Option<Leakage>,
    /// Its private cache, if warming it up costs time.
    pub cache: Option<Cache>,
    /// Its node in a mesh, column and row; 0, 0 on a bus.
    pub node: (u32, u32),
    /// When its kernel takes it from a task.
    #[serde(default)]
    pub scheduling: Scheduling,
    /// Which tasks may go on on another core of its group.
    #[serde(default)]
    pub migration: Migration,
    /// The cores of the same number share one scheduler; 0: the core has its own.
    #[serde(default)]
    pub group: u32,
    /// After so long a task gives way to others that are as urgent; 0: when it waits.
    #[serde(default)]
    pub slice_ps: u64,
    /// How often a fair kernel looks whether a slice is over; 0: when it is.
    #[serde(default)]
    pub tick_ps: u64,
    /// By how much later than it should a task's sleep ends.
    #[serde(default)]
    pub timer_slack_ps: u64,
    /// Whether it is off at the start: it draws nothing until it is woken.
    #[serde(default)]
    pub off: bool,
    /// What acts cost on it alone.
    #[serde(default)]
    pub own: OwnCosts,
    /// Its number, which says what happens to it by chance and which slot of a bus it has; `None`:
    /// its place. Another one where cores before it are left out.
    #[serde(default)]
    pub number: Option<u32>,
}

/// When a kernel takes its core from a task; the numbers are `enum scheduling`'s of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheduling {
    /// When the task waits, and at its checkpoints.
    #[default]
    Cooperative,
    /// At once, for one that is more urgent.
    Preemptive,
    /// The same; of those of one priority, the earlier the deadline of its job, the more urgent.
    Edf,
    /// The same; those of one priority share the core by their weights.
    Fair,
}

impl Scheduling {
    /// All of them, by their words in a platform's TOML.
    pub const WORDS: [(&str, Self); 4] = [
        ("cooperative", Self::Cooperative),
        ("preemptive", Self::Preemptive),
        ("edf", Self::Edf),
        ("fair", Self::Fair),
    ];
}

/// When the scheduler that a group of cores shares may move a task between them: J. Carpenter and
/// others, "A Categorization of Real-Time Multiprocessor Scheduling Problems and Algorithms",
/// Handbook of Scheduling, 2004.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Migration {
    /// Never: each core has a scheduler of its own.
    #[default]
    None,
    /// Between jobs.
    Restricted,
    /// At any time.
    Full,
}

impl Migration {
    /// All of them, by their words in a platform's TOML.
    pub const WORDS: [(&str, Self); 3] =
        [("none", Self::None), ("restricted", Self::Restricted), ("full", Self::Full)];
}

/// An operating point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// Frequency.
    pub hz: u64,
    /// Supply voltage in microvolts; 0: not known.
    pub microvolts: u32,
    /// Power in tasks, static and dynamic, at the reference temperature of `leakage`.
    pub active_uw: u32,
    /// Power without, clocks gated.
    pub idle_uw: u32,
    /// The static part of both.
    pub static_uw: u32,
}

/// A change of operating points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Transition {
    /// For so long the core does nothing.
    pub time_ps: u64,
    /// What it takes besides.
    pub energy_pj: u64,
}

/// A state that an idle core may enter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// Its name.
    pub name: String,
    /// Power in it.
    pub power_uw: u32,
    /// Time from the decision until its power is reached; at active power.
    pub enter_ps: u64,
    /// Time from the doorbell until the core runs; at active power.
    pub exit_ps: u64,
    /// It is entered after so long without work.
    pub after_ps: u64,
    /// What was in the core's cache is gone after it.
    pub loses_cache: bool,
    /// What it costs besides.
    pub waking: Waking,
}

/// What waking a core costs besides the time until it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Waking {
    /// Who rings the core is busy for so long with it, besides what any ring costs.
    pub ring_ps: u64,
    /// The first switch after it takes so much longer.
    pub switch_ps: u64,
    /// The first firing after it takes so much longer, as busy time of its task.
    pub refill_ps: u64,
}

/// Static power against temperature: `static * exp((T - reference) / slope)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Leakage {
    /// The temperature at which `static_uw` holds.
    pub reference_mc: i32,
    /// Degrees Celsius for a factor of e.
    pub slope_c: f64,
}

/// A private cache, by what a task finds of its own in it when it comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// Capacity.
    pub bytes: u64,
    /// Line size.
    pub line_bytes: u32,
    /// Time to fetch one line that is missing, beyond the interconnect's own.
    pub miss_ps: u64,
    /// Time by which a line takes longer to read that another core has written, as busy time of who
    /// receives it in a message.
    pub far_ps: u64,
    /// What happens besides to a task that misses some.
    pub disturbance: Disturbance,
}

/// What a machine does besides to some of the tasks that find nothing of their own in a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Disturbance {
    /// So many in a million.
    pub part_ppm: u32,
    /// Each takes longer by so much in the mean, exponentially distributed, as busy time.
    pub mean_ps: u64,
}

/// What an action costs: `ps + (cycles + units * cycles_per_unit) / frequency`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Cycles of the core that does it.
    pub cycles: f64,
    /// Cycles for each unit (byte, note, task: see `enum wb_action`).
    pub cycles_per_unit: f64,
    /// Time whatever the frequency.
    pub ps: u64,
}

/// The cost of everything that is charged.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Costs {
    /// By `enum wb_action`, in its order: see [`Costs::ACTIONS`].
    pub actions: Vec<Cost>,
    /// A switch from one task to another.
    pub switch: Cost,
    /// An interrupt of the timer of a preemptive core.
    #[serde(default)]
    pub interrupt: Cost,
    /// Reading the clock.
    pub clock: Cost,
    /// Copying a task's memory, units: bytes.
    pub copy: Cost,
    /// Loading a task's program (recreation), units: bytes of its stack and heap.
    pub load: Cost,
    /// As `send` and `receive`, of channels in internal memory; `None`: the same.
    #[serde(default)]
    pub send_internal: Option<Cost>,
    /// See above.
    #[serde(default)]
    pub receive_internal: Option<Cost>,
}

/// What acts cost on one core, where that is not what they cost on the platform: by their names in
/// a platform's TOML, and `ring` and `rung` for what [`Doorbell`] has.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OwnCosts(pub Vec<(String, Cost)>);

impl OwnCosts {
    /// What everything costs on the core.
    pub fn over(&self, costs: &Costs, doorbell: &Doorbell) -> (Costs, Doorbell) {
        let (mut costs, mut doorbell) = (costs.clone(), doorbell.clone());
        for (name, cost) in &self.0 {
            match name.as_str() {
                "ring" => doorbell.send = cost.clone(),
                "rung" => doorbell.receive = cost.clone(),
                name => costs.set(name, cost.clone()),
            }
        }
        (costs, doorbell)
    }
}

impl Costs {
    /// Says what an act costs, by its name in a platform's TOML; another name says nothing.
    pub fn set(&mut self, name: &str, cost: Cost) {
        match name {
            "switch" => self.switch = cost,
            "clock" => self.clock = cost,
            "copy" => self.copy = cost,
            "load" => self.load = cost,
            "interrupt" => self.interrupt = cost,
            "send_internal" => self.send_internal = Some(cost),
            "receive_internal" => self.receive_internal = Some(cost),
            _ => {
                self.actions.resize(Self::ACTIONS.len(), Cost::default());
                let action = Self::ACTIONS.iter().position(|action| *action == name);
                if let Some(slot) = action.and_then(|at| self.actions.get_mut(at)) {
                    *slot = cost;
                }
            }
        }
    }

    /// The names of the middleware's actions in a platform's TOML, in the order of
    /// `enum wb_action` (`wb/kernel.h`).
    pub const ACTIONS: [&str; 15] = [
        "send",
        "receive",
        "claim",
        "hold",
        "commit",
        "release",
        "checkpoint",
        "post",
        "serve",
        "park",
        "attach",
        "heap",
        "report",
        "decide",
        "job",
    ];
}

impl Description {
    /// The memory for channels that are internal: the first scratchpad, which all cores reach.
    pub fn internal(&self) -> Option<&Memory> {
        self.memories.iter().find(|memory| memory.kind == MemoryKind::Scratchpad)
    }
}

/// What a memory is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Reached by every core, through the interconnect.
    Shared,
    /// One core's own.
    Private,
    /// One core's own, without a cache before it.
    Scratchpad,
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub kind: MemoryKind,
    /// Its core, of a memory that is not shared.
    pub core: Option<u32>,
    /// Capacity.
    pub bytes: u64,
    /// Time to the first byte.
    pub latency_ps: u64,
    /// Bytes per second after that.
    pub bytes_per_s: u64,
    /// Its node in a mesh.
    pub node: (u32, u32),
}

/// How a bus chooses among cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// First come, first served.
    Fcfs,
    /// Each core has its own slot of time in turn, used or not.
    Tdma,
}

/// What connects cores and shared memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interconnect {
    /// One transfer at a time.
    Bus(Bus),
    /// Links between neighbours.
    Mesh(Mesh),
}

/// A bus that cores share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bus {
    /// Who is next.
    pub arbitration: Arbitration,
    /// Its clock, in hertz.
    pub hz: u64,
    /// Bytes in each cycle; not 0.
    pub width_bytes: u32,
    /// Cycles before the first byte of a burst.
    pub setup_cycles: u32,
    /// The longest transfer before others have their turn, in bytes; not 0.
    pub burst_bytes: u32,
    /// Energy of each byte.
    pub pj_per_byte: f64,
    /// Slots in a round, those of the first cores first; 0: one for each core.
    pub slots: u32,
}

/// A two-dimensional mesh: a message goes along its row first, then along the column (XY routing).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mesh {
    /// Nodes in a row.
    pub columns: u32,
    /// Nodes in a column.
    pub rows: u32,
    /// The clock of its links.
    pub hz: u64,
    /// Bytes in each cycle of a link.
    pub width_bytes: u32,
    /// Cycles in each router.
    pub hop_cycles: u32,
    /// Energy of each byte and hop.
    pub pj_per_byte_hop: f64,
}

/// How a core learns that something waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DoorbellKind {
    /// It is interrupted.
    #[default]
    Interrupt,
    /// It looks, every so often.
    Polling,
}

/// Doorbells between cores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Doorbell {
    /// Which.
    pub kind: DoorbellKind,
    /// What ringing costs the core that rings.
    pub send: Cost,
    /// Time until the other core notices.
    pub latency_ps: u64,
    /// What being rung costs: the interrupt's entry and exit, or one look.
    pub receive: Cost,
    /// Polling: the time between looks of an idle core.
    pub interval_ps: u64,
}

/// A rectangle of the floorplan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// The core whose power it takes; `None`: it takes none.
    pub core: Option<u32>,
    /// Left edge.
    pub x_mm: f64,
    /// Lower edge.
    pub y_mm: f64,
    /// Width.
    pub width_mm: f64,
    /// Height.
    pub height_mm: f64,
}

/// A thermal network of resistances and capacities: one node for each block, as in HotSpot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thermal {
    /// Temperature of the surroundings, where everything begins.
    pub ambient_mc: i32,
    /// The floorplan.
    pub blocks: Vec<Block>,
    /// Thickness of the die.
    pub thickness_mm: f64,
    /// Thermal conductivity of the die, W/(m K).
    pub conductivity: f64,
    /// Volumetric heat capacity of the die, J/(m³ K).
    pub capacity: f64,
    /// From the whole of the die to the surroundings, K/W.
    pub sink_k_per_w: f64,
    /// Capacity of what carries the heat off, J/K.
    pub sink_j_per_k: f64,
    /// How often temperatures are computed.
    pub step_ps: u64,
}

/// The measured cycles of one firing of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The application's name.
    pub app: String,
    /// The task's name.
    pub task: String,
    /// Of the tasks of this name; `None`: all of which no other entry says more.
    pub index: Option<u32>,
    /// Of cores of this kind; `None`: of every kind of which no other entry says more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Cycles of one firing.
    pub cycles: u64,
    /// Memory that it comes back to; `None`: as the application says.
    pub working_bytes: Option<u64>,
}
