// SPDX-License-Identifier: Apache-2.0
//! A program that comes along with a simulation.

use serde_json::Value;
use whimbrel_model::Decision;

use crate::protocol::Status;

/// The program that a simulation is made for.
pub trait Callbacks {
    /// Asked some times a second; false: the run is to end now.
    fn goes_on(&mut self) -> bool;

    /// Whether it wants to know how far the run is.
    fn watches(&self) -> bool;

    /// Told how far the run is.
    fn totals(&mut self, totals: &Status);

    /// Decides by what a policy sees (`decide` of `docs/kernels-linux-protocol.md`); `None`: the
    /// run is to end now.
    fn decide(&mut self, snapshot: &Value) -> Option<Decision>;
}
