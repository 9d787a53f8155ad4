// SPDX-License-Identifier: Apache-2.0
//! `occupy -- COMMAND`: occupies, runs the program there, and has its exit status.

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use super::args::{OccupyArgs, default_policy};
use super::signals::Signals;
use super::{Failure, gate, program, say, say_foreign, say_recovered};
use crate::guardian::Guard;
use crate::{Machine, Occupation, Request};

/// Runs the program to its end.
pub fn run(machine: &Machine, args: &OccupyArgs) -> Result<u8, Failure> {
    let words: Vec<String> =
        args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    program::find(&args.command[0])?;

    let mut guard = Guard::begin(&request(args, words))?;
    say_begun(&guard, args.quiet);
    let mut signals = Signals::catch()?;
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]);
    let admit = |pid| Ok(guard.admit(machine.identify(pid)?)?);
    match gate::start(command, admit) {
        Ok(child) => attend(child, guard, &mut signals),
        Err(failure) => {
            guard.end()?;
            Err(failure)
        }
    }
}

/// What the options ask for.
pub fn request(args: &OccupyArgs, command: Vec<String>) -> Request {
    Request {
        cpus: args.cpu.clone(),
        soft: args.soft,
        policy: args.policy.policy().unwrap_or_else(|| default_policy(args.soft)),
        shield: args.shield.map(Into::into),
        command,
    }
}

/// Says what was occupied and why that.
pub fn say_begun(guard: &Guard, quiet: bool) {
    say_recovered(guard.recovered());
    if quiet {
        return;
    }
    let Occupation { id, cpus, shield, reason, kept, .. } = guard.occupation();
    let stay = match kept.len() {
        0 => String::new(),
        1 => "; 1 thing stays there".to_owned(),
        n => format!("; {n} things stay there"),
    };
    say(&format!("occupation {id}: processor {cpus}, by {shield}, {reason}{stay}"));
}

/// Waits for the program, passes signals on to it, and notices the end of the occupation.
fn attend(mut child: Child, guard: Guard, signals: &mut Signals) -> Result<u8, Failure> {
    let pid = Pid::from_child(&child);
    // Until we wait for it, no other process can have its number.
    let handle = pidfd_open(pid, PidfdFlags::empty()).map_err(std::io::Error::from)?;
    let mut guard = Some(guard);
    loop {
        let (ended, released) = wait(&handle, guard.as_ref(), signals)?;
        for signal in signals.take() {
            // It fails when the program has ended, which we see next.
            let _ = pidfd_send_signal(&handle, signal);
        }
        if let Some(guard) = guard.take_if(|_| ended || released) {
            conclude(guard, ended);
        }
        if ended {
            let status = child.wait()?;
            let signal = status.signal().map(|signal| 128 + signal);
            let status = status.code().or(signal).and_then(|status| u8::try_from(status).ok());
            return Ok(status.unwrap_or(u8::MAX));
        }
    }
}

/// Ends the occupation, or hears how it has ended. The program's status is not changed by it.
fn conclude(guard: Guard, ended: bool) {
    match guard.end() {
        Ok(undone) => {
            say_foreign(&undone);
            if !ended {
                say("the occupation was released: the program goes on like any other");
            }
        }
        Err(error) => say(&error.to_string()),
    }
}

/// Waits for the program's end, that of the occupation, or a signal, and says which of the first two
/// it is.
fn wait(
    program: &impl AsFd,
    guard: Option<&Guard>,
    signals: &Signals,
) -> Result<(bool, bool), Failure> {
    let descriptors = std::iter::once(program.as_fd())
        .chain(signals.descriptors())
        .chain(guard.map(Guard::descriptor));
    let mut polled: Vec<_> =
        descriptors.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    match poll(&mut polled, None) {
        Err(rustix::io::Errno::INTR) => return Ok((false, false)),
        other => other.map_err(std::io::Error::from)?,
    };
    let ready = |fd: Option<&PollFd<'_>>| fd.is_some_and(|fd| !fd.revents().is_empty());
    Ok((ready(polled.first()), guard.is_some() && ready(polled.last())))
}
