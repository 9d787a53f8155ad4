// SPDX-License-Identifier: Apache-2.0
//! A two-dimensional mesh with XY routing, a cost per hop and contention on each link.
//!
//! A message goes along its row to the column of its target, then along that column. Its head
//! needs `hop_cycles` in each router; behind it the body holds each link for `bytes / width` cycles
//! (virtual cut-through: P. Kermani, L. Kleinrock, Computer Networks 3(4), 1979; XY routing and
//! its freedom from deadlock: W. Dally, C. Seitz, IEEE Trans. Computers 36(5), 1987). Without
//! contention `t = (hops + 1) * hop + bytes / width`: one router more than links. A head waits at
//! a link until the body before it has passed; buffers in routers are not limited.
//!
//! Every neighbouring pair has a link each way. Messages take links in the order in which they are
//! said, which is that of virtual time but for those that are said before they begin.

use serde::{Deserialize, Serialize};

use crate::description;
use crate::memory::{Traffic, attojoules};
use crate::time::Clock;

/// A node: column and row.
pub type Node = (u32, u32);

const LINKS_OF_NODE: usize = 4;

/// A mesh and what is on its links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mesh {
    columns: u32,
    clock: Clock,
    width_bytes: u64,
    hop_ps: u64,
    aj_per_byte_hop: u64,
    /// When each link is free: four for each node, east, west, north and south.
    free_ps: Vec<u64>,
    traffic: Traffic,
}

impl Mesh {
    /// A mesh whose links are free.
    pub fn new(description: &description::Mesh) -> Self {
        let clock = Clock::new(description.hz);
        let nodes = description.columns as usize * description.rows as usize;
        Self {
            columns: description.columns,
            clock,
            width_bytes: description.width_bytes.into(),
            hop_ps: clock.ps(description.hop_cycles.into()),
            aj_per_byte_hop: attojoules(description.pj_per_byte_hop),
            free_ps: vec![0; nodes * LINKS_OF_NODE],
            traffic: Traffic::default(),
        }
    }

    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        let of = |mesh: &Self| (mesh.columns, mesh.width_bytes, mesh.hop_ps, mesh.aj_per_byte_hop);
        of(self) == of(like) && self.clock == like.clock && self.free_ps.len() == like.free_ps.len()
    }

    /// How many links lie between two nodes.
    pub fn hops(from: Node, to: Node) -> u64 {
        u64::from(from.0.abs_diff(to.0)) + u64::from(from.1.abs_diff(to.1))
    }

    /// How long the head of a message takes that nobody is in the way of, in picoseconds.
    pub fn head_ps(&self, from: Node, to: Node) -> u64 {
        (Self::hops(from, to) + 1) * self.hop_ps
    }

    /// How long a message takes until its last byte has arrived, likewise.
    pub fn alone_ps(&self, from: Node, to: Node, bytes: u64) -> u64 {
        self.head_ps(from, to) + self.body_ps(bytes)
    }

    /// For how long a message holds each link.
    fn body_ps(&self, bytes: u64) -> u64 {
        self.clock.ps(bytes.div_ceil(self.width_bytes))
    }

    /// Sends `bytes` from one node to another. Returns when the last of them arrives.
    pub fn transfer(&mut self, now_ps: u64, from: Node, to: Node, bytes: u64) -> u64 {
        let body_ps = self.body_ps(bytes);
        let mut head_ps = now_ps + self.hop_ps;
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let (link, next) = self.step(at, to);
            head_ps = head_ps.max(self.free_ps[link]);
            self.free_ps[link] = head_ps + body_ps;
            head_ps += self.hop_ps;
            (at, hops) = (next, hops + 1);
        }
        self.traffic.transfers += 1;
        self.traffic.bytes += bytes;
        self.traffic.busy_ps += hops * body_ps;
        self.traffic.waited_ps += head_ps - now_ps - (hops + 1) * self.hop_ps;
        self.traffic.energy_aj +=
            u128::from(self.aj_per_byte_hop) * u128::from(bytes) * u128::from(hops);
        head_ps + body_ps
    }

    /// What has crossed it.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// The link that XY routing takes out of `at`, and where it leads.
    fn step(&self, at: Node, to: Node) -> (usize, Node) {
        let (way, next) = if to.0 > at.0 {
            (0, (at.0 + 1, at.1))
        } else if to.0 < at.0 {
            (1, (at.0 - 1, at.1))
        } else if to.1 > at.1 {
            (2, (at.0, at.1 + 1))
        } else {
            (3, (at.0, at.1 - 1))
        };
        let node = at.1 as usize * self.columns as usize + at.0 as usize;
        (node * LINKS_OF_NODE + way, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 GHz, 4 bytes a cycle, 3 cycles a router.
    fn mesh() -> Mesh {
        Mesh::new(&description::Mesh {
            columns: 8,
            rows: 8,
            hz: 1_000_000_000,
            width_bytes: 4,
            hop_cycles: 3,
            pj_per_byte_hop: 0.5,
        })
    }

    #[test]
    fn a_message_costs_its_routers_and_its_length() {
        let mut mesh = mesh();
        assert_eq!(Mesh::hops((1, 2), (4, 0)), 5);
        assert_eq!(mesh.transfer(7, (1, 2), (4, 0), 64), 7 + 6 * 3_000 + 16_000);
        assert_eq!(mesh.traffic().energy_aj, 64 * 5 * 500_000);
        assert_eq!(mesh.transfer(7, (3, 3), (3, 3), 64), 7 + 3_000 + 16_000);
    }

    #[test]
    fn routes_that_only_cross_do_not_wait() {
        let mut mesh = mesh();
        let alone = mesh.transfer(0, (0, 2), (4, 2), 400);
        // Through (2, 2) as well, but along the column.
        assert_eq!(mesh.transfer(0, (2, 0), (2, 4), 400), alone);
        assert_eq!(mesh.transfer(0, (4, 2), (0, 2), 400), alone);
        assert_eq!(mesh.traffic().waited_ps, 0);
    }

    #[test]
    fn routes_that_share_a_link_wait_for_each_other() {
        let mut mesh = mesh();
        assert_eq!(mesh.transfer(0, (0, 0), (3, 0), 400), 4 * 3_000 + 100_000);
        // From (1, 0): its first link is taken from 6 ns to 106 ns.
        let end = mesh.transfer(0, (1, 0), (2, 1), 400);
        assert_eq!(end, 106_000 + 2 * 3_000 + 100_000);
        assert_eq!(mesh.traffic().waited_ps, 103_000);
    }

    #[test]
    fn rows_come_before_columns() {
        let mut mesh = mesh();
        mesh.transfer(0, (0, 0), (0, 5), 4_000);
        let free = 6 * 3_000 + 100_000;
        assert_eq!(mesh.transfer(0, (0, 0), (2, 3), 400), free);
        assert!(mesh.transfer(0, (0, 3), (0, 4), 400) > free);
    }

    #[test]
    fn a_link_that_is_asked_for_more_than_it_has_gives_all_of_it() {
        let mut mesh = mesh();
        let ends: Vec<u64> = (0..1_000).map(|i| mesh.transfer(i, (0, 0), (1, 0), 400)).collect();
        assert_eq!(ends[999], 2 * 3_000 + 1_000 * 100_000);
        assert!(ends.windows(2).all(|pair| pair[1] == pair[0] + 100_000));
    }
}
