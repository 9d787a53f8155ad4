// SPDX-License-Identifier: Apache-2.0
//! A run is seen and steered from another terminal.

use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use crate::common::{Place, STREAM, kill, lives, text, was_late};
use insta::assert_snapshot;
use rustix::process::{Pid, Resource, getrlimit, prlimit};
use serde_json::{Value, json};

/// One task computes for long between its checkpoints; another may not move at all.
const SLOW: &str = "[[task]]\nname = \"slow\"\n[[task]]\nname = \"stubborn\"\nmigratable = false\n";

#[test]
fn a_task_moves_while_the_stream_flows_and_ps_shows_where_it_is() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0,0", "--json"]);

    let moved = place.migrate(&["worker", "1"]);
    assert_eq!(text(&moved.stdout), "worker runs on core 1\n");
    assert!(moved.status.success());
    let moved = place.migrate(&["sink.0", "1", "--json"]);
    let moved: Value = serde_json::from_slice(&moved.stdout).unwrap();
    assert_eq!((&moved["task"], &moved["status"]), (&json!("sink"), &json!("ok")));

    let runs = place.json(&["ps", "--json"], 0);
    assert_eq!(runs.as_array().unwrap().len(), 1);
    assert_eq!((&runs[0]["run"], &runs[0]["cpus"]), (&json!("test-1"), &json!([0, 0])));
    assert_eq!(runs[0]["load"].as_array().unwrap().len(), 2);
    let places: Vec<_> = runs[0]["tasks"].as_array().unwrap().iter().map(|t| &t["core"]).collect();
    assert_eq!(places, [&json!(0), &json!(1), &json!(1)]);

    let listing = text(&place.output(&["ps"]).stdout);
    assert!(listing.contains("core 0: source; core 1: worker sink"), "{listing}");
    run.signal(2);
    assert!(run.finish().status.success());
    assert_eq!(text(&place.output(&["ps"]).stdout), "no runs\n");
}

#[test]
fn every_refused_migration_says_why_and_what_to_do() {
    let place = Place::new();
    let app = place.app(SLOW);
    let _run = place.start(&[app.to_str().unwrap(), "--cores", "0,0", "--set", "step_ms=100000"]);

    assert_snapshot!("no_run", place.error(&["migrate", "radio-7", "slow", "1"]));
    assert_snapshot!("no_task", place.error(&["migrate", "test-1", "quick", "1"]));
    assert_snapshot!("no_core", place.error(&["migrate", "test-1", "slow", "9"]));
    assert_snapshot!("pinned", place.error(&["migrate", "test-1", "stubborn", "1"]));
    assert_snapshot!(
        "timeout",
        place.error(&["migrate", "test-1", "slow", "1", "--timeout", "10ms"])
    );
}

#[test]
fn a_second_migration_while_one_is_under_way_is_refused_and_the_first_is_not_disturbed() {
    let place = Place::new();
    let app = place.app(SLOW);
    let _run = place.start(&[app.to_str().unwrap(), "--cores", "0,0", "--set", "step_ms=5000"]);

    let migrate = || place.output(&["migrate", "test-1", "slow", "1", "--timeout", "10s"]);
    let both = || {
        thread::scope(|scope| {
            let other = scope.spawn(migrate);
            [migrate(), other.join().unwrap()]
        })
    };
    let ended = (0..3).map(|_| both()).find(|both| !both.iter().any(was_late)).unwrap();
    let refused = ended.iter().position(|output| !output.status.success()).unwrap();
    assert_snapshot!("busy", place.anonymous(&text(&ended[refused].stderr)));
    assert!(ended[1 - refused].status.success(), "{}", text(&ended[1 - refused].stderr));
}

#[test]
fn a_run_that_has_no_descriptors_left_for_a_while_is_steered_afterwards() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run = place.start(&[app.to_str().unwrap(), "--cores", "0,0"]);
    let socket = place.runs().join("test-1/control.sock");
    let pid = run.record().unwrap()["command"]["pid"].as_i64().unwrap();
    let limit = |soft: u64| {
        let limits = rustix::process::Rlimit { current: Some(soft), ..getrlimit(Resource::Nofile) };
        prlimit(Pid::from_raw(pid.try_into().unwrap()), Resource::Nofile, limits).unwrap();
    };

    limit(3);
    // The first is accepted: its descriptor was reserved when the run began to wait for it.
    let kept = [(); 3].map(|()| UnixStream::connect(&socket).unwrap());
    thread::sleep(Duration::from_millis(100));
    limit(256);
    let moved = place.migrate(&["worker", "1"]);
    assert_eq!(text(&moved.stdout), "worker runs on core 1\n", "{}", text(&moved.stderr));
    drop(kept);
    run.signal(2);
    assert!(run.finish().status.success());
}

#[test]
fn a_run_that_was_started_to_ignore_hang_ups_does_with_its_helper_and_its_kernels() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut run =
        place.start_ignoring(&[app.to_str().unwrap(), "--cores", "0,0"], &[], Some(libc::SIGHUP));
    run.signal(libc::SIGHUP);
    for process in run.processes() {
        kill(process["pid"].as_u64().unwrap(), libc::SIGHUP);
    }
    let moved = place.migrate(&["worker", "1"]);
    assert_eq!(text(&moved.stdout), "worker runs on core 1\n", "{}", text(&moved.stderr));
    assert!(run.processes().iter().all(lives));
    run.signal(2);
    let ended = run.finish();
    assert!(ended.status.success(), "{}", text(&ended.stderr));
}
