// SPDX-License-Identifier: Apache-2.0
//! Starts, supervises and steers the run of an application, on real cores, on a board or in virtual
//! time, whoever asks for it: the `whimbrel` command, the Python package, a calibration.
//!
//! [`args`] are the options, [`load`] checks them and what they name, [`run()`], [`sim()`] and
//! [`accompany`] do it. [`control`] speaks with a run of another process, [`rundir`] finds it.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod args;
pub mod atomic_file;
pub mod benchmark;
pub mod board;
pub mod control;
pub mod failure;
pub mod files;
mod fingerprint;
pub mod helpers;
pub mod load;
pub mod output;
mod process;
pub mod protocol;
mod run;
pub mod rundir;
pub mod signals;
mod sim;

pub use fingerprint::{fingerprint, fingerprint_of};
pub use process::{Process, spawn};
pub use run::{Callbacks, Summary, accompany, done, loads, ratio, reason, received, run};
pub use sim::{prepared, sim};
