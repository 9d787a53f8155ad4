// SPDX-License-Identifier: Apache-2.0
//! The keys of platform.toml. `make keys` lists them in `docs/platform-toml.md`, and makes classes
//! of Python.

use std::collections::BTreeMap;

use toml::Spanned;
use whimbrel_hardware::{Arbitration, DoorbellKind, MemoryKind, Migration, Scheduling};

use crate::reader::{Node, word};
use crate::schema::Shape::{
    Each, List, Number, Scaled, Size, Table, Tables, Text, Truth, Whole, Words,
};
use crate::schema::{FILLED, LINE, NAME, Noted, Read, Shape, Tried, table, words};

const SOURCE: Shape = Text(
    "the source of its numbers: a paper, a data sheet, a measurement, or \"ours: …\" and why",
    FILLED,
    ".",
);
const MHZ: Shape = Scaled("a frequency in megahertz", 0.001, 1e6, 1e6);
const MW: Shape = Scaled("a power in milliwatts", 0.0, 4e6, 1e3);
const US: Shape = Scaled("a time in microseconds", 0.0, 1e9, 1e6);
const SOME_US: Shape = Scaled("a time in microseconds", 1.0, 1e9, 1e6);
const NS: Shape = Scaled("a time in nanoseconds", 0.0, 1e9, 1e3);
const CELSIUS: Shape = Scaled("a temperature in degrees Celsius", -273.0, 1000.0, 1e3);
const CYCLES: Shape = Number("a number of cycles", 0.0, 1e15);
const WIDTH: Shape = Whole("bytes in each cycle", 1, 4096);
const BUS_CYCLES: Shape = Whole("cycles", 0, 1_000_000);
const PICOJOULES: Shape = Number("an energy in picojoules", 0.0, 1e6);
const COUNT: Shape = Whole("", 1, 64);
const CORE: Shape = Whole("the number of a core", 0, 4094);
const NODE: Shape = List("a node of the mesh: [column, row]", &Whole("", 0, 4094), 2);
const POSITIVE: Shape = Number("a number", 1e-9, 1e12);
const EDGE: Shape = Number("a place in millimetres", -1e4, 1e4);
const LENGTH: Shape = Number("a length in millimetres", 0.001, 1e4);
const TIB: u64 = 1 << 40;

/// What `[core.costs]` may have: the actions of the middleware, others, and what `[doorbell]` says
/// of all cores.
pub(super) const OWN_COSTS: [&str; 24] = {
    let others = [
        "switch",
        "clock",
        "copy",
        "load",
        "interrupt",
        "send_internal",
        "receive_internal",
        "ring",
        "rung",
    ];
    let actions = whimbrel_hardware::Costs::ACTIONS;
    let mut all = [""; 24];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < actions.len() { actions[at] } else { others[at - actions.len()] };
        at += 1;
    }
    all
};

/// What `[costs]` may have: the same without the last two.
pub(super) const COSTS: [&str; 22] = {
    let mut all = [""; 22];
    let mut at = 0;
    while at < all.len() {
        all[at] = OWN_COSTS[at];
        at += 1;
    }
    all
};

words! {
    /// Whether an idle core draws power.
    #[derive(Default)]
    pub(super) enum Idle {
        #[default]
        On = "on";
        Off = "off";
    }
}

macro_rules! read_words {
    ($($type:ty)*) => { $(
        impl Read for $type {
            fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
                word(node)
            }
        }
    )* };
}

read_words! { Arbitration DoorbellKind MemoryKind }

macro_rules! read_known_words {
    ($($type:ty)*) => { $(
        impl Read for $type {
            fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
                let word = node.get_ref().as_str()?;
                Self::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, found)| found)
            }
        }
    )* };
}

read_known_words! { Migration Scheduling }

table! {
    /// A platform.
    pub(super) struct PlatformFile {
        /// The platform.
        platform = {} => platform: must PlatformTable,
            Table("the table with the platform's name", &PlatformTable::TABLE);
        /// A core, or `count` of them; if there is none: the cores of the machine.
        core = [] => cores: or Vec<Spanned<CoreTable>>,
            Tables("tables: [[core]]", &CoreTable::TABLE);
        /// The cost of an action: (cycles + units * cycles_per_unit) / frequency + time_us.
        costs = {} => costs: optional BTreeMap<String, CostTable>,
            Each("tables such as [costs.send]", &COSTS, &CostTable::TABLE);
        /// A memory of all cores, or of one.
        memory = [] => memories: or Vec<MemoryTable>,
            Tables("tables: [[memory]]", &MemoryTable::TABLE);
        /// A bus that all cores share, unless there is a mesh; needs a shared memory.
        bus = {} => bus: optional BusTable, Table("a table: [bus]", &BusTable::TABLE);
        /// Links between neighbours: messages go along their row first, then along the column.
        mesh = {} => mesh: optional MeshTable, Table("a table: [mesh]", &MeshTable::TABLE);
        /// The signal from one core to another; without it: an interrupt that costs nothing.
        doorbell = {} => doorbell: optional DoorbellTable,
            Table("a table: [doorbell]", &DoorbellTable::TABLE);
        /// The thermal model of the die and its heat sink; needs a floorplan.
        thermal = {} => thermal: optional ThermalTable,
            Table("a table: [thermal]", &ThermalTable::TABLE);
        /// A rectangle of the floorplan; they do not overlap.
        block = [] => blocks: or Vec<Spanned<BlockTable>>,
            Tables("tables: [[block]]", &BlockTable::TABLE);
        /// Measured cycles of one firing of a task; they replace those of the application.
        work = [] => work: or Vec<Spanned<WorkTable>>,
            Tables("tables: [[work]]", &WorkTable::TABLE);
    }
}

table! {
    /// The platform.
    pub(super) struct PlatformTable {
        /// The platform's name.
        name = "board" => name: must String, NAME;
        /// One line about the platform.
        description = "…" => description: or String, LINE, otherwise "none";
    }
}

table! {
    /// A core, or `count` of them.
    pub(super) struct CoreTable {
        /// The number of equal cores.
        count = 2 => count: or u32, Whole("", 1, 4095), default 1;
        /// The kind of core, for which tasks have cycles.
        kind = "arm9" => kind: or String, NAME, default "core";
        /// "off": an idle core is shut down and consumes nothing.
        idle = "on" => idle: optional Idle, Words(Idle::WORDS), default "on";
        /// The frequency of the operating point at the start of the run.
        start_mhz = 100 => start: optional u64, MHZ, otherwise "the highest";
        /// When the kernel takes the core from a task.
        scheduling = "fair" => scheduling: optional Scheduling,
            Words(&["cooperative", "preemptive", "edf", "fair"]), default "cooperative",
            heeded "simulator";
        /// With "preemptive" or "edf": when tasks move between the cores, which then share one
        /// scheduler; between jobs, or at any time.
        migration = "none" => migration: optional Migration,
            Words(&["none", "restricted", "full"]), default "none", heeded "simulator";
        /// With "preemptive": the time slice of equally urgent tasks; with "fair": the slice that a
        /// task requests.
        slice_us = 1000 => slice: optional u64, SOME_US,
            otherwise "a turn ends when the task waits; \"fair\": 2800", heeded "simulator";
        /// With "fair": the interval at which the kernel checks whether a slice has ended.
        tick_us = 4000 => tick: optional u64, SOME_US, otherwise "at the end of the slice",
            heeded "simulator";
        /// The delay of sleeps, timers and time-outs of tasks with a priority up to 8.
        timer_slack_us = 50 => timer_slack_ps: or u64, US, default 0, heeded "simulator";
        /// Its node of the mesh.
        node = [0, 0] => node: optional (u32, u32), NODE,
            otherwise "the node after that of the core before";
        /// The source of its frequencies and powers.
        source = "…" => source: optional String, SOURCE, otherwise "none";
        /// Its operating points, from the lowest frequency to the highest.
        point = [] => points: must Vec<Spanned<Tried<PointTable>>>,
            Tables("one [[core.point]] for each operating point", &PointTable::TABLE);
        /// The change from one point to another.
        transition = {} => transition: optional TransitionTable,
            Table("a table: [core.transition]", &TransitionTable::TABLE);
        /// States of an idle core, from the shallowest to the deepest; without any: idle_mw.
        idle_state = [] => idle_states: or Vec<Spanned<IdleTable>>,
            Tables("tables: [[core.idle_state]]", &IdleTable::TABLE);
        /// Power that follows temperature: static_mw * exp((temperature - reference_c) / slope_c).
        leakage = {} => leakage: optional LeakageTable,
            Table("a table: [core.leakage]", &LeakageTable::TABLE);
        /// Warm-up after a switch or a migration.
        cache = {} => cache: optional CacheTable,
            Table("a table: [core.cache]", &CacheTable::TABLE);
        /// The cost of an action on this core alone; default: tables such as [costs.send].
        costs = {} => costs: optional BTreeMap<String, CostTable>,
            Each("tables such as [core.costs.send]", &OWN_COSTS, &CostTable::TABLE);
        places keys;
        check check;
    }
}

table! {
    /// An operating point.
    pub(super) struct PointTable {
        /// The frequency, at least a thousandth of the highest.
        mhz = 100 => hz: must u64, MHZ;
        /// The supply voltage.
        volts = 0.9 => microvolts: or u32, Scaled("a voltage", 0.1, 100.0, 1e6),
            otherwise "not known";
        /// The power while a task runs.
        active_mw = 84.0 => active_uw: must u32, MW;
        /// The power while no task runs, with `idle = "on"`.
        idle_mw = 42.0 => idle_uw: optional u32, MW, otherwise "that of active_mw";
        /// The part of both that follows temperature: see [core.leakage].
        static_mw = 8.0 => static_uw: optional u32, MW, default 0;
        /// The source of its numbers.
        source = "…" => source: optional String, SOURCE, otherwise "none";
    }
}

table! {
    /// The change from one point to another.
    pub(super) struct TransitionTable {
        /// The time for which the core does nothing.
        time_us = 20 => time_ps: must u64, US;
        /// The additional energy.
        energy_uj = 1.5 => energy_pj: or u64, Scaled("an energy in microjoules", 0.0, 1e9, 1e6),
            default 0;
        /// The source of its numbers.
        source = "data sheet, table 7" => source: must String, SOURCE;
    }
}

table! {
    /// A state of an idle core.
    pub(super) struct IdleTable {
        /// The state's name.
        name = "off" => name: must String, NAME;
        /// The power in it.
        power_mw = 1.0 => power_uw: must u32, MW;
        /// The time from the decision until its power is reached, at active power.
        enter_us = 10 => enter_ps: or u64, US, default 0;
        /// The time from the doorbell until the core runs, at active power.
        exit_us = 100 => exit_ps: or u64, US, default 0;
        /// The time without work after which it is entered.
        after_us = 500 => after_ps: or u64, US, default 0;
        /// Whether the core's cache is empty after it.
        loses_cache = true => loses_cache: or bool, Truth, default false;
        /// The additional time to ring a core in this state, after [doorbell.send].
        ring_us = 1.5 => ring_ps: or u64, US, default 0;
        /// The additional time of the first switch after it.
        switch_us = 0.5 => switch_ps: or u64, US, default 0;
        /// The additional time of the first firing after it, as busy time of its task.
        refill_us = 2 => refill_ps: or u64, US, default 0;
        /// The source of its numbers.
        source = "data sheet, table 8" => source: must String, SOURCE;
    }
}

table! {
    /// Power that follows temperature.
    pub(super) struct LeakageTable {
        /// The temperature of the stated power.
        reference_c = 45 => reference_mc: must i32, CELSIUS;
        /// The degrees for a factor of e.
        slope_c = 50 => slope_c: must f64, Number("degrees for a factor of e", 1.0, 1000.0);
        /// The source of its numbers.
        source = "ours: doubles every 35 degrees" => source: must String, SOURCE;
    }
}

table! {
    /// Warm-up after a switch or a migration.
    pub(super) struct CacheTable {
        /// The size.
        size = "16KiB" => bytes: must u64, Size(1, TIB);
        /// The size of a line.
        line_bytes = 32 => line_bytes: must u32, Whole("", 1, 4096);
        /// The time of a missing line, before its transfer over the bus or mesh.
        miss_ns = 20 => miss_ps: must u64, NS;
        /// The additional time of a line of a message from another core.
        far_ns = 5 => far_ps: or u64, NS, default 0;
        /// The part of the warm-ups that take longer, for example under a hypervisor.
        disturbed = 0.1 => part_ppm: or u32, Scaled("a part", 1e-6, 1.0, 1e6), otherwise "none";
        /// The mean of that additional time, exponentially distributed, as busy time.
        disturbed_us = 60 => mean_ps: or u64, US, otherwise "none";
        /// The source of its numbers.
        source = "reference manual" => source: must String, SOURCE;
        places keys;
        check check;
    }
}

table! {
    /// The cost of an action; at least one of the three numbers is there.
    pub(super) struct CostTable {
        /// Cycles of each action.
        cycles = 400 => cycles: or f64, CYCLES, default 0;
        /// Cycles for each unit: see below.
        cycles_per_unit = 1.5 => cycles_per_unit: or f64, CYCLES, default 0;
        /// Time of each action.
        time_us = 2.5 => ps: or u64, US, default 0;
        /// The source of its numbers.
        source = "measured" => source: must String, SOURCE;
        place place;
        places keys;
        check check;
    }
}

table! {
    /// A memory of all cores, or of one.
    pub(super) struct MemoryTable {
        /// The memory's name.
        name = "ddr" => name: must String, NAME;
        /// Globally visible memory is the first that is "shared".
        kind = "shared" => kind: must MemoryKind, Words(&["shared", "private", "scratchpad"]);
        /// The core of a memory that is not shared.
        core = 0 => core: optional u32, CORE, otherwise "every core has one";
        /// The size.
        size = "64MiB" => bytes: must u64, Size(1, u64::MAX);
        /// The time until a transfer begins.
        latency_ns = 60 => latency_ps: must u64, NS;
        /// 10^6 bytes per second.
        mb_per_s = 800 => bytes_per_s: must u64, Scaled("megabytes per second", 0.001, 1e9, 1e6);
        /// Its node of the mesh.
        node = [0, 0] => node: optional (u32, u32), NODE, otherwise "[0, 0]";
        /// The source of its numbers.
        source = "data sheet" => source: must String, SOURCE;
        check check;
    }
}

table! {
    /// A bus that all cores share.
    pub(super) struct BusTable {
        /// First come, first served; or a slot of one burst for each core in turn, used or not.
        arbitration = "fcfs" => arbitration: optional Arbitration, Words(&["fcfs", "tdma"]),
            default "fcfs";
        /// The frequency.
        mhz = 100 => hz: must u64, MHZ;
        /// The bytes per cycle.
        width_bytes = 4 => width_bytes: must u32, WIDTH;
        /// The cycles before each burst.
        setup_cycles = 2 => setup_cycles: or u32, BUS_CYCLES, default 0;
        /// The maximum size of a burst, after which another core has its turn.
        burst_bytes = 32 => burst_bytes: must u32, Whole("", 1, 1 << 20);
        /// The energy per byte.
        pj_per_byte = 15 => pj_per_byte: or f64, PICOJOULES, default 0;
        /// The source of its numbers.
        source = "reference manual" => source: must String, SOURCE;
    }
}

table! {
    /// Links between neighbours.
    pub(super) struct MeshTable {
        /// The nodes of a row.
        columns = 8 => columns: must u32, COUNT;
        /// The nodes of a column.
        rows = 8 => rows: must u32, COUNT;
        /// The frequency of the links.
        mhz = 2000 => hz: must u64, MHZ;
        /// The bytes per cycle.
        width_bytes = 16 => width_bytes: must u32, WIDTH;
        /// The cycles in each router.
        hop_cycles = 4 => hop_cycles: must u32, BUS_CYCLES;
        /// The energy per byte and hop.
        pj_per_byte_hop = 5 => pj_per_byte_hop: or f64, PICOJOULES, default 0;
        /// The source of its numbers.
        source = "data sheet" => source: must String, SOURCE;
    }
}

table! {
    /// The signal from one core to another.
    pub(super) struct DoorbellTable {
        /// How an idle core notices the signal.
        kind = "polling" => kind: must DoorbellKind, Words(&["interrupt", "polling"]);
        /// The time until the other core can notice the signal.
        latency_us = 0.2 => latency_ps: or u64, US, default 0;
        /// With "polling": the time between two polls of an idle core.
        interval_us = 1000 => interval: optional u64,
            Scaled("a time in microseconds", 1e-6, 1e9, 1e6);
        /// The source of its numbers.
        source = "measured" => source: must String, SOURCE;
        /// The cost of a ring.
        send = {} => send: optional CostTable,
            Table("a table: [doorbell.send]", &CostTable::TABLE);
        /// The cost of the interrupt's entry and exit, or of one poll.
        receive = {} => receive: optional CostTable,
            Table("a table: [doorbell.receive]", &CostTable::TABLE);
        place place;
        places keys;
        check check;
    }
}

table! {
    /// The thermal model of the die and its heat sink.
    pub(super) struct ThermalTable {
        /// The temperature of the surroundings.
        ambient_c = 25 => ambient_mc: must i32, CELSIUS;
        /// The thickness of the die.
        thickness_mm = 0.5 => thickness_mm: must f64, POSITIVE;
        /// The conductivity of the die.
        conductivity_w_per_m_k = 100 => conductivity: must f64, POSITIVE;
        /// The heat capacity of the die.
        capacity_j_per_m3_k = 1.75e6 => capacity: must f64, POSITIVE;
        /// The thermal resistance from the whole die to the surroundings.
        sink_k_per_w = 10 => sink_k_per_w: must f64, POSITIVE;
        /// The heat capacity of the heat sink.
        sink_j_per_k = 1 => sink_j_per_k: must f64, POSITIVE;
        /// The time from one computation of temperatures to the next.
        step_ms = 10 => step_ps: must u64, Scaled("a time in milliseconds", 0.001, 1e6, 1e9);
        /// The source of its numbers.
        source = "HotSpot's defaults; the sink is ours" => source: must String, SOURCE;
    }
}

table! {
    /// A rectangle of the floorplan.
    pub(super) struct BlockTable {
        /// The block's name.
        name = "core" => name: must String, NAME;
        /// The core whose power heats it.
        core = 0 => core: optional u32, CORE, otherwise "none";
        /// The left edge.
        x_mm = 0 => x_mm: must f64, EDGE;
        /// The lower edge.
        y_mm = 0 => y_mm: must f64, EDGE;
        /// The width.
        width_mm = 2 => width_mm: must f64, LENGTH;
        /// The height.
        height_mm = 2 => height_mm: must f64, LENGTH;
        /// The number of equal blocks side by side, of the cores that follow.
        columns = 2 => columns: or u32, COUNT, default 1;
        /// The number of rows of such blocks.
        rows = 1 => rows: or u32, COUNT, default 1;
    }
}

table! {
    /// Measured cycles of one firing of a task.
    pub(super) struct WorkTable {
        /// The application.
        app = "fm_radio" => app: must String,
            Text("the name of an application", crate::reader::is_name, "^[A-Za-z0-9_]{1,31}$");
        /// One of its tasks.
        task = "demodulator" => task: must String,
            Text("the name of one of its tasks", crate::reader::is_name, "^[A-Za-z0-9_]{1,31}$");
        /// The index among the tasks of that name.
        index = 0 => index: optional u32, Whole("", 0, u32::MAX as u64),
            otherwise "all that no other table names";
        /// The kind of core.
        kind = "arm9" => kind: optional String, NAME,
            otherwise "every kind that no other table names";
        /// The cycles.
        cycles = 75000 => cycles: must u64, Whole("cycles", 1, 1 << 48);
        /// Memory that every firing uses again.
        working_set = "16KiB" => working_bytes: optional u64, Size(0, TIB),
            otherwise "that of the application";
        /// The source of its numbers.
        source = "measured" => source: must String, SOURCE;
    }
}
