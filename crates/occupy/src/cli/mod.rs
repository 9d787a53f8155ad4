// SPDX-License-Identifier: Apache-2.0
//! The command: `whimbrel occupy`, and `whimbrel-occupy` where there is nothing else of Whimbrel.

mod args;
mod gate;
mod noise;
mod program;
mod report;
mod run;
mod signals;
mod status;
mod steer;

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use whimbrel_text::{Failed, cure, plain, word};

use crate::{CpuSet, Error, Machine, Occupation, Occupations, Undone, Unmovable};

pub use args::{OccupyArgs, Verb};

/// Why a command fails, and with which status.
#[derive(Debug)]
struct Failure {
    status: u8,
    failed: Failed,
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Self { status: 2, failed }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failed::from(&error).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failed::new(error.to_string()).help(cure(&error)).into()
    }
}

/// Does what was asked for, and gives the exit status.
pub fn occupy(args: &OccupyArgs) -> ExitCode {
    let machine = Machine::here();
    let done = match &args.verb {
        Some(Verb::Status(args)) => status::status(&machine, args),
        Some(Verb::Adjust(args)) => steer::adjust(&machine, args),
        Some(Verb::Release(args)) => steer::release(&machine, args),
        Some(Verb::Noise(args)) => noise::noise(&machine, args),
        None => match args.pid {
            Some(pid) => steer::take(&machine, args, pid),
            None => run::run(&machine, args),
        },
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            show(&failure.failed);
            ExitCode::from(failure.status)
        }
    }
}

/// Writes a line to standard error. One that nobody reads is no reason to fail.
fn say(line: &str) {
    whimbrel_text::say(&format!("occupy: {}", word(line)));
}

/// Writes what failed to standard error, as all of Whimbrel does.
pub fn show(failed: &Failed) {
    whimbrel_text::say(&failed.to_string());
}

/// Writes a result to standard output. A reader that has gone is no error.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(plain(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            let message = format!("the result could not be written: {error}");
            Err(Failed::new(message).help(cure(&error)).into())
        }
        Ok(()) => Ok(()),
    }
}

/// The processors that are asked for, or those that would be chosen.
fn choose(machine: &Machine, asked: Option<&CpuSet>) -> Result<CpuSet, Failure> {
    let (cpus, reason) = lock(machine)?.choose(asked)?;
    if asked.is_none() {
        say(&reason);
    }
    Ok(cpus)
}

/// A value as JSON, indented.
fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    Ok(whimbrel_text::json(&text).into_owned() + "\n")
}

/// Takes the journal and undoes what killed guardians have left, and says so.
fn lock(machine: &Machine) -> Result<Occupations, Failure> {
    let mut occupations = machine.lock()?;
    if occupations.outlived() {
        say("a reboot has undone what was occupied before it: its journal is dropped");
    }
    say_recovered(&occupations.recover()?);
    Ok(occupations)
}

fn say_recovered(all: &[(Occupation, Undone)]) {
    for (occupation, undone) in all {
        say(&format!(
            "occupation {} of `{}` had lost its guardian: {}",
            occupation.id,
            occupation.command.join(" "),
            count(undone)
        ));
        say_foreign(undone);
    }
}

/// Says what is not as it was, because somebody else has changed it since.
fn say_foreign(undone: &Undone) {
    for Unmovable { what, why } in &undone.foreign {
        say(&format!("{what} is left as it is: {why}"));
    }
}

/// `7 settings are as they were`.
fn count(undone: &Undone) -> String {
    match undone.restored {
        1 => "1 setting is as it was".to_owned(),
        n => format!("{n} settings are as they were"),
    }
}
