// SPDX-License-Identifier: Apache-2.0
//! Every test of the crate as one program: it is linked once.

mod boards;
mod calls;
mod clients;
mod common;
mod completion;
mod errors;
mod explore;
mod files;
mod guests;
mod killed;
mod kinds;
mod mapping;
mod mistakes;
mod moving;
mod new;
mod outputs;
mod platform;
mod protocol;
mod refusals;
mod report;
mod rerun;
mod run;
mod sim_dataflow;
mod sim_power;
mod steer;
mod tables;
mod top;
mod trace;
