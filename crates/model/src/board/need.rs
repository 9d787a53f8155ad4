// SPDX-License-Identifier: Apache-2.0
//! How much of a board's globally visible memory an application needs at most: a bound on what
//! `wb_system_bytes()` and the layout (`launcher/plan/layout.c`) take on the board.

use super::Board;
use super::fit::{LINE, Sum};
use crate::app::{App, Mode, ObjectKind};
use crate::plan::{Plan, PlanScript};

/// What a slot takes beside it.
const INDEX: u64 = 4;
/// Of a histogram of response times, or of latencies.
const BUCKETS: u64 = 1920 * 16;
/// What a context has beside its heap and its stack.
const CONTEXT: u64 = 16 << 10;
/// Of rings, in entries, each with a number before it; and of the heap of an application's hooks.
const MIGRATIONS: u64 = 1 << 11;
const EVENTS: u64 = 1 << 13;
const ADVICE: u64 = 8;
const HOOKS: u64 = 2 * (64 << 10);
/// What is left over, for alignment and for what the board's kernels keep.
const SPARE: u64 = 64 << 10;
/// Of the pool of `wb_shared_malloc`, and what is kept of each granule and of all.
const GRANULE: u64 = 4096;
const RUN: u64 = 64 + 1;
const POOL: u64 = 2 * GRANULE;

/// Structures of the middleware where pointers have 32 bits, some with room to grow; twice as much
/// where they have 64. The same numbers are asserted when `launcher/plan/sizes.c` is compiled, and
/// a test compares.
pub const AT_MOST: [(&str, u64); 20] = [
    ("advice", 256),
    ("notify_policy", 256),
    ("channel", 320),
    ("core", 1024),
    ("event", 24),
    ("locks", 4096),
    ("migration", 80),
    ("name", 8),
    ("object", 96),
    ("param", 32),
    ("port", 256),
    ("response", 192),
    ("script", 64),
    ("script_event", 40),
    ("scripted", 128),
    ("snapshot_core", 48),
    ("snapshot_task", 64),
    ("system", 1536),
    ("table_row", 32),
    ("task", 1536),
];

/// What structures take where pointers have 32 bits, times this.
struct Sizes(u64);

impl Board {
    /// All that a plan takes there, by task and channel.
    pub(super) fn need(&self, app: &App, plan: &Plan) -> Sum {
        let sizes = Sizes(u64::from(self.memory.pointer_bits / 32));
        let cores = plan.cores.len() as u64;
        let in_gvm = self.memory.stacks.is_none();
        let of_ports: u64 = plan.ports.len() as u64 * 2 * LINE
            + app
                .channels
                .iter()
                .map(|it| it.bytes() / u64::from(it.slots.max(1)) + LINE)
                .sum::<u64>();
        let kinds = plan.cores.iter().map(|core| core.kind as u64 + 1).max().unwrap_or(1);
        let mut sum = Sum::of(app, self.memory.gvm, |task| {
            let stack = *task.stack_bytes.get_ref();
            let private = task.mode == Mode::Replicate;
            let mut bytes =
                sizes.of("task") + sizes.of("response") + BUCKETS + LINE + sizes.names(1);
            bytes += if private { 0 } else { task.heap_bytes };
            bytes += if in_gvm && !private { self.stack_bytes(task) } else { 0 };
            if task.checkpoint_every != 0 {
                bytes += 2 * (task.heap_bytes + stack + CONTEXT) + of_ports;
            }
            bytes += if task.work.is_some() { 8 * kinds } else { 0 };
            bytes += if task.script.is_some() { sizes.of("scripted") + LINE } else { 0 };
            bytes += if is_copied(task.mode) { 256 * cores } else { 0 };
            if plan.agents_ns != 0 {
                bytes += cores * (sizes.of("snapshot_task") + 8);
            }
            (bytes, task.span.clone())
        });
        for channel in &app.channels {
            let slots = channel.bytes() + INDEX * u64::from(channel.slots);
            let bytes =
                slots + sizes.of("notify_policy") + 3 * LINE + sizes.of("channel") + sizes.names(1);
            sum.add(&channel.name, bytes, &channel.span);
        }
        for task in app.tasks.iter().filter(|task| task.index == 0) {
            if let Some(script) = task.script.and_then(|script| plan.scripts.get(script)) {
                sum.add(&format!("script of {}", task.name), sizes.of_script(script), &task.span);
            }
        }
        let shared = *app.shared_bytes.get_ref();
        let granules = shared.div_ceil(GRANULE);
        let pool = if shared == 0 { 0 } else { granules * (GRANULE + RUN) + POOL };
        for (key, bytes, at) in [
            ("memory of [app]", *app.memory_bytes.get_ref(), app.memory_bytes.span()),
            ("shared of [app]", pool, app.shared_bytes.span()),
            ("parameters", sizes.of_params(plan), app.memory_bytes.span()),
            ("the kernels", sizes.of_kernels(plan), app.memory_bytes.span()),
            ("what is recorded", sizes.of_record(plan), app.memory_bytes.span()),
        ] {
            sum.add(key, bytes, &at);
        }
        sum
    }
}

impl Sizes {
    fn of(&self, name: &str) -> u64 {
        self.0 * AT_MOST.iter().find(|(known, _)| *known == name).map_or(0, |(_, bytes)| *bytes)
    }

    /// Of the table of names, which is a quarter full at least.
    fn names(&self, count: u64) -> u64 {
        4 * count * self.of("name")
    }

    fn of_params(&self, plan: &Plan) -> u64 {
        let of_param = |param: &crate::app::Param| {
            let text = (param.key.len() + param.text.len()) as u64;
            self.of("param") + text + LINE + 8 * param.numbers.len() as u64
        };
        plan.params.iter().map(of_param).sum()
    }

    fn of_record(&self, plan: &Plan) -> u64 {
        let rings = plan.cores.len() as u64 + 1;
        if plan.record.is_some() { rings * EVENTS * (8 + self.of("event")) } else { 0 }
    }

    /// What is there once, or for each core.
    fn of_kernels(&self, plan: &Plan) -> u64 {
        let (cores, tasks) = (plan.cores.len() as u64, plan.tasks.len() as u64);
        let words = (tasks.div_ceil(32) * 4).next_multiple_of(LINE);
        let mut of_core = self.of("core") + LINE + 4 + words + BUCKETS + LINE + 2 * LINE;
        if plan.agents_ns != 0 {
            of_core += words
                + cores * (self.of("snapshot_core") + 8)
                + ADVICE * (8 + self.of("advice"))
                + 6 * LINE;
        }
        let rings = (cores + 1) * (MIGRATIONS * (8 + self.of("migration")) + 2 * LINE);
        let context = |task: &crate::plan::PlanTask| {
            let most = task.heap_bytes + task.stack_bytes + CONTEXT;
            most + plan.ports.len() as u64 * 2 * LINE
        };
        let moved = plan.tasks.iter().filter(|task| is_copied(task.mode)).map(context);
        let numbers = (cores + tasks) * 4;
        let rows = plan.rows.len() as u64 * (self.of("table_row") + numbers) + LINE;
        let objects = plan.objects.iter().map(|object| {
            let seats =
                if object.kind == ObjectKind::Barrier { u64::from(object.value) } else { 0 };
            self.of("object") + seats * 16 + LINE
        });
        let fixed =
            self.of("system") + self.of("locks") + 14 * LINE + SPARE + HOOKS + 2 * self.names(1);
        fixed
            + of_waiters(tasks)
            + cores * of_core
            + rings
            + moved.max().unwrap_or(0)
            + rows
            + objects.sum::<u64>()
            + plan.ports.len() as u64 * self.of("port")
    }

    fn of_script(&self, script: &PlanScript) -> u64 {
        let of_event = |event: &crate::plan::PlanEvent| {
            let numbers = event.numbers.len() as u64 + 1;
            self.of("script_event") + 8 * numbers + event.place.len() as u64 + 1
        };
        let ports = script.ports.iter().map(|port| 4 + port.len() as u64 + 1);
        self.of("script")
            + 3 * LINE
            + 4
            + script.events.iter().map(of_event).sum::<u64>()
            + ports.sum::<u64>()
    }
}

/// Whether what moves is copied into a context.
fn is_copied(mode: Mode) -> bool {
    matches!(mode, Mode::Replicate | Mode::Recreate)
}

/// Of the index of who waits, which many tasks have.
fn of_waiters(tasks: u64) -> u64 {
    const FEW: u64 = 64;
    let places = (2 * tasks).next_power_of_two();
    if tasks > FEW { places * 5 + tasks * 12 + 5 * LINE } else { 0 }
}
