// SPDX-License-Identifier: Apache-2.0
//! All counters of some processors at one moment, and what they counted between two.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::columns::{self, Line};
use super::program::Program;
use super::switches::Switches;
use super::tasks::{self, Task};
use super::ticks::{self, Ticks};
use crate::{CpuSet, Error, Machine, TaskId};

/// The counters; they only ever rise.
#[derive(Debug)]
pub struct Reading {
    at: Instant,
    cpus: CpuSet,
    ticks: Ticks,
    interrupts: Vec<Line>,
    softirqs: Vec<Line>,
    switches: Option<u64>,
    /// Every task of the machine that may be seen.
    pub tasks: BTreeMap<TaskId, Task>,
}

/// What another task did on the processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Which.
    pub id: TaskId,
    /// What the kernel calls it, which changes while it runs.
    pub name: String,
    /// How often it was given a processor.
    pub turns: u64,
    /// For how long it ran, in nanoseconds.
    pub ran_ns: u64,
}

/// What was counted in a time.
#[derive(Debug)]
pub struct Span {
    /// How long it was.
    pub seconds: f64,
    /// How many processors there are.
    pub cpus: usize,
    /// Clock ticks of the processors.
    pub ticks: Ticks,
    /// By source.
    pub interrupts: Vec<Line>,
    /// By kind.
    pub softirqs: Vec<Line>,
    /// None where they cannot be counted.
    pub switches: Option<u64>,
    /// Those that ran, and ran there last: the kernel does not tell where else a task has been.
    pub others: Vec<Other>,
}

impl Reading {
    /// Reads all of them; those that this kernel or a container hides are left out.
    ///
    /// # Errors
    /// A processor is off-line, or `/proc` cannot be read.
    pub fn take(
        machine: &Machine,
        cpus: &CpuSet,
        switches: &mut Result<Switches, String>,
    ) -> Result<Self, Error> {
        let lines = |name| {
            let text = fs::read_to_string(machine.proc.join(name)).unwrap_or_default();
            columns::parse(&text, cpus)
        };
        let online = ticks::parse(&read(&machine.proc.join("stat"))?);
        let mut sum = Ticks::default();
        for cpu in cpus.iter() {
            let Some(ticks) = online.get(&cpu) else {
                return Err(Error::Offline { cpu, online: online.into_keys().collect() });
            };
            sum = std::array::from_fn(|kind| sum[kind].saturating_add(ticks[kind]));
        }
        Ok(Self {
            interrupts: lines("interrupts"),
            softirqs: lines("softirqs"),
            tasks: tasks::all(&machine.proc)?,
            switches: switches.as_mut().ok().and_then(|switches| switches.read().ok()),
            ticks: sum,
            cpus: cpus.clone(),
            at: Instant::now(),
        })
    }

    /// What is hidden here, for people.
    pub fn missing(&self) -> Vec<String> {
        let no_turns = self.tasks.values().all(|task| task.turns == 0);
        let hidden = [
            (self.interrupts.is_empty(), "interrupts: there is no /proc/interrupts"),
            (self.softirqs.is_empty(), "soft interrupts: there is no /proc/softirqs"),
            (no_turns, "other tasks, and waiting: the kernel is without CONFIG_SCHED_INFO"),
        ];
        hidden.into_iter().filter(|(is, _)| *is).map(|(_, what)| what.to_owned()).collect()
    }
}

impl Span {
    /// What was counted between two readings, the program's own threads apart.
    pub fn between(first: &Reading, last: &Reading, program: &Program) -> Self {
        let ticks = |kind: usize| last.ticks[kind].saturating_sub(first.ticks[kind]);
        Self {
            seconds: (last.at - first.at).as_secs_f64(),
            cpus: last.cpus.len(),
            ticks: std::array::from_fn(ticks),
            interrupts: since(&first.interrupts, &last.interrupts),
            softirqs: since(&first.softirqs, &last.softirqs),
            switches: last.switches.zip(first.switches).map(|(last, first)| last - first),
            others: others(first, last, program),
        }
    }
}

fn read(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::File { path: path.into(), error })
}

/// A source that was not there before counts from 0.
fn since(first: &[Line], last: &[Line]) -> Vec<Line> {
    let before: BTreeMap<&str, u64> = first.iter().map(|l| (l.name.as_str(), l.count)).collect();
    let before = |name: &str| before.get(name).copied().unwrap_or(0);
    let one = |line: &Line| Line {
        count: line.count.saturating_sub(before(&line.name)),
        name: line.name.clone(),
    };
    last.iter().map(one).collect()
}

fn others(first: &Reading, last: &Reading, program: &Program) -> Vec<Other> {
    let there = |task: &Task| task.cpu.is_some_and(|cpu| last.cpus.has(cpu));
    let one = |(id, task): (&TaskId, &Task)| {
        let (turns, ran_ns) = first.tasks.get(id).map_or((0, 0), |task| (task.turns, task.ran_ns));
        let turns = task.turns.saturating_sub(turns);
        let ran_ns = task.ran_ns.saturating_sub(ran_ns);
        let other = Other { id: *id, name: task.name.clone(), turns, ran_ns };
        (turns > 0 && there(task) && !program.has(*id)).then_some(other)
    };
    last.tasks.iter().filter_map(one).collect()
}
