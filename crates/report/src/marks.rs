// SPDX-License-Identifier: Apache-2.0
//! Missed deadlines, in no more marks than a page can hold.

use serde::Serialize;

use crate::columns::{encode, signed};

const FIRST_WIDTH_NS: u64 = 1024;

/// A missed deadline, or those of one core in one bin of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    at: u64,
    core: u32,
    /// The task that was latest, and how late.
    task: u32,
    late: u32,
    /// How many there were.
    count: u32,
}

/// The missed deadlines of a run.
#[derive(Debug)]
pub struct Marks {
    marks: Vec<Mark>,
    width_ns: u64,
    limit: usize,
}

/// As the page takes it: columns.
#[derive(Debug, Serialize)]
pub struct MarksData {
    at: String,
    core: String,
    task: String,
    late: String,
    count: String,
}

impl Marks {
    /// None yet, and no more than `limit` but for one of each core.
    pub fn new(limit: usize) -> Self {
        Self { marks: Vec::new(), width_ns: 0, limit }
    }

    /// A deadline missed by `late` nanoseconds; times do not go back.
    pub fn push(&mut self, at: u64, core: u32, task: u32, late: u32) {
        self.add(Mark { at, core, task, late, count: 1 });
        while self.marks.len() > self.limit && self.width_ns < crate::LATEST_NS {
            self.width_ns = (self.width_ns * 2).max(FIRST_WIDTH_NS);
            for mark in std::mem::take(&mut self.marks) {
                self.add(mark);
            }
        }
    }

    fn add(&mut self, mark: Mark) {
        let bin = |at: u64| at.checked_div(self.width_ns).unwrap_or(at);
        let near = |known: &&mut Mark| bin(known.at) == bin(mark.at);
        let same = |known: &&mut Mark| self.width_ns > 0 && known.core == mark.core;
        match self.marks.iter_mut().rev().take_while(near).find(same) {
            Some(known) => {
                known.count = known.count.saturating_add(mark.count);
                if mark.late > known.late {
                    (known.late, known.task) = (mark.late, mark.task);
                }
            }
            None => self.marks.push(mark),
        }
    }

    /// As the page takes it.
    pub fn data(&self) -> MarksData {
        let column = |of: fn(&Mark) -> i64| encode(self.marks.iter().map(of));
        MarksData {
            at: column(|mark| signed(mark.at)),
            core: column(|mark| mark.core.into()),
            task: column(|mark| mark.task.into()),
            late: column(|mark| mark.late.into()),
            count: column(|mark| mark.count.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_are_one_keep_their_count_and_the_latest() {
        let mut marks = Marks::new(100);
        for n in 0..50_000 {
            let late = if n == 777 { 9000 } else { 10 };
            marks.push(u64::from(n) * 1000, n % 4, n % 7, late);
        }
        assert!(marks.marks.len() <= 100);
        assert_eq!(marks.marks.iter().map(|mark| mark.count).sum::<u32>(), 50_000);
        let latest = marks.marks.iter().max_by_key(|mark| mark.late).unwrap();
        assert_eq!((latest.late, latest.task, latest.core), (9000, 0, 1));
    }
}
