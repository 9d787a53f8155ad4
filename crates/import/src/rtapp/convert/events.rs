// SPDX-License-Identifier: Apache-2.0
//! Events of rt-app as events of a script, most of them one by one.

use super::super::events::{Event, Placed};
use super::super::held::Held;
use super::super::objects::Objects;
use super::super::places::Policy;
use super::super::thread::{Phase, Thread};
use super::common::Common;
use crate::draft::Event as Script;
use crate::notes::Notes;
use whimbrel_model::Cycles;
use whimbrel_model::{Problem, Span};

/// The most cycles of a `run`.
const CYCLES_MAX: u64 = 1 << 48;
/// The most bytes of a `memory`.
const BYTES_MAX: u64 = 1 << 30;

/// Writes the script of one thread.
pub(super) struct Writer<'a> {
    thread: &'a Thread,
    policy: Policy,
    hz: u64,
    common: &'a mut Common,
    /// Timers of its own.
    timers: Objects,
    held: Held,
    events: Vec<Script>,
}

impl<'a> Writer<'a> {
    pub fn of(thread: &'a Thread, policy: Policy, hz: u64, common: &'a mut Common) -> Self {
        let (timers, held) = (Objects::default(), Held::default());
        Self { thread, policy, hz, common, timers, held, events: Vec::new() }
    }

    /// The events of one loop of a phase.
    pub fn phase(&mut self, phase: &Phase, notes: &mut Notes) -> Vec<Script> {
        let before = self.held.clone();
        for placed in &phase.events {
            self.event(placed, notes);
        }
        if let (Some(name), true) = (&phase.name, phase.loops != Some(1)) {
            self.held.check(&before, &format!("a loop of `{name}`"), &self.thread.at, notes);
        }
        std::mem::take(&mut self.events)
    }

    /// Notes what the thread does not give back, if it ever comes to its end.
    pub fn finish(&self, notes: &mut Notes) {
        if self.thread.phases.iter().any(|phase| phase.loops.is_none()) {
            return;
        }
        self.held.check(
            &Held::default(),
            &format!("`{}`", self.thread.name),
            &self.thread.at,
            notes,
        );
    }

    fn event(&mut self, Placed { event, at }: &Placed, notes: &mut Notes) {
        match event {
            Event::Run(ns) => {
                let cycles = self.cycles(*ns, at, notes);
                self.events.extend((*ns > 0).then_some(Script::Run(Cycles::Every(cycles))));
            }
            Event::Runtime(ns) => self.events.push(Script::Runtime { ns: *ns }),
            Event::Sleep(ns) => self.events.push(Script::Sleep { ns: *ns }),
            Event::Memory(bytes) => self.memory(*bytes),
            Event::Timer { name, ns, .. } => self.timer(name, *ns),
            Event::Lock(mutex) => self.lock(mutex, at, notes),
            Event::Unlock(mutex) => self.unlock(mutex, at, notes),
            Event::Wait { condition, mutex } => self.wait(condition, mutex, false, at, notes),
            Event::Sync { condition, mutex } => self.wait(condition, mutex, true, at, notes),
            Event::Signal(name) => {
                let condition = self.common.conditions.name(name);
                self.events.push(Script::Signal(condition));
            }
            Event::Broadcast(name) => self.broadcast(name),
            Event::Barrier(name) => {
                let barrier = self.common.barriers.name(name);
                self.events.push(Script::Barrier(barrier));
            }
            Event::Take(name) => {
                let semaphore = self.common.semaphores.name(name);
                self.events.push(Script::Take(semaphore));
            }
            Event::Give(name) => {
                let semaphore = self.common.semaphores.name(name);
                self.events.push(Script::Give(semaphore));
            }
            Event::Suspend(name) => {
                self.lock(name, at, notes);
                self.wait(name, name, false, at, notes);
                self.unlock(name, at, notes);
            }
            Event::Resume(name) => {
                self.lock(name, at, notes);
                self.broadcast(name);
                self.unlock(name, at, notes);
            }
            Event::Yield => self.yields(),
            Event::Fork(name) => {
                let semaphore = self.common.forks(name);
                self.events.extend(semaphore.map(Script::Give));
            }
        }
    }

    fn memory(&mut self, bytes: u64) {
        let (times, rest) = (bytes / BYTES_MAX, bytes % BYTES_MAX);
        if times > 0 {
            let body = vec![Script::Memory { bytes: BYTES_MAX }];
            self.events.push(Script::Loop { phase: None, times: Some(times), body });
        }
        self.events.extend((rest > 0).then_some(Script::Memory { bytes: rest }));
    }

    fn lock(&mut self, mutex: &str, at: &Span, notes: &mut Notes) {
        self.held.lock(mutex, at, notes);
        let mutex = self.common.mutexes.name(mutex);
        self.events.push(Script::Lock(mutex));
    }

    fn unlock(&mut self, mutex: &str, at: &Span, notes: &mut Notes) {
        self.held.unlock(mutex, at, notes);
        let mutex = self.common.mutexes.name(mutex);
        self.events.push(Script::Unlock(mutex));
    }

    fn broadcast(&mut self, name: &str) {
        let condition = self.common.conditions.name(name);
        self.events.push(Script::Broadcast(condition));
    }

    /// Waits; a mutex that is not held is locked for it, as rt-app's tutorial has it.
    fn wait(&mut self, name: &str, mutex: &str, signals: bool, at: &Span, notes: &mut Notes) {
        let condition = self.common.conditions.name(name);
        let locks = !self.held.has(mutex);
        if locks {
            let warning = Problem::new(format!("`{mutex}` is locked for this wait, and unlocked"));
            notes.warn(warning.at(at.clone(), "it is not held here"));
            self.lock(mutex, at, notes);
        }
        self.events.extend(signals.then(|| Script::Signal(condition.clone())));
        let name = self.common.mutexes.name(mutex);
        self.events.push(Script::Wait { condition, mutex: name });
        if locks {
            self.unlock(mutex, at, notes);
        }
    }

    fn timer(&mut self, name: &str, ns: u64) {
        let shared = self.common.is_shared(name);
        let timers = if shared { &mut self.common.timers } else { &mut self.timers };
        let own = timers.name(name);
        let absolute = self.common.is_absolute(name);
        self.events.push(Script::Timer { ns, name: Some(own), absolute });
    }

    /// That of a SCHED_DEADLINE task is the end of its job: it goes on in its next period.
    fn yields(&mut self) {
        match self.thread.place.dl_period_ns.filter(|_| self.policy == Policy::Deadline) {
            Some(ns @ 1..) => {
                let name = Some(self.timers.name("dl_period"));
                self.events.push(Script::Timer { ns, name, absolute: false });
            }
            _ => self.events.push(Script::Yield),
        }
    }

    /// At least 1.
    fn cycles(&self, ns: u64, at: &Span, notes: &mut Notes) -> u64 {
        let cycles = (u128::from(ns) * u128::from(self.hz) + 500_000_000) / 1_000_000_000;
        let cycles = u64::try_from(cycles).ok().filter(|cycles| *cycles <= CYCLES_MAX);
        if cycles.is_none() {
            let problem = Problem::new("this computes too long");
            let help = format!("lower it, or --mhz: at most {CYCLES_MAX} cycles are possible");
            notes.refuse(problem.at(at.clone(), "this `run`").help(help));
        }
        cycles.unwrap_or(1).max(1)
    }
}
