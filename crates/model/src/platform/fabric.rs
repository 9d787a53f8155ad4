// SPDX-License-Identifier: Apache-2.0
//! What is between cores: `[[memory]]`, `[bus]`, `[mesh]` and `[doorbell]`.

use toml::Spanned;
use whimbrel_hardware::{
    Arbitration, Bus, Core, Cost, Doorbell, DoorbellKind, Interconnect, Memory, MemoryKind, Mesh,
};

use super::keys::{BusTable, CostTable, DoorbellTable, MemoryTable, MeshTable};
use crate::problem::Problem;
use crate::reader::given;
use crate::schema::Noted;

/// The node, if there is a mesh and it is in it; else a problem.
pub(super) fn at_node(
    node: &Spanned<(u32, u32)>,
    mesh: Option<&Mesh>,
    problems: &mut Vec<Problem>,
) -> Option<(u32, u32)> {
    let (column, row) = *node.get_ref();
    let Some(mesh) = mesh else {
        let problem = Problem::new("`node` is a place in a mesh, and this platform has no [mesh]")
            .help("add a [mesh], or leave `node` out");
        problems.push(problem.at(node.span(), "of no use"));
        return None;
    };
    if column >= mesh.columns || row >= mesh.rows {
        let message = format!("the mesh has {} columns and {} rows", mesh.columns, mesh.rows);
        let problem = Problem::new(message).at(node.span(), "this node is outside");
        problems.push(problem.help("name one of its nodes: both numbers count from 0"));
        return None;
    }
    Some((column, row))
}

/// What `[bus]` or `[mesh]` says.
pub(super) fn interconnect(
    bus: Option<Spanned<BusTable>>,
    mesh: Option<Spanned<MeshTable>>,
    problems: &mut Vec<Problem>,
) -> Option<Spanned<Interconnect>> {
    if let (Some(bus), Some(mesh)) = (&bus, &mesh) {
        let problem =
            Problem::new("a platform has a [bus] or a [mesh], not both").help("remove one of them");
        problems.push(problem.at(mesh.span(), "one of them").at(bus.span(), "the other"));
    }
    let of_bus = |table: Spanned<BusTable>| {
        let (place, it) = (table.span(), table.into_inner());
        let bus = Bus {
            arbitration: it.arbitration.map_or(Arbitration::Fcfs, Spanned::into_inner),
            hz: it.hz.into_inner(),
            width_bytes: it.width_bytes.into_inner(),
            setup_cycles: it.setup_cycles,
            burst_bytes: it.burst_bytes.into_inner(),
            pj_per_byte: it.pj_per_byte,
            slots: 0,
        };
        Spanned::new(place, Interconnect::Bus(bus))
    };
    let of_mesh = |table: Spanned<MeshTable>| {
        let (place, it) = (table.span(), table.into_inner());
        let mesh = Mesh {
            columns: it.columns.into_inner(),
            rows: it.rows.into_inner(),
            hz: it.hz.into_inner(),
            width_bytes: it.width_bytes.into_inner(),
            hop_cycles: it.hop_cycles.into_inner(),
            pj_per_byte_hop: it.pj_per_byte_hop,
        };
        Spanned::new(place, Interconnect::Mesh(mesh))
    };
    bus.map(of_bus).or(mesh.map(of_mesh))
}

/// The mesh, if it is one.
pub(super) fn mesh_of(interconnect: Option<&Spanned<Interconnect>>) -> Option<&Mesh> {
    match interconnect?.get_ref() {
        Interconnect::Mesh(mesh) => Some(mesh),
        Interconnect::Bus(_) => None,
    }
}

impl MemoryTable {
    pub(super) fn check(&self, noted: &mut Noted<'_>) {
        let is_shared = *self.kind.get_ref() == MemoryKind::Shared;
        if let Some(core) = self.core.as_ref().filter(|_| is_shared) {
            let problem =
                Problem::new("a memory that is shared belongs to no core").help("leave `core` out");
            noted.problems.push(problem.at(core.span(), "of no use"));
        }
        if let Some(node) = self.node.as_ref().filter(|_| !is_shared) {
            let problem = Problem::new("a memory that is not shared is where its core is")
                .help("leave `node` out");
            noted.problems.push(problem.at(node.span(), "of no use"));
        }
    }
}

/// Every memory, with its core and its node.
pub(super) fn place(
    all: Vec<MemoryTable>,
    cores: &[Core],
    mesh: Option<&Mesh>,
    problems: &mut Vec<Problem>,
) -> Vec<Memory> {
    let mut memories = Vec::new();
    for MemoryTable { name, kind, core, bytes, latency_ps, bytes_per_s, node, .. } in all {
        let memory = Memory {
            name: name.into_inner(),
            kind: kind.into_inner(),
            core: None,
            bytes: bytes.into_inner(),
            latency_ps: latency_ps.into_inner(),
            bytes_per_s: bytes_per_s.into_inner(),
            node: (0, 0),
        };
        if memory.kind == MemoryKind::Shared {
            let node = node.and_then(|node| at_node(&node, mesh, problems)).unwrap_or((0, 0));
            memories.push(Memory { node, ..memory });
            continue;
        }
        let of = match core {
            Some(core) if *core.get_ref() as usize >= cores.len() => {
                let message = format!("the platform has {} cores, counted from 0", cores.len());
                problems.push(
                    Problem::new(message)
                        .help("name a core that exists")
                        .at(core.span(), "there is no such core"),
                );
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
        let problem = Problem::new("an interconnect needs a [[memory]] that is shared")
            .help("add a [[memory]] with `shared = true`, or remove this one");
        problems.push(problem.at(interconnect.span(), "this one leads nowhere"));
    }
}

impl DoorbellTable {
    pub(super) fn check(&self, noted: &mut Noted<'_>) {
        match (&self.interval, self.kind.get_ref()) {
            (Some(interval), DoorbellKind::Interrupt) => {
                let problem = Problem::new("`interval_us` of [doorbell] is for polling")
                    .help("leave it out, or write `kind = \"polling\"`");
                noted.problems.push(problem.at(interval.span(), "an interrupt has none"));
            }
            (None, DoorbellKind::Polling) if !self.keys.contains_key("interval_us") => {
                let problem = Problem::new("[doorbell] polls, and has no `interval_us`");
                let problem = problem.at(self.place.clone(), "this one");
                noted.problems.push(problem.help("add it: the time between two looks"));
            }
            _ => {}
        }
    }
}

impl From<DoorbellTable> for Doorbell {
    fn from(it: DoorbellTable) -> Self {
        let cost = |table: Option<Spanned<CostTable>>| {
            table.map(|table| Cost::from(table.into_inner())).unwrap_or_default()
        };
        Self {
            kind: it.kind.into_inner(),
            send: cost(it.send),
            latency_ps: it.latency_ps,
            receive: cost(it.receive),
            interval_ps: given(&it.interval),
        }
    }
}
