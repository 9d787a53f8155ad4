// SPDX-License-Identifier: Apache-2.0
//! `--map`: where tasks start, and what is refused.

use std::fs;

use serde_json::Value;

use crate::common::Place;

/// A line of tasks of different weights, all on core 0 as an import has them; `dsp` runs on one
/// kind of core alone, and `pinned` may not move.
const LINE: &str = r#"
[app]
name = "line"

[[task]]
name = "source"
cycles = 1000
firings = 20

[[task]]
name = "bpf"
count = 2
cycles = 6000

[[task]]
name = "dsp"
core = 1
cycles = { small = 3000 }

[[task]]
name = "pinned"
cycles = 4000
migratable = false

[[channel]]
from = "source.out"
to = "bpf.in"
slot_bytes = 8

[[channel]]
from = "bpf.out"
to = "pinned.in"
slot_bytes = 8

[[channel]]
from = "pinned.out"
to = "dsp.in"
slot_bytes = 8
"#;

/// Cores 0 and 2 are of one kind, 1 of another and half as fast.
const PLATFORM: &str = r#"
[platform]
name = "made"

[[core]]
kind = "large"
[[core.point]]
mhz = 1000
active_mw = 100

[[core]]
kind = "small"
[[core.point]]
mhz = 500
active_mw = 50

[[core]]
kind = "large"
[[core.point]]
mhz = 1000
active_mw = 100
"#;

fn place() -> Place {
    let place = Place::new();
    fs::write(place.path("line.toml"), LINE).unwrap();
    fs::write(place.path("made.toml"), PLATFORM).unwrap();
    place
}

fn words(mapping: &str) -> [&str; 8] {
    ["sim", "line.toml", "--platform", "./made.toml", "--quiet", "--json", "--map", mapping]
}

/// The cores of source, the two bpf, dsp and pinned.
fn cores(mapping: &str) -> Vec<u64> {
    let summary = place().json(&words(mapping), 0);
    assert_eq!(summary["options"]["map"], mapping);
    summary["tasks"].as_array().unwrap().iter().map(|task| task["core"].as_u64().unwrap()).collect()
}

fn refused(mapping: &str) -> String {
    place().error(&words(mapping))
}

#[test]
fn tasks_that_are_named_start_where_they_are_told_and_all_others_where_the_file_says() {
    assert_eq!(cores("source=2"), [2, 0, 0, 1, 0]);
    assert_eq!(cores("bpf=2,source=1"), [1, 2, 2, 1, 0]);
    assert_eq!(cores("bpf.1=2,dsp=1,pinned=0"), [0, 0, 2, 1, 0]);
}

#[test]
fn round_robin_takes_one_core_after_the_other_that_the_task_runs_on() {
    assert_eq!(cores("round-robin"), [0, 1, 2, 1, 0]);
}

/// An iteration computes 1 µs, twice 6 µs, 6 µs on the small core and 4 µs that are pinned to core
/// 0. The first bpf goes to core 2, for core 0 has the 4 µs and core 1 would take 12; dsp has but
/// core 1; the second bpf takes core 0 to 10 µs, less than 12 on core 2; source is best on core 1
/// or 2, with 8 or 7.
#[test]
fn by_load_the_heaviest_goes_first_to_the_core_that_has_the_least_with_it() {
    assert_eq!(cores("load"), [2, 2, 0, 1, 0]);
}

#[test]
fn an_import_is_spread_over_cores() {
    let place = place();
    let graph = crate::common::root().join("crates/import/tests/files/cd2dat.xml");
    let graph = graph.to_str().unwrap();
    let run = |more: &[&str]| -> Value {
        let head = ["sim", graph, "--platform", "mesh64", "--json", "-q", "--duration", "2ms"];
        place.json(&[&head, more].concat(), 0)
    };
    let busy = |summary: &Value| {
        let cores = summary["cores"].as_array().unwrap();
        cores.iter().filter(|core| core["busy_ns"] != 0).count()
    };
    let (alone, spread) = (run(&[]), run(&["--map", "load"]));
    assert_eq!(busy(&alone), 1);
    assert!(busy(&spread) > 3, "{}", busy(&spread));
    let iterations = |summary: &Value| summary["graphs"][0]["iterations"].as_u64().unwrap();
    assert!(iterations(&spread) > iterations(&alone));
}

#[test]
fn every_mapping_that_cannot_be_is_refused_with_what_to_write_instead() {
    for (mapping, why, cure) in [
        ("sorce=1", "no task `sorce`", "write `source`"),
        ("zzzzzz=1", "no task `zzzzzz`", "name one of its tasks: source, bpf"),
        ("bpf.2=1", "no task `bpf.2`", "name one of bpf.0 to bpf.1"),
        ("source=3", "core 3 does not exist", "name one of cores 0 to 2"),
        ("source=4294967295", "core 4294967295 does not exist", "name one of cores 0 to 2"),
        ("source=1,source=2", "`source` is mapped twice", "name each task once"),
        ("bpf=1,bpf.1=2", "`bpf.1` is mapped twice", "name each task once"),
        ("pinned=1", "`pinned` may not leave core 0", "leave it out of the mapping"),
        ("dsp=2", "`dsp` does not run on core 2", "map it to a core of a kind"),
        ("source", "invalid mapping `source`", "round-robin, load or any"),
        ("", "invalid mapping ``", "TASK=CORE"),
        ("source=1,", "invalid mapping ``", "TASK=CORE"),
        ("=1", "invalid mapping `=1`", "TASK=CORE"),
        ("source.x=1", "invalid mapping `source.x=1`", "TASK=CORE"),
        ("source=", "invalid core ``", "TASK=CORE"),
        ("source=-1", "invalid core `-1`", "TASK=CORE"),
        ("source=all", "invalid core `all`", "TASK=CORE"),
        ("source=4294967296", "invalid core `4294967296`", "TASK=CORE"),
        ("Load", "invalid mapping `Load`", "round-robin, load or any"),
    ] {
        let said = refused(mapping);
        assert!(said.contains(why), "--map {mapping}: {said}");
        assert!(said.contains(cure), "--map {mapping}: {said}");
    }
}

#[test]
fn what_is_pinned_or_runs_elsewhere_is_shown_at_its_line() {
    for mapping in ["pinned=1", "dsp=2"] {
        let said = refused(mapping);
        let line = if mapping == "dsp=2" { "line.toml:16" } else { "line.toml:21" };
        assert!(said.contains(line), "{said}");
    }
}

#[test]
fn a_task_that_runs_on_no_core_of_a_run_can_be_mapped_nowhere() {
    let place = place();
    for mapping in ["round-robin", "load"] {
        let said = place.error(&[&words(mapping)[..], &["--cores", "1"]].concat());
        assert!(said.contains("`dsp` runs on no core of this run"), "{said}");
        assert!(said.contains("take more cores"), "{said}");
    }
}

#[test]
fn without_cycles_no_load_is_known() {
    let place = Place::new();
    let app = place.app("[[task]]\nname = \"source\"\n");
    let app = app.to_str().unwrap();
    let said = place.error(&["run", app, "--quiet", "--map", "load"]);
    assert!(said.contains("`source` has no cycles"), "{said}");
    assert!(said.contains("round-robin"), "{said}");
}

#[test]
fn a_run_on_this_machine_is_mapped_as_well() {
    let place = place();
    let tables = LINE.replace("{ small = 3000 }", "3000");
    fs::write(place.path("here.toml"), tables).unwrap();
    let head = ["run", "here.toml", "--cores", "0,0", "--quiet", "--json", "--map"];
    let summary = place.json(&[&head[..], &["source=1,bpf.1=1"]].concat(), 0);
    let tasks = summary["tasks"].as_array().unwrap();
    let cores: Vec<&Value> = tasks.iter().map(|task| &task["core"]).collect();
    assert_eq!(cores, [1, 0, 1, 1, 0]);
    let said = place.error(&[&head[..], &["source=2"]].concat());
    assert!(said.contains("name one of cores 0 to 1"), "{said}");
}
