// SPDX-License-Identifier: Apache-2.0
//! Where heat goes: `[thermal]` and `[[block]]`.

use toml::Spanned;
use toml::de::DeTable;
use whimbrel_hardware::{Block, Thermal};

use super::units::{CELSIUS, between, celsius, scaled, source};
use crate::problem::{Problem, Span};
use crate::reader::{Reader, name};
use crate::reader::{each, within};

/// Blocks may overlap by what rounding does, and no more.
const SLACK_MM: f64 = 1e-6;
/// A step costs the square of their number, and the first one its cube.
const BLOCKS_MAX: usize = 2048;

/// What the file says of heat: the blocks once more, with their places.
pub(super) struct Plan {
    pub thermal: Option<Thermal>,
    blocks: Vec<Spanned<Block>>,
}

/// Reads `[thermal]` and every `[[block]]`.
pub(super) fn read(
    thermal: Option<Spanned<DeTable<'_>>>,
    blocks: Option<Spanned<Vec<Spanned<DeTable<'_>>>>>,
    problems: &mut Vec<Problem>,
) -> Plan {
    match (&thermal, &blocks) {
        (Some(thermal), None) => {
            let problem = Problem::new("[thermal] needs a floorplan");
            let problem = problem.at(thermal.span(), "this one");
            problems.push(problem.help("add a [[block]] for each core"));
        }
        (None, Some(blocks)) => {
            let place = blocks.get_ref().first().map_or(0..0, Spanned::span);
            let problem = Problem::new("a floorplan needs [thermal]").at(place, "its first block");
            problems.push(problem.help("without it temperatures are not known"));
        }
        _ => {}
    }
    let groups = each(blocks, |table, place| read_block(table, place, problems));
    let blocks: Vec<Spanned<Block>> = groups.into_iter().flatten().collect();
    let thermal = thermal.and_then(|t| read_thermal(t.get_ref(), t.span(), problems));
    let plain = blocks.iter().map(|block| block.get_ref().clone()).collect();
    Plan { thermal: thermal.map(|thermal| Thermal { blocks: plain, ..thermal }), blocks }
}

/// Blocks are of cores that exist, and beside each other.
pub(super) fn check(plan: &Plan, cores: usize, problems: &mut Vec<Problem>) {
    let blocks = &plan.blocks;
    for block in blocks {
        if block.get_ref().core.is_some_and(|core| core as usize >= cores) {
            let message = format!("the platform has {cores} cores, counted from 0");
            let words = format!("`{}` is of no such core", block.get_ref().name);
            problems.push(Problem::new(message).at(block.span(), words));
            return;
        }
    }
    if let Some(block) = blocks.get(BLOCKS_MAX) {
        let problem = Problem::new(format!("a floorplan has at most {BLOCKS_MAX} blocks"));
        problems.push(problem.at(block.span(), "one too many"));
        return;
    }
    for (i, block) in blocks.iter().enumerate() {
        let other = blocks[..i].iter().find(|other| overlap(block.get_ref(), other.get_ref()));
        if let Some(other) = other {
            let (one, two) = (&block.get_ref().name, &other.get_ref().name);
            let problem = Problem::new(format!("the blocks `{one}` and `{two}` overlap"));
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

fn read_thermal(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Thermal> {
    let mut reader = Reader::new("[thermal]", table, place, problems);
    let positive = "a number from 1e-9 to 1e12";
    let step = "a time in milliseconds, from 0.001 to 1e6";
    let ambient_mc = reader.must("ambient_c", CELSIUS, celsius).into_inner();
    let mut number = |key| reader.must(key, positive, |n| between(n, 1e-9, 1e12)).into_inner();
    let thermal = Thermal {
        ambient_mc,
        blocks: Vec::new(),
        thickness_mm: number("thickness_mm"),
        conductivity: number("conductivity_w_per_m_k"),
        capacity: number("capacity_j_per_m3_k"),
        sink_k_per_w: number("sink_k_per_w"),
        sink_j_per_k: number("sink_j_per_k"),
        step_ps: reader.must("step_ms", step, |n| scaled(n, 1e9, 1e6, 1e15)).into_inner(),
    };
    source(&mut reader);
    reader.finish(thermal)
}

/// Reads a `[[block]]`: one, or rows of equal ones beside each other.
fn read_block(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Spanned<Block>>> {
    let mut reader = Reader::new("[[block]]", table, place.clone(), problems);
    let name = reader.must("name", "1 to 31 letters, digits and _", name).into_inner();
    let core =
        reader.optional("core", "the number of a core, from 0 to 4094", |n| within(n, 0, 4094));
    let edge = "a place in millimetres, from -1e4 to 1e4";
    let mut left = |key| reader.must(key, edge, |n| between(n, -1e4, 1e4)).into_inner();
    let (x_mm, y_mm) = (left("x_mm"), left("y_mm"));
    let length = "a length in millimetres, from 0.001 to 1e4";
    let mut side = |key| reader.must(key, length, |n| between(n, 1e-3, 1e4)).into_inner();
    let (width_mm, height_mm) = (side("width_mm"), side("height_mm"));
    let mut count = |key| reader.or(key, "a whole number from 1 to 64", |n| within(n, 1, 64), 1);
    let (columns, rows) = (count("columns"), count("rows"));
    let core = core.map(Spanned::into_inner);
    let one = reader.finish(Block { name, core, x_mm, y_mm, width_mm, height_mm })?;
    if (columns, rows) == (1, 1) {
        return Some(vec![Spanned::new(place, one)]);
    }
    let at = |number: u32| Block {
        name: format!("{}_{number}", one.name),
        core: one.core.map(|core| core + number),
        x_mm: one.x_mm + f64::from(number % columns) * one.width_mm,
        y_mm: one.y_mm + f64::from(number / columns) * one.height_mm,
        ..one
    };
    Some((0..columns * rows).map(|number| Spanned::new(place.clone(), at(number))).collect())
}
