// SPDX-License-Identifier: Apache-2.0
//! Where heat goes: `[thermal]` and `[[block]]`.

use toml::Spanned;
use whimbrel_hardware::{Block, Thermal};

use super::keys::{BlockTable, ThermalTable};
use crate::problem::Problem;

/// Blocks may overlap by what rounding does, and no more.
const SLACK_MM: f64 = 1e-6;
/// A step costs the square of their number, and the first one its cube.
const BLOCKS_MAX: usize = 2048;

/// What the file says of heat: the blocks once more, with their places.
pub(super) struct Plan {
    pub thermal: Option<Thermal>,
    blocks: Vec<Spanned<Block>>,
}

/// What `[thermal]` and every `[[block]]` say.
pub(super) fn build(
    thermal: Option<Spanned<ThermalTable>>,
    blocks: Vec<Spanned<BlockTable>>,
    problems: &mut Vec<Problem>,
) -> Plan {
    match (&thermal, blocks.first()) {
        (Some(thermal), None) => {
            let problem = Problem::new("[thermal] needs a floorplan");
            let problem = problem.at(thermal.span(), "this one");
            problems.push(problem.help("add a [[block]] for each core"));
        }
        (None, Some(block)) => {
            let problem = Problem::new("a floorplan needs [thermal]");
            let problem = problem.at(block.span(), "its first block");
            problems.push(problem.help("add it: without it temperatures are not known"));
        }
        _ => {}
    }
    let blocks: Vec<Spanned<Block>> = blocks.into_iter().flat_map(group).collect();
    let plain = blocks.iter().map(|block| block.get_ref().clone()).collect();
    let thermal = thermal.map(Spanned::into_inner).map(|it| Thermal {
        ambient_mc: it.ambient_mc.into_inner(),
        blocks: plain,
        thickness_mm: it.thickness_mm.into_inner(),
        conductivity: it.conductivity.into_inner(),
        capacity: it.capacity.into_inner(),
        sink_k_per_w: it.sink_k_per_w.into_inner(),
        sink_j_per_k: it.sink_j_per_k.into_inner(),
        step_ps: it.step_ps.into_inner(),
    });
    Plan { thermal, blocks }
}

/// Blocks are of cores that exist, and beside each other.
pub(super) fn check(plan: &Plan, cores: usize, problems: &mut Vec<Problem>) {
    let blocks = &plan.blocks;
    for block in blocks {
        if block.get_ref().core.is_some_and(|core| core as usize >= cores) {
            let message = format!("the platform has {cores} cores, counted from 0");
            let words = format!("`{}` is of no such core", block.get_ref().name);
            problems.push(
                Problem::new(message).help("name a core that exists").at(block.span(), words),
            );
            return;
        }
    }
    if let Some(block) = blocks.get(BLOCKS_MAX) {
        let problem = Problem::new(format!("a floorplan has at most {BLOCKS_MAX} blocks"))
            .help("remove blocks, or join some");
        problems.push(problem.at(block.span(), "one too many"));
        return;
    }
    for (i, block) in blocks.iter().enumerate() {
        let other = blocks[..i].iter().find(|other| overlap(block.get_ref(), other.get_ref()));
        if let Some(other) = other {
            let (one, two) = (&block.get_ref().name, &other.get_ref().name);
            let problem = Problem::new(format!("the blocks `{one}` and `{two}` overlap"))
                .help("move one of them, or make it smaller");
            problems.push(problem.at(block.span(), "this one").at(other.span(), "and this one"));
            return;
        }
    }
}

fn overlap(a: &Block, b: &Block) -> bool {
    let shared = |a: f64, a_length: f64, b: f64, b_length: f64| {
        (a + a_length).min(b + b_length) - a.max(b) > SLACK_MM
    };
    shared(a.x_mm, a.width_mm, b.x_mm, b.width_mm)
        && shared(a.y_mm, a.height_mm, b.y_mm, b.height_mm)
}

/// One block, or rows of equal ones beside each other.
fn group(table: Spanned<BlockTable>) -> Vec<Spanned<Block>> {
    let (place, it) = (table.span(), table.into_inner());
    let (columns, rows) = (it.columns, it.rows);
    let one = Block {
        name: it.name.into_inner(),
        core: it.core.map(Spanned::into_inner),
        x_mm: it.x_mm.into_inner(),
        y_mm: it.y_mm.into_inner(),
        width_mm: it.width_mm.into_inner(),
        height_mm: it.height_mm.into_inner(),
    };
    if (columns, rows) == (1, 1) {
        return vec![Spanned::new(place, one)];
    }
    let at = |number: u32| Block {
        name: format!("{}_{number}", one.name),
        core: one.core.map(|core| core + number),
        x_mm: one.x_mm + f64::from(number % columns) * one.width_mm,
        y_mm: one.y_mm + f64::from(number / columns) * one.height_mm,
        ..one
    };
    (0..columns * rows).map(|number| Spanned::new(place.clone(), at(number))).collect()
}
