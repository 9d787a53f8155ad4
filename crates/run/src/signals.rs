// SPDX-License-Identifier: Apache-2.0
//! Signals that ask a command to end.

use std::fs;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Those that a command ends by in good order. One for the end of its terminal stays ignored, here
/// and in the helpers and kernels that inherit it, if whoever started it wants that, as `nohup`
/// does. That SIGINT is ignored says nothing: a shell script has all that it starts in the
/// background ignore it, and ends it by just that.
pub fn ending() -> Vec<i32> {
    let hang_up = Some(SIGHUP).filter(|signal| !is_ignored(*signal));
    [SIGINT, SIGTERM].into_iter().chain(hang_up).collect()
}

/// Whether this process ignores a signal.
pub fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = set.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set >> (signal - 1) & 1 != 0)
}
