// SPDX-License-Identifier: Apache-2.0
//! The options by which a run or a simulation is asked for, and the values that options take.

mod common;
mod moving;
mod parameters;
mod run;
mod sim;
pub mod values;

pub use common::{CommonArgs, LayoutArgs};
pub use moving::MovingArgs;
pub use parameters::Parameters;
pub use run::RunArgs;
pub use sim::SimArgs;
