// SPDX-License-Identifier: Apache-2.0
//! How much memory an exploration takes for each further candidate, by what Linux says of this
//! process.

mod common;

use std::fs;
use std::sync::atomic::AtomicBool;

use common::{Analytic, core, options, run_with, space, system};
use whimbrel_explore::{Choices, Objective, Options, Store, parquet};

/// The most memory that this process had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Explores all mappings of so many tasks on three unlike cores, and writes what came of them.
fn explored(tasks: u32) -> u64 {
    let names: Vec<String> = (0..tasks).map(|n| format!("t{n}")).collect();
    let groups: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 10)).collect();
    let system = system(&groups, vec![core(0, &[400]), core(1, &[300]), core(2, &[200])]);
    let (space, evaluate) = (space(&system, &Choices::default()), Analytic::new(&system));
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(&folder.path().join("evaluated.jsonl"), "it").unwrap();
    // Of the time nothing is known before, so that every candidate runs.
    let options = Options { limit: usize::MAX, objectives: vec![Objective::Time], ..options() };
    let found = run_with(&space, &evaluate, &options, &mut store, &AtomicBool::new(false)).unwrap();
    let file = fs::File::create(folder.path().join("explore.parquet")).unwrap();
    parquet(&system, &found, "it", file).unwrap();
    found.ran() as u64
}

#[test]
fn memory_does_not_grow_with_the_number_of_candidates() {
    // Of the first, a row group of Parquet is nearly full in memory.
    let few = explored(10);
    let before = peak();
    let more = explored(11) - few;
    let each = (peak() - before) / more;
    assert!(each < 300, "{each} bytes for each of {more} candidates");
}
