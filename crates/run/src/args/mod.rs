// SPDX-License-Identifier: Apache-2.0
//! The options by which a run or a simulation is asked for, and the values that options take.

mod common;
mod moving;
mod parameters;
mod run;
mod sim;
pub mod values;

/// The headings of options in the help; those without one come first.
pub mod heading {
    /// What the application runs on.
    pub const HARDWARE: &str = "Hardware";
    /// How tasks move, and what decides.
    pub const MIGRATION: &str = "Migration";
    /// Virtual time, and when it ends.
    pub const SIMULATION: &str = "Simulation";
}

pub use common::{CommonArgs, LayoutArgs};
pub use moving::MovingArgs;
pub use parameters::Parameters;
pub use run::RunArgs;
pub use sim::{PLATFORM, SimArgs};
