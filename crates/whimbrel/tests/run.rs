// SPDX-License-Identifier: Apache-2.0
//! Runs that go well, from their start to each way to end.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Place, STREAM, root, text};
use serde_json::Value;

const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A task that does not end when it should.
const STUBBORN: &str = "[[task]]\nname = \"stubborn\"\n";

#[test]
fn a_run_ends_when_its_sources_do_and_every_message_has_arrived() {
    let place = Place::new();
    let app = place.app(STREAM);
    let args = ["run", app.to_str().unwrap(), "--fast", "--set", "messages=2000", "--json"];
    let summary = place.json(&args, 0);

    assert_eq!(summary["ended"], "finished");
    assert_eq!(number(&summary["frames"]), 2000);
    assert!((1..number(&summary["time_ns"])).contains(&number(&summary["latency_ns"])));
    assert_eq!(summary["app"]["params"]["messages"], 2000.0);
    for channel in summary["channels"].as_array().unwrap() {
        assert_eq!((number(&channel["sent"]), number(&channel["received"])), (2000, 2000));
    }
    assert_eq!(fs::read_dir(place.runs()).unwrap().count(), 0);
}

#[test]
fn a_cpp_task_moves_with_its_strings_but_not_while_it_handles_an_exception() {
    let place = Place::new();
    let app = place.path("cpp.toml");
    let module = crate::common::root().join("build/test-apps/cpp.so");
    let tables =
        format!("[app]\nname = \"cpp\"\nmodule = {module:?}\n[[task]]\nname = \"catcher\"\n");
    fs::write(&app, tables).unwrap();
    let summary = place.json(&["run", app.to_str().unwrap(), "--cores", "0,0", "--json"], 0);
    let migrations = summary["migrations"].as_array().unwrap();
    let count = |status: &str| migrations.iter().filter(|m| m["status"] == status).count();

    assert_eq!((count("ok"), count("held")), (21, 1));
}

fn sharing(place: &Place, app_keys: &str, entry: &str) -> std::path::PathBuf {
    let app = place.path("shared.toml");
    let module = crate::common::root().join("build/test-apps/shared.so");
    let tables = format!(
        "[app]\nname = \"shared\"\nmodule = {module:?}\n{app_keys}[[task]]\nname = \"{entry}\"\n"
    );
    fs::write(&app, tables).unwrap();
    app
}

#[test]
fn the_hooks_of_an_application_share_memory_with_its_tasks() {
    let place = Place::new();
    let app = sharing(&place, "", "worker");
    let summary = place.json(&["run", app.to_str().unwrap(), "--cores", "0", "--json"], 0);
    let task = &summary["tasks"][0];

    assert_eq!(number(&task["shared_peak_bytes"]), 131_072);
    assert_eq!(number(&task["shared_bytes"]), 0);
    assert_eq!(number(&task["shared_left"]), 0);
}

#[test]
fn what_a_task_forgot_to_free_is_counted() {
    let place = Place::new();
    let app = sharing(&place, "", "forgetful");
    let summary = place.json(&["run", app.to_str().unwrap(), "--cores", "0", "--json"], 0);
    let task = &summary["tasks"][0];

    assert_eq!(number(&task["shared_left"]), 1024);
    assert_eq!(number(&task["shared_bytes"]), 1024);
}

#[test]
fn an_application_has_as_much_shared_memory_as_it_says() {
    let place = Place::new();
    let app = sharing(&place, "shared = \"64KiB\"\n", "worker");
    let said = place.error(&["run", app.to_str().unwrap(), "--cores", "0"]);

    assert!(said.contains("no shared memory"), "{said}");
}

#[test]
fn a_task_that_frees_a_shared_block_twice_is_named() {
    let place = Place::new();
    let app = sharing(&place, "", "twice");
    let said = place.error(&["run", app.to_str().unwrap(), "--cores", "0"]);

    assert!(said.contains("it freed a shared block twice"), "{said}");
}

#[test]
fn the_result_is_shown_as_tables() {
    let place = Place::new();
    let app = place.app(STREAM);
    let output = place.output(&["run", app.to_str().unwrap(), "--fast", "--set", "messages=50"]);
    let shown = text(&output.stdout);

    assert!(output.status.success());
    assert!(shown.starts_with("test finished after "), "{shown}");
    for part in ["50 frames", "0 deadline misses", "core  cpu", "source_worker", "worker_sink"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

/// The summary of a run whose worker moves all the time, and its sink once.
fn moving_on_schedule() -> Value {
    let place = Place::new();
    let app = place.app(STREAM);
    let moves = ["--shuttle", "worker=1,0@20ms", "--move", "sink=1@20ms"];
    let args = [app.to_str().unwrap(), "--cores", "0,0", "--json"];
    let mut run = place.start(&[&args[..], &moves].concat());
    place.wait_for_totals(|totals| totals["tasks"][1]["migrations"].as_u64() >= Some(10));
    run.signal(SIGINT);
    let output = run.finish();

    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn migrations_of<'a>(summary: &'a Value, task: &str) -> Vec<&'a Value> {
    summary["migrations"].as_array().unwrap().iter().filter(|m| m["task"] == task).collect()
}

#[test]
fn messages_stay_in_order_while_tasks_move_on_schedule() {
    // On a busy machine the sink's target may not take it in time, but not each time.
    let summary = (0..5)
        .map(|_| moving_on_schedule())
        .find(|summary| migrations_of(summary, "sink")[0]["status"] == "ok")
        .expect("the sink never moves");
    let migrations = summary["migrations"].as_array().unwrap();
    let ok =
        |task: &str| migrations_of(&summary, task).iter().filter(|m| m["status"] == "ok").count();
    assert!(ok("worker") >= 10, "{migrations:?}");
    assert_eq!((ok("sink"), migrations_of(&summary, "sink").len()), (1, 1), "{migrations:?}");
    for migration in migrations.iter().filter(|m| m["status"] == "ok") {
        let times = ["request_ns", "parked_ns", "attached_ns", "running_ns"];
        let times: Vec<u64> = times.iter().map(|time| number(&migration[time])).collect();
        assert!(times.is_sorted(), "{migration}");
    }
    let phases: Vec<&str> = summary["migration_latency"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect();
    assert_eq!(phases[..3], ["request to parked", "parked to attached", "attached to running"]);
}

#[test]
fn a_run_keeps_the_frame_rate_it_is_given() {
    let place = Place::new();
    let app = place.app(STREAM);
    let args = ["--frame-rate", "50", "--set", "messages=11", "--json"];
    let summary = place.json(&[&["run", app.to_str().unwrap()], &args[..]].concat(), 0);
    assert!(number(&summary["time_ns"]) >= 200_000_000);
    assert_eq!(summary["options"]["frame_rate"], 50.0);
}

#[test]
fn ctrl_c_and_sigterm_end_a_run_with_its_summary_and_without_an_error() {
    for signal in [SIGINT, SIGTERM] {
        let place = Place::new();
        let app = place.app(STREAM);
        let mut run = place.start(&[app.to_str().unwrap(), "--json"]);
        run.wait_until_frames_arrive();
        let processes = run.processes();
        run.signal(signal);
        let output = run.finish();

        assert!(output.status.success(), "{}", text(&output.stderr));
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["ended"], "stopped");
        let worker = &summary["channels"][0];
        assert_eq!(worker["sent"], worker["received"]);
        assert!(number(&summary["frames"]) > 0);
        assert!(processes.iter().all(|process| !crate::common::lives(process)));
        assert_eq!(fs::read_dir(place.runs()).unwrap().count(), 0);
    }
}

#[test]
fn a_second_ctrl_c_ends_a_run_at_once() {
    let place = Place::new();
    let app = place.app(STUBBORN);
    let ended = quickly(|| {
        let mut run = place.start(&[app.to_str().unwrap(), "--json"]);
        run.signal(SIGINT);
        // The first may not have been taken yet, and two at once are one.
        while run.is_under_way() {
            run.signal(SIGINT);
            thread::sleep(Duration::from_millis(20));
        }
        let output = run.finish();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        summary["ended"].clone()
    });
    assert_eq!(ended, "forced");
}

/// What comes of something that does not wait for channels to drain, which takes 5 s. Where the
/// machine holds it up for as long it is done again; what waits does so each time.
fn quickly<T>(mut act: impl FnMut() -> T) -> T {
    for _ in 0..5 {
        let began = Instant::now();
        let done = act();
        if began.elapsed() < Duration::from_millis(4500) {
            return done;
        }
    }
    panic!("it waited for the channels");
}

#[test]
fn a_graph_without_a_source_ends_at_its_duration_and_tells_its_throughput() {
    let place = Place::new();
    let circle = "[app]\nname = \"circle\"\n\n\
        [[task]]\nname = \"a\"\ncycles = 1000\n\n\
        [[task]]\nname = \"b\"\ncore = 1\ncycles = 3000\n\n\
        [[channel]]\nfrom = \"a.out\"\nto = \"b.in\"\nslot_bytes = 8\n\n\
        [[channel]]\nfrom = \"b.out\"\nto = \"a.in\"\nslot_bytes = 8\ninitial = 2\n";
    fs::write(place.path("circle.toml"), circle).unwrap();
    let options = ["--cores", "0,0", "--quiet", "--duration", "300ms"];
    let args = [&["run", "circle.toml", "--json"], &options[..]].concat();
    let summary = quickly(|| place.json(&args, 0));
    assert_eq!((&summary["ended"], &summary["ok"]), (&"duration".into(), &true.into()));
    assert!(number(&summary["time_ns"]) >= 300_000_000);
    assert_eq!(summary["frames"], Value::Null);
    let graph = &summary["graphs"][0];
    assert!(number(&graph["iterations"]) > 0);
    for task in summary["tasks"].as_array().unwrap() {
        assert!(number(&task["firings"]) >= number(&graph["iterations"]));
        let response = &task["response"];
        assert!(number(&response["min_ns"]) <= number(&response["p50_ns"]));
        assert!(number(&response["p50_ns"]) <= number(&response["max_ns"]));
        assert!(number(&response["n"]) > 0);
    }

    let args = ["run", "circle.toml", "--cores", "0,0", "--duration", "2500ms"];
    let output = place.output(&args);
    let shown = text(&output.stderr);
    assert!(shown.contains(" firings (") && !shown.contains("frames"), "{shown}");
    let said = text(&output.stdout);
    for part in ["circle ended after its time", "iterations (", "response", "firings/s", "p99"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("frames"), "{said}");
}

#[test]
fn a_source_that_goes_on_after_the_time_of_a_run_is_an_error() {
    let place = Place::new();
    let app = place.app(STUBBORN);
    let said = place.error(&["run", app.to_str().unwrap(), "--duration", "50ms", "--quiet"]);
    assert!(said.contains("did not drain within 5 s"), "{said}");
    assert!(said.contains("wb_stopping()"), "{said}");
}

#[test]
fn a_recorded_run_has_a_summary_and_one_ordered_stream_per_core() {
    let place = Place::new();
    let app = place.app(STREAM);
    let args = ["--cores", "0,0", "--fast", "--set", "messages=300", "--record", "rec", "--json"];
    let printed = place.json(&[&["run", app.to_str().unwrap()], &args[..]].concat(), 0);
    let kept: Value =
        serde_json::from_slice(&fs::read(place.path("rec/summary.json")).unwrap()).unwrap();
    assert_eq!(kept, printed);

    let mut sends = 0;
    for core in 0..2_u32 {
        let bytes = fs::read(place.path(&format!("rec/core-{core}.events"))).unwrap();
        let (header, records) = bytes.split_at(32);
        assert_eq!(&header[..8], b"WBEVENTS");
        assert_eq!(header[16..20], core.to_le_bytes());
        assert_eq!(records.len() % 24, 0);
        let time = |r: &[u8]| u64::from_le_bytes(r[..8].try_into().unwrap());
        assert!(records.chunks(24).map(time).is_sorted());
        sends += records.chunks(24).filter(|r| r[8] == 5 && r[16..20] == [0; 4]).count();
    }
    assert_eq!(number(&kept["dropped_events"]), 0);
    assert_eq!(sends, 300, "sends into the first channel");
}

#[test]
fn a_quiet_run_says_nothing_while_it_runs_and_a_loud_one_shows_the_load() {
    let place = Place::new();
    let app = place.app(STREAM);
    let run = |quiet: &[&str]| {
        let args = ["run", app.to_str().unwrap(), "--duration", "2500ms"];
        text(&place.output(&[&args, quiet].concat()).stderr)
    };
    assert_eq!(run(&["--quiet"]), "");
    let said = run(&[]);
    assert!(said.starts_with("running as test-1: "), "{said}");
    assert!(said.contains("deadline misses  load "), "{said}");
}

/// Tasks write to the same terminal.
#[test]
fn a_line_is_written_by_one_call() {
    let place = Place::new();
    let app = place.app(STREAM);
    let app = app.to_str().unwrap();
    for args in [&["run", app, "--duration", "100ms"][..], &["run", app, "--cores", "none"]] {
        let (reader, writer) = UnixDatagram::pair().unwrap();
        let mut command = place.command(args);
        command.stdout(Stdio::null()).stderr(OwnedFd::from(writer)).status().unwrap();
        drop(command);
        let mut call = [0; 4096];
        let mut calls = 0;
        reader.set_nonblocking(true).unwrap();
        while let Ok(n) = reader.recv(&mut call) {
            assert_eq!(call[..n].last(), Some(&b'\n'), "{}", text(&call[..n]));
            assert_ne!(call[..n], *b"\n");
            calls += 1;
        }
        assert!(calls > 0);
    }
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let place = Place::new();
    let app = place.app(STREAM);
    for args in [&["run", app.to_str().unwrap(), "--fast", "--set", "messages=5"][..], &["ps"]] {
        let (reader, writer) = UnixStream::pair().unwrap();
        drop(reader);
        let mut command = place.command(args);
        let output = command.stdout(OwnedFd::from(writer)).stderr(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn a_reader_that_has_gone_does_not_hide_that_a_run_failed() {
    let place = Place::new();
    let app = place.app("[[task]]\nname = \"unhappy\"\n");
    let (reader, writer) = UnixStream::pair().unwrap();
    drop(reader);
    let mut command = place.command(&["run", app.to_str().unwrap()]);
    let output = command.stdout(OwnedFd::from(writer)).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("the antenna is unplugged"));
}

#[test]
fn a_move_that_its_task_did_not_live_to_make_has_ended_and_counts_neither_way() {
    let place = Place::new();
    let hello = root().join("apps/hello/app.toml");
    // The last of its 200 steps begins at 1.99 s, and at 2 s it returns.
    let args = ["sim", hello.to_str().unwrap(), "--quiet", "--move", "bird=1@1995ms"];
    let summary = place.json(&[&args[..], &["--json"]].concat(), 0);
    assert_eq!(summary["migrations"][0]["status"], "ended");
    assert_eq!([&summary["tasks"][0]["migrations"], &summary["tasks"][0]["refused"]], [0, 0]);
    let output = place.output(&args);
    let said = text(&output.stdout);
    let headline: Vec<&str> = said.lines().rev().take(2).collect();
    assert!(headline[1].starts_with("hello finished after 2.0 s"), "{said}");
    assert!(headline[0].ends_with("0 deadline misses, 0 migrations"), "{said}");
    assert_eq!(said.matches(headline[0]).count(), 2, "{said}");
    assert!(said.contains("(ended: the task, or the run, ended before the move"), "{said}");
    assert!(text(&output.stderr).contains("no task has `cycles`"), "{}", text(&output.stderr));

    let brief = text(&place.output(&[&args[..], &["--brief"]].concat()).stdout);
    assert_eq!(brief.matches(headline[0]).count(), 1, "{brief}");
    assert!(brief.ends_with(&format!("{}\n{}\n", headline[1], headline[0])), "{brief}");
    assert!(!brief.contains("channel"), "{brief}");
}
