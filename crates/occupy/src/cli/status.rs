// SPDX-License-Identifier: Apache-2.0
//! x
use super::args::StatusArgs;
use super::{Failure,lock};
use crate::Machine;
/// x
pub fn status(machine: &Machine, _args: &StatusArgs) -> Result<u8, Failure> { println!("{:?}", lock(machine)?.occupations()); Ok(0) }
