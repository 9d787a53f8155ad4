// SPDX-License-Identifier: Apache-2.0
//! Synchronous dataflow: what follows from the rates, slots and times of a graph alone.
//!
//! A firing of a task receives `consume` messages from each channel into it, one after the other
//! in the order of [`Graph::channels`], computes, and sends `produce` messages to each channel out
//! of it in that order. It waits for each message, and for each free slot. A slot is free again as
//! soon as its message is received. Where [`Channel::claims_at_start`] says so, a firing claims its
//! slots between receiving and computing, and those of what it received are free after it has sent.
//! Firings of one task follow each other.
//!
//! From this come, exactly: how often each task fires in one iteration
//! ([`Graph::repetitions`]), whether the graph goes on for ever ([`Graph::check`]), and the least
//! time that a firing can take in the long run when every task has a core to itself
//! ([`Graph::periods`]). Lee and Messerschmitt, *Static scheduling of synchronous data flow
//! programs for digital signal processing*, 1987; Sriram and Bhattacharyya, *Embedded
//! Multiprocessors*, 2009, chapters 3 and 7.

mod cycle;
mod hsdf;
mod of_app;
mod repetitions;

pub(crate) use hsdf::STEPS_MAX;
use num_rational::Ratio;

/// Tasks, and channels between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// Positions in it are the numbers that channels and results use.
    pub tasks: Vec<Task>,
    /// Their order is that of a task's receiving and sending.
    pub channels: Vec<Channel>,
}

/// A task, as far as time goes. The unit is the caller's: cycles, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Task {
    /// What one firing computes.
    pub time: u64,
    /// The least time between two releases; 0: it is not periodic.
    pub period: u64,
}

/// A channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// The task that sends.
    pub from: usize,
    /// The task that receives.
    pub to: usize,
    /// Messages sent by a firing, at least 1.
    pub produce: u32,
    /// Messages received by a firing, at least 1.
    pub consume: u32,
    /// Messages in it at the start, at most `slots`.
    pub initial: u32,
    /// How many messages fit; `None`: any number.
    pub slots: Option<u32>,
    /// Whether room is claimed when the sender's firing begins, and free when the receiver's ends.
    pub claims_at_start: bool,
}

/// What keeps a graph from going on for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The balance equations have no solution: with the channels before it, the one at this
    /// position fills up or runs dry whatever its tasks do.
    Unbalanced(usize),
    /// Each of these waits for the next, the last for the first.
    Deadlock(Vec<Wait>),
    /// One iteration has more steps than can be looked at.
    TooLong,
}

/// A task that waits at a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Position in [`Graph::channels`].
    pub channel: usize,
    /// What it waits for there.
    pub until: Until,
}

/// What a task waits for at a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Its receiver finds it empty.
    Message,
    /// Its sender finds it full.
    Slot,
}

impl Graph {
    /// How often each task fires until every channel holds as many messages as before: the least
    /// such numbers, of each connected part by itself.
    ///
    /// # Errors
    /// [`Flaw::Unbalanced`], [`Flaw::TooLong`].
    pub fn repetitions(&self) -> Result<Vec<u64>, Flaw> {
        repetitions::solve(self)
    }

    /// Finds out whether every task can fire for ever.
    ///
    /// # Errors
    /// Any [`Flaw`].
    pub fn check(&self) -> Result<(), Flaw> {
        hsdf::Hsdf::of(self)?.order().map(drop)
    }

    /// The time of a firing of each task in the long run, when each starts as soon as it can and
    /// has a core to itself: no schedule is faster. It is the maximum mean of a cycle of the
    /// expanded graph, shared by all tasks of a connected part, over the task's repetitions.
    ///
    /// # Errors
    /// Any [`Flaw`].
    pub fn periods(&self) -> Result<Vec<Ratio<u128>>, Flaw> {
        cycle::periods(self)
    }

    /// Which connected part each task belongs to, numbered from 0 in the order of their first
    /// tasks.
    #[must_use]
    pub fn parts(&self) -> Vec<usize> {
        let mut sets = petgraph::unionfind::UnionFind::new(self.tasks.len());
        for channel in &self.channels {
            sets.union(channel.from, channel.to);
        }
        let mut numbers = vec![usize::MAX; self.tasks.len()];
        let mut count = 0;
        let mut part = |root: usize| {
            if numbers[root] == usize::MAX {
                numbers[root] = count;
                count += 1;
            }
            numbers[root]
        };
        (0..self.tasks.len()).map(|task| part(sets.find(task))).collect()
    }
}
