// SPDX-License-Identifier: Apache-2.0
//! A private cache as what a task finds of its own in it when it comes back.
//!
//! The reuse model: a cache holds the working sets of the tasks that ran last, whole lines, least
//! recently used first to go. A task that is switched to brings back the part of its working set
//! (of at most the whole cache) that others have pushed out, and each missing line costs a fetch.
//! So a task alone on its core pays once; tasks that fit together pay once each; tasks that do not
//! fit pay at each switch; and a task that moves pays on its new core. That is what nacul2007
//! (section 4) sees: moving tasks costs the small image filter, which would have fitted, 1.2 % of
//! its rate, and the packet engine, whose tasks push each other out anyway, nothing. Misses within
//! one firing are part of the task's cycles.
//!
//! The stack distance of a whole working set instead of each line's: R. Mattson, J. Gecsei, D.
//! Slutz, I. Traiger, "Evaluation techniques for storage hierarchies", IBM Systems Journal 9(2),
//! 1970.

use serde::{Deserialize, Serialize};

use crate::description;
use crate::disturbance::Disturbance;

/// A cache remembers so many tasks; what ran before them is gone.
pub const TASKS_MAX: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Resident {
    task: u32,
    lines: u64,
}

/// What tasks found when they came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reuse {
    /// Lines that were still there.
    pub hits: u64,
    /// Lines that had to be fetched.
    pub misses: u64,
}

/// One core's cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    lines: u64,
    line_bytes: u64,
    miss_ps: u64,
    far_ps: u64,
    disturbance: Disturbance,
    /// The last to run is the last here; the sum of lines is at most `lines`.
    stack: Vec<Resident>,
    reuse: Reuse,
}

impl Cache {
    /// The cold cache of a core, by its number; its lines must have a length.
    pub fn new(description: &description::Cache, core: u64) -> Self {
        let line_bytes = u64::from(description.line_bytes);
        Self {
            lines: description.bytes / line_bytes,
            line_bytes,
            miss_ps: description.miss_ps,
            far_ps: description.far_ps,
            disturbance: Disturbance::new(&description.disturbance, core),
            stack: Vec::with_capacity(TASKS_MAX + 1),
            reuse: Reuse::default(),
        }
    }

    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        let of = |cache: &Self| (cache.lines, cache.line_bytes, cache.miss_ps, cache.far_ps);
        of(self) == of(like) && self.stack.len() <= TASKS_MAX
    }

    /// Switches to a task with a working set of so many bytes. Returns how many lines it misses.
    pub fn switch(&mut self, task: u32, working_bytes: u64) -> u64 {
        let wanted = working_bytes.div_ceil(self.line_bytes).min(self.lines);
        let found = self.take(task).min(wanted);
        self.stack.push(Resident { task, lines: wanted });
        self.evict();
        self.reuse.hits += found;
        self.reuse.misses += wanted - found;
        wanted - found
    }

    /// Forgets a task: it has left, and what it writes elsewhere makes its lines here stale.
    pub fn forget(&mut self, task: u32) {
        self.take(task);
    }

    /// Forgets everything: its core was switched off.
    pub fn clear(&mut self) {
        self.stack.clear();
    }

    /// Bytes of so many lines.
    pub fn bytes(&self, lines: u64) -> u64 {
        lines * self.line_bytes
    }

    /// Time that so many missing lines take, beyond the interconnect's own, in picoseconds.
    pub fn miss_ps(&self, lines: u64) -> u64 {
        lines.saturating_mul(self.miss_ps)
    }

    /// Time that bytes of a message take longer that another core has written, in picoseconds.
    pub fn far_ps(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.line_bytes).saturating_mul(self.far_ps)
    }

    /// What the machine does besides to a task that misses some lines, in picoseconds.
    pub fn disturbed_ps(&mut self, lines: u64) -> u64 {
        if lines == 0 { 0 } else { self.disturbance.next_ps() }
    }

    /// What tasks found when they came back.
    pub fn reuse(&self) -> Reuse {
        self.reuse
    }

    /// Takes a task off the stack. Returns how many of its lines were there.
    fn take(&mut self, task: u32) -> u64 {
        let place = self.stack.iter().rposition(|resident| resident.task == task);
        place.map_or(0, |place| self.stack.remove(place).lines)
    }

    /// Makes room for the top of the stack at its bottom.
    fn evict(&mut self) {
        let total: u64 = self.stack.iter().map(|resident| resident.lines).sum();
        let mut over = total.saturating_sub(self.lines);
        for resident in &mut self.stack {
            let gone = over.min(resident.lines);
            resident.lines -= gone;
            over -= gone;
        }
        let oldest = self.stack.len().saturating_sub(TASKS_MAX);
        let mut place = 0;
        self.stack.retain(|resident| {
            place += 1;
            resident.lines > 0 && place > oldest
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 KiB in lines of 32 bytes: 512 lines.
    fn cache() -> Cache {
        let disturbance = description::Disturbance { part_ppm: 1_000_000, mean_ps: 5_000 };
        let (bytes, line_bytes, miss_ps, far_ps) = (16 << 10, 32, 40_000, 7_000);
        Cache::new(&description::Cache { bytes, line_bytes, miss_ps, far_ps, disturbance }, 0)
    }

    const KIB: u64 = 1 << 10;

    #[test]
    fn tasks_that_fit_together_miss_only_the_first_time() {
        let mut cache = cache();
        let first: Vec<u64> = (0..4).map(|task| cache.switch(task, 4 * KIB)).collect();
        assert_eq!(first, [128; 4]);
        for round in 0..100 {
            assert_eq!(cache.switch(round % 4, 4 * KIB), 0);
        }
        assert_eq!(cache.reuse(), Reuse { hits: 100 * 128, misses: 512 });
    }

    #[test]
    fn tasks_that_fill_the_cache_each_miss_everything_each_time() {
        let mut cache = cache();
        for round in 0..10 {
            assert_eq!(cache.switch(round % 2, 20 * KIB), 512);
        }
        assert_eq!(cache.reuse().hits, 0);
    }

    #[test]
    fn a_task_misses_what_the_one_between_has_pushed_out() {
        let mut cache = cache();
        cache.switch(0, 12 * KIB);
        assert_eq!(cache.switch(1, 8 * KIB), 256);
        // 12 + 8 KiB in 16: 4 KiB, 128 lines, of the first are gone.
        assert_eq!(cache.switch(0, 12 * KIB), 128);
        assert_eq!(cache.miss_ps(128), 128 * 40_000);
        assert_eq!(cache.bytes(128), 4 * KIB);
    }

    #[test]
    fn the_one_that_has_not_run_for_longest_is_the_first_to_go() {
        let mut cache = cache();
        for task in [0, 1, 0, 2] {
            cache.switch(task, 6 * KIB);
        }
        assert_eq!(cache.switch(0, 6 * KIB), 0);
        assert_eq!(cache.switch(1, 6 * KIB), 64);
    }

    #[test]
    fn a_task_that_has_left_finds_nothing_when_it_comes_back() {
        let mut cache = cache();
        cache.switch(0, 4 * KIB);
        cache.forget(0);
        assert_eq!(cache.switch(0, 4 * KIB), 128);
    }

    #[test]
    fn a_cache_remembers_only_so_many_tasks() {
        let mut cache = cache();
        let tasks = TASKS_MAX as u32;
        for task in 0..=tasks {
            cache.switch(task, 32);
        }
        assert_eq!(cache.switch(1, 32), 0);
        assert_eq!(cache.switch(0, 32), 1);
    }

    #[test]
    fn a_message_of_another_core_takes_longer_by_whole_lines() {
        assert_eq!([0, 1, 32, 33].map(|bytes| cache().far_ps(bytes)), [0, 7_000, 7_000, 14_000]);
    }

    #[test]
    fn only_a_task_that_misses_lines_is_disturbed() {
        let mut cache = cache();
        assert!((0..100).all(|_| cache.disturbed_ps(0) == 0));
        assert!((0..100).any(|_| cache.disturbed_ps(1) > 0));
    }

    #[test]
    fn a_task_without_a_working_set_touches_nothing() {
        let mut cache = cache();
        assert_eq!((cache.switch(0, 0), cache.reuse()), (0, Reuse::default()));
    }
}
