// SPDX-License-Identifier: Apache-2.0
//! `whimbrel trace`: a recorded run of the FM radio in each format, and what cannot be shown.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::screen::Screen;
use crate::common::{Place, root, text};
use insta::assert_snapshot;
use serde_json::Value;

/// Records some seconds of the radio while its demodulator moves.
fn radio(place: &Place) -> PathBuf {
    let app = root().join("apps/fm_radio/app.toml");
    let folder = place.path("recorded");
    let output = place.output(&[
        "run",
        app.to_str().unwrap(),
        "--cores",
        "0,0",
        "--set",
        "output=",
        "--duration",
        "2s",
        "--shuttle",
        "demodulator=1,0@20ms",
        "--quiet",
        "--record",
        folder.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder
}

/// A run of that many cores on which nothing happens.
fn empty_run(place: &Place, cores: u32) -> PathBuf {
    let folder = place.path("recorded");
    fs::create_dir(&folder).unwrap();
    for core in 0..cores {
        let words = [1, 24, core, 0, 0, 0].map(u32::to_le_bytes);
        let stream = [&b"WBEVENTS"[..], words.as_flattened()].concat();
        fs::write(folder.join(format!("core-{core}.events")), stream).unwrap();
    }
    folder
}

fn trace(place: &Place, folder: &Path, args: &[&str]) -> Output {
    place.output(&[&["trace", folder.to_str().unwrap(), "--format"], args].concat())
}

#[test]
fn every_run_of_a_task_is_a_slice_and_every_migration_that_went_well_an_arrow() {
    let place = Place::new();
    let folder = radio(&place);
    let summary: Value =
        serde_json::from_slice(&fs::read(folder.join("summary.json")).unwrap()).unwrap();
    let tasks = summary["tasks"].as_array().unwrap();
    let runs: u64 = tasks.iter().map(|task| task["runs"].as_u64().unwrap()).sum();
    let migrations = summary["migrations"].as_array().unwrap();
    let moved = migrations.iter().filter(|migration| migration["status"] == "ok").count();
    let missed = &summary["deadline_misses"];
    assert_eq!(summary["dropped_events"], 0);
    assert!(moved > 0);

    for (format, file) in [("perfetto", "pftrace"), ("vcd", "vcd"), ("btf", "btf")] {
        let said = text(&trace(&place, &folder, &[format]).stderr);
        let counts = format!(" {runs} slices, {moved} migrations, {missed} missed deadlines, ");
        assert!(said.contains(&counts), "{said} has not {counts}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let written = fs::read(folder.join("trace").with_extension(file)).unwrap();
        let streamed = trace(&place, &folder, &[format, "-o", "-"]);
        assert!(streamed.status.success() && streamed.stderr.is_empty());
        assert!(written == streamed.stdout, "{format} is the same in a file and in a pipe");
    }
}

#[test]
fn a_killed_run_is_shown_as_far_as_it_was_recorded() {
    let place = Place::new();
    let folder = radio(&place);
    fs::remove_file(folder.join("summary.json")).unwrap();
    let stream = folder.join("core-0.events");
    let bytes = fs::read(&stream).unwrap();
    fs::write(&stream, &bytes[..bytes.len() - 5]).unwrap();
    let output = trace(&place, &folder, &["btf", "-o", "killed.btf"]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    let warnings: Vec<&str> = said.lines().skip(1).collect();
    assert_eq!(
        warnings,
        [
            "the run was killed: it has no summary, so tasks and channels have no names",
            "event streams that end within a record: 1",
        ]
    );
    let trace = fs::read_to_string(place.path("killed.btf")).unwrap();
    assert!(trace.contains(",Core_0,0,T,task_0,0,start\n"), "{trace}");
}

#[test]
fn a_folder_that_is_no_recorded_run_is_refused() {
    let place = Place::new();
    let folder = place.path("recorded");
    fs::create_dir(&folder).unwrap();
    assert_snapshot!(place.error(&["trace", "recorded", "--format", "vcd"]));
}

#[test]
fn a_stream_of_another_version_is_refused() {
    let place = Place::new();
    let stream = empty_run(&place, 1).join("core-0.events");
    let mut bytes = fs::read(&stream).unwrap();
    bytes[8] = 2;
    fs::write(&stream, bytes).unwrap();
    assert_snapshot!(place.error(&["trace", "recorded", "--format", "vcd"]));
}

#[test]
fn a_trace_that_cannot_be_written_leaves_nothing_behind() {
    let place = Place::new();
    empty_run(&place, 1);
    let args = ["trace", "recorded", "--format", "vcd", "-o"];
    assert_snapshot!(place.error(&[&args[..], &["nowhere/trace.vcd"]].concat()));
    fs::create_dir_all(place.path("taken/full")).unwrap();
    let said = place.error(&[&args[..], &["taken"]].concat());
    assert!(said.contains("taken: Is a directory"), "{said}");
    assert_eq!(fs::read_dir(place.path("taken")).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_and_cannot_be_written_to_is_not_replaced() {
    let place = Place::new();
    empty_run(&place, 1);
    let _socket = UnixListener::bind(place.path("socket")).unwrap();
    let said = place.error(&["trace", "recorded", "--format", "vcd", "-o", "socket"]);
    assert!(said.contains("socket: No such device or address"), "{said}");
    assert!(fs::symlink_metadata(place.path("socket")).unwrap().file_type().is_socket());
}

#[test]
fn streams_that_are_missing_or_empty_are_told() {
    let place = Place::new();
    let folder = empty_run(&place, 3);
    fs::remove_file(folder.join("core-1.events")).unwrap();
    fs::write(folder.join("core-2.events"), "").unwrap();
    let summary = r#"{"version": 1, "cores": [{"core": 0}, {"core": 1}, {"core": 2}]}"#;
    fs::write(folder.join("summary.json"), summary).unwrap();
    let output = trace(&place, &folder, &["btf", "-o", "-"]);
    assert!(output.status.success());
    let said = text(&output.stderr);
    let warnings: Vec<&str> = said.lines().collect();
    assert_eq!(
        warnings,
        [
            "event streams that are missing: 1 (core-1.events)",
            "event streams that are empty: 1 (core-2.events)",
        ]
    );
}

#[test]
fn a_binary_trace_is_not_written_to_a_terminal() {
    let place = Place::new();
    empty_run(&place, 1);
    let args = ["trace", "recorded", "--format", "perfetto", "-o", "-"];
    let mut screen = Screen::open(&place.command(&args));
    screen.wait_for("a Perfetto trace is binary");
    assert_eq!(screen.finish().code(), Some(2));
}

#[test]
fn a_run_may_have_more_cores_than_files_may_be_open() {
    let place = Place::new();
    empty_run(&place, 100);
    let trace = place.command(&["trace", "recorded", "--format", "btf", "-o", "-"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 32; exec \"$0\" \"$@\""]).arg(trace.get_program());
    limited.args(trace.get_args()).current_dir(trace.get_current_dir().unwrap());
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_format_that_does_not_exist_is_refused_with_those_that_do() {
    let output = Place::new().output(&["trace", "recorded", "--format", "svg"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("write one of perfetto, vcd, btf"));
}

#[test]
fn quiet_says_nothing() {
    let place = Place::new();
    let folder = empty_run(&place, 1);
    let output = trace(&place, &folder, &["perfetto", "--quiet"]);
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty());
    assert!(folder.join("trace.pftrace").is_file());
}
