// SPDX-License-Identifier: Apache-2.0
//! The pipeline as a hand-written loop over the standard library's binary heap: no tasks, no
//! processes, nothing but this one model. How fast a simulation of it could be.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::convert::Infallible;

use des_pipeline::{PERIOD, SERVICE, SLOTS, report};

const STAGES: usize = SERVICE.len();
/// In an event: the source, not a stage.
const SOURCE: usize = STAGES;

/// A frame is the time at which it was made.
#[derive(Default)]
struct Stage {
    queue: VecDeque<u64>,
    frame: Option<u64>,
    /// It is done with its frame, and the next queue is full.
    waits: bool,
}

struct Pipeline {
    now: u64,
    /// Time, order of equal times, and who is done.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    order: u64,
    stages: [Stage; STAGES],
    left: u64,
    /// What the source could not put down.
    held: Option<u64>,
    latency: u64,
}

impl Pipeline {
    fn schedule(&mut self, after: u32, who: usize) {
        self.order += 1;
        self.events.push(Reverse((self.now + u64::from(after), self.order, who)));
    }

    /// Takes the next frame if there is one and nothing to do, and lets in who waits for the slot.
    fn begin(&mut self, at: usize) {
        let stage = &mut self.stages[at];
        if stage.frame.is_some() {
            return;
        }
        let Some(frame) = stage.queue.pop_front() else { return };
        stage.frame = Some(frame);
        self.schedule(SERVICE[at], at);
        if at == 0 {
            if let Some(frame) = self.held.take() {
                self.put(0, frame);
                self.made();
            }
        } else if self.stages[at - 1].waits {
            self.pass(at - 1);
        }
    }

    fn put(&mut self, at: usize, frame: u64) {
        self.stages[at].queue.push_back(frame);
        self.begin(at);
    }

    /// Gives a finished frame to the next stage, or waits.
    fn pass(&mut self, at: usize) {
        let next_is_full = at + 1 < STAGES && self.stages[at + 1].queue.len() == SLOTS;
        self.stages[at].waits = next_is_full;
        if next_is_full {
            return;
        }
        let Some(frame) = self.stages[at].frame.take() else { return };
        if at + 1 < STAGES {
            self.put(at + 1, frame);
        } else {
            self.latency = self.now - frame;
        }
        self.begin(at);
    }

    fn make(&mut self) {
        if self.stages[0].queue.len() == SLOTS {
            self.held = Some(self.now);
        } else {
            self.put(0, self.now);
            self.made();
        }
    }

    fn made(&mut self) {
        self.left -= 1;
        if self.left > 0 {
            self.schedule(PERIOD, SOURCE);
        }
    }
}

fn simulate(frames: u64) -> Result<f64, Infallible> {
    let mut pipeline = Pipeline {
        now: 0,
        events: BinaryHeap::with_capacity(STAGES + 1),
        order: 0,
        stages: std::array::from_fn(|_| Stage {
            queue: VecDeque::with_capacity(SLOTS),
            ..Stage::default()
        }),
        left: frames,
        held: None,
        latency: 0,
    };
    pipeline.schedule(0, SOURCE);
    while let Some(Reverse((time, _, who))) = pipeline.events.pop() {
        pipeline.now = time;
        if who == SOURCE { pipeline.make() } else { pipeline.pass(who) }
    }
    Ok(pipeline.latency as f64)
}

fn main() {
    report(simulate)
}
