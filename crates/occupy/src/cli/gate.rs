// SPDX-License-Identifier: Apache-2.0
//! A program that is let in before its first instruction, so that it never runs elsewhere.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread;

use whimbrel_text::{Failed, cure};

use super::Failure;

/// Starts a program that waits, as a process, until `admit` has been given its number and agrees.
///
/// # Errors
/// What `admit` says; status 126 or 127 if the program cannot be executed after all.
pub fn start(
    mut command: Command,
    admit: impl FnOnce(i32) -> Result<(), Failure>,
) -> Result<Child, Failure> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let inherited = ours.as_raw_fd();
    // SAFETY: `wait_at` makes system calls and nothing else, as it must between fork and exec.
    unsafe { command.pre_exec(move || wait_at(&theirs, inherited)) };
    thread::scope(|scope| {
        // It returns when the program is executed, so the gate is opened from here. It takes the
        // command with it: if there is no process, that closes the other end, and we read nothing.
        let started = scope.spawn(move || command.spawn());
        let mut number = [0; 4];
        let admitted = match ours.read_exact(&mut number) {
            Ok(()) => admit(i32::from_ne_bytes(number)),
            Err(_) => Ok(()),
        };
        if admitted.is_ok() {
            // If it has gone, so will have the child that this was for.
            let _ = ours.write_all(&[1]);
        }
        drop(ours);
        let child = started.join().expect("spawning a process does not panic");
        admitted?;
        child.map_err(|error| Failure {
            status: if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 },
            failed: Failed::new(format!("the program cannot be executed: {error}"))
                .help(cure(&error)),
        })
    })
}

/// Tells the number of this process, and goes on when it is answered.
fn wait_at(mut gate: &UnixStream, inherited: RawFd) -> io::Result<()> {
    // SAFETY: this is our copy of the parent's end, which nothing else here uses. While it is open,
    // the parent's death would not be seen.
    drop(unsafe { OwnedFd::from_raw_fd(inherited) });
    gate.write_all(&std::process::id().to_ne_bytes())?;
    gate.read_exact(&mut [0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_only_once_it_is_admitted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ran");
        let touch = || {
            let mut command = Command::new("touch");
            command.arg(&file);
            command
        };
        let refused = Failure::from(Failed::new("no"));
        assert_eq!(start(touch(), |_| Err(refused)).unwrap_err().failed.message, "no");
        assert!(!file.exists());

        let mut number = 0;
        let admit = |pid| {
            assert!(!file.exists());
            number = pid;
            Ok(())
        };
        let mut child = start(touch(), admit).unwrap();
        assert_eq!(child.id().try_into(), Ok(number));
        assert!(child.wait().unwrap().success());
        assert!(file.exists());
    }

    #[test]
    fn a_program_that_vanished_meanwhile_has_the_status_of_shells() {
        let start = |name: &str| start(Command::new(name), |_| Ok(())).unwrap_err().status;
        assert_eq!([start("/no/such/program"), start("/etc/passwd")], [127, 126]);
    }
}
