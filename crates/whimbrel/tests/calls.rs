// SPDX-License-Identifier: Apache-2.0
//! Services of an application: called, moved, killed, recorded.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;

use crate::common::{Place, kill, pid, root, text};
use serde_json::Value;

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;

/// A caller on core 0 and the service that it calls on core 1; 0 calls: until it is stopped.
fn app(place: &Place, calls: u32) -> PathBuf {
    let module = root().join("build/test-apps/calls.so");
    assert!(module.is_file(), "run `make build test-modules` first");
    let toml = format!(
        "[app]\nname = \"test\"\nmodule = \"{}\"\n[params]\ncalls = {calls}\n\
         [[task]]\nname = \"asker\"\nperiod_us = 500\n\
         [[task]]\nname = \"adder\"\ncore = 1\nrestart = true\ncycles = 1000\n\
         [[service]]\nname = \"sums\"\ntask = \"adder\"\ncallers = [\"asker\"]\n\
         request_bytes = 160\nanswer_bytes = 4\n",
        module.display()
    );
    let path = place.path("app.toml");
    fs::write(&path, toml).unwrap();
    path
}

#[test]
fn every_call_gets_its_answer_while_both_ends_move() {
    let place = Place::new();
    let path = app(&place, 400);
    let app = path.to_str().unwrap();
    let options = ["--cores", "0,0", "--shuttle", "asker=1,0@5ms", "--shuttle", "adder=0,1@7ms"];
    let run = place.output(&[&["run", app], &options[..]].concat());
    let said = text(&run.stderr);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert!(said.contains("400 right, 0 gone"), "{said}");
    assert!(!said.contains("in 0 moves"), "{said}");
}

#[test]
fn every_call_gets_its_answer_in_a_simulation() {
    let place = Place::new();
    let path = app(&place, 400);
    let app = path.to_str().unwrap();
    let sim = place.output(&["sim", app, "--platform", "mpsoc3", "--move", "adder=0@20ms"]);
    let said = text(&sim.stderr);
    assert!(sim.status.success(), "{}", text(&sim.stderr));
    assert!(said.contains("400 right, 0 gone"), "{said}");
}

#[test]
fn a_service_is_called_again_after_its_kernel_was_killed() {
    let place = Place::new();
    let path = app(&place, 0);
    let mut run = place.start(&[path.to_str().unwrap(), "--cores", "0,0", "--json"]);
    let served = |totals: &Value| totals["tasks"][1]["firings"].as_u64().unwrap_or(0);
    let before = Cell::new(0);
    place.wait_for_totals(|totals| {
        before.set(served(totals));
        before.get() > 50
    });
    kill(pid(&run.processes()[2]), SIGKILL);
    place.wait_for_totals(|totals| {
        totals["cores"][1]["state"] == "dead" && served(totals) > before.get() + 100
    });
    run.signal(SIGINT);
    let output = run.finish();
    let said = text(&output.stderr);
    assert!(said.contains(" right, 0 gone") || said.contains(" right, 1 gone"), "{said}");
}

#[test]
fn each_step_of_each_call_is_recorded() {
    let place = Place::new();
    let path = app(&place, 20);
    let recorded = place.path("recorded");
    let run = place.output(&[
        "run",
        path.to_str().unwrap(),
        "--cores",
        "0,0",
        "--record",
        recorded.to_str().unwrap(),
    ]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let mut steps: Vec<(u64, u32)> = (0..2)
        .flat_map(|core| {
            fs::read(recorded.join(format!("core-{core}.events"))).unwrap()[32..]
                .chunks_exact(24)
                .filter(|record| record[8..10] == 18_u16.to_le_bytes())
                .map(|record| {
                    let value = u32::from_le_bytes(record[20..].try_into().unwrap());
                    (u64::from_le_bytes(record[..8].try_into().unwrap()), value)
                })
                .collect::<Vec<_>>()
        })
        .collect();
    steps.sort_by_key(|(_, value)| *value);
    let values: Vec<u32> = steps.iter().map(|(_, value)| *value).collect();
    let expected: Vec<u32> =
        (1..=20).flat_map(|call| (0..=10).map(move |s| call << 4 | s)).collect();
    assert_eq!(values, expected);
    // Who is told goes on before who told it has come back.
    let side = |of: fn(u32) -> bool| {
        let times = steps.iter().filter(move |(_, value)| of(value & 15)).map(|(time, _)| *time);
        times.collect::<Vec<_>>()
    };
    assert!(side(|step| !(4..=8).contains(&step)).is_sorted());
    assert!(side(|step| (4..=8).contains(&step)).is_sorted());
    assert!(side(|step| matches!(step, 1 | 2 | 4 | 5 | 6 | 7 | 9 | 10)).is_sorted());
}
