// SPDX-License-Identifier: Apache-2.0
//! Cores of several kinds on this machine: which tasks run there, and until when.

use insta::assert_snapshot;

use crate::common::{Place, STREAM, text};

fn stream_on(kinds: &str) -> String {
    STREAM.replacen("name = \"worker\"", &format!("name = \"worker\"\ncore = 1\n{kinds}"), 1)
}

#[test]
fn a_task_starts_and_moves_only_where_its_kinds_allow() {
    let place = Place::new();
    let app = place.app(&stream_on("kinds = [\"dsp\"]"));
    let app = app.to_str().unwrap();
    let three = ["run", app, "--cores", "0,0,0", "--kinds", "gpp,dsp"];

    assert_snapshot!("no_dsp", place.error(&["run", app, "--cores", "0,0"]));
    assert_snapshot!("moved", place.error(&[&three[..], &["--move", "worker=0@1s"]].concat()));
    assert_snapshot!("mapped", place.error(&[&three[..], &["--map", "worker=0"]].concat()));
    let many = ["run", app, "--cores", "0,0", "--kinds", "gpp,dsp,dsp"];
    assert_snapshot!("too_many_kinds", place.error(&many));

    let mut run = place.start(&three[1..]);
    assert_snapshot!("migrated", text(&place.migrate(&["worker", "0"]).stderr));
    let moved = place.migrate(&["worker", "2"]);
    assert!(moved.status.success(), "{}", text(&moved.stderr));
    run.signal(2);
    assert!(run.finish().status.success());
}

#[test]
fn an_application_says_what_its_cores_are() {
    let place = Place::new();
    let app = place.app(&stream_on("kinds = [\"dsp\"]"));
    let said = std::fs::read_to_string(&app).unwrap();
    std::fs::write(&app, said.replacen("[params]", "kinds = [\"gpp\", \"dsp\"]\n[params]", 1))
        .unwrap();
    let app = app.to_str().unwrap();
    let short = ["run", app, "--cores", "0,0", "--set", "messages=5", "--json"];
    let summary = place.json(&short, 0);
    assert_eq!(summary["channels"][1]["received"], 5);
    let other = ["run", app, "--cores", "0,0", "--kinds", "gpp"];
    assert!(place.error(&other).contains("is of kind `gpp`"));
}

/// Another task of the core is more urgent, and the running one never waits: it has one turn.
#[test]
fn on_a_dsp_a_task_runs_until_it_waits() {
    let place = Place::new();
    let urgent = STREAM.replace("restart = true", "priority = 20");
    let app = place.app(&(urgent + "[[task]]\nname = \"slow\"\n"));
    let turns = |kind: &str, duration: &str| {
        let options = ["--cores", "0", "--kinds", kind, "--duration", duration, "--json"];
        let args = [&["run", app.to_str().unwrap()], &options[..]].concat();
        let summary = place.json(&args, 0);
        assert_eq!(summary["tasks"][3]["task"], "slow");
        summary["tasks"][3]["runs"].as_u64().unwrap()
    };
    // A busy machine lets a short run have few turns.
    assert!(["500ms", "2s", "8s"].into_iter().any(|duration| turns("gpp", duration) > 10));
    assert_eq!(turns("dsp", "500ms"), 1);
}
