// SPDX-License-Identifier: Apache-2.0
//! `occupy noise`: what a spinning thread misses.

use super::args::NoiseArgs;
use super::{Failure, json, print};
use crate::quiet::noise;

/// Spins, and shows what was missed.
pub fn noise(args: &NoiseArgs) -> Result<u8, Failure> {
    let noise = noise::run(args.cpu, args.duration, args.threshold)?;
    print(&if args.json { json(&noise)? } else { noise.to_string() })?;
    Ok(0)
}
