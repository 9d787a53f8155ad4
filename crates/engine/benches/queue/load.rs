// SPDX-License-Identifier: Apache-2.0
//! What the queues are measured with.

use std::hint::black_box;

use crate::candidate::Candidate;

/// Some events in the queue all the time: who is taken comes back later (Jones, *An empirical
/// comparison of priority-queue and event-set implementations*, 1986).
pub struct Load {
    kind: Kind,
    events: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Exponential,
    Uniform,
    /// Nine of ten soon, one much later.
    Bimodal,
    Constant,
    /// The six stages of a pipeline and its source, each with its own time.
    Pipeline,
    /// Exponential; and each event has a timer far ahead, which it cancels and sets anew.
    Timers,
}

/// Work that can be continued.
pub trait Bench {
    /// Takes so many events; a sum that tells their order.
    fn run(&mut self, events: usize) -> u64;
}

const MEAN_PS: f64 = 1e6;
/// How many mean steps a timer is ahead: so many cancelled ones each does a lazy queue hold.
const TIMER_STEPS: u64 = 50;
const SERVICE_PS: [u64; 7] =
    [5_000_000, 45_000_000, 13_000_000, 13_000_000, 13_000_000, 5_000_000, 46_000_000];
/// Few enough to stay in the first cache beside the queue.
const STEPS: usize = 1024;

pub fn all() -> Vec<Load> {
    let steady = [Kind::Exponential, Kind::Uniform, Kind::Bimodal, Kind::Constant, Kind::Timers];
    let sized = steady
        .into_iter()
        .flat_map(|kind| [8, 24, 64, 1024, 16384].map(|events| Load { kind, events }));
    [Load { kind: Kind::Pipeline, events: SERVICE_PS.len() }].into_iter().chain(sized).collect()
}

impl Load {
    pub fn name(&self) -> String {
        let kind = match self.kind {
            Kind::Exponential => "exponential",
            Kind::Uniform => "uniform",
            Kind::Bimodal => "bimodal",
            Kind::Constant => "constant",
            Kind::Pipeline => "pipeline",
            Kind::Timers => "timers",
        };
        format!("{kind}, {}", self.events)
    }

    /// Events until the queue is as full as it gets.
    pub fn warm_up(&self) -> usize {
        let steps = if matches!(self.kind, Kind::Timers) { 2 * TIMER_STEPS as usize } else { 4 };
        20_000 + steps * self.events
    }

    /// The candidate with its first events; nothing if it would take too long.
    pub fn bench<C: Candidate + 'static>(&self) -> Option<Box<dyn Bench>> {
        let timers = if matches!(self.kind, Kind::Timers) { self.events } else { 0 };
        if self.events + timers * TIMER_STEPS as usize > C::LARGEST {
            return None;
        }
        let mut queue = C::with_capacity(2 * self.events);
        let steps = self.steps();
        for (event, step) in (0..self.events as u32).zip(steps.iter().cycle()) {
            queue.push(*step, event);
        }
        let timers = vec![C::Handle::default(); timers];
        let by_event = matches!(self.kind, Kind::Pipeline);
        Some(Box::new(Hold { queue, steps, taken: 0, timers, by_event }))
    }

    /// How much later events come back, in picoseconds; splitmix64 for its numbers.
    fn steps(&self) -> Vec<u64> {
        let mut state = 1_u64;
        let mut unit = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = state;
            bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ bits >> 31) >> 11) as f64 / (1_u64 << 53) as f64
        };
        let mut step = || match self.kind {
            Kind::Exponential | Kind::Timers => -MEAN_PS * (1.0 - unit()).ln(),
            Kind::Uniform => 2.0 * MEAN_PS * unit(),
            Kind::Bimodal if unit() < 0.9 => 0.1 * MEAN_PS * unit(),
            Kind::Bimodal => 10.0 * MEAN_PS * (1.0 + unit()),
            Kind::Constant | Kind::Pipeline => MEAN_PS,
        };
        match self.kind {
            Kind::Pipeline => SERVICE_PS.to_vec(),
            _ => (0..STEPS).map(|_| step() as u64).collect(),
        }
    }
}

struct Hold<C: Candidate> {
    queue: C,
    steps: Vec<u64>,
    taken: usize,
    /// Of each event, where there are timers.
    timers: Vec<C::Handle>,
    /// A step belongs to an event, not to its turn.
    by_event: bool,
}

impl<C: Candidate> Bench for Hold<C> {
    fn run(&mut self, events: usize) -> u64 {
        let mut sum = 0_u64;
        for _ in 0..events {
            let Some((time, event)) = self.queue.pop() else { return sum };
            let turn = if self.by_event { event as usize } else { self.taken % STEPS };
            self.taken += 1;
            let step = self.steps[turn];
            if let Some(timer) = self.timers.get_mut(event as usize) {
                self.queue.cancel(*timer);
                *timer = self.queue.push(time + TIMER_STEPS * MEAN_PS as u64, event);
            }
            self.queue.push(time + step, event);
            sum = sum.wrapping_mul(31).wrapping_add(time ^ u64::from(event));
            black_box(self.queue.peek_time());
        }
        sum
    }
}
