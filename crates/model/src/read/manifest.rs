// SPDX-License-Identifier: Apache-2.0
//! The file as it is written: every key present and of its type, nothing yet compared with
//! anything else. See `docs/app-toml.md`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use toml::de::DeTable;

use super::amount::{Amount, amount_of};
use super::cycles::{CYCLES, CyclesTable, cycles};
use super::param;
use super::steps::{self, Lines, ObjectTable, Step};
use crate::app::{Arrival, Compute, Distribution, Mode, Moves, OnCrash, Param};
use crate::problem::{Problem, Problems, Span};
use crate::reader::{
    self, Node, Reader, boolean, bytes, core_list, document, each, filled, list, name, number,
    small, subtable, tables, text, unsigned, within, word,
};

const KIB: u64 = 1 << 10;
const GIB: u64 = 1 << 30;
const BYTES_MOST: u64 = 1 << 40;

/// An `app.toml` whose tables have the right shape.
#[derive(Debug, Clone)]
pub struct Manifest {
    pub(crate) app: AppTable,
    pub(crate) params: Vec<Param>,
    pub(crate) tasks: Vec<TaskTable>,
    pub(crate) links: Vec<LinkTable>,
    pub(crate) services: Vec<ServiceTable>,
    pub(crate) objects: Vec<ObjectTable>,
    pub(crate) lines: Lines,
}

#[derive(Debug, Clone)]
pub(crate) struct AppTable {
    pub name: Spanned<String>,
    pub module: Option<Spanned<String>>,
    pub compute: Option<Spanned<Compute>>,
    pub frame_rate: Option<Spanned<Amount>>,
    pub memory_bytes: Spanned<u64>,
    pub shared_bytes: Spanned<u64>,
    pub description: String,
    pub paths: Vec<Spanned<String>>,
    pub kinds: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct TaskTable {
    pub name: Spanned<String>,
    pub entry: Option<Spanned<String>>,
    pub client: Option<Spanned<bool>>,
    pub count: Spanned<u32>,
    pub cores: Spanned<Vec<Spanned<u32>>>,
    pub shared_by: Option<Spanned<Vec<Spanned<u32>>>>,
    pub priority: u32,
    pub nice: i32,
    pub stack_bytes: Spanned<u64>,
    pub heap_bytes: u64,
    pub migratable: bool,
    pub restart: bool,
    pub mode: Option<Spanned<Mode>>,
    pub moves: Option<Spanned<Moves>>,
    pub checkpoint_every: Option<Spanned<u32>>,
    pub on_crash: Option<Spanned<OnCrash>>,
    pub periodic: Option<Spanned<bool>>,
    pub period_us: Option<Spanned<f64>>,
    pub deadline_frames: Option<Spanned<f64>>,
    pub offset_frames: Option<Spanned<f64>>,
    pub arrival: Option<Spanned<Arrival>>,
    pub jitter_us: Option<Spanned<f64>>,
    pub mean_gap_us: Option<Spanned<f64>>,
    pub work: WorkTable,
    /// All that it says, with the places of the values.
    pub keys: BTreeMap<String, Span>,
}

impl TaskTable {
    /// Which of some keys it has, and where.
    pub fn has<'t>(&'t self, keys: &'t [&str]) -> impl Iterator<Item = (&'t str, Span)> {
        keys.iter().filter_map(|key| Some((*key, self.keys.get(*key)?.clone())))
    }
}

/// What a `[[task]]` says of its work.
#[derive(Debug, Clone)]
pub(crate) struct WorkTable {
    pub kinds: Vec<String>,
    pub cycles: Option<Spanned<CyclesTable>>,
    pub distribution: Option<Spanned<Distribution>>,
    pub spread: Option<Spanned<f64>>,
    pub working_set: Option<Spanned<u64>>,
    pub traffic: Option<Spanned<u64>>,
    pub firings: Option<Spanned<u64>>,
    pub script: Option<Spanned<Vec<Step>>>,
}

/// A `[[channel]]`, or a `[[mailbox]]` with its many senders.
#[derive(Debug, Clone)]
pub(crate) struct LinkTable {
    pub mailbox: bool,
    pub from: Vec<Spanned<String>>,
    pub to: Spanned<String>,
    pub slots: u32,
    pub slot_bytes: Spanned<Amount>,
    pub initial: Option<Spanned<u32>>,
    pub produce: Option<Spanned<u32>>,
    pub consume: Option<Spanned<u32>>,
    pub claim: Option<Spanned<Claim>>,
    pub doorbell: Option<Spanned<String>>,
    pub batch: Option<Spanned<String>>,
    pub memory: Option<Spanned<Nearness>>,
}

/// A `[[service]]`: a task that others call.
#[derive(Debug, Clone)]
pub(crate) struct ServiceTable {
    pub name: Spanned<String>,
    pub task: Spanned<String>,
    pub callers: Vec<Spanned<String>>,
    pub request_bytes: Spanned<Amount>,
    pub answer_bytes: Spanned<Amount>,
    /// Outstanding of each caller at most.
    pub calls: u32,
    /// How the service learns of requests, and a caller of answers.
    pub request_doorbell: Option<Spanned<String>>,
    pub answer_doorbell: Option<Spanned<String>>,
    /// Where they lie.
    pub request_memory: Option<Spanned<Nearness>>,
    pub answer_memory: Option<Spanned<Nearness>>,
}

/// When a firing claims the room for what it sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Claim {
    #[default]
    Send,
    Start,
}

/// Where the slots of a channel lie.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Nearness {
    #[default]
    External,
    Internal,
}

impl Manifest {
    /// Reads the text of an `app.toml`.
    ///
    /// # Errors
    /// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong
    /// type or out of range: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        let document = document(source)?;
        let mut problems = Vec::new();
        match read_document(source, &document, &mut problems) {
            Some(manifest) if problems.is_empty() => Ok(manifest),
            _ => Err(problems),
        }
    }
}

fn read_document(
    source: &str,
    document: &DeTable<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Manifest> {
    let mut top = Reader::new("the file", document, 0..0, problems);
    let app = top.required("app", "the table with the application's name and module", subtable);
    let params = top.optional("params", "a table", subtable);
    let tasks = top.required("task", "one [[task]] for each task or group of tasks", tables);
    let channels = top.optional("channel", "tables: [[channel]]", tables);
    let mailboxes = top.optional("mailbox", "tables: [[mailbox]]", tables);
    let services = top.optional("service", "tables: [[service]]", tables);
    let objects = steps::objects(&mut top);
    top.finish(());

    let app = app.and_then(|table| read_app(table.get_ref(), table.span(), problems));
    let params = params.map(|table| param::read(source, table.get_ref(), problems));
    let tasks = each(tasks, |table, place| read_task(table, place, problems));
    let mut links = each(channels, |table, place| read_channel(table, place, problems));
    links.extend(each(mailboxes, |table, place| read_mailbox(table, place, problems)));
    let services = each(services, |table, place| read_service(table, place, problems));
    let objects = steps::read_objects(objects, problems);
    let params = params.unwrap_or_default();
    let lines = Lines::of(source);
    Some(Manifest { app: app?, params, tasks, links, services, objects, lines })
}

fn read_app(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<AppTable> {
    let mut reader = Reader::new("[app]", table, place, problems);
    let name = reader.must("name", NAME, name);
    let shared = |n: &Node<'_>| bytes(n).filter(|size| *size <= GIB);
    let usual = |bytes: u64| Spanned::new(name.span(), bytes);
    let app = AppTable {
        module: reader.optional("module", "the file name of the shared object", filled),
        compute: reader.optional("compute", "\"real\" or \"model\"", word),
        frame_rate: reader.optional("frame_rate", "a number or an expression", amount_of),
        memory_bytes: reader.optional("memory", SIZE, heap).unwrap_or_else(|| usual(64 * KIB)),
        shared_bytes: reader
            .optional("shared", "a size as \"64KiB\", at most \"1GiB\"", shared)
            .unwrap_or_else(|| usual(1024 * KIB)),
        description: reader.or("description", "one line of text", text, String::new()),
        paths: reader.or("paths", PATHS, |n| list(n, reader::name), Vec::new()),
        kinds: reader.or("kinds", KINDS, some_kinds, Vec::new()),
        name: name.clone(),
    };
    reader.finish(app)
}

fn read_task(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<TaskTable> {
    let mut reader = Reader::new("[[task]]", table, place, problems);
    let name = reader.must("name", NAME, name);
    let here = name.span();
    let task = TaskTable {
        name,
        entry: reader.optional("entry", "the name of a C function", symbol),
        client: reader.optional("client", YES, boolean),
        count: reader
            .optional("count", "a whole number from 1 to 4096", |n| within(n, 1, 4096))
            .unwrap_or_else(|| Spanned::new(here.clone(), 1)),
        cores: reader
            .optional("core", CORES, core_list)
            .unwrap_or_else(|| Spanned::new(here.clone(), Vec::new())),
        shared_by: reader.optional("cores", SHARED_BY, several_cores),
        priority: reader.or("priority", "a whole number from 0 to 31", |n| within(n, 0, 31), 8),
        nice: reader.or("nice", "a whole number from -20 to 19", nice, 0),
        stack_bytes: reader
            .optional("stack", STACK, stack)
            .unwrap_or_else(|| Spanned::new(here, 64 * KIB)),
        heap_bytes: reader.or("heap", SIZE, heap, 256 * KIB),
        migratable: reader.or("migratable", YES, boolean, true),
        restart: reader.or("restart", YES, boolean, false),
        mode: reader.optional("mode", MODE, word),
        moves: reader.optional("move", "\"checkpoints\" or \"waits\"", word),
        checkpoint_every: reader.optional("checkpoint_every", COUNT, small),
        on_crash: reader.optional("on_crash", "\"replay\" or \"skip\"", word),
        periodic: reader.optional("periodic", YES, boolean),
        period_us: reader.optional("period_us", PERIOD, |n| between(n, 1.0, 1e9)),
        deadline_frames: reader
            .optional("deadline_frames", "more than 0, at most 1e6", |n| above_0(n, 1e6)),
        offset_frames: reader.optional("offset_frames", "from 0 to 1e6", |n| between(n, 0.0, 1e6)),
        arrival: reader.optional("arrival", "\"periodic\" or \"sporadic\"", word),
        jitter_us: reader
            .optional("jitter_us", "from 0 to 1e9 microseconds", |n| between(n, 0.0, 1e9)),
        mean_gap_us: reader
            .optional("mean_gap_us", "more than 0, at most 1e9 microseconds", |n| above_0(n, 1e9)),
        work: read_work(&mut reader),
        keys: table.iter().map(|(key, node)| (key.get_ref().to_string(), node.span())).collect(),
    };
    reader.finish(task)
}

fn some_kinds(node: &Node<'_>) -> Option<Vec<String>> {
    let names = list(node, reader::name)?;
    let names: Vec<String> = names.into_iter().map(Spanned::into_inner).collect();
    (!names.is_empty()).then_some(names)
}

fn between(node: &Node<'_>, least: f64, most: f64) -> Option<f64> {
    number(node).filter(|n| (least..=most).contains(n))
}

fn above_0(node: &Node<'_>, most: f64) -> Option<f64> {
    number(node).filter(|n| *n > 0.0 && *n <= most)
}

fn heap(node: &Node<'_>) -> Option<u64> {
    bytes(node).filter(|size| *size <= 64 * GIB)
}

fn stack(node: &Node<'_>) -> Option<u64> {
    bytes(node).filter(|size| (KIB..=GIB).contains(size))
}

fn nice(node: &Node<'_>) -> Option<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "it lies between two that fit")]
    between(node, -20.0, 19.0).filter(|nice| nice.fract() == 0.0).map(|nice| nice as i32)
}

fn several_cores(node: &Node<'_>) -> Option<Vec<Spanned<u32>>> {
    list(node, |n| within(n, 0, SHARED_CORE_MAX)).filter(|cores| cores.len() > 1)
}

fn read_work(reader: &mut Reader<'_, '_>) -> WorkTable {
    let mut inside = Vec::new();
    let script = reader.optional("script", SCRIPT, |n| steps::steps(n, &mut inside));
    reader.note(inside);
    let size = |n: &Node<'_>| bytes(n).filter(|size| *size <= BYTES_MOST);
    WorkTable {
        kinds: reader.or("kinds", KINDS, some_kinds, Vec::new()),
        cycles: reader.optional("cycles", CYCLES, cycles),
        distribution: reader.optional("distribution", DISTRIBUTION, word),
        spread: reader.optional("spread", "more than 0, at most 1", |n| above_0(n, 1.0)),
        working_set: reader.optional("working_set", BYTES, size),
        traffic: reader.optional("traffic", BYTES, size),
        firings: reader.optional("firings", FIRINGS, |n| unsigned(n).filter(|n| *n > 0)),
        script,
    }
}

fn read_channel(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<LinkTable> {
    let mut reader = Reader::new("[[channel]]", table, place, problems);
    let from = vec![reader.must("from", PORT, text)];
    let link = read_link(&mut reader, from);
    let link = LinkTable {
        initial: reader.optional("initial", COUNT, small),
        produce: reader.optional("produce", RATE, |n| within(n, 1, SLOTS_MAX)),
        consume: reader.optional("consume", RATE, |n| within(n, 1, SLOTS_MAX)),
        claim: reader.optional("claim", CLAIM, word),
        ..link
    };
    reader.finish(link)
}

fn read_mailbox(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<LinkTable> {
    let mut reader = Reader::new("[[mailbox]]", table, place, problems);
    let from = reader.must("from", "an array of ports, as [\"a.log\", \"b.log\"]", |n| {
        list(n, text).filter(|ports| !ports.is_empty())
    });
    let link = LinkTable { mailbox: true, ..read_link(&mut reader, from.into_inner()) };
    reader.finish(link)
}

/// What channels and mailboxes have in common.
fn read_link(reader: &mut Reader<'_, '_>, from: Vec<Spanned<String>>) -> LinkTable {
    LinkTable {
        mailbox: false,
        from,
        to: reader.must("to", PORT, text),
        slots: reader.or("slots", SLOTS, |n| within(n, 1, SLOTS_MAX), 14),
        slot_bytes: reader.must("slot_bytes", SLOT_BYTES, amount_of),
        initial: None,
        produce: None,
        consume: None,
        claim: None,
        doorbell: reader.optional("doorbell", DOORBELL, text),
        batch: reader.optional("batch", BATCH, text),
        memory: reader.optional("memory", MEMORY, word),
    }
}

fn read_service(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<ServiceTable> {
    let mut reader = Reader::new("[[service]]", table, place, problems);
    let callers = |n: &Node<'_>| list(n, reader::name).filter(|callers| !callers.is_empty());
    let service = ServiceTable {
        name: reader.must("name", NAME, name),
        task: reader.must("task", "the name of the task that serves", reader::name),
        callers: reader.must("callers", CALLERS, callers).into_inner(),
        request_bytes: reader.must("request_bytes", SLOT_BYTES, amount_of),
        answer_bytes: reader.must("answer_bytes", SLOT_BYTES, amount_of),
        calls: reader.or("calls", CALLS, |n| within(n, 1, CALLS_MAX), 4),
        request_doorbell: reader.optional("request_doorbell", DOORBELL, text),
        answer_doorbell: reader.optional("answer_doorbell", DOORBELL, text),
        request_memory: reader.optional("request_memory", MEMORY, word),
        answer_memory: reader.optional("answer_memory", MEMORY, word),
    };
    reader.finish(service)
}

const NAME: &str = "1 to 31 letters, digits and _";
const YES: &str = "true or false";
const PATHS: &str = "an array of names of parameters";
const SIZE: &str = "a size as \"64KiB\" or a number of bytes, at most \"64GiB\"";
const PERIOD: &str = "from 1 to 1e9 microseconds";
const STACK: &str = "a size as \"64KiB\", from \"1KiB\" to \"1GiB\"";
const KINDS: &str = "an array of kinds of cores, as [\"dsp\"]";
const CORES: &str = "a whole number from 0 to 4094, or an array of such";
/// A plan has a bit for each.
const SHARED_CORE_MAX: u32 = 31;
const SHARED_BY: &str = "an array of at least two whole numbers from 0 to 31";
const COUNT: &str = "a whole number from 0 to 4294967295";
const MODE: &str = "\"handoff\", \"replicate\" or \"recreate\"";
const PORT: &str = "a port: \"TASK.PORT\"";
const SLOTS: &str = "a whole number from 1 to 32768";
const DOORBELL: &str = "\"interrupt\", \"polling:20ms\" or \"adaptive:1ms\"";
const MEMORY: &str = "\"external\" or \"internal\"";
const BATCH: &str = "messages and a deadline, as \"8:5ms\"";
const CLAIM: &str = "\"send\" or \"start\"";
const RATE: &str = "a whole number of messages per firing, from 1 to 32768";

const DISTRIBUTION: &str = "\"constant\", \"uniform\", \"normal\" or \"exponential\"";
const BYTES: &str = "a size as \"64KiB\" or a number of bytes, at most \"1024GiB\"";
const SCRIPT: &str = "an array of events, as [{ run = 20000 }]";
const FIRINGS: &str = "a whole number from 1 to 2^64 - 1";

// What wb_channel_add() takes: a mailbox numbers 2^17 laps of its slots in 32 bits.
const SLOTS_MAX: u32 = 1 << 15;
const CALLERS: &str = "an array of names of tasks, as [\"agent\", \"player\"]";
/// `WB_CALLS_MAX` of the middleware.
const CALLS_MAX: u32 = 32;
const CALLS: &str = "a whole number of outstanding calls, from 1 to 32";
const SLOT_BYTES: &str = "a number of bytes or an expression";

fn symbol(node: &Node<'_>) -> Option<String> {
    let symbol = filled(node).filter(|text| text.len() <= 255)?;
    let inside = symbol.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (inside && !symbol.starts_with(|c: char| c.is_ascii_digit())).then_some(symbol)
}
