// SPDX-License-Identifier: Apache-2.0
//! The keys of app.toml. `make keys` lists them in `docs/app-toml.md`, and makes classes of Python.

use serde_json::json;

use super::amount::Amount;
use super::cycles::CyclesTable;
use super::steps::{SCRIPT, Step};
use crate::app::{Arrival, Compute, Distribution, Mode, Moves, OnCrash, Param};
use crate::cores::AppCores;
use crate::reader::is_name;
use crate::schema::Shape::{
    self, Above, Cycles, List, Number, OneOrMore, Params, Size, Table, Tables, Text, Truth, Whole,
    Words,
};
use crate::schema::{FILLED, LINE, NAME, table, words};

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;

const MODULE: Shape = Text("the file name of the shared object", FILLED, ".");
const SYMBOL: Shape = Text("the name of a C function", is_symbol, "^[A-Za-z_][A-Za-z0-9_]{0,254}$");
const PORT: Shape = Text("a port: \"TASK.PORT\"", |_| true, "\\.");
const TASK: Shape = Text("the name of the task that serves", is_name, "^[A-Za-z0-9_]{1,31}$");
const DOORBELL: Shape = Text(
    "\"interrupt\", \"polling:20ms\" or \"adaptive:1ms\"",
    |_| true,
    "^(interrupt|(polling|adaptive):[0-9]+(us|ms|s))$",
);
const BATCH: Shape = Text(
    "messages and a deadline, for example \"8:5ms\"",
    |_| true,
    "^(none|[0-9]+:[0-9]+(us|ms|s))$",
);
const BYTES: Shape = Shape::Amount("a number of bytes or an expression");
const COUNT: Shape = Whole("", 0, u32::MAX as u64);
/// What `wb_channel_add()` takes: a mailbox numbers 2^17 laps of its slots in 32 bits.
const SLOTS: Shape = Whole("", 1, 1 << 15);
const RATE: Shape = Whole("messages per firing", 1, 1 << 15);
const MEMORY: Shape = Words(Nearness::WORDS);
const KINDS: Shape = List("an array of kinds of cores, for example [\"dsp\"]", &NAME, 1);
const CORE: Shape = Shape::Other(
    "a core",
    "int | str",
    || json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }] }),
);
const HEAP: Shape = Size(0, 64 * GIB);
const TIB: u64 = 1 << 40;

fn is_symbol(text: &str) -> bool {
    let inside = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    inside && (1..=255).contains(&text.len()) && !text.starts_with(|c: char| c.is_ascii_digit())
}

words! {
    /// When a firing claims the room for what it sends.
    #[derive(Default)]
    pub(crate) enum Claim {
        #[default]
        Send = "send";
        Start = "start";
    }
}

words! {
    /// Where the slots of a channel lie.
    #[derive(Default)]
    pub(crate) enum Nearness {
        #[default]
        External = "external";
        Internal = "internal";
    }
}

table! {
    /// An application: its tasks, and the channels between them.
    pub(crate) struct FileTable {
        /// Settings of the whole application.
        app = {} => app: must AppTable,
            Table("the table with the application's name and module", &AppTable::TABLE);
        /// The application's own parameters: --set KEY=VALUE replaces one, and cannot add one.
        params = { input = "data/cold_day_240k.cu8", sample_rate = 240000, gains = [1.0, 1.0, 1.0] }
            => params: or Vec<Param>, Params;
        /// A task, or `count` of them.
        task = [] => tasks: must Vec<TaskTable>,
            Tables("one [[task]] for each task or group of tasks", &TaskTable::TABLE);
        /// A mutex that scripts lock.
        mutex = [] => mutexes: or Vec<NamedTable>, Tables("tables: [[mutex]]", &NamedTable::TABLE);
        /// A condition that scripts wait for and signal.
        condition = [] => conditions: or Vec<NamedTable>,
            Tables("tables: [[condition]]", &NamedTable::TABLE);
        /// A barrier at which scripts wait for each other.
        barrier = [] => barriers: or Vec<BarrierTable>,
            Tables("tables: [[barrier]]", &BarrierTable::TABLE);
        /// A semaphore whose permits scripts take and give.
        semaphore = [] => semaphores: or Vec<SemaphoreTable>,
            Tables("tables: [[semaphore]]", &SemaphoreTable::TABLE);
        /// A timer that several scripts use; any other timer belongs to one task.
        timer = [] => timers: or Vec<NamedTable>, Tables("tables: [[timer]]", &NamedTable::TABLE);
        /// A channel between two tasks.
        channel = [] => channels: or Vec<ChannelTable>,
            Tables("tables: [[channel]]", &ChannelTable::TABLE);
        /// A channel with many senders.
        mailbox = [] => mailboxes: or Vec<MailboxTable>,
            Tables("tables: [[mailbox]]", &MailboxTable::TABLE);
        /// A task that others call.
        service = [] => services: or Vec<ServiceTable>,
            Tables("tables: [[service]]", &ServiceTable::TABLE);
    }
}

table! {
    /// Settings of the whole application.
    pub(crate) struct AppTable {
        /// The application's name.
        name = "fm_radio" => name: must String, NAME;
        /// The shared object, in the folder of app.toml or in the build folder.
        module = "fm_radio.so" => module: optional String, MODULE,
            otherwise "none: tasks are synthetic";
        /// Whether tasks compute, or only take the time of their cycles.
        compute = "real" => compute: optional Compute, Words(Compute::WORDS),
            otherwise "\"real\", without a module \"model\"";
        /// Frames per second: a number, or numbers and parameters joined by +, * and /.
        frame_rate = "sample_rate / decimation / frame_samples" => frame_rate: optional Amount,
            Shape::Amount("a number or an expression"), otherwise "none";
        /// Memory for wb_app_alloc.
        memory = "64KiB" => memory_bytes: placed u64, HEAP, default "64KiB";
        /// Memory for wb_shared_malloc.
        shared = "1MiB" => shared_bytes: placed u64, Size(0, GIB), default "1MiB";
        /// One line about the application.
        description = "…" => description: or String, LINE, otherwise "none";
        /// Parameters that are paths.
        paths = ["input"] => paths: or Vec<toml::Spanned<String>>,
            List("an array of names of parameters", &NAME, 0), otherwise "none";
        /// The cores of a run on this machine: processors, and cores of boards that are its guests;
        /// --cores replaces them.
        cores = [0, 1, "virt_a64:0"] => cores: or AppCores,
            List("an array of processors and cores of boards: [0, 1, \"virt_a64:0\"]", &CORE, 1),
            otherwise "all processors that the run may use";
        /// The kinds of the cores of a run on this machine; the last applies to all further cores;
        /// --kinds replaces them.
        kinds = ["gpp", "dsp"] => kinds: or Vec<String>, KINDS, otherwise "\"host\" for all";
    }
}

table! {
    /// A task, or `count` of them.
    pub(crate) struct TaskTable {
        /// The task's name.
        name = "bpf" => name: must String, NAME;
        /// The function that the task runs.
        entry = "band_pass" => entry: optional String, SYMBOL, otherwise "the task's name";
        /// The number of such tasks: 3 makes bpf 0, 1 and 2.
        count = 3 => count: placed u32, Whole("", 1, 4096), default 1;
        /// The core where the task starts; with `count`, may be an array.
        core = 0 => cores: placed Vec<toml::Spanned<u32>>,
            OneOrMore("a whole number from 0 to 4094, or an array of them", &Whole("", 0, 4094)),
            otherwise "0";
        /// The cores that share the task: the one that is free runs it.
        cores = [0, 1] => shared_by: optional Vec<toml::Spanned<u32>>,
            List("an array of at least two whole numbers from 0 to 31", &Whole("", 0, 31), 2),
            otherwise "`core` alone", only "boards that share tasks";
        /// The priority: larger is more urgent; equal tasks take turns when one waits.
        priority = 4 => priority: or u32, Whole("", 0, 31), default 8;
        /// The share of a "fair" core: each step down adds a quarter.
        nice = 5 => nice: or i32, Whole("", -20, 19), default 0, heeded "simulator";
        /// The size of the stack; at least 16KiB, except on boards.
        stack = "32KiB" => stack_bytes: placed u64, Size(KIB, GIB), default "64KiB";
        /// The size of the heap.
        heap = "256KiB" => heap_bytes: or u64, HEAP, default "256KiB";
        /// Whether the task may move.
        migratable = true => migratable: or bool, Truth, default true;
        /// Whether the task restarts if its kernel dies while it runs; otherwise it is lost.
        restart = true => restart: or bool, Truth, default false;
        /// How the task moves.
        mode = "handoff" => mode: optional Mode, Words(Mode::WORDS), default "handoff";
        /// Where a requested migration happens; "waits": also where the task waits.
        move = "waits" => moves: optional Moves, Words(Moves::WORDS), default "checkpoints";
        /// The checkpoints from one image of the task to the next; 0: no images.
        checkpoint_every = 10 => checkpoint_every: optional u32, COUNT, default 0;
        /// With images: messages since the last image are processed again, or skipped.
        on_crash = "replay" => on_crash: optional OnCrash, Words(OnCrash::WORDS), default "replay";
        /// One job per frame: released at the frame rate.
        periodic = true => periodic: optional bool, Truth, default false;
        /// Instead of `periodic`: the task's period.
        period_us = 1000 => period_us: optional f64, Number("a time in microseconds", 1.0, 1e9),
            otherwise "none";
        /// With `period_us`: "sporadic" makes it the least time between two releases.
        arrival = "sporadic" => arrival: optional Arrival, Words(Arrival::WORDS),
            default "periodic";
        /// With "sporadic": the mean time between two releases beyond the period.
        mean_gap_us = 200 => mean_gap_us: optional f64, Above("a time in microseconds", 0.0, 1e9);
        /// With a period: the longest time from a release until its job can begin.
        jitter_us = 50 => jitter_us: optional f64,
            Number("a time in microseconds", 0.0, 1e9), default 0;
        /// The time until a job is late, in periods; needs a period.
        deadline_frames = 1.0 => deadline_frames: optional f64,
            Above("a number of periods", 0.0, 1e6), default 1.0;
        /// The first release, in periods after the start; needs a period.
        offset_frames = 8 => offset_frames: optional f64,
            Number("a number of periods", 0.0, 1e6), default 0;
        /// Whether the task is a process outside the run, with ports only.
        client = true => client: optional bool, Truth, default false, only "Linux";
        /// The kinds of cores that the task runs on.
        kinds = ["dsp"] => kinds: or Vec<String>, KINDS, otherwise "all, or those of `cycles`";
        /// The cycles of a firing: by kind of core, or one number for every kind.
        cycles = { arm9 = 1000, host = "samples * 2.5" } => cycles: optional CyclesTable, Cycles,
            otherwise "not known";
        /// The distribution of the cycles.
        distribution = "normal" => distribution: optional Distribution,
            Words(Distribution::WORDS), default "constant";
        /// Half the width of "uniform", or the deviation of "normal" (at most 0.333333), relative.
        spread = 0.2 => spread: optional f64, Above("a part", 0.0, 1.0);
        /// Memory that every firing uses again, for the cost of a cold cache.
        working_set = "16KiB" => working_set: optional u64, Size(0, TIB), default 0;
        /// Bytes over the interconnect in each firing, in addition to its messages.
        traffic = "4KiB" => traffic: optional u64, Size(0, TIB), default 0;
        /// The number of firings after which a source ends.
        firings = 100 => firings: optional u64, Whole("", 1, u64::MAX),
            otherwise "when the run stops";
        /// The events of the task in order, instead of `cycles`.
        script = [{ run = 20000 }] => script: optional Vec<Step>, SCRIPT, otherwise "none";
        places keys;
    }
}

table! {
    /// An object that scripts share, by a name that is unique within its kind.
    pub(crate) struct NamedTable {
        /// The name that scripts use.
        name = "picture" => name: must String, NAME;
        place span;
    }
}

table! {
    /// A barrier at which scripts wait for each other.
    pub(crate) struct BarrierTable {
        /// The name that scripts use.
        name = "round" => name: must String, NAME;
        /// The number of tasks that wait at it: all that name it.
        tasks = 3 => value: must u32, Whole("tasks", 1, (1 << 17) - 1);
        place span;
    }
}

table! {
    /// A semaphore whose permits scripts take and give.
    pub(crate) struct SemaphoreTable {
        /// The name that scripts use.
        name = "free" => name: must String, NAME;
        /// The permits at the start.
        initial = 2 => value: or u32, Whole("permits", 0, i32::MAX as u64), default 0;
        /// The most permits: a `give` beyond is lost.
        most = 2 => most: or u32, Whole("permits", 1, i32::MAX as u64), default 2147483647;
        place span;
    }
}

table! {
    /// Keys of channels and mailboxes.
    pub(crate) struct SlotKeys {
        /// The port that receives: TASK.PORT.
        to = "bpf.in" => to: must String, PORT;
        /// The capacity in messages.
        slots = 14 => slots: or u32, SLOTS, default 14;
        /// The size of a message, at most 1 GiB: numbers and parameters with + * and /.
        slot_bytes = "frame_samples * 4 + 16" => slot_bytes: must Amount, BYTES;
        /// How the receiver notices messages: also "polling:20ms" or "adaptive:1ms".
        doorbell = "interrupt" => doorbell: optional String, DOORBELL, default "interrupt";
        /// With "interrupt": the messages, or the time after the first, that wake the receiver.
        batch = "8:5ms" => batch: optional String, BATCH, otherwise "each message";
        /// Where the slots lie.
        memory = "external" => memory: optional Nearness, MEMORY, default "external";
    }
}

table! {
    /// The flow through a channel of synthetic tasks.
    #[derive(Default)]
    pub(crate) struct FlowKeys {
        /// Zeroed messages present at the start.
        initial = 0 => initial: optional u32, COUNT, default 0;
        /// Messages that a firing of a synthetic sender puts.
        produce = 1 => produce: optional u32, RATE, default 1;
        /// Messages that a firing of a synthetic receiver takes.
        consume = 1 => consume: optional u32, RATE, default 1;
        /// When a firing of a synthetic sender claims room.
        claim = "send" => claim: optional Claim, Words(Claim::WORDS), default "send";
    }
}

table! {
    /// A channel between two tasks.
    pub(crate) struct ChannelTable {
        /// The port that sends: TASK.PORT; with a `count`, each task has a channel.
        from = "demodulator.out" => from: must String, PORT;
        ..slots: SlotKeys;
        ..flow: FlowKeys;
    }
}

table! {
    /// A channel with many senders.
    pub(crate) struct MailboxTable {
        /// The ports that send.
        from = ["a.log", "b.log"] => from: must Vec<toml::Spanned<String>>,
            List("an array of ports, for example [\"a.log\", \"b.log\"]", &PORT, 1);
        ..slots: SlotKeys;
    }
}

table! {
    /// A task that others call.
    pub(crate) struct ServiceTable {
        /// The name by which callers and the service open it.
        name = "g711" => name: must String, NAME;
        /// The task that serves.
        task = "codec" => task: must String, TASK;
        /// The tasks that may call it.
        callers = ["agent", "player"] => callers: must Vec<toml::Spanned<String>>,
            List("an array of names of tasks: [\"agent\", \"player\"]", &NAME, 1);
        /// The maximum size of a request, at most 1 GiB less 32 bytes.
        request_bytes = 320 => request_bytes: must Amount, BYTES;
        /// The maximum size of an answer, at most 1 GiB less 32 bytes.
        answer_bytes = 160 => answer_bytes: must Amount, BYTES;
        /// The calls that each caller may have outstanding (`WB_CALLS_MAX`).
        calls = 4 => calls: or u32, Whole("outstanding calls", 1, 32), default 4;
        /// How the service notices requests, like `doorbell` of a channel.
        request_doorbell = "interrupt" => request_doorbell: optional String, DOORBELL,
            default "interrupt";
        /// How callers notice answers.
        answer_doorbell = "interrupt" => answer_doorbell: optional String, DOORBELL,
            default "interrupt";
        /// Where requests lie, like `memory` of a channel.
        request_memory = "external" => request_memory: optional Nearness, MEMORY,
            default "external";
        /// Where answers lie.
        answer_memory = "external" => answer_memory: optional Nearness, MEMORY,
            default "external";
    }
}
