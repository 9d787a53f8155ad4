// SPDX-License-Identifier: Apache-2.0
//! The signals that a tool gets while its program runs.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

/// Signals that are caught: those of the keyboard reach the program by themselves, and only the tool
/// waits on; the others are to be passed on.
///
/// A program is executed with the default for each that was caught, and keeps ignoring those that
/// the tool was started to ignore, as under `nohup`.
#[derive(Debug)]
pub struct Signals {
    passed: Vec<(Signal, UnixStream)>,
}

impl Signals {
    /// Catches them from now on.
    pub fn catch() -> io::Result<Self> {
        for keyboard in [SIGINT, SIGQUIT] {
            if !ignored(keyboard)? {
                flag::register(keyboard, Arc::default())?;
            }
        }
        let mut passed = Vec::new();
        for (number, signal) in [(SIGTERM, Signal::TERM), (SIGHUP, Signal::HUP)] {
            passed.extend(catch(number)?.map(|end| (signal, end)));
        }
        Ok(Self { passed })
    }

    /// What becomes readable when a signal comes.
    pub fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.passed.iter().map(|(_, end)| end.as_fd())
    }

    /// Those that have come since the last call.
    pub fn take(&mut self) -> Vec<Signal> {
        let came = self.passed.iter_mut().filter_map(|(signal, end)| {
            let came = end.read(&mut [0; 64]).is_ok_and(|bytes| bytes > 0);
            came.then_some(*signal)
        });
        came.collect()
    }
}

/// Where a byte comes for each signal; none if it is ignored and shall stay so.
fn catch(number: libc::c_int) -> io::Result<Option<UnixStream>> {
    if ignored(number)? {
        return Ok(None);
    }
    let (read, write) = UnixStream::pair()?;
    read.set_nonblocking(true)?;
    pipe::register(number, write)?;
    Ok(Some(read))
}

fn ignored(number: libc::c_int) -> io::Result<bool> {
    let mut present = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: nothing is changed; what there is, is written to `present`.
    if unsafe { libc::sigaction(number, std::ptr::null(), present.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so it is written.
    Ok(unsafe { present.assume_init() }.sa_sigaction == libc::SIG_IGN)
}
