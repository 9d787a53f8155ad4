// SPDX-License-Identifier: Apache-2.0
//! Options in what is told: each is shown as its reader writes it, `--move` or `moves=`.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// An option of the command, which a function of the Python package has as a parameter; and what
/// that adds to its name where it takes several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt(&'static str, &'static str);

/// Whether this process is Python's. Nothing else is published by it.
static PARAMETERS: AtomicBool = AtomicBool::new(false);

/// From now on options are shown as parameters, or as those of the command, as at first.
pub fn show_parameters(whether: bool) {
    PARAMETERS.store(whether, Ordering::Relaxed);
}

impl Opt {
    /// The parameter's name.
    pub fn parameter(self) -> String {
        self.0.replace('-', "_") + self.1
    }
}

impl fmt::Display for Opt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if PARAMETERS.load(Ordering::Relaxed) {
            write!(f, "{}=", self.parameter())
        } else {
            write!(f, "--{}", self.0)
        }
    }
}

macro_rules! options {
    ($several:literal $($name:ident: $flag:literal),*) => {
        $(
            #[doc = concat!("`--", $flag, "`")]
            pub const $name: Opt = Opt($flag, $several);
        )*
    };
}

options! { "s"
    FRAME_RATE_CHANGE: "frame-rate-change", MOVE: "move", PIN: "pin", SHUTTLE: "shuttle"
}
options! { ""
    AGENT_PERIOD: "agent-period", BUDGET: "budget", CANDIDATE: "candidate",
    CHANNELS: "channels", COMPUTE: "compute",
    COORDINATOR: "coordinator", CORES: "cores", CORE_COUNT: "core-count",
    CORE_COUNTS: "core-counts", DURATION: "duration", EXHAUSTIVE: "exhaustive", FAST: "fast",
    FRAME_RATE: "frame-rate", FRAME_RATES: "frame-rates", MAP: "map", MAX_EVENTS: "max-events",
    MAX_TIME: "max-time", MIGRATION_POINTS: "migration-points", MODE: "mode",
    OBJECTIVES: "objectives", OUTPUT: "output", PLATFORM: "platform", POINTS: "points",
    POLICIES: "policies", POLICY: "policy", RECORD: "record", RESUME: "resume", SAVE: "save",
    SEED: "seed", SET: "set", SLOTS: "slots", TABLE: "table", TOLERANCE: "tolerance",
    TRANSPORT: "transport",
    WRITE_TABLE: "write-table"
}
