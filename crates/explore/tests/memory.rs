// SPDX-License-Identifier: Apache-2.0
//! How much memory an exploration takes for each further candidate, by what Linux says of a process
//! that does nothing else. `EXPLORED_TASKS=13` has a million and a half of a grid (`make soak`).

mod common;

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use common::{Analytic, Weighed, core, options, run_with, space, system};
use whimbrel_explore::{
    Budget, Choices, Exploration, Objective, Options, PointChoice, Store, parquet,
};

/// Tells a process of this test what to explore.
const ASKED: &str = "EXPLORED_ASKED";

/// Bytes for each further candidate. The keys of those that are known or were made take up to 100;
/// a candidate with its outcome, which nothing has to keep, 3000.
const MOST: u64 = 200;

/// The most memory that this process had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Explores mappings to three unlike cores, 3 to the power of `power` of them, and writes what came
/// of them. Gives how many ran.
fn explored(way: &str, power: u32) -> usize {
    let (search, auto) = (way.starts_with("search"), way.ends_with("auto"));
    let tasks = if search { 24 } else { power };
    let names: Vec<String> = (0..tasks).map(|n| format!("t{n}")).collect();
    let groups: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 1)).collect();
    let mhz = if auto { &[100, 200, 300][..] } else { &[300] };
    let system = system(&groups, (0..3).map(|alike| core(alike, mhz)).collect());
    let points = if auto { PointChoice::Auto } else { PointChoice::All };
    let space = space(&system, &Choices { points, ..Choices::default() });
    let evaluate = Weighed(Analytic::new(&system));
    // Of the time nothing is known before, so that every candidate runs.
    let all = Options { limit: usize::MAX, objectives: vec![Objective::Time], ..options() };
    let options = if search {
        Options {
            limit: 1,
            objectives: vec![Objective::Energy, Objective::Latency],
            budget: Budget::Runs(3_u64.pow(power)),
            ..all
        }
    } else {
        all
    };
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("evaluated.jsonl");
    let finish = |mut store: Store| -> Exploration {
        let stop = AtomicBool::new(false);
        let found = run_with(&space, &evaluate, &options, &mut store, &stop).unwrap();
        let file = fs::File::create(folder.path().join("explore.parquet")).unwrap();
        parquet(&system, &found, "it", file).unwrap();
        found
    };
    let found = finish(Store::create(&journal, "it").unwrap());
    if way == "resume" { resumed(&journal, found, finish) } else { found.ran() }
}

/// Explores again what is known already.
fn resumed(journal: &Path, found: Exploration, finish: impl Fn(Store) -> Exploration) -> usize {
    let length = fs::metadata(journal).unwrap().len();
    let store = Store::resume(journal, "it").unwrap();
    assert_eq!(store.len(), found.ran());
    drop(found);
    let ran = finish(store).ran();
    assert_eq!(fs::metadata(journal).unwrap().len(), length, "a candidate ran again");
    ran
}

/// The same in a process of its own: how many ran, and the most memory that it had.
fn alone(way: &str, power: u32) -> (u64, u64) {
    let mut command = Command::new(env::current_exe().unwrap());
    // Each thread may have an arena of malloc.
    command.arg("--nocapture").env(ASKED, format!("{way} {power}")).env("RAYON_NUM_THREADS", "1");
    let done = command.stderr(Stdio::inherit()).output().unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    let line = said.lines().find_map(|line| line.strip_prefix("explored "));
    let (ran, bytes) = line.unwrap_or_else(|| panic!("{way}: {said}")).split_once(' ').unwrap();
    (ran.parse().unwrap(), bytes.parse().unwrap())
}

#[test]
fn memory_does_not_grow_with_the_number_of_candidates() {
    if let Ok(asked) = env::var(ASKED) {
        let (way, power) = asked.split_once(' ').unwrap();
        let ran = explored(way, power.parse().unwrap());
        println!("\nexplored {ran} {}", peak());
        return;
    }
    let power = env::var("EXPLORED_TASKS").map_or(10, |tasks| tasks.parse().unwrap());
    for way in ["grid", "resume", "auto", "search", "search-auto"] {
        let (power, times): (u32, u64) = match way {
            // Points that are searched are several candidates of each mapping.
            "auto" => (power - 1, 8),
            // This one ends by itself after 14,912.
            "search" => (10, 2),
            "search-auto" => (10, 8),
            _ => (power, 8),
        };
        let (few, before) = alone(way, power - 2);
        let (more, after) = alone(way, power);
        assert!(more > times * few, "{way}: {few} and {more}");
        let each = after.saturating_sub(before) / (more - few);
        println!("{way}: {few} candidates {before} bytes, {more} {after}: {each} each");
        assert!(each < MOST, "{way}: {each} bytes for each of {more} candidates");
    }
}
