// SPDX-License-Identifier: Apache-2.0
//! Finds good ways to run an application on a platform.
//!
//! A [`Candidate`] says which cores there are, on which of them each task begins, at which
//! operating points, with how many slots in each channel, under which policy and at which frame
//! rate. [`Space`] knows every candidate that differs from all others and can keep up; [`explore`]
//! runs them through whatever implements [`Evaluate`], all of them where they are few, and
//! otherwise those that a search picks; [`Exploration`] has the Pareto front for each frame rate,
//! and the files that are written of it.
//!
//! The result depends on the seed, not on the number of threads nor on the order in which they
//! finish.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod bound;
mod candidate;
mod choices;
mod export;
mod pareto;
mod policy;
mod replay;
mod restore;
mod result;
mod rows;
mod search;
mod settings;
mod space;
mod store;
mod symmetry;
mod system;
mod text;
mod vector;

pub use candidate::{Candidate, Evaluate, Failure, Objective, Outcome, Taker};
pub use choices::{Checked, Choices, PointChoice, SlotChoice, SlotGroup, WayChoice};
#[cfg(feature = "parquet")]
pub use export::parquet;
pub use export::{csv, json, table};
pub use pareto::{Front, boxed, covers, dominates};
pub use policy::{decides, parse_list};
pub use replay::{Found, Replay, ReplayError, Row, read};
pub use restore::restore;
pub use result::{Entry, Exploration, Method, RateResult, Varies};
pub use search::{Budget, Options, Progress, Surroundings, explore};
pub use settings::Settings;
pub use space::Space;
pub use store::{Store, StoreError, remove_parts};
pub use symmetry::Symmetry;
pub use system::{Channel, Core, Firing, Point, System, Task, Wire};
pub use text::Words;
pub use vector::Variable;
