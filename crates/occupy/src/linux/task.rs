// SPDX-License-Identifier: Apache-2.0
//! Tasks of Linux, told apart also when a number is used again.

use serde::{Deserialize, Serialize};

/// A process or a thread: its number, and when it began, since numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskId {
    /// Number of the thread; of a process, that of its first thread.
    pub tid: i32,
    /// Clock ticks from the boot to its start (`/proc/TID/stat`, field 22).
    pub start: u64,
}
