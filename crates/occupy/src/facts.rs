// SPDX-License-Identifier: Apache-2.0
//! What this kernel takes from a program by itself: real-time throttling and the fair server.

use crate::Machine;

impl Machine {
    /// What the kernel takes from a program with a real-time priority, a line for each mechanism.
    pub fn taken_from_fifo(&self) -> Vec<String> {
        Vec::new()
    }
}
