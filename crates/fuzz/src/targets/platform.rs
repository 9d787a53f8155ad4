// SPDX-License-Identifier: Apache-2.0
//! A platform, and the hardware that a simulation has of it.

use std::str::from_utf8;

use crate::shared::show;
use whimbrel_hardware::Hardware;
use whimbrel_model::Platform;

/// A platform of a thousand cores is one too, and takes as much longer.
const CORES_MOST: usize = 64;

pub fn read(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    match Platform::parse(text) {
        Ok(platform) => match platform.description() {
            Ok(described) if described.cores.len() <= CORES_MOST => {
                drop(Hardware::new(&described));
            }
            Ok(_) => {}
            Err(problem) => show("platform.toml", data, [(0, problem)]),
        },
        Err(problems) => show("platform.toml", data, problems.iter().cloned().map(|one| (0, one))),
    }
}
