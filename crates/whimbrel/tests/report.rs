// SPDX-License-Identifier: Apache-2.0
//! `whimbrel report`.

use std::fs;

use crate::common::{Place, STREAM, text};

/// How many cores it has.
const CORES: usize = 2;

/// A place with the folder `run` of a run that was recorded.
fn recorded() -> Place {
    let place = Place::new();
    let app = place.app(STREAM);
    let app = app.to_str().unwrap();
    let args = [
        "run",
        app,
        "--record",
        "run",
        "--duration",
        "200ms",
        "--quiet",
        "--json",
        "--cores",
        "0,0",
    ];
    let output = place.output(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    place
}

#[test]
fn a_recorded_run_becomes_a_page() {
    let place = recorded();
    let output = place.output(&["report", "run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("report.html: "));
    let page = fs::read_to_string(place.path("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("<title>run · Whimbrel</title>"));
    let printed = place.output(&["report", "run", "-o", "-"]);
    assert_eq!(text(&printed.stdout), page);
    let quiet = place.output(&["report", "run", "-q", "-o", "again.html"]);
    assert_eq!((text(&quiet.stderr), text(&quiet.stdout)), (String::new(), String::new()));
    assert_eq!(fs::read_to_string(place.path("again.html")).unwrap(), page);
}

#[test]
fn runs_and_explorations_share_a_page() {
    let place = recorded();
    fs::create_dir(place.path("found")).unwrap();
    fs::write(place.path("found/explore.csv"), "id,energy_mj,pareto\n0,1.5,1\n").unwrap();
    let output = place.output(&["report", "run", "run", "found", "-o", "-"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("<title>run, run, found · Whimbrel</title>"));
}

#[test]
fn what_is_no_recorded_run_is_an_error_that_says_what_to_name() {
    let place = Place::new();
    let said = place.error(&["report", "."]);
    assert!(said.contains("not the folder of a recorded run"), "{said}");
    assert!(said.contains("help: name folders that `whimbrel run --record` made"), "{said}");
    fs::write(place.path("explore.csv"), "id,energy_mj\n0,1.5\n").unwrap();
    let said = place.error(&["report", "."]);
    assert!(said.contains("explore.csv has no column `pareto`"), "{said}");
    assert!(said.contains("help: name folders that `whimbrel explore` made"), "{said}");
    assert_eq!(place.output(&["report"]).status.code(), Some(2));
}

#[test]
fn a_page_that_cannot_be_written_leaves_nothing_behind() {
    let place = recorded();
    fs::create_dir(place.path("folder")).unwrap();
    let before = fs::read_dir(place.path("")).unwrap().count();
    let said = place.error(&["report", "run", "-o", "folder"]);
    assert!(said.contains("folder cannot be written"), "{said}");
    assert_eq!(fs::read_dir(place.path("")).unwrap().count(), before);
}

#[test]
fn what_is_missing_of_a_run_is_told_with_its_name() {
    let place = recorded();
    let whole = place.output(&["report", "run", "-o", "-"]);
    assert_eq!(text(&whole.stderr), "");
    fs::remove_file(place.path("run/core-0.events")).unwrap();
    let others = fs::read_dir(place.path("run")).unwrap().count();
    assert_eq!(others, CORES, "the streams of the other cores, and the summary");
    let missing = "event streams that are missing: 1 (core-0.events)\n";
    assert_eq!(text(&place.output(&["report", "run", "-o", "-"]).stderr), missing);
    let said = text(&place.output(&["report", "run", "run"]).stderr);
    assert!(said.ends_with(&format!("run: {missing}run: {missing}")), "{said}");
    assert_eq!(text(&place.output(&["report", "run", "--quiet"]).stderr), "");
}
