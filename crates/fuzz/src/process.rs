// SPDX-License-Identifier: Apache-2.0
//! A process as the command's, which asks the system about it.

use serde::{Deserialize, Serialize};

/// A process, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    pid: u32,
    start: u64,
}

impl Process {
    /// Every number is a process's.
    pub fn with_pid(pid: u32) -> Option<Self> {
        Some(Self { pid, start: 0 })
    }
}
