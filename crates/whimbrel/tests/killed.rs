// SPDX-License-Identifier: Apache-2.0
//! Whatever is killed with signal 9, nothing hangs and nothing is left behind.

use std::fs;

use crate::common::{Place, STREAM, kill, pid, text, wait_until_gone};
use serde_json::{Value, json};

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;

#[test]
fn a_run_goes_on_without_a_killed_kernel_and_says_so_at_its_end() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0,0", "--json"]);
    let moved = place.migrate(&["worker", "1"]);
    assert!(moved.status.success(), "{}", text(&moved.stderr));
    let processes = run.processes();
    kill(pid(&processes[2]), SIGKILL);
    place.wait_for_totals(|totals| {
        totals["cores"][1]["state"] == "dead" && totals["tasks"][1]["core"] == 0
    });
    run.signal(SIGINT);
    let output = run.finish();

    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the kernel of core 1 was killed by signal 9"), "{said}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["deaths"][0]["core"], 1);
    assert_eq!(summary["cores"][1]["state"], "dead");
    assert_eq!(summary["tasks"][1]["core"], 0, "the worker has moved back: {}", summary["tasks"]);
    wait_until_gone(&processes);
}

#[test]
fn a_killed_kernel_is_started_again_and_that_is_no_failure() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0,0", "--restart=1", "--json"]);
    let first = run.processes();
    kill(pid(&first[2]), SIGKILL);
    place.wait_for_totals(|totals| totals["cores"][1]["state"] == "up");
    let asked = place.output(&["restart", "test-1", "1"]);
    assert_eq!(text(&asked.stdout), "test-1: core 1 runs again\n", "{}", text(&asked.stderr));
    assert!(place.migrate(&["worker", "1"]).status.success());
    let error = place.error(&["restart", "test-1", "9"]);
    assert!(error.contains("there is no such core"), "{error}");
    let last = run.processes();
    run.signal(SIGINT);
    let output = run.finish();

    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("0 lost; it is started again"), "{said}");
    assert!(said.contains("the kernel of core 1 runs again, after"), "{said}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["options"]["restart"], 1);
    for death in summary["deaths"].as_array().unwrap() {
        assert_eq!((&death["core"], &death["returns"]), (&json!(1), &json!(true)));
        assert!(death["back_after_ns"].as_u64() > Some(0), "{death}");
    }
    assert_eq!(summary["deaths"].as_array().unwrap().len(), 2);
    assert_eq!(summary["tasks"][1]["core"], 1);
    wait_until_gone(&[first, last].concat());
}

#[test]
fn a_run_whose_last_kernel_is_killed_ends_with_an_error() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0"]);
    let processes = run.processes();
    kill(pid(&processes[1]), SIGKILL);
    let output = run.finish();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("killed by signal 9"), "{}", text(&output.stderr));
    wait_until_gone(&processes);
}

#[test]
fn a_killed_helper_takes_its_kernels_with_it_and_the_command_says_so() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0,0"]);
    let processes = run.processes();
    kill(pid(&processes[0]), SIGKILL);
    let output = run.finish();

    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the helper whimbrel-linux was killed by signal 9"), "{said}");
    wait_until_gone(&processes);
    assert_eq!(fs::read_dir(place.runs()).unwrap().count(), 0);
}

#[test]
fn a_killed_command_takes_its_processes_with_it_and_clean_reclaims_its_directory() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0,0"]);
    let processes = run.processes();
    run.signal(SIGKILL);
    run.finish();
    wait_until_gone(&processes);

    assert!(place.runs().join("test-1/run.json").is_file());
    assert_eq!(place.json(&["ps", "--json"], 0), json!([]));
    let reclaimed = place.json(&["clean", "--json"], 0);
    assert_eq!(reclaimed, json!([{"run": "test-1", "ended": []}]));
    assert_eq!(fs::read_dir(place.runs()).unwrap().count(), 0);
    assert_eq!(text(&place.output(&["clean"]).stdout), "nothing to reclaim\n");
}

#[test]
fn the_next_run_reclaims_what_a_killed_command_left() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap()]);
    let processes = run.processes();
    run.signal(SIGKILL);
    run.finish();
    wait_until_gone(&processes);

    let args = ["run", app.to_str().unwrap(), "--fast", "--set", "messages=10"];
    let output = place.output(&args);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("reclaimed what the run test-1 left when it was killed"), "{said}");
    assert_eq!(fs::read_dir(place.runs()).unwrap().count(), 0);
}

#[test]
fn clean_ends_a_helper_that_outlived_its_command_but_never_another_with_its_number() {
    let place = Place::new();
    let mut orphan = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let orphan_pid = orphan.id();
    let stat = fs::read_to_string(format!("/proc/{orphan_pid}/stat")).unwrap();
    let start: u64 = stat.rsplit_once(')').unwrap().1.split(' ').nth(20).unwrap().parse().unwrap();
    let dead = |name: &str, start: u64| {
        let folder = place.runs().join(name);
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(place.runs(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        let helper = json!({"pid": orphan_pid, "start": start});
        let record = json!({"command": {"pid": 1, "start": 1}, "app": "test", "started_s": 0,
                            "cpus": [0], "helper": helper, "kernels": []});
        fs::write(folder.join("run.json"), record.to_string()).unwrap();
    };
    dead("test-1", start + 1);
    assert_eq!(place.json(&["clean", "--json"], 0), json!([{"run": "test-1", "ended": []}]));
    assert!(orphan.try_wait().unwrap().is_none());

    dead("test-2", start);
    let ended = json!([{"run": "test-2", "ended": [orphan_pid]}]);
    assert_eq!(place.json(&["clean", "--json"], 0), ended);
    orphan.wait().unwrap();
}
