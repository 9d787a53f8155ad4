// SPDX-License-Identifier: Apache-2.0
//! What scripts come to, and what is wrong with them.

mod build;
mod check;
mod held;
mod order;
mod ports;

pub(crate) use build::{Scripts, build};
pub(crate) use ports::check as check_ports;
