// SPDX-License-Identifier: Apache-2.0
//! What is between cores: `[[memory]]`, `[bus]`, `[mesh]` and `[doorbell]`.

use toml::Spanned;
use toml::de::DeTable;
use whimbrel_hardware::{
    Arbitration, Bus, Core, Doorbell, DoorbellKind, Interconnect, Memory, MemoryKind, Mesh,
};

use super::cost;
use super::units::{MHZ, NS, US, between, mhz, ns, scaled, source, us};
use crate::problem::{Problem, Span};
use crate::reader::{Node, Reader, bytes, name};
use crate::reader::{given, list, subtable, within, word};

/// A `[[memory]]`: of every core if it is not shared and names none.
pub(super) struct Placed {
    memory: Memory,
    core: Option<Spanned<u32>>,
    node: Option<Spanned<(u32, u32)>>,
}

/// A node of a mesh: `[column, row]`.
pub(super) fn node(value: &Node<'_>) -> Option<(u32, u32)> {
    let [column, row] = list(value, |n| within(n, 0, 4094))?.try_into().ok()?;
    Some((column.into_inner(), row.into_inner()))
}

/// The node, if there is a mesh and it is in it; else a problem.
pub(super) fn at_node(
    node: &Spanned<(u32, u32)>,
    mesh: Option<&Mesh>,
    problems: &mut Vec<Problem>,
) -> Option<(u32, u32)> {
    let (column, row) = *node.get_ref();
    let Some(mesh) = mesh else {
        let problem = Problem::new("`node` is a place in a mesh, and this platform has no [mesh]");
        problems.push(problem.at(node.span(), "of no use"));
        return None;
    };
    if column >= mesh.columns || row >= mesh.rows {
        let message = format!("the mesh has {} columns and {} rows", mesh.columns, mesh.rows);
        let problem = Problem::new(message).at(node.span(), "this node is outside");
        problems.push(problem.help("both are counted from 0"));
        return None;
    }
    Some((column, row))
}

/// Reads `[bus]` or `[mesh]`.
pub(super) fn read(
    bus: Option<Spanned<DeTable<'_>>>,
    mesh: Option<Spanned<DeTable<'_>>>,
    problems: &mut Vec<Problem>,
) -> Option<Spanned<Interconnect>> {
    if let (Some(bus), Some(mesh)) = (&bus, &mesh) {
        let problem = Problem::new("a platform has a [bus] or a [mesh], not both");
        problems.push(problem.at(mesh.span(), "one of them").at(bus.span(), "the other"));
    }
    let bus =
        bus.and_then(|t| Some(Spanned::new(t.span(), read_bus(t.get_ref(), t.span(), problems)?)));
    let mesh = mesh.and_then(|t| {
        let mesh = read_mesh(t.get_ref(), t.span(), problems)?;
        Some(Spanned::new(t.span(), Interconnect::Mesh(mesh)))
    });
    bus.or(mesh)
}

/// The mesh, if it is one.
pub(super) fn mesh_of(interconnect: Option<&Spanned<Interconnect>>) -> Option<&Mesh> {
    match interconnect?.get_ref() {
        Interconnect::Mesh(mesh) => Some(mesh),
        Interconnect::Bus(_) => None,
    }
}

fn read_bus(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Interconnect> {
    let mut reader = Reader::new("[bus]", table, place, problems);
    let bus = Bus {
        arbitration: reader.or("arbitration", "\"fcfs\" or \"tdma\"", word, Arbitration::Fcfs),
        hz: reader.must("mhz", MHZ, mhz).into_inner(),
        width_bytes: reader.must("width_bytes", WIDTH, |n| within(n, 1, 4096)).into_inner(),
        setup_cycles: reader.or("setup_cycles", CYCLES, |n| within(n, 0, 1_000_000), 0),
        burst_bytes: reader.must("burst_bytes", BURST, |n| within(n, 1, 1 << 20)).into_inner(),
        pj_per_byte: reader.or("pj_per_byte", ENERGY, |n| between(n, 0.0, 1e6), 0.0),
        slots: 0,
    };
    source(&mut reader);
    reader.finish(Interconnect::Bus(bus))
}

const WIDTH: &str = "a whole number of bytes in each cycle, from 1 to 4096";
const BURST: &str = "a whole number from 1 to 1048576";
const COUNT: &str = "a whole number from 1 to 64";
const CYCLES: &str = "a whole number of cycles, from 0 to 1000000";
const ENERGY: &str = "an energy in picojoules, from 0 to 1e6";

fn read_mesh(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Mesh> {
    let mut reader = Reader::new("[mesh]", table, place, problems);
    let mesh = Mesh {
        columns: reader.must("columns", COUNT, |n| within(n, 1, 64)).into_inner(),
        rows: reader.must("rows", COUNT, |n| within(n, 1, 64)).into_inner(),
        hz: reader.must("mhz", MHZ, mhz).into_inner(),
        width_bytes: reader.must("width_bytes", WIDTH, |n| within(n, 1, 4096)).into_inner(),
        hop_cycles: reader.must("hop_cycles", CYCLES, |n| within(n, 0, 1_000_000)).into_inner(),
        pj_per_byte_hop: reader.or("pj_per_byte_hop", ENERGY, |n| between(n, 0.0, 1e6), 0.0),
    };
    source(&mut reader);
    reader.finish(mesh)
}

/// Reads a `[[memory]]`.
pub(super) fn read_memory(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<Placed> {
    let mut reader = Reader::new("[[memory]]", table, place, problems);
    let name = reader.must("name", "1 to 31 letters, digits and _", name).into_inner();
    let kinds = "\"shared\", \"private\" or \"scratchpad\"";
    let kind = reader.required("kind", kinds, word).map(Spanned::into_inner);
    let core =
        reader.optional("core", "the number of a core, from 0 to 4094", |n| within(n, 0, 4094));
    let size = "a size as \"64MiB\", from 1 byte to 2^64 - 1";
    let speed = "megabytes per second, from 0.001 to 1e9";
    let memory = Memory {
        name,
        kind: kind.unwrap_or(MemoryKind::Shared),
        core: None,
        bytes: reader.must("size", size, |n| bytes(n).filter(|b| *b > 0)).into_inner(),
        latency_ps: reader.must("latency_ns", NS, ns).into_inner(),
        bytes_per_s: reader.must("mb_per_s", speed, |n| scaled(n, 1e6, 1e3, 1e15)).into_inner(),
        node: (0, 0),
    };
    let node = reader.optional("node", "a node of the mesh: [column, row]", node);
    source(&mut reader);
    let memory = reader.finish(memory);
    if let Some(core) = core.as_ref().filter(|_| kind == Some(MemoryKind::Shared)) {
        let problem = Problem::new("a memory that is shared belongs to no core");
        problems.push(problem.at(core.span(), "of no use"));
    }
    if let Some(node) = node.as_ref().filter(|_| kind.is_some_and(|it| it != MemoryKind::Shared)) {
        let problem = Problem::new("a memory that is not shared is where its core is");
        problems.push(problem.at(node.span(), "of no use"));
    }
    Some(Placed { memory: memory?, core, node })
}

/// Every memory, with its core and its node.
pub(super) fn place(
    all: Vec<Placed>,
    cores: &[Core],
    mesh: Option<&Mesh>,
    problems: &mut Vec<Problem>,
) -> Vec<Memory> {
    let mut memories = Vec::new();
    for Placed { memory, core, node } in all {
        if memory.kind == MemoryKind::Shared {
            let node = node.and_then(|node| at_node(&node, mesh, problems)).unwrap_or((0, 0));
            memories.push(Memory { node, ..memory });
            continue;
        }
        let of = match core {
            Some(core) if *core.get_ref() as usize >= cores.len() => {
                let message = format!("the platform has {} cores, counted from 0", cores.len());
                problems.push(Problem::new(message).at(core.span(), "there is no such core"));
                continue;
            }
            Some(core) => *core.get_ref() as usize..*core.get_ref() as usize + 1,
            None => 0..cores.len(),
        };
        memories.extend(cores[of.clone()].iter().zip(of).map(|(core, number)| Memory {
            core: u32::try_from(number).ok(),
            node: core.node,
            ..memory.clone()
        }));
    }
    memories
}

/// An interconnect leads somewhere.
pub(super) fn check_reach(
    interconnect: &Spanned<Interconnect>,
    memories: &[Memory],
    problems: &mut Vec<Problem>,
) {
    if !memories.iter().any(|memory| memory.kind == MemoryKind::Shared) {
        let problem = Problem::new("an interconnect needs a [[memory]] that is shared");
        problems.push(problem.at(interconnect.span(), "this one leads nowhere"));
    }
}

/// Reads `[doorbell]`.
pub(super) fn read_doorbell(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Doorbell {
    let mut reader = Reader::new("[doorbell]", table, place.clone(), problems);
    let kind = reader.required("kind", "\"interrupt\" or \"polling\"", word);
    let latency_ps = reader.or("latency_us", US, us, 0);
    let interval = reader.optional("interval_us", US, |n| us(n).filter(|ps| *ps > 0));
    let send = reader.optional("send", "a table: [doorbell.send]", subtable);
    let receive = reader.optional("receive", "a table: [doorbell.receive]", subtable);
    source(&mut reader);
    reader.finish(());
    let kind: DoorbellKind = given(&kind);
    match &interval {
        Some(interval) if kind == DoorbellKind::Interrupt => {
            let problem = Problem::new("`interval_us` of [doorbell] is for polling");
            problems.push(problem.at(interval.span(), "an interrupt has none"));
        }
        None if kind == DoorbellKind::Polling && !table.contains_key("interval_us") => {
            let problem = Problem::new("[doorbell] polls, and has no `interval_us`");
            problems.push(problem.at(place, "this one").help("add it: the time between two looks"));
        }
        _ => {}
    }
    let mut cost_of = |title: &str, table: Option<Spanned<DeTable<'_>>>| {
        table.map(|t| cost::read(title, t.get_ref(), t.span(), problems)).unwrap_or_default()
    };
    Doorbell {
        kind,
        send: cost_of("[doorbell.send]", send),
        latency_ps,
        receive: cost_of("[doorbell.receive]", receive),
        interval_ps: given(&interval),
    }
}
