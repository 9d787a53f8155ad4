// SPDX-License-Identifier: Apache-2.0
//! Signals that ask a command to end, or to stop for a while.

use std::fs;

use rustix::process::{Pid, getpgid, getpgrp, getppid, getsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGSTOP, SIGTERM, SIGTSTP};
use signal_hook::low_level::raise;

/// Those that a command ends by in good order. One for the end of its terminal stays ignored, here
/// and in the helpers and kernels that inherit it, if whoever started it wants that, as `nohup`
/// does. That SIGINT is ignored says nothing: a shell script has all that it starts in the
/// background ignore it, and ends it by just that.
pub fn ending() -> Vec<i32> {
    let hang_up = Some(SIGHUP).filter(|signal| !is_ignored(*signal));
    [SIGINT, SIGTERM].into_iter().chain(hang_up).collect()
}

/// That of Ctrl-Z, unless whoever started the command has it ignored.
pub fn suspending() -> Option<i32> {
    Some(SIGTSTP).filter(|signal| !is_ignored(*signal))
}

/// Whether somebody can continue this process: a parent in the same session, such as a shell, that
/// is of another process group. Else Linux ignores the signal of Ctrl-Z.
pub fn may_stop() -> bool {
    let (session, group) = (getsid(None).ok(), getpgrp());
    let mut parent = getppid();
    while let Some(pid) = parent {
        if getsid(Some(pid)).ok() != session {
            return false;
        }
        if getpgid(Some(pid)).ok() != Some(group) {
            return true;
        }
        parent = parent_of(pid);
    }
    false
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    let status = fs::read_to_string(path).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    Pid::from_raw(parent.trim().parse().ok()?)
}

/// Stops this process until it is continued.
pub fn stop() {
    // It fails for no signal that exists.
    let _ = raise(SIGSTOP);
}

/// Whether this process ignores a signal.
pub fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set >> (signal - 1) & 1 != 0)
}
