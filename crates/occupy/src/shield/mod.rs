// SPDX-License-Identifier: Apache-2.0
//! How others are kept away: affinities, cpusets, masks of interrupts; and how the program is
//! scheduled.

pub(crate) mod affinity;
pub(crate) mod masks;
pub(crate) mod policies;
pub(crate) mod sets;
