// SPDX-License-Identifier: Apache-2.0
//! `occupy -- COMMAND`: occupies, runs the program there, and has its exit status.

use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use super::args::{OccupyArgs, default_policy};
use super::report::{self, Watch};
use super::signals::Signals;
use super::{Failure, choose, gate, program, say, say_foreign, say_recovered, show};
use crate::guardian::Guard;
use crate::{MARK, Machine, Occupation, Request};

/// Runs the program to its end.
pub fn run(machine: &Machine, args: &OccupyArgs) -> Result<u8, Failure> {
    let words = args.command.iter().map(|word| word.to_string_lossy().into_owned());
    let mut request = request(args, words.collect());
    program::find(&args.command[0])?;

    let mut watch = None;
    if let Some(file) = &args.report {
        let cpus = choose(machine, request.cpus.as_ref())?;
        watch = Some(Watch::before(machine, &cpus, file)?);
        request.cpus = Some(cpus);
    }
    let mut guard = Guard::begin(&request)?;
    say_begun(&guard, args.quiet);
    let signals = Signals::catch()?;
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]).env(MARK, guard.occupation().mark());
    let admit = |pid| {
        let program = machine.identify(pid)?;
        guard.admit(program)?;
        Ok(watch.as_mut().map_or(Ok(()), |watch| watch.begin(program))?)
    };
    match gate::start(command, admit) {
        Ok(child) => Running::new(child, guard, signals, watch)?.attend(),
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
        shield: args.shield,
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
    let kept = match kept.len() {
        0 => String::new(),
        1 => "; 1 could not be moved away".to_owned(),
        n => format!("; {n} could not be moved away"),
    };
    let shield = shield.name();
    say(&format!("occupation {id}: processor {cpus}, shield {shield}: {reason}{kept}"));
}

/// A program on its processor.
struct Running {
    child: Child,
    /// The child: until we wait for it, no other process can have its number.
    handle: OwnedFd,
    /// Until the occupation has ended.
    guard: Option<Guard>,
    signals: Signals,
    watch: Option<Watch>,
}

/// What has happened.
struct Happened {
    ended: bool,
    released: bool,
}

impl Running {
    fn new(
        child: Child,
        guard: Guard,
        signals: Signals,
        watch: Option<Watch>,
    ) -> Result<Self, Failure> {
        let handle = pidfd_open(Pid::from_child(&child), PidfdFlags::empty());
        let handle = handle.map_err(std::io::Error::from)?;
        Ok(Self { child, handle, guard: Some(guard), signals, watch })
    }

    /// Waits for the program, passes signals on to it, and notices the end of the occupation.
    fn attend(mut self) -> Result<u8, Failure> {
        loop {
            let happened = self.wait()?;
            for signal in self.signals.take() {
                // It fails when the program has ended, which we see next.
                let _ = pidfd_send_signal(&self.handle, signal);
            }
            if happened.ended {
                return self.conclude();
            }
            if let Some(guard) = self.guard.take_if(|_| happened.released) {
                if end(guard) {
                    say("the occupation was released: the program continues like any other");
                }
            } else if let Some(watch) = &mut self.watch {
                watch.look();
            }
        }
    }

    fn conclude(mut self) -> Result<u8, Failure> {
        if let Some(Err(failure)) = self.watch.take().map(Watch::finish) {
            show(&failure.failed);
        }
        self.guard.take().map(end);
        Ok(status_of(self.child.wait()?))
    }

    /// Waits until something happens, or it is time to look at the program's threads.
    fn wait(&self) -> Result<Happened, Failure> {
        let descriptors = std::iter::once(self.handle.as_fd())
            .chain(self.signals.descriptors())
            .chain(self.guard.as_ref().map(Guard::descriptor));
        let mut polled: Vec<_> =
            descriptors.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let limit = self.watch.as_ref().and_then(|_| Timespec::try_from(report::BETWEEN).ok());
        match poll(&mut polled, limit.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            other => _ = other.map_err(std::io::Error::from)?,
        }
        let ready = |fd: Option<&PollFd<'_>>| fd.is_some_and(|fd| !fd.revents().is_empty());
        Ok(Happened {
            ended: ready(polled.first()),
            released: self.guard.is_some() && ready(polled.last()),
        })
    }
}

/// Ends the occupation, or hears how it has ended, and returns whether all is well. The program's
/// status is not changed by it.
fn end(guard: Guard) -> bool {
    match guard.end() {
        Ok(undone) => {
            say_foreign(&undone);
            true
        }
        Err(error) => {
            show(&(&error).into());
            false
        }
    }
}

/// The program's, as shells have it.
fn status_of(status: ExitStatus) -> u8 {
    let signal = status.signal().map(|signal| 128 + signal);
    let status = status.code().or(signal).and_then(|status| u8::try_from(status).ok());
    status.unwrap_or(u8::MAX)
}
