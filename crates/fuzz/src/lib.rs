// SPDX-License-Identifier: Apache-2.0
//! The targets in Rust (`tests/fuzz/README.md`): functions on bytes. libFuzzer calls them
//! (`main.rs`), and a test with their corpus.

mod process;
mod shared;
mod targets;

pub use shared::FOLDER;
pub use targets::ALL;

// What both ends of the control socket are made of, lines and the line to a board are the command's
// own: its source, without the rest of it.
#[path = "../../run/src/control/mod.rs"]
#[expect(unused_imports, reason = "what a run does with them")]
#[cfg_attr(not(test), expect(dead_code, reason = "what a run does with them"))]
mod control;
#[path = "../../run/src/board/link.rs"]
#[expect(dead_code, reason = "what a run does with them")]
mod link;
#[path = "../../run/src/protocol.rs"]
#[expect(dead_code, reason = "what a run does with them")]
mod protocol;

/// Reads an input; a panic is a fault.
pub type Target = fn(&[u8]);
