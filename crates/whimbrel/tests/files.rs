// SPDX-License-Identifier: Apache-2.0
//! The verbs that make one file of another: what they write, and where.

use std::fs;

use crate::common::{Place, root, text};
use insta::assert_snapshot;

fn sample(file: &str) -> String {
    root().join("crates/model/tests/import").join(file).display().to_string()
}

/// These verbs start nothing, so they need no helpers.
fn place() -> Place {
    Place::with_helpers(std::env::temp_dir())
}

#[test]
fn an_import_is_written_to_standard_output_and_its_warnings_to_standard_error() {
    let output = place().output(&["import", &sample("periodic.json"), "--mhz", "532"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("cycles = 531947\n"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("`mem` of `nice` has no meaning here"));
    assert!(!text(&output.stdout).contains("no meaning"));
}

#[test]
fn what_was_imported_is_drawn_as_the_file_it_came_from_is() {
    let place = place();
    let toml = place.path("h263.toml").display().to_string();
    let output = place.output(&["import", &sample("h263.xml"), "-o", &toml]);
    assert!(output.status.success() && output.stdout.is_empty());

    let dot = place.path("h263.dot").display().to_string();
    assert!(place.output(&["graph", &toml, "-o", &dot]).status.success());
    let drawn = fs::read_to_string(&dot).unwrap();
    assert!(drawn.contains("594 → 1 per firing"), "{drawn}");
    assert_eq!(text(&place.output(&["graph", &sample("h263.xml")]).stdout), drawn);
}

#[test]
fn the_radio_is_drawn_with_the_parameters_that_are_set() {
    let radio = root().join("apps/fm_radio/app.toml").display().to_string();
    let place = place();
    let drawn = text(&place.output(&["graph", &radio]).stdout);
    assert!(drawn.starts_with("digraph \"fm_radio\" {"), "{drawn}");
    assert!(place.error(&["graph", &radio, "--set", "nothing=1"]).contains("nothing"));
}

#[test]
fn a_file_that_cannot_be_imported_is_shown_at_its_line_and_nothing_is_written() {
    let place = place();
    fs::write(place.path("a.json"), "{\n  \"tasks\" : { \"a\" : { \"rum\" : 1 } }\n}\n").unwrap();
    assert_snapshot!(place.error(&["import", "a.json", "-o", "a.toml"]));
    assert!(!place.path("a.toml").exists());
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let place = place();
    assert!(place.error(&["import", "none.json"]).contains("none.json cannot be read"));
    assert!(place.error(&["graph", "none.toml"]).contains("none.toml cannot be read"));
    fs::write(place.path("app.txt"), "").unwrap();
    assert!(place.error(&["import", "app.txt"]).contains("app.txt is neither .json nor .xml"));
    let args = ["import", &sample("cd2dat.xml"), "-o", "no/such/folder.toml"];
    assert!(place.error(&args).contains("no/such/folder.toml cannot be written"));
    for mhz in ["0", "-5", "1e9", "fast"] {
        let output = place.output(&["import", &sample("cd2dat.xml"), "--mhz", mhz]);
        assert_eq!(output.status.code(), Some(2), "{mhz}");
    }
}

#[test]
fn a_byte_order_mark_before_a_file_is_passed_over() {
    let place = Place::new();
    let thread = r#"{"tasks":{"t":{"run":10,"timer":{"ref":"a","period":100}}}}"#;
    fs::write(place.path("t.json"), format!("\u{feff}{thread}")).unwrap();
    let done = place.output(&["import", "t.json", "-o", "t.toml"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let toml = fs::read_to_string(place.path("t.toml")).unwrap();
    fs::write(place.path("t.toml"), format!("\u{feff}{toml}")).unwrap();
    let done = place.output(&["graph", "t.toml"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
}

#[test]
fn a_text_that_is_no_toml_at_all_is_told_by_its_first_lines() {
    let place = Place::new();
    let prose = "It was a dark and stormy night, and nothing was TOML.\n".repeat(2000);
    fs::write(place.path("app.toml"), prose).unwrap();
    let app = root().join("apps/synthetic/app.toml");
    let sim = ["sim", app.to_str().unwrap(), "--platform", "app.toml"];
    for args in [&["graph", "app.toml"][..], &["run", "app.toml"], &sim] {
        let said = place.error(args);
        assert!(said.contains("this is not TOML"), "{said}");
        assert!(said.contains(" more in app.toml"), "{said}");
        assert!(said.len() < 10_000, "{}", said.len());
    }
}
