// SPDX-License-Identifier: Apache-2.0
//! Recorded runs, whichever kernels made them.
//!
//! [`Recorded`] opens the folder that `whimbrel run --record` and `whimbrel sim --record` write
//! (`docs/recorded-run.md`) and gives its events as streams: nothing here holds a whole run in
//! memory. [`export`] writes them in the formats of trace viewers. A run that was killed is read as
//! far as it was written; what cannot be understood is left out and counted (see [`Oddities`]).

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod export;
pub mod linux;
mod recorded;

pub use export::{ExportError, Exported, Format, export};
pub use recorded::{
    Awaited, Error, Event, Events, Kind, Merged, NO_TASK, Oddities, Recorded, Summary, Task,
};
