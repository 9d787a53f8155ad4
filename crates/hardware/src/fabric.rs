// SPDX-License-Identifier: Apache-2.0
//! The way to globally visible memory, whatever it is made of.

use serde::{Deserialize, Serialize};

use crate::bus::{Bus, Parts};
use crate::description::{Description, Interconnect, MemoryKind};
use crate::memory::{Memory, Traffic};
use crate::mesh::{Mesh, Node};

/// What connects cores and shared memory, and that memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fabric {
    way: Way,
    shared: Option<(Memory, Node)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Way {
    /// Nothing that could be in the way.
    None,
    Bus(Box<Bus>),
    Mesh(Mesh),
}

impl Fabric {
    /// The interconnect of a platform, and the first of its memories that is shared.
    pub(crate) fn new(description: &Description) -> Self {
        let shared = description.memories.iter().find(|m| m.kind == MemoryKind::Shared);
        let shared = shared.map(|memory| (Memory::new(memory), memory.node));
        let way = match &description.interconnect {
            None => Way::None,
            Some(Interconnect::Mesh(mesh)) => Way::Mesh(Mesh::new(mesh)),
            &Some(Interconnect::Bus {
                arbitration,
                hz,
                width_bytes,
                setup_cycles,
                burst_bytes,
                pj_per_byte,
            }) => Way::Bus(Box::new(Bus::new(&Parts {
                arbitration,
                hz,
                width_bytes,
                setup_cycles,
                burst_bytes,
                pj_per_byte,
                cores: description.cores.len(),
                memory: shared.map_or_else(Memory::default, |(memory, _)| memory),
            }))),
        };
        Self { way, shared }
    }

    /// True if there is a memory that transfers go to.
    pub(crate) fn has_memory(&self) -> bool {
        self.shared.is_some()
    }

    /// True if rings take time on their way.
    pub(crate) fn delays_rings(&self) -> bool {
        matches!(self.way, Way::Mesh(_))
    }

    /// See [`crate::Hardware::transfer`].
    #[inline]
    pub(crate) fn transfer(&mut self, at_ps: u64, core: usize, from: Node, bytes: u64) -> u64 {
        let Some((memory, node)) = self.shared else { return at_ps };
        if bytes == 0 {
            return at_ps;
        }
        match &mut self.way {
            Way::None => at_ps + memory.access_ps(bytes),
            Way::Bus(bus) => bus.transfer(at_ps, core, bytes),
            Way::Mesh(mesh) => {
                let end_ps = mesh.transfer(at_ps, from, node, bytes);
                // The memory takes bytes in while the last of them are still on their way.
                end_ps.max(at_ps + memory.bytes_ps(bytes)) + memory.latency_ps()
            }
        }
    }

    /// See [`crate::Hardware::transfer_end`].
    #[inline]
    pub(crate) fn transfer_end(&mut self, now_ps: u64, core: usize) -> u64 {
        match &mut self.way {
            Way::Bus(bus) if self.shared.is_some() => bus.transfer_end(now_ps, core),
            _ => now_ps,
        }
    }

    /// What has crossed it.
    pub(crate) fn traffic(&self) -> Traffic {
        match &self.way {
            Way::None => Traffic::default(),
            Way::Bus(bus) => *bus.traffic(),
            Way::Mesh(mesh) => *mesh.traffic(),
        }
    }

    /// How long a ring takes from one node to another, in picoseconds.
    pub(crate) fn ring_ps(&self, from: Node, to: Node) -> u64 {
        match &self.way {
            Way::Mesh(mesh) => mesh.head_ps(from, to),
            _ => 0,
        }
    }
}
