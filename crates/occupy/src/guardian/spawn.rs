// SPDX-License-Identifier: Apache-2.0
//! Starts a guardian: a process that nothing but its socket connects with who started it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use super::serve::NAME;

/// Starts a guardian and returns the socket to it, which is its standard input.
pub fn spawn() -> io::Result<UnixStream> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.arg0(NAME).current_dir("/");
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: `detach` makes system calls and nothing else, as it must between fork and exec.
    unsafe { command.pre_exec(detach) };
    // What this waits for is the process between us and the guardian, which ends at once.
    command.status()?;
    Ok(ours)
}

/// Leaves the session, the parent, the signals and the open files of who started us.
fn detach() -> io::Result<()> {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the set is written before it is read; the last argument asks for no result.
    let blocked = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut())
    };
    check(blocked)?;
    // SAFETY: no memory is passed. A Linux before 5.11 leaves the files open, which is no fault of
    // ours: whoever opened them for all their children gets them held by one more.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        check(libc::setsid())?;
    }
    // SAFETY: we are a child after fork, with one thread; so is the process that this makes.
    let child = check(unsafe { libc::fork() })?;
    if child > 0 {
        // SAFETY: ends this process at once, and runs nothing of the program that it is a copy of.
        unsafe { libc::_exit(0) };
    }
    Ok(())
}

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
