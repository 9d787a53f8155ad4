// SPDX-License-Identifier: Apache-2.0
//! Discrete events in virtual time: what the simulator runs on.
//!
//! Time is in picoseconds, in a `u64`: a run lasts at most 213 days. What happens is a function of
//! the plan and the seed alone, to the last bit, on every machine.

mod abi;
pub mod engine;
mod ledger;
pub mod queue;
