// SPDX-License-Identifier: Apache-2.0
//! Threads as tasks: a firing is one iteration of what a thread repeats.

use super::Global;
use super::events::Event;
use super::thread::{Phase, Policy, Thread};
use crate::import::draft::{Cycles, Draft, Task};
use crate::import::names::Names;
use crate::import::notes::Notes;
use crate::problem::Problem;

/// The longest period of an application, in nanoseconds.
const PERIOD_MAX_NS: u64 = 1_000_000_000_000;

/// The most cycles of a firing.
const CYCLES_MAX: u64 = 1 << 48;

/// What one firing is made of.
#[derive(Debug, Default)]
struct Iteration {
    run_ns: u64,
    sleep_ns: u64,
    /// Between the times that its timers go off.
    timer_ns: u64,
    yields: bool,
    /// How many of them the thread makes; `None`: for ever.
    count: Option<u64>,
}

/// The tasks of a file, in its order.
pub(super) fn tasks(threads: &[Thread], global: &Global, notes: &mut Notes) -> Draft {
    let mut names = Names::default();
    let tasks = threads.iter().map(|thread| {
        let name = names.unique(&thread.name);
        if name != thread.name {
            let warning = Problem::new(format!("`{}` is called `{name}` here", thread.name));
            notes.warn(warning.at(thread.at.clone(), "this name"));
        }
        task(thread, name, global, notes)
    });
    Draft { tasks: tasks.collect(), ..Draft::default() }
}

fn task(thread: &Thread, name: String, global: &Global, notes: &mut Notes) -> Task {
    let iteration = iteration(thread, notes);
    let period_ns = period(thread, &iteration, notes);
    let receives = thread.phases.iter().flat_map(|phase| &phase.events);
    let receives = receives.into_iter().any(|event| matches!(event, Event::Receive(_)));

    if thread.cpus.len() > 1 {
        let warning = format!("`{}` starts on the first of its processors", thread.name);
        let help =
            "name the cores that it may go to in a table, or keep it by `migratable = false`";
        notes.warn(Problem::new(warning).at(thread.at.clone(), "this task").help(help));
    }
    if thread.delay_ns > 0 && period_ns.is_none() {
        let warning = format!("`delay` of `{}` is left out: it has no period", thread.name);
        notes.warn(Problem::new(warning).at(thread.at.clone(), "this task"));
    }
    if iteration.count.is_some() && receives {
        let warning = format!("`loop` of `{}` is left out: it ends with its senders", thread.name);
        notes.warn(Problem::new(warning).at(thread.at.clone(), "this task"));
    }
    Task {
        name,
        count: thread.count,
        core: thread.cpus.first().copied(),
        priority: Some(priority(thread, notes)),
        pinned: thread.cpus.len() == 1,
        period_ns,
        deadline_ns: thread.dl_deadline_ns.filter(|ns| *ns > 0),
        offset_ns: Some(thread.delay_ns).filter(|ns| *ns > 0),
        cycles: Cycles::Any(cycles(thread, iteration.run_ns, global.hz, notes)),
        script: Vec::new(),
        working_set: None,
        firings: iteration.count.filter(|_| !receives),
    }
}

/// What is one firing: a loop of the phases if they are alike, or all of them.
fn iteration(thread: &Thread, notes: &mut Notes) -> Iteration {
    let firing = thread.firing();
    let all_loops = thread.phases.iter().map(|phase| phase.loops).sum::<Option<u64>>();
    let mut iteration = Iteration::default();

    for (phase, loops) in &firing {
        iteration.add(phase, *loops);
    }
    if firing.len() == 1 {
        iteration.count = thread.loops.zip(all_loops).map(|(a, b)| a.saturating_mul(b));
        return iteration;
    }
    iteration.count = thread.loops;
    if all_loops.is_none() {
        let problem = Problem::new(format!("a phase of `{}` never ends", thread.name));
        let help = "give each phase a finite `loop`, or keep the endless one alone";
        notes.refuse(problem.at(thread.at.clone(), "this task").help(help));
    }
    let warning = format!("the phases of `{}` differ: one firing is all of them", thread.name);
    notes.warn(Problem::new(warning).at(thread.at.clone(), "the load is the same, in one piece"));
    iteration
}

impl Iteration {
    fn add(&mut self, phase: &Phase, loops: u64) {
        for event in &phase.events {
            let times = |ns: &u64| ns.saturating_mul(loops);
            match event {
                Event::Run(ns) => self.run_ns = self.run_ns.saturating_add(times(ns)),
                Event::Sleep(ns) => self.sleep_ns = self.sleep_ns.saturating_add(times(ns)),
                Event::Timer(_, ns) => self.timer_ns = self.timer_ns.saturating_add(times(ns)),
                Event::Yield => self.yields = true,
                Event::Send(_) | Event::Receive(_) => {}
            }
        }
    }
}

/// A timer gives it, or the deadline class, or what a iteration takes with its sleeping.
fn period(thread: &Thread, iteration: &Iteration, notes: &mut Notes) -> Option<u64> {
    let of_deadline = thread.dl_period_ns.filter(|_| thread.policy == Policy::Deadline);
    let period = match (iteration.timer_ns, iteration.sleep_ns) {
        (0, 0) => of_deadline.filter(|_| iteration.yields)?,
        (0, sleep) => sleep.saturating_add(iteration.run_ns),
        (timer, _) => timer,
    };
    if !(1000..=PERIOD_MAX_NS).contains(&period) {
        let us = period / 1000;
        let message = format!("`{}` would have a period of {us} microseconds", thread.name);
        let problem = Problem::new(message).at(thread.at.clone(), "this task");
        notes.refuse(problem.help("a period is from 1 to 1000000000 microseconds"));
    }
    Some(period)
}

/// Our 32 priorities in four bands: 0 idle, 1 to 15 by `nice`, 16 to 30 real-time, 31 deadlines.
fn priority(thread: &Thread, notes: &mut Notes) -> u32 {
    let (least, most, default) = match thread.policy {
        Policy::Idle => return 0,
        Policy::Deadline => return 31,
        Policy::Other => (-20, 19, 0),
        Policy::RealTime => (1, 99, 10),
    };
    let given = thread.priority.unwrap_or(default);
    if !(least..=most).contains(&given) {
        let message = format!("`priority` of `{}` is {given}", thread.name);
        let problem = Problem::new(message).at(thread.at.clone(), "this task");
        notes.refuse(problem.help(format!("its policy takes {least} to {most}")));
    }
    let given = given.clamp(least, most);
    let (above, band) = match thread.policy {
        Policy::RealTime => (given - least, 16),
        _ => (most - given, 1),
    };
    // Rounded: the 14 steps of a band over all that the policy has.
    let step = (above * 28 + (most - least)) / (2 * (most - least));
    band + u32::try_from(step).unwrap_or(0)
}

/// At least 1: none means that a task does not run.
fn cycles(thread: &Thread, ns: u64, hz: u64, notes: &mut Notes) -> u64 {
    let cycles = (u128::from(ns) * u128::from(hz) + 500_000_000) / 1_000_000_000;
    let cycles = u64::try_from(cycles).ok().filter(|cycles| *cycles <= CYCLES_MAX);
    if cycles.is_none() {
        let problem = Problem::new(format!("a firing of `{}` computes too long", thread.name));
        let help = format!("at most {CYCLES_MAX} cycles: lower its `loop` or its `run`");
        notes.refuse(problem.at(thread.at.clone(), "this task").help(help));
    }
    cycles.unwrap_or(1).max(1)
}
