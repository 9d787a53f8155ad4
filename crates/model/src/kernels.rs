// SPDX-License-Identifier: Apache-2.0
//! Which kernels know the keys of an application: `only` of their declarations.

use std::fmt;

use crate::app::App;
use crate::board::Board;
use crate::problem::{Problem, Problems, none_or};

/// The kernels of a run.
#[derive(Debug, Clone, Copy)]
pub enum Kernels<'b> {
    /// Those of this machine.
    Linux,
    /// Simulated ones.
    Simulator,
    /// Those of a board.
    Board(&'b Board),
}

impl Kernels<'_> {
    /// Whether they are among those that know a key.
    fn are(self, known: &str) -> bool {
        match self {
            Self::Linux => known == "Linux",
            Self::Simulator => known == "simulator",
            Self::Board(board) => known == "boards that share tasks" && board.shares,
        }
    }
}

impl fmt::Display for Kernels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linux => f.write_str("a run on Linux"),
            Self::Simulator => f.write_str("a simulation"),
            Self::Board(board) => write!(f, "the board {}", board.name),
        }
    }
}

impl App {
    /// Refuses keys that these kernels do not know, unless they may pass over them.
    ///
    /// # Errors
    /// One problem for each key, at its value.
    pub fn check_only(&self, kernels: Kernels<'_>) -> Result<(), Problems> {
        let strange = self.limited.iter().filter(|limited| !kernels.are(limited.kernels));
        let refused = strange.map(|limited| {
            let (key, of, known) = (limited.key, &limited.of, limited.kernels);
            Problem::new(format!("`{key}` of {of} is only for {known}, and this is {kernels}"))
                .at(limited.at.clone(), "this value")
                .help(format!("leave `{key}` out, or run the application there"))
        });
        none_or(refused.collect(), || ())
    }
}
