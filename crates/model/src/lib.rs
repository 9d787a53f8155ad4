// SPDX-License-Identifier: Apache-2.0
//! Applications as `app.toml` describes them.
//!
//! Three pure steps, each with everything that is wrong as its error: [`Manifest::parse`] takes the
//! text apart, [`App::build`] checks what the parts say of each other, [`plan()`] lays
//! the application out on a set of cores. Nothing here reads a file or knows a machine.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod app;
mod build;
mod dot;
mod expr;
pub mod import;
mod manifest;
mod modes;
mod moving;
mod param;
mod plan;
mod platform;
mod problem;
mod rates;
mod reader;
pub mod sdf;
mod synthetic;
mod table;
mod wiring;
mod work;

pub use app::{App, Channel, Direction, Pacing, Period, Port, Task};
pub use build::check_cores;
pub use dot::dot;
pub use expr::{ExprError, evaluate};
pub use manifest::Manifest;
pub use modes::{Mode, OnCrash};
pub use moving::{Moving, NO_POLICY, PolicyName};
pub use param::{Param, ParamKind, Setting};
pub use plan::{
    At, Command, Limit, Plan, PlanCore, PlanOptions, PlanTask, PlanWork, SavedFile, plan,
};
pub use platform::{Core, Frequency, Platform, Point};
pub use problem::{Problem, Problems, Source, Span, Warning};
pub use table::{Row, Table};
pub use work::{Compute, Cycles, Distribution, HOST_KIND, Work, check_kinds};
