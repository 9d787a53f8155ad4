// SPDX-License-Identifier: Apache-2.0
//! `whimbrel rerun`: what a folder contains is enough to repeat it, and every difference is told.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Place, root, text};

/// A source, and a worker that keeps the second core busy for a third of its time.
const PIPELINE: &str = r#"[app]
name = "pipeline"

[[task]]
name = "source"
period_us = 1000
cycles = 20_000

[[task]]
name = "worker"
core = 1
cycles = 60_000
spread = 0.3
distribution = "uniform"

[[channel]]
from = "source.out"
to = "worker.in"
slot_bytes = 64
"#;

/// A place with the folder `was` of a simulation, of files that have since gone.
fn simulated(options: &[&str]) -> Place {
    let place = Place::new();
    fs::write(place.path("app.toml"), PIPELINE).unwrap();
    fs::copy(root().join("platforms/mpsoc3.toml"), place.path("mine.toml")).unwrap();
    let words = ["sim", "app.toml", "--platform", "mine.toml", "--record", "was", "--quiet"];
    let words = [&words[..], &["--duration", "200ms", "--seed", "7"], options].concat();
    let output = place.output(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    fs::remove_file(place.path("app.toml")).unwrap();
    fs::write(place.path("mine.toml"), "gone").unwrap();
    place
}

/// The files of the answer that are not the same, and how they differ.
fn different(place: &Place, status: i32) -> Vec<(String, String)> {
    let told = place.json(&["rerun", "was", "--json"], status);
    assert_eq!(told["same"], Value::Bool(status == 0));
    let files = told["files"].as_array().unwrap().iter();
    let text = |file: &Value, key: &str| file[key].as_str().unwrap_or_default().to_owned();
    files
        .filter(|file| !file["difference"].is_null())
        .map(|file| (text(file, "name"), text(file, "difference")))
        .collect()
}

/// Changes what a file contains.
fn change(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(path, text.replacen(old, new, 1)).unwrap();
}

#[test]
fn a_simulation_is_repeated_to_the_byte_when_its_files_are_gone() {
    let options = ["--move", "worker=0@50ms", "--policy", "balance", "--save", "state@100ms"];
    let place = simulated(&options);
    assert_eq!(different(&place, 0), []);
    let said = text(&place.output(&["rerun", "was"]).stdout);
    assert!(said.starts_with("same to the byte  summary.json\n"), "{said}");
    assert_eq!(said.lines().count(), 4, "the summary and the streams of three cores: {said}");
}

#[test]
fn each_difference_is_told_with_its_place() {
    let place = simulated(&[]);
    let stream = place.path("was/core-1.events");
    let mut bytes = fs::read(&stream).unwrap();
    bytes[40] ^= 1;
    fs::write(&stream, bytes).unwrap();
    change(&place.path("was/summary.json"), "\"frames\": 200", "\"frames\": 201");
    fs::write(place.path("was/core-9.events"), "").unwrap();
    let found = different(&place, 1);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["summary.json", "core-1.events", "core-9.events"]);
    assert_eq!(found[0].1, "frames was 201 and is 200");
    assert!(found[1].1.starts_with("from byte 40 on"), "{found:?}");
    assert_eq!(found[2].1, "it is not written");
}

#[test]
fn another_seed_is_another_result() {
    let place = simulated(&[]);
    change(&place.path("was/experiment.json"), "\"seed\": 7", "\"seed\": 8");
    let found = different(&place, 1);
    assert!(found[0].1.contains("options.seed was 7 and is 8"), "{found:?}");
    assert!(found.iter().any(|(name, _)| name == "core-1.events"), "{found:?}");
}

#[test]
fn files_that_the_application_writes_are_compared_and_not_touched() {
    let place = Place::new();
    let words = ["sim", "ROOT/apps/fm_radio", "--set", "output=air.f32", "--record", "was"];
    let app = root().join("apps/fm_radio");
    let mut words: Vec<&str> = [&words[..], &["--duration", "100ms", "--quiet"]].concat();
    words[1] = app.to_str().unwrap();
    let output = place.output(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(different(&place, 0), []);
    fs::write(place.path("air.f32"), "mine").unwrap();
    assert_eq!(different(&place, 0), []);
    assert_eq!(fs::read_to_string(place.path("air.f32")).unwrap(), "mine");
    let input = "was/inputs/files/input/cold_day_240k.cu8";
    fs::write(place.path(input), vec![127; 480_000]).unwrap();
    let found = different(&place, 1);
    assert!(found.contains(&("the file of output".into(), "other bytes".into())), "{found:?}");
}

#[test]
fn an_exploration_is_repeated_to_the_byte() {
    let place = Place::new();
    fs::write(place.path("app.toml"), PIPELINE).unwrap();
    let words =
        ["explore", "app.toml", "--duration", "20ms", "--points", "high", "-o", "was", "-q"];
    let output = place.output(&words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    fs::remove_file(place.path("app.toml")).unwrap();
    assert_eq!(different(&place, 0), []);
    let csv = place.path("was/explore.csv");
    fs::write(&csv, fs::read_to_string(&csv).unwrap() + "\n").unwrap();
    assert_eq!(different(&place, 1).len(), 1);
}

#[test]
fn a_run_that_failed_fails_in_the_same_way() {
    let place = Place::new();
    fs::write(place.path("app.toml"), PIPELINE).unwrap();
    let words = ["sim", "app.toml", "--record", "was", "--quiet", "--max-time", "50ms"];
    let output = place.output(&words);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(different(&place, 0), []);
}

#[test]
fn what_cannot_be_repeated_says_why() {
    let place = simulated(&["--save", "state@100ms"]);
    let said = place.error(&["rerun", "nowhere"]);
    assert!(said.contains("nowhere cannot be read"), "{said}");
    let said = place.error(&["rerun", "."]);
    assert!(said.contains("help: name a folder that `whimbrel sim --record`"), "{said}");
    let file = place.path("was/experiment.json");
    let whole = fs::read_to_string(&file).unwrap();
    for (old, new, why) in [
        ("\"version\": 1", "\"version\": 2", "is of format 2"),
        ("\"verb\": \"sim\"", "\"verb\": \"rm\"", "`rm` is not repeated"),
        ("\"seed\": 7", "\"seed\": -7", "experiment.json: "),
        ("{", "[", "is not an experiment"),
        ("\"files\": []", "\"files\": [[\"../..\", \"x\"]]", "outside of its folder"),
        ("inputs/app/app.toml", "/etc/hostname", "has no app.toml"),
        ("inputs/app/app.toml", "inputs/../../x", "has no app.toml"),
        ("inputs/platform/mine.toml", "inputs/platform/none.toml", "none.toml"),
    ] {
        fs::write(&file, whole.replacen(old, new, 1)).unwrap();
        let said = place.error(&["rerun", "was"]);
        assert!(said.contains(why) && said.contains("help: "), "{said}");
    }
    fs::write(&file, whole).unwrap();
    fs::remove_dir_all(place.path("was/inputs")).unwrap();
    let said = place.error(&["rerun", "was"]);
    assert!(said.contains("was/inputs cannot be copied"), "{said}");
}

#[test]
fn a_resumed_simulation_and_one_with_a_budget_of_time_say_that_they_are() {
    let place = simulated(&["--save", "state@100ms"]);
    fs::write(place.path("app.toml"), PIPELINE).unwrap();
    fs::copy(root().join("platforms/mpsoc3.toml"), place.path("mine.toml")).unwrap();
    let words = ["sim", "app.toml", "--platform", "mine.toml", "--record", "rest", "--quiet"];
    let more = ["--duration", "200ms", "--seed", "7", "--resume", "state"];
    let output = place.output(&[&words[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = place.error(&["rerun", "rest"]);
    assert!(said.contains("it was resumed from a saved simulation"), "{said}");
    let words = ["explore", "app.toml", "--duration", "20ms", "--budget", "10s", "-o", "e", "-q"];
    assert_eq!(place.output(&words).status.code(), Some(0));
    let said = place.error(&["rerun", "e"]);
    assert!(said.contains("its budget was a time"), "{said}");
}
