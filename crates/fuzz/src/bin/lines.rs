// SPDX-License-Identifier: Apache-2.0
//! Lines of helpers and boards, as the command reads them.

#![no_main]

whimbrel_fuzz::target!(read);

/// What the lines are made of is the command's own: its source, without the rest of it.
#[path = "../../../whimbrel/src/protocol.rs"]
#[expect(dead_code, reason = "what a run does with them")]
mod protocol;

mod process {
    use serde::{Deserialize, Serialize};

    /// As the command's, which asks the system about it.
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
}

fn read(data: &[u8]) {
    for line in data.split(|byte| *byte == b'\n') {
        match serde_json::from_slice::<protocol::Line>(line) {
            Ok(protocol::Line::Started(started)) => drop(started.processes()),
            Ok(protocol::Line::CoreDied(died)) => drop(died.words()),
            Ok(protocol::Line::Status(status)) => {
                let again = serde_json::to_vec(&status).unwrap();
                serde_json::from_slice::<serde_json::Value>(&again).unwrap();
            }
            Ok(_) | Err(_) => {}
        }
    }
}
