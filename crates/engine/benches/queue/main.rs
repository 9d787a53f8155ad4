// SPDX-License-Identifier: Apache-2.0
//! The engine's queue against others, in nanoseconds per event: `cargo bench -p whimbrel-engine`.
//!
//! Every cell is the tenth that was disturbed least of rounds in which the candidates take turns:
//! what else the machine does meets them alike. Before anything is measured, every candidate
//! must give the events of every load in the engine's order.
#![allow(missing_docs, reason = "a program")]

mod candidate;
mod handles;
mod heaps;
mod ladder;
mod load;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant;

use whimbrel_engine::queue::Queue;

use candidate::{Candidate, Lazy};
use handles::Heap;
use heaps::{Pairing, Quaternary, Sorted};
use ladder::Ladder;
use load::{Bench, Load};

const ROUNDS: usize = 31;
const MEASURED_EVENTS: usize = 100_000;

/// One candidate under one load, where it takes part.
struct Column {
    name: &'static str,
    bench: Option<Box<dyn Bench>>,
    ns: Vec<f64>,
}

fn column<C: Candidate + 'static>(load: &Load) -> Column {
    Column { name: C::NAME, bench: load.bench::<C>(), ns: Vec::new() }
}

fn columns(load: &Load) -> [Column; 7] {
    [
        column::<Queue<u32>>(load),
        column::<Heap>(load),
        column::<Lazy<Quaternary>>(load),
        column::<Lazy<BinaryHeap<Reverse<u128>>>>(load),
        column::<Lazy<Sorted>>(load),
        column::<Lazy<Pairing>>(load),
        column::<Lazy<Ladder>>(load),
    ]
}

/// The columns with their times.
fn measured(load: &Load) -> [Column; 7] {
    let mut columns = columns(load);
    let mut engines = None;
    for column in &mut columns {
        let sum = column.bench.as_mut().map(|bench| bench.run(load.warm_up()));
        engines = engines.or(sum);
        let alike = sum.is_none() || sum == engines;
        assert!(alike, "{} has another order of {}", column.name, load.name());
    }
    for _ in 0..ROUNDS {
        for column in &mut columns {
            let Some(bench) = &mut column.bench else { continue };
            let start = Instant::now();
            black_box(bench.run(MEASURED_EVENTS));
            column.ns.push(start.elapsed().as_nanos() as f64 / MEASURED_EVENTS as f64);
        }
    }
    columns
}

/// The tenth that was disturbed least.
fn cell(column: &mut Column) -> String {
    column.ns.sort_unstable_by(f64::total_cmp);
    column.ns.get(ROUNDS / 10).map_or("-".into(), |ns| format!("{ns:.1}"))
}

fn main() {
    for (row, load) in load::all().iter().enumerate() {
        let mut columns = measured(load);
        if row == 0 {
            let names = columns.each_ref().map(|column| column.name);
            println!("| load | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
        }
        println!("| {} | {} |", load.name(), columns.each_mut().map(cell).join(" | "));
    }
}
