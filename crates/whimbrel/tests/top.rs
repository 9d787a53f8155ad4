// SPDX-License-Identifier: Apache-2.0
//! A run is watched and steered on a real terminal, and by the verbs that do the same for scripts.

use std::process::Output;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::screen::Screen;
use crate::common::{PATIENCE, Place, Run, STREAM, kill, pid, root, text};

const SIGTERM: i32 = 15;

fn stream(place: &Place) -> Run<'_> {
    let app = place.app(STREAM);
    place.start(&[app.to_str().unwrap(), "--cores", "0,0"])
}

fn top(place: &Place) -> Screen {
    let screen = Screen::open(&place.command(&["top", "--interval", "100ms"]));
    screen.wait_for("running");
    screen
}

#[test]
fn a_task_of_the_radio_is_selected_and_moved_and_the_log_shows_it() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let args = [app.to_str().unwrap(), "--cores", "0,0", "--set", "output=", "--set", "plays=9999"];
    let _run = place.start(&[&args[..], &["--shuttle", "bpf.2=1,0@2s"]].concat());
    let mut top = top(&place);
    top.wait_for("bpf.2 0 → 1");
    top.wait_for("> lpf");
    top.press("j");
    top.wait_for("> demodulator");

    // On a busy machine it may reach no checkpoint in time: then the user tries again.
    let end = Instant::now() + PATIENCE;
    while !top.shows("demodulator 0 → 1  away") {
        assert!(Instant::now() < end, "{}", top.text());
        top.press("1");
        thread::sleep(Duration::from_millis(300));
    }
    top.press("9");
    top.wait_for("core 9 does not exist");
    top.press("q");
    assert!(top.finish().success());
    top.wait_until_restored();
}

#[test]
fn a_signal_ends_the_view_and_gives_the_terminal_back() {
    let place = Place::new();
    let _run = stream(&place);
    for signal in [SIGTERM, 1, 2] {
        let mut top = top(&place);
        top.signal(signal);
        assert!(top.finish().success());
        top.wait_until_restored();
    }
}

#[test]
fn the_end_of_the_run_is_shown_until_a_key_is_pressed() {
    let place = Place::new();
    let mut run = stream(&place);
    let mut top = top(&place);
    run.wait_until_frames_arrive();
    run.signal(2);
    top.wait_for("test-1: stopped by its user. Press any key to leave.");
    assert!(run.finish().status.success());
    top.press("x");
    assert!(top.finish().success());
    top.wait_until_restored();
}

#[test]
fn a_command_that_is_killed_is_shown_as_well() {
    let place = Place::new();
    let run = stream(&place);
    let mut top = top(&place);
    kill(pid(&run.record().unwrap()["command"]), 9);
    top.wait_for("test-1: its command was killed");
    top.press("x");
    assert!(top.finish().success());
    top.wait_until_restored();
}

#[test]
fn a_kernel_that_is_killed_is_in_the_log_and_the_others_go_on() {
    let place = Place::new();
    let run = stream(&place);
    let mut top = top(&place);
    kill(pid(&run.processes()[2]), 9);
    top.wait_for("core 1 was killed by signal 9");
    top.wait_for("cpu 0   dead");
    top.press("q");
    assert!(top.finish().success());
}

#[test]
fn a_view_that_is_not_read_does_not_hold_up_the_run() {
    let place = Place::new();
    let app = place.app(STREAM);
    let shuttle = ["--shuttle", "worker=1,0@1ms"];
    let mut run = place.start(&[&[app.to_str().unwrap(), "--cores", "0,0"], &shuttle[..]].concat());
    let top = top(&place);
    top.signal(19);
    // As long as what the view is told may fill its queue.
    thread::sleep(Duration::from_secs(1));
    run.signal(2);
    let output = run.finish();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn the_view_and_the_totals_are_printed_for_scripts() {
    let place = Place::new();
    let _run = stream(&place);
    let once = place.output(&["top", "--once"]);
    let shown = text(&once.stdout);
    assert!(once.status.success(), "{}", text(&once.stderr));
    for word in ["test-1", "running", "core 1", "worker", "source_worker", "log"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(!shown.contains('\x1b'), "{shown}");
    let totals = place.json(&["top", "test-1", "--json"], 0);
    assert_eq!(totals["tasks"][1]["task"], "worker");
}

#[test]
fn a_view_needs_a_terminal_and_a_run_and_says_which_there_are() {
    let place = Place::new();
    assert!(place.error(&["top"]).contains("start one with `whimbrel run`"));
    let _first = stream(&place);
    assert!(place.error(&["top"]).contains("--once"));
    assert!(place.error(&["top", "radio-3"]).contains("name one of your runs: test-1"));
    let _second = stream(&place);
    let end = Instant::now() + PATIENCE;
    while !place.runs().join("test-2/control.sock").exists() {
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(2));
    }
    let said = place.error(&["top"]);
    assert!(said.contains("several runs") && said.contains("test-1, test-2"), "{said}");
}

/// A helper that obeys `rate` and no policy but `balance`.
const OBEDIENT: &str = r#"#!/usr/bin/env python3
import json, os

def tell(kind, /, **members):
    print(json.dumps({kind: members}), file=out, flush=True)

out = os.fdopen(os.dup(3), "w")
kernels = [{"core": 0, "cpu": 0, "pid": os.getpid()}]
tell("started", pid=1, kernels=kernels, gvm_bytes=1, start_ns=1, clock="tsc")
for line in os.fdopen(3):
    ((verb, asked),) = json.loads(line).items()
    if verb == "policy":
        policy = asked["policy"] or {"name": "", "params": []}
        balance = {"name": "balance", "params": ["high=80", "low=20"]}
        ok = policy in (balance, {"name": "", "params": []})
        tell("set", id=asked["id"], ok=ok, why="" if ok else f"it was told {policy['name']}")
    elif verb == "rate" and asked["millihz"] == 37500:
        tell("set", id=asked["id"], ok=True, why="")
    elif verb in ("kill", "stop"):
        break
"#;

fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), text(&output.stdout))
}

#[test]
fn a_policy_and_a_frame_rate_are_set_while_a_run_goes_on() {
    let (_folder, place) = Place::scripted(OBEDIENT);
    let _run = stream(&place);
    let policy = place.output(&["policy", "test-1", "balance:high=80,low=20"]);
    assert_eq!(said(&policy), (Some(0), "test-1: policy balance:high=80,low=20\n".into()));
    let none = place.output(&["policy", "test-1", "none"]);
    assert_eq!(said(&none), (Some(0), "test-1: policy none\n".into()));
    let rate = place.output(&["frame-rate", "test-1", "37.5"]);
    assert_eq!(said(&rate), (Some(0), "test-1: 37.5 frames per second\n".into()));
    let refused = place.error(&["policy", "test-1", "mine"]);
    assert!(refused.contains("was refused by the run `test-1`: it was told mine"), "{refused}");
    let unanswered = place.error(&["frame-rate", "test-1", "10"]);
    assert!(unanswered.contains("of a version that cannot do that"), "{unanswered}");
    assert_eq!(place.output(&["frame-rate", "test-1", "0"]).status.code(), Some(2));
    assert_eq!(place.output(&["policy", "test-1", "a:b"]).status.code(), Some(2));
}

#[test]
fn a_channel_gets_another_doorbell_while_a_run_goes_on() {
    let place = Place::new();
    let _run = stream(&place);
    let of = |setting: &str| place.output(&["channel", "test-1", "source_worker", setting]);
    let notify = || {
        let totals = place.json(&["top", "test-1", "--json"], 0);
        totals["channels"][0].clone()
    };
    assert_eq!(notify().get("doorbell"), None);
    let told = of("doorbell=polling:2ms");
    assert_eq!(said(&told), (Some(0), "test-1: channel source_worker: polling:2ms\n".into()));
    assert_eq!((&notify()["doorbell"], &notify()["within_us"]), (&"polling".into(), &2000.into()));
    place.wait_for_totals(|totals| totals["channels"][0]["hits"].as_u64().unwrap_or(0) > 5);
    assert_eq!(of("doorbell=adaptive:5ms").status.code(), Some(0));
    place.wait_for_totals(|totals| totals["channels"][0]["mean_ns"].as_u64().unwrap_or(0) > 0);
    let both = place.error(&["channel", "test-1", "source_worker", "batch=4:1ms"]);
    assert!(both.contains("a batch requires an interrupt"), "{both}");
    let memory = place.error(&["channel", "test-1", "source_worker", "memory=internal"]);
    assert!(memory.contains("cannot change during a run"), "{memory}");
    let unknown = place.error(&["channel", "test-1", "c", "batch=4:1ms"]);
    assert!(unknown.contains("no channel is called `c`"), "{unknown}");
    let back =
        place.output(&["channel", "test-1", "source_worker", "doorbell=interrupt", "batch=4:1ms"]);
    assert_eq!(back.status.code(), Some(0));
}
