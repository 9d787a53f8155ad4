// SPDX-License-Identifier: Apache-2.0
//! A simulation that goes from one decision to the next, for programs that learn: the simulator
//! stands still until it is told how to go on.

use std::io;
use std::mem;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

use whimbrel_model::Plan;
use whimbrel_run::args::{Parameters, SimArgs};
use whimbrel_run::{helpers, prepared};

use crate::explore::{Pool, Process};
use crate::wrong::{Wrong, failed, input};

/// A simulation as its plan, and the simulator that runs it again and again.
#[derive(Debug)]
pub struct Steps {
    pool: Pool,
    folder: PathBuf,
    plan: Plan,
    process: Option<Process>,
    /// The process that has started the simulator: a fork of it leaves that alone.
    owner: u32,
}

impl Steps {
    /// Of a simulation by its parameters. Nothing is started.
    ///
    /// # Errors
    /// Bad input, or there is no simulator.
    pub fn new(given: Parameters) -> Result<Self, Wrong> {
        let (folder, plan) = planned(given)?;
        let pool = Pool::new(helpers::find(helpers::SIMULATOR).map_err(failed)?);
        Ok(Self { pool, folder, plan, process: None, owner: process::id() })
    }

    /// Takes other parameters of the same simulation; the simulator stays.
    ///
    /// # Errors
    /// Bad input.
    pub fn change(&mut self, given: Parameters) -> Result<(), Wrong> {
        (self.folder, self.plan) = planned(given)?;
        Ok(())
    }

    /// The plan as a line of the protocol (`docs/kernels-linux-protocol.md`).
    pub fn plan(&self) -> String {
        self.plan.line()
    }

    /// The simulator, while there is one.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Begins from a seed. A simulator that waits is told the plan, else one is started; `anew`: in
    /// any case.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn begin(&mut self, seed: u64, anew: bool) -> io::Result<()> {
        self.plan.seed = seed;
        let line = self.plan.line();
        if anew || self.process.is_none() {
            self.end();
            self.process = Some(self.pool.start(&self.folder)?);
        }
        self.tell(&line);
        Ok(())
    }

    /// Tells the simulator a line. One that has gone says so when it is listened to.
    pub fn tell(&mut self, line: &str) {
        if let Some(process) = &mut self.process {
            process.tell(line);
        }
    }

    /// Appends what comes of the simulator's next line within so long; whether that is all of it,
    /// or the simulator has gone, which has no line.
    ///
    /// # Errors
    /// The socket cannot be read.
    pub fn listen(&mut self, line: &mut Vec<u8>, wait: Duration) -> io::Result<bool> {
        self.process.as_mut().map_or(Ok(true), |process| process.listen(line, wait))
    }

    /// How a simulator has ended that has gone.
    pub fn last_words(&mut self) -> String {
        self.process.as_mut().map_or_else(|| "it was closed".into(), Process::last_words)
    }

    /// Ends the simulator.
    pub fn end(&mut self) {
        let process = self.process.take();
        if process::id() == self.owner {
            drop(process);
        } else {
            mem::forget(process);
        }
    }
}

/// The folder of an application, and the plan of its simulation.
fn planned(given: Parameters) -> Result<(PathBuf, Plan), Wrong> {
    let args = SimArgs::of(given).map_err(|problem| input(problem.into()))?;
    let (run, complete) = prepared(&args).map_err(input)?;
    let plan = complete(run.plan(None, String::new()));
    Ok((run.folder, plan))
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.end();
    }
}
