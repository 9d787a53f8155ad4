// SPDX-License-Identifier: Apache-2.0
//! Which task each core ran when, in no more slices than a page can hold.
//!
//! Slices are kept as they were until there are too many. From then on the time is divided into
//! bins, and what a core did in one of them is kept as a sum per task; bins double in width as
//! often as it takes. The page adds bins up further when it shows more of the run.

use serde::Serialize;

use crate::columns::{encode, signed};

/// The first width of bins, in nanoseconds: less than anything that can be seen.
const FIRST_WIDTH_NS: u64 = 1024;

/// The last width: the whole of any run, whose times the page must be able to count.
const COARSEST_NS: u64 = crate::LATEST_NS;

/// A stretch in which a core ran one task, in nanoseconds since the start of the run; of bins, the
/// start of the bin, and how long in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// When.
    pub at: u64,
    /// How long.
    pub span: u64,
    /// The task's position.
    pub task: u32,
}

/// The slices of every core.
#[derive(Debug)]
pub struct Lanes {
    cores: Vec<Vec<Slice>>,
    width_ns: u64,
    count: usize,
    limit: usize,
    /// The end of the last slice.
    end: u64,
}

/// As the page takes it.
#[derive(Debug, Serialize)]
pub struct LanesData {
    /// The width of bins; 0: these are slices.
    width_ns: u64,
    cores: Vec<LaneData>,
}

/// One core: columns.
#[derive(Debug, Serialize)]
struct LaneData {
    at: String,
    span: String,
    task: String,
}

impl Lanes {
    /// None yet, of so many cores, and never more than `limit`.
    pub fn new(cores: usize, limit: usize) -> Self {
        Self { cores: vec![Vec::new(); cores], width_ns: 0, count: 0, limit, end: 0 }
    }

    /// Adds a slice; those of one core come in the order of time.
    pub fn push(&mut self, core: usize, slice: Slice) {
        let Some(lane) = self.cores.get_mut(core) else { return };
        self.end = self.end.max(slice.at + slice.span);
        // A slice much longer than a bin would be shared out among more of them than there is
        // room for.
        if self.width_ns > 0 && self.end / self.width_ns > self.limit as u64 {
            self.coarsen();
            return self.push(core, slice);
        }
        let before = lane.len();
        add(lane, slice, self.width_ns);
        self.count += lane.len() - before;
        if self.count > self.limit {
            self.coarsen();
        }
    }

    /// Widens the bins until there is room for as many slices again.
    fn coarsen(&mut self) {
        let used = self.cores.iter().filter(|lane| !lane.is_empty()).count() as u64;
        let room = (self.limit as u64 / 2).max(1);
        let least = (self.end / room).saturating_mul(used).max(FIRST_WIDTH_NS);
        let least = least.checked_next_power_of_two().unwrap_or(COARSEST_NS);
        loop {
            self.width_ns = (self.width_ns * 2).max(least).min(COARSEST_NS);
            for lane in &mut self.cores {
                let fine = std::mem::take(lane);
                for slice in fine {
                    add(lane, slice, self.width_ns);
                }
            }
            self.count = self.cores.iter().map(Vec::len).sum();
            if self.count as u64 <= room || self.width_ns == COARSEST_NS {
                break;
            }
        }
        // One bin for each core and task is as coarse as it gets.
        self.limit = self.limit.max(self.count);
    }

    /// As the page takes it.
    pub fn data(&self) -> LanesData {
        let column = |lane: &[Slice], of: fn(&Slice) -> u64| {
            encode(lane.iter().map(|slice| signed(of(slice))))
        };
        let lane = |lane: &Vec<Slice>| LaneData {
            at: column(lane, |slice| slice.at),
            span: column(lane, |slice| slice.span),
            task: column(lane, |slice| slice.task.into()),
        };
        LanesData { width_ns: self.width_ns, cores: self.cores.iter().map(lane).collect() }
    }
}

/// Adds a slice to a lane, or its parts to the bins that it lies in.
fn add(lane: &mut Vec<Slice>, slice: Slice, width_ns: u64) {
    if width_ns == 0 {
        return lane.push(slice);
    }
    let (mut at, mut left) = (slice.at, slice.span);
    loop {
        let bin = at - at % width_ns;
        let part = left.min(bin + width_ns - at);
        let same = |known: &&mut Slice| known.at == bin && known.task == slice.task;
        let tail = lane.iter_mut().rev().take_while(|known| known.at >= bin).find(same);
        match tail {
            Some(known) => known.span += part,
            None => lane.push(Slice { at: bin, span: part, ..slice }),
        }
        left -= part;
        at += part;
        if left == 0 {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two tasks in turn, 700 ns each, with nothing in between for 300 ns.
    fn alternating(count: u64, limit: usize) -> Lanes {
        let mut lanes = Lanes::new(2, limit);
        for n in 0..count {
            let task = u32::from(n % 2 == 1);
            lanes.push(0, Slice { at: n * 1000, span: 700, task });
        }
        lanes
    }

    #[test]
    fn few_slices_stay_as_they_were() {
        let lanes = alternating(100, 100);
        assert_eq!((lanes.width_ns, lanes.count), (0, 100));
        assert_eq!(lanes.cores[0][99], Slice { at: 99_000, span: 700, task: 1 });
    }

    #[test]
    fn many_slices_become_bins_that_keep_the_time_of_each_task() {
        let lanes = alternating(100_000, 1000);
        assert!(lanes.width_ns.is_power_of_two() && lanes.count <= 1000);
        for task in 0..2 {
            let of_task = lanes.cores[0].iter().filter(|slice| slice.task == task);
            assert_eq!(of_task.map(|slice| slice.span).sum::<u64>(), 50_000 * 700);
        }
        assert!(lanes.cores[0].iter().all(|bin| bin.at % lanes.width_ns == 0));
        assert!(lanes.cores[0].is_sorted_by_key(|bin| bin.at));
    }

    #[test]
    fn a_long_slice_is_shared_out_among_the_bins_it_lies_in() {
        let mut lane = Vec::new();
        add(&mut lane, Slice { at: 1500, span: 2000, task: 3 }, 1000);
        let parts: Vec<_> = lane.iter().map(|part| (part.at, part.span)).collect();
        assert_eq!(parts, [(1000, 500), (2000, 1000), (3000, 500)]);
    }

    #[test]
    fn a_slice_as_long_as_the_run_finds_room_after_very_short_ones() {
        let mut lanes = alternating(2000, 1000);
        let (at, span) = (2_000_000, crate::LATEST_NS / 2);
        lanes.push(1, Slice { at, span, task: 7 });
        assert!(lanes.count <= 1000);
        assert_eq!(lanes.cores[1].iter().map(|slice| slice.span).sum::<u64>(), span);
    }

    #[test]
    fn more_tasks_than_the_limit_are_kept_in_one_bin_each() {
        let mut lanes = Lanes::new(1, 4);
        for task in 0..10 {
            lanes.push(0, Slice { at: u64::from(task) * 5, span: 5, task });
        }
        assert_eq!(lanes.count, 10);
    }
}
