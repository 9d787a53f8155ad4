// SPDX-License-Identifier: Apache-2.0
//! Processes by a name that is never reused: their number together with the time they started.

use std::fs;
use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};
use serde::{Deserialize, Serialize};
use whimbrel_occupy::Machine;

/// Starts a process, one at a time: a library of the program that we are in may have something to
/// do at each fork and not expect two at once, as OpenBLAS, which then waits for ever.
///
/// # Errors
/// It cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// One process, now or in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in clock ticks since the machine did.
    pub start: u64,
}

impl Process {
    /// The process that has this number now; `None` if there is none or it is a zombie.
    pub fn with_pid(pid: u32) -> Option<Self> {
        let task = Machine::here().identify(i32::try_from(pid).ok()?).ok()?;
        Some(Self { pid, start: task.start })
    }

    /// This process.
    ///
    /// # Errors
    /// `/proc` is not there.
    pub fn this() -> io::Result<Self> {
        Self::with_pid(std::process::id())
            .ok_or_else(|| io::Error::other("/proc/self/stat cannot be read"))
    }

    /// Whether it is still there.
    pub fn lives(&self) -> bool {
        Self::with_pid(self.pid) == Some(*self)
    }

    /// Processor time that it has used so far, in clock ticks; `None` if it has gone.
    pub fn used_ticks(&self) -> Option<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        // Its name may contain anything. After it come the state and ten others.
        let (_, after) = stat.rsplit_once(')')?;
        let times = after.split_ascii_whitespace().skip(11).take(2);
        let ticks = times.flat_map(str::parse::<u64>).sum();
        self.lives().then_some(ticks)
    }

    /// Waits until it has gone.
    ///
    /// Returns false if it is still there after `limit`.
    pub fn wait(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while self.lives() {
            if Instant::now() >= end {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Sends a signal to it if it is still there.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = self.alive() {
            // It may have gone just now.
            let _ = kill_process(pid, signal);
        }
    }

    /// Sends a signal to the process group that it leads, if it leads one.
    pub fn signal_group(&self, signal: Signal) {
        if let Some(pid) = self.alive() {
            let _ = kill_process_group(pid, signal);
        }
    }

    fn alive(&self) -> Option<Pid> {
        i32::try_from(self.pid).ok().and_then(Pid::from_raw).filter(|_| self.lives())
    }

    /// Kills it if it is still there, and waits until it has gone.
    ///
    /// Returns whether it was there.
    ///
    /// # Errors
    /// It may not be killed, or has not gone within a second.
    pub fn kill(&self) -> io::Result<bool> {
        let number = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        let number = number.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        // The descriptor holds on to one process: if that started when ours did, the signal cannot
        // reach a newcomer with the same number.
        let handle = match pidfd_open(number, PidfdFlags::empty()) {
            Err(Errno::SRCH) => return Ok(false),
            other => other?,
        };
        if !self.lives() {
            return Ok(false);
        }
        match pidfd_send_signal(&handle, Signal::KILL) {
            Err(Errno::SRCH) => return Ok(false),
            other => other?,
        }
        if self.wait(Duration::from_secs(1)) {
            Ok(true)
        } else {
            Err(io::Error::from(io::ErrorKind::TimedOut))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_process_that_was_meant_is_killed() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::with_pid(child.id()).unwrap();
        let namesake = Process { start: process.start + 1, ..process };

        assert!(!namesake.kill().unwrap());
        assert!(process.lives());
        assert!(process.kill().unwrap());
        child.wait().unwrap();
        assert!(!process.kill().unwrap());
    }

    #[test]
    fn this_process_lives() {
        assert!(Process::this().unwrap().lives());
    }

    #[test]
    fn a_process_that_computes_uses_processor_time() {
        let this = Process::this().unwrap();
        let before = this.used_ticks().unwrap();
        while this.used_ticks().unwrap() == before {}
        assert_eq!(Process { start: this.start + 1, ..this }.used_ticks(), None);
    }
}
