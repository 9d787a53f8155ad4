// SPDX-License-Identifier: Apache-2.0
//! A processor for one program alone, on an ordinary Linux: the mechanics of `whimbrel occupy`.
//!
//! After S.-L. Chu, C.-C. Hsiao, P.-H. Chiu, H.-C. Lin: "User Adjustable Process Scheduling
//! Mechanism for a Multiprocessor Embedded System" (MONOPOLY), sections 2.2 and 3.
//!
//! An **occupation** is a set of processors and the program that has them. A **shield** is how the
//! others are kept away: an isolated cpuset partition (cgroup v2), cpusets (v1), or affinities. The
//! **journal** is one file of the whole machine, which holds what every changed thing was before;
//! a **guardian** is the process that keeps one occupation and undoes it.
//!
//! What a thing is to be at any moment follows from the journal alone: what it was before the first
//! occupation, less the processors that are occupied now. So occupations come and go in any order,
//! and after the last everything is as it was.

mod affinity;
mod begin;
mod choose;
pub mod cli;
mod cpus;
mod error;
mod facts;
#[cfg(test)]
mod fake;
pub mod guardian;
mod held;
mod journal;
mod kernel;
mod machine;
mod masks;
mod occupation;
mod pass;
mod policies;
pub mod quiet;
#[cfg(test)]
mod replay;
mod schedule;
mod sets;
#[cfg(test)]
mod shields;
mod task;
mod tasks;
mod things;
mod work;

/// The word in the program's environment that tells its occupation's number: by it the program's
/// children are known also when their parents have ended.
pub const MARK: &str = "WHIMBREL_OCCUPY";

pub use cpus::{CpuSet, CpuSetError};
pub use error::Error;
pub use held::{Held, Swept, Undone};
pub use journal::undo;
pub use machine::Machine;
pub use occupation::{Kept, Occupation, Policy, Request, ShieldKind};
pub use task::TaskId;
