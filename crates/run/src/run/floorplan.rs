// SPDX-License-Identifier: Apache-2.0
//! How hot a simulated chip was at the end, and where.

use serde::Serialize;
use whimbrel_hardware::{Block, Thermal};

use crate::protocol::Simulated;

/// The floorplan of a simulated run.
#[derive(Debug, Serialize)]
pub struct Floorplan {
    /// Temperature of the surroundings, in thousandths of a degree Celsius.
    pub ambient_mc: i32,
    /// The same of what carries the heat off, at the end.
    pub sink_mc: i32,
    /// In the order of the platform's file.
    pub blocks: Vec<BlockSummary>,
}

/// One block.
#[derive(Debug, Serialize)]
pub struct BlockSummary {
    /// Its name, core and place.
    #[serde(flatten)]
    pub block: Block,
    /// At the end, in thousandths of a degree Celsius.
    pub temperature_mc: i32,
}

impl Floorplan {
    /// What the simulation said of the blocks of `thermal`; `None` if it did not come so far.
    pub fn new(thermal: &Thermal, simulated: &Simulated) -> Option<Self> {
        let Simulated { blocks_mc, sink_mc, .. } = simulated;
        let hot = |(block, mc): (&Block, &i32)| BlockSummary {
            block: block.clone(),
            temperature_mc: *mc,
        };
        (blocks_mc.len() == thermal.blocks.len()).then(|| Self {
            ambient_mc: thermal.ambient_mc,
            sink_mc: *sink_mc,
            blocks: thermal.blocks.iter().zip(blocks_mc).map(hot).collect(),
        })
    }
}
