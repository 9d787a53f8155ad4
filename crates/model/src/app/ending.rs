// SPDX-License-Identifier: Apache-2.0
//! Whether an application ends once its sources have.

use petgraph::unionfind::UnionFind;

use super::{App, Direction};

impl App {
    /// Whether its tasks end by themselves once its sources are asked to: each is connected with a
    /// task that receives from nobody. Of tasks with code it is taken that they see to it.
    pub fn drains(&self) -> bool {
        if !self.synthetic {
            return true;
        }
        if !self.scripts.is_empty() {
            return false; // who waits for a task that has ended would wait for ever
        }
        let tasks = self.tasks.len();
        let mut sets = UnionFind::<usize>::new(tasks);
        let mut is_fed = vec![false; tasks];
        let mut first: Vec<Option<usize>> = vec![None; self.channels.len()];
        for port in &self.ports {
            let end = first[port.channel].get_or_insert(port.task);
            sets.union(*end, port.task);
            is_fed[port.task] |= port.direction == Direction::In;
        }
        let mut has_source = vec![false; tasks];
        for task in (0..tasks).filter(|task| !is_fed[*task]) {
            has_source[sets.find(task)] = true;
        }
        (0..tasks).all(|task| has_source[sets.find(task)])
    }
}
