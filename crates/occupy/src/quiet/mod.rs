// SPDX-License-Identifier: Apache-2.0
//! How quiet processors are: what disturbed whoever ran there, before and during an occupation.
//!
//! ```no_run
//! # use whimbrel_occupy::{CpuSet, Machine, TaskId, quiet::Before};
//! # fn program() -> TaskId { unimplemented!() }
//! let mut watch = Before::take(&Machine::here(), &CpuSet::one(1))?; // counts for a second
//! // … the occupation begins …
//! watch.begin(None)?;
//! // … the program runs …
//! watch.look(program())?; // now and then, so that what its threads counted outlives them
//! // … it has ended, and was not waited for yet …
//! let report = watch.during(Some(program()))?;
//! print!("{report}");
//! # Ok::<(), whimbrel_occupy::Error>(())
//! ```

mod bar;
mod columns;
pub mod noise;
mod program;
mod reading;
mod report;
mod rows;
mod switches;
mod tasks;
#[cfg(test)]
mod tests;
pub mod ticks;

use std::thread::sleep;
use std::time::Duration;

pub use noise::{Bucket, Noise};
use program::Program;
use reading::{Reading, Span};
pub use report::{EventCount, Group, Report, Unit};
use switches::Switches;

use crate::{CpuSet, Error, Machine, TaskId};

/// For how long the state before is counted.
const BEFORE: Duration = Duration::from_secs(1);

/// What was on some processors before an occupation, and what has been counted since it began.
#[derive(Debug)]
pub struct Before {
    machine: Machine,
    cpus: CpuSet,
    switches: Result<Switches, String>,
    before: Span,
    begun: Reading,
    program: Program,
}

impl Before {
    /// Counts for a second what happens on the processors.
    ///
    /// # Errors
    /// A processor is off-line, or `/proc` cannot be read.
    pub fn take(machine: &Machine, cpus: &CpuSet) -> Result<Self, Error> {
        Self::take_for(machine, cpus, BEFORE)
    }

    fn take_for(machine: &Machine, cpus: &CpuSet, time: Duration) -> Result<Self, Error> {
        let mut switches = Switches::open(cpus).map_err(|error| {
            format!("context switches on the processors: {error} (CAP_PERFMON counts them)")
        });
        let first = Reading::take(machine, cpus, &mut switches)?;
        sleep(time);
        let begun = Reading::take(machine, cpus, &mut switches)?;
        let before = Span::between(&first, &begun, &Program::default());
        let (machine, cpus) = (machine.clone(), cpus.clone());
        Ok(Self { machine, cpus, switches, before, begun, program: Program::default() })
    }

    /// Counts from now on, and of a program that runs already only what comes. Without this, from
    /// when [`Before::take`] ended.
    ///
    /// # Errors
    /// As [`Before::take`].
    pub fn begin(&mut self, program: Option<TaskId>) -> Result<(), Error> {
        self.begun = Reading::take(&self.machine, &self.cpus, &mut self.switches)?;
        let watch = |first| Program::begin(&self.machine.proc, &self.begun.tasks, first);
        self.program = program.map(watch).unwrap_or_default();
        Ok(())
    }

    /// Takes what the program's threads and its children have counted so far: at the end, those
    /// that end before are counted as they were at the last look. Takes some milliseconds.
    ///
    /// # Errors
    /// `/proc` cannot be listed.
    pub fn look(&mut self, program: TaskId) -> Result<(), Error> {
        let tasks = tasks::all(&self.machine.proc)?;
        self.program.look(&self.machine.proc, &tasks, Some(program));
        Ok(())
    }

    /// What disturbed the program until now. A program that is this process's child and has ended
    /// is counted wholly while nobody has waited for it; one that is gone, as at the last look.
    ///
    /// # Errors
    /// As [`Before::take`].
    pub fn during(mut self, program: Option<TaskId>) -> Result<Report, Error> {
        let end = Reading::take(&self.machine, &self.cpus, &mut self.switches)?;
        self.program.look(&self.machine.proc, &end.tasks, program);
        let during = Span::between(&self.begun, &end, &self.program);
        let counts = program.and_then(|first| self.program.sum(first));
        let mut missing = end.missing();
        missing.extend(self.switches.err());
        Ok(Report::new(self.cpus, &self.before, &during, counts, missing))
    }
}

/// What disturbs a program that is occupied already, counted for some time from now; `before` is
/// nothing.
///
/// # Errors
/// As [`Before::take`].
pub fn watch(
    machine: &Machine,
    cpus: &CpuSet,
    program: Option<TaskId>,
    time: Duration,
) -> Result<Report, Error> {
    let mut counted = Before::take_for(machine, cpus, Duration::ZERO)?;
    counted.begin(program)?;
    sleep(time);
    counted.during(program)
}
