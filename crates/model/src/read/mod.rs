// SPDX-License-Identifier: Apache-2.0
//! From the text of a file to an application or to the table of a policy, with everything that is
//! wrong at its place.

mod amount;
mod build;
mod client;
mod cycles;
mod keys;
mod manifest;
mod modes;
mod param;
mod rates;
mod script;
mod steps;
mod synthetic;
mod table;
mod wiring;
mod work;

pub use amount::{ExprError, evaluate};
pub use manifest::Manifest;
pub use table::Table;
