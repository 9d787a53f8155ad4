// SPDX-License-Identifier: Apache-2.0
//! The verbs that make one file of another: what they write, and where.

use std::fs;

use crate::common::{Place, root, text};
use insta::assert_snapshot;

fn sample(file: &str) -> String {
    root().join("crates/import/tests/files").join(file).display().to_string()
}

/// These verbs start nothing, so they need no helpers.
fn place() -> Place {
    Place::with_helpers(std::env::temp_dir())
}

#[test]
fn an_import_is_written_to_standard_output_and_its_warnings_to_standard_error() {
    let output = place().output(&["import", &sample("periodic.json"), "--mhz", "532"]);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("run = 531947 "), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("`dl-runtime` of `budget` has no meaning here"));
    assert!(!text(&output.stdout).contains("no meaning"));
}

#[test]
fn what_was_imported_is_drawn_as_the_file_it_came_from_is() {
    let place = place();
    let toml = place.path("h263.toml").display().to_string();
    let output = place.output(&["import", &sample("h263.xml"), "-o", &toml]);
    assert!(output.status.success() && output.stdout.is_empty());
    let said = text(&output.stderr);
    assert!(said.ends_with(&format!("wrote {toml}: whimbrel sim {toml}\n")), "{said}");
    let output = place.output(&["import", &sample("h263.xml"), "-o", "-"]);
    assert_eq!(text(&output.stdout), fs::read_to_string(&toml).unwrap());
    assert!(!text(&output.stderr).contains("wrote"));

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
fn a_file_that_is_no_text_is_shown_where_it_ends_to_be_one() {
    let place = Place::new();
    fs::write(place.path("a.json"), b"\xef\xbb\xbf{\n  \"tasks\" : { \"caf\xe9\" : 1 } }").unwrap();
    fs::write(place.path("a.toml"), b"[app]\nname = \"caf\xe9\"\n").unwrap();
    for (words, at) in [
        (["graph", "a.json"], "[a.json:2:19]"),
        (["graph", "a.toml"], "[a.toml:2:12]"),
        (["import", "a.json"], "[a.json:2:19]"),
    ] {
        let said = place.error(&words);
        assert!(said.contains("this is not UTF-8") && said.contains(at), "{said}");
    }
    for option in ["--platform", "--table", "--board"] {
        let said = place.error(&["run", &sample("player.json"), option, "./a.toml"]);
        assert!(said.contains("this is not UTF-8"), "{option}: {said}");
    }
}

#[test]
fn a_file_that_is_one_long_line_is_shown_around_the_place() {
    let place = place();
    let tasks = (0..2000).map(|n| format!("\"é{n}\":{{\"run\":1}},")).collect::<String>();
    let text = format!("{{\"tasks\":{{{tasks}\"z\":{{\"rum\":5}}}}}}");
    let column = text.find("\"rum").unwrap() + 1;
    fs::write(place.path("a.json"), text).unwrap();
    let said = place.error(&["import", "a.json"]);
    assert!(said.contains("\"rum\":5") && said.contains("unknown key"), "{said}");
    assert!(said.contains(&format!("[a.json:1:{column}]")) && said.len() < 1000, "{said}");
}

#[test]
fn an_import_shows_all_that_it_leaves_out_and_a_simulation_the_first() {
    let place = place();
    let imported = place.output(&["import", &sample("engine.amxmi")]);
    let said = text(&imported.stderr);
    assert!(said.contains("<hwModel> has no meaning here") && !said.contains("more in"), "{said}");
    let drawn = text(&place.output(&["graph", &sample("engine.amxmi")]).stderr);
    assert!(drawn.contains("more in") && drawn.contains("whimbrel import shows them"), "{drawn}");
}

#[test]
fn several_files_are_one_application_and_each_is_told_of_at_its_lines() {
    let place = place();
    let files = [
        ("global.json", r#"{ "global" : { "calibration" : "CPU0" } }"#),
        ("a.json", r#"{ "tasks" : { "t" : { "run" : 1, "resume" : "x" } } }"#),
        ("b.json", r#"{ "tasks" : { "t" : { "suspend" : "x", "run" : 2 } } }"#),
    ];
    for (name, text) in files {
        fs::write(place.path(name), text).unwrap();
    }
    let output = place.output(&["import", "global.json", "a.json", "b.json"]);
    let toml = text(&output.stdout);
    assert!(toml.contains("name = \"global\"") && toml.contains("name = \"t_2\""), "{toml}");
    assert!(text(&output.stderr).contains("[b.json:1:15]"), "{}", text(&output.stderr));
    let dot = text(&place.output(&["graph", "global.json", "a.json", "b.json"]).stdout);
    assert!(dot.contains("t_2"), "{dot}");

    fs::write(place.path("c.json"), r#"{ "tasks" : { "t" : { "rum" : 1 } } }"#).unwrap();
    let told = place.error(&["import", "a.json", "c.json"]);
    assert!(told.contains("[c.json:1:23]") && told.contains("`rum`"), "{told}");
    fs::write(place.path("app.toml"), "[app]\n").unwrap();
    let told = place.error(&["graph", "a.json", "app.toml"]);
    assert!(told.contains("app.toml is an application by itself"), "{told}");
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let place = place();
    assert!(place.error(&["import", "none.json"]).contains("none.json cannot be read"));
    assert!(place.error(&["graph", "none.toml"]).contains("none.toml cannot be read"));
    fs::write(place.path("app.txt"), "").unwrap();
    assert!(place.error(&["import", "app.txt"]).contains("app.txt is of no format that is known"));
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
