// SPDX-License-Identifier: Apache-2.0
//! What Linux has and says: processors, tasks, files.

pub(crate) mod cpus;
mod facts;
pub(crate) mod kernel;
pub(crate) mod machine;
pub(crate) mod schedule;
pub(crate) mod task;
pub(crate) mod tasks;
