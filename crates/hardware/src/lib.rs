// SPDX-License-Identifier: Apache-2.0
//! Hardware as the simulator sees it.
//!
//! [`Description`] is plain data: `whimbrel-model` fills it from a platform's TOML, and it travels
//! to the simulator as JSON. [`Hardware`] puts it to work: one model for each part, pure arithmetic
//! on virtual time (picoseconds), without events of their own and with the same bits on every
//! machine; each module has its equations and their source. All state can be saved and restored by
//! serde.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod bus;
pub mod cache;
pub mod core_state;
pub mod cost;
mod description;
mod disturbance;
pub mod doorbell;
mod fabric;
mod hardware;
mod heat;
pub mod memory;
pub mod mesh;
pub mod power;
pub mod thermal;
pub mod time;
mod turns;

pub use core_state::Residency;
pub use cost::Charge;
pub use description::{
    Arbitration, Block, Bus, Cache, Core, Cost, Costs, Description, Disturbance, Doorbell,
    DoorbellKind, IdleState, Interconnect, Leakage, Memory, MemoryKind, Mesh, Migration, OwnCosts,
    Point, Scheduling, Thermal, Transition, Waking, Work,
};
pub use hardware::Hardware;
