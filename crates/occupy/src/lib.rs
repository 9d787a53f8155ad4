// SPDX-License-Identifier: Apache-2.0
//! A processor for one program alone, on an ordinary Linux: the mechanics of `whimbrel occupy`.
//!
//! After S.-L. Chu, C.-C. Hsiao, P.-H. Chiu, H.-C. Lin: "User Adjustable Process Scheduling
//! Mechanism for a Multiprocessor Embedded System" (MONOPOLY), sections 2.2 and 3.
//!
//! An **occupation** is a set of processors and the program that has them. A **shield** is how the
//! others are kept away: an isolated cpuset partition (cgroup v2), cpusets (v1), or affinities. The
//! **journal** is one file of the whole machine, which holds what every changed setting was before;
//! a **guardian** is the process that keeps one occupation and undoes it.
//!
//! What a setting is to be at any moment follows from the journal alone: what it was before the
//! first occupation, less the processors that are occupied now. So occupations come and go in any
//! order, and after the last everything is as it was.

mod begin;
mod choose;
pub mod cli;
mod error;
pub mod folder;
pub mod guardian;
mod journal;
mod linux;
mod lock;
mod occupation;
mod occupations;
pub mod place;
pub mod quiet;
mod reconcile;
mod settings;
mod shield;
#[cfg(test)]
mod tests;
mod work;

/// The word in the program's environment that has its occupation's [`Occupation::mark`]: by it the
/// program's children are known also when their parents have ended.
pub const MARK: &str = "WHIMBREL_OCCUPY";

pub use error::Error;
pub use journal::undo;
pub use linux::cpus::{CpuSet, CpuSetError};
pub use linux::machine::Machine;
pub use linux::task::TaskId;
pub use occupation::{Occupation, Policy, Request, ShieldKind, Unmovable};
pub use occupations::{Occupations, Swept, Undone};
