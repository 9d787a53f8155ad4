// SPDX-License-Identifier: Apache-2.0
//! `--exclusive`: the processors of the kernels are occupied as long as the run lasts.

use whimbrel_model::{CoreName, Problem};
use whimbrel_occupy::guardian::Guard;
use whimbrel_occupy::{Error, Policy, Request, TaskId};

use crate::failure::say;
use crate::load::Loaded;
use crate::process::Process;

/// The processors of a run, until this is dropped.
#[derive(Debug)]
pub struct Exclusive(Option<Guard>);

impl Exclusive {
    /// Occupies the processors before the helper is started.
    ///
    /// # Errors
    /// They cannot be occupied, as when none would be left.
    pub fn begin(loaded: &Loaded) -> Result<Self, Problem> {
        let cpus = loaded.options.cpus.iter().filter_map(CoreName::cpu).map(|cpu| cpu as usize);
        let request = Request {
            cpus: Some(cpus.collect()),
            soft: false,
            policy: Policy::Fair { nice: None },
            shield: None,
            command: vec!["whimbrel".to_owned(), "run".to_owned(), loaded.path.clone()],
        };
        match Guard::begin(&request) {
            Ok(guard) => Ok(Self(Some(guard))),
            Err(error) => Err(refused(&error)),
        }
    }

    /// Lets the helper in, before it has made its kernels.
    ///
    /// # Errors
    /// It has ended.
    pub fn admit(&mut self, helper: Option<Process>) -> Result<(), Problem> {
        let (Some(guard), Some(Process { pid, start })) = (&mut self.0, helper) else {
            return Err(Problem::new("the helper ended before it was given its processors")
                .help("try again, and see `whimbrel doctor` if it repeats"));
        };
        let helper = TaskId { tid: i32::try_from(pid).unwrap_or(i32::MAX), start };
        guard.admit(helper).map_err(|error| refused(&error))
    }
}

impl Drop for Exclusive {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.take().map(Guard::end) {
            say(&format!("--exclusive: {error}"));
        }
    }
}

fn refused(error: &Error) -> Problem {
    let cores = "name the processors of the run by `--cores LIST`; the others stay with the system";
    let help = error.help().map(|help| format!("{help}; "));
    Problem::new(format!("--exclusive: {error}"))
        .help(format!("{}{cores}", help.unwrap_or_default()))
}
