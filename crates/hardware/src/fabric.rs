// SPDX-License-Identifier: Apache-2.0
//! The way to globally visible memory, whatever it is made of.
//!
//! On a bus the memory is part of each burst. At a mesh it is a place of its own, which takes one
//! body after the other, each for `bytes / bandwidth`, in the order in which they are said. It
//! works while the body is on its way: alone, `t = max((hops + 1) * hop + bytes / width, bytes /
//! bandwidth) + latency`. What waits at a link comes later to the memory as well. With no
//! interconnect nobody is in anybody's way, at the memory neither.

use serde::{Deserialize, Serialize};

use crate::bus::Bus;
use crate::description::{Description, Interconnect, MemoryKind};
use crate::memory::{Memory, Traffic};
use crate::mesh::{Mesh, Node};

/// What connects cores and shared memory, and that memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fabric {
    way: Route,
    shared: Option<Shared>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Shared {
    memory: Memory,
    node: Node,
    /// When it has taken all bodies that came over a mesh, and for how long they waited for it.
    free_ps: u64,
    waited_ps: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Route {
    /// Nothing that could be in the way.
    None,
    Bus(Box<Bus>),
    Mesh(Mesh),
}

impl Fabric {
    /// The interconnect of a platform, and the first of its memories that is shared.
    pub(crate) fn new(description: &Description) -> Self {
        let shared = description.memories.iter().find(|m| m.kind == MemoryKind::Shared);
        let shared = shared.map(|memory| Shared {
            memory: Memory::new(memory),
            node: memory.node,
            free_ps: 0,
            waited_ps: 0,
        });
        let way = match &description.interconnect {
            None => Route::None,
            Some(Interconnect::Mesh(mesh)) => Route::Mesh(Mesh::new(mesh)),
            Some(Interconnect::Bus(bus)) => {
                let numbers = description.cores.iter().filter_map(|core| core.number);
                let numbered = numbers.max().map_or(0, |number| number as usize + 1);
                let cores = description.cores.len().max(bus.slots as usize).max(numbered);
                let memory = shared.as_ref().map_or_else(Memory::default, |shared| shared.memory);
                Route::Bus(Box::new(Bus::new(bus, cores, memory)))
            }
        };
        Self { way, shared }
    }

    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        let of = |shared: &Shared| (shared.memory, shared.node);
        let way = match (&self.way, &like.way) {
            (Route::None, Route::None) => true,
            (Route::Bus(own), Route::Bus(like)) => own.is_state_of(like),
            (Route::Mesh(own), Route::Mesh(like)) => own.is_state_of(like),
            _ => false,
        };
        way && self.shared.as_ref().map(of) == like.shared.as_ref().map(of)
    }

    /// True if there is a memory that transfers go to.
    pub(crate) fn has_memory(&self) -> bool {
        self.shared.is_some()
    }

    /// True if rings take time on their way.
    pub(crate) fn delays_rings(&self) -> bool {
        matches!(self.way, Route::Mesh(_))
    }

    /// See [`crate::Hardware::transfer`].
    #[inline]
    pub(crate) fn transfer(&mut self, at_ps: u64, core: usize, from: Node, bytes: u64) -> u64 {
        let Some(shared) = &mut self.shared else { return at_ps };
        if bytes == 0 {
            return at_ps;
        }
        match &mut self.way {
            Route::None => at_ps + shared.memory.access_ps(bytes),
            Route::Bus(bus) => bus.transfer(at_ps, core, bytes),
            Route::Mesh(mesh) => shared.over_mesh(mesh, at_ps, from, bytes),
        }
    }

    /// See [`crate::Hardware::pass`].
    #[inline]
    pub(crate) fn advance(&mut self, now_ps: u64) {
        if let Route::Bus(bus) = &mut self.way {
            bus.advance(now_ps);
        }
    }

    /// See [`crate::Hardware::transfer_delay`].
    #[inline]
    pub(crate) fn delay(&mut self, now_ps: u64, core: usize) -> u64 {
        match &mut self.way {
            Route::Bus(bus) if self.shared.is_some() => bus.delay(now_ps, core),
            _ => 0,
        }
    }

    /// What has crossed it.
    pub(crate) fn traffic(&self) -> Traffic {
        match &self.way {
            Route::None => Traffic::default(),
            Route::Bus(bus) => bus.traffic(),
            Route::Mesh(mesh) => {
                let mut traffic = *mesh.traffic();
                traffic.waited_ps += self.shared.as_ref().map_or(0, |shared| shared.waited_ps);
                traffic
            }
        }
    }

    /// How long a ring takes from one node to another, in picoseconds.
    pub(crate) fn ring_ps(&self, from: Node, to: Node) -> u64 {
        match &self.way {
            Route::Mesh(mesh) => mesh.head_ps(from, to),
            _ => 0,
        }
    }
}

impl Shared {
    /// Moves bytes from a node of a mesh. Returns when it is over.
    fn over_mesh(&mut self, mesh: &mut Mesh, at_ps: u64, from: Node, bytes: u64) -> u64 {
        let way_ps = mesh.alone_ps(from, self.node, bytes);
        let taken_ps = self.memory.bytes_ps(bytes);
        let arrives_ps = mesh.transfer(at_ps, from, self.node, bytes);
        // Later than `at_ps` by what it waited at links.
        let begins_ps = arrives_ps - way_ps;
        self.free_ps = self.free_ps.max(begins_ps) + taken_ps;
        let end_ps = arrives_ps.max(self.free_ps);
        self.waited_ps += end_ps - begins_ps - way_ps.max(taken_ps);
        end_ps + self.memory.latency_ps()
    }
}
