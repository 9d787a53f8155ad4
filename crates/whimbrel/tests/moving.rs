// SPDX-License-Identifier: Apache-2.0
//! How tasks move and who decides: what is refused, what the helper is told, what is shown of it.
//! Helpers here are scripts, so that every mode and policy can be shown.

use std::fs;

use crate::common::{Place, STREAM, text};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// What `run` says of the stream with these options.
fn refusal(place: &Place, args: &[&str]) -> String {
    let app = place.app(STREAM);
    let said = place.error(&[&["run", app.to_str().unwrap(), "--quiet"], args].concat());
    said.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A helper that ends a run with these lines.
fn helper_that_says(lines: &[Value]) -> String {
    let say = lines.iter().map(|line| format!("cat >&3 <<'END'\n{line}\nEND\n"));
    format!("read -r line <&3\n{}", say.collect::<String>())
}

/// A helper that keeps its plan and leaves.
const KEEPS_ITS_PLAN: &str = "read -r line <&3; printf '%s' \"$line\" > plan; exit 7";

fn kept_plan(place: &Place) -> Value {
    let text = fs::read_to_string(place.path("plan")).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["plan"].take()
}

/// The plan that a run writes with these options.
fn plan(args: &[&str]) -> Value {
    let (_folder, place) = Place::scripted(KEEPS_ITS_PLAN);
    let app = place.app(STREAM);
    let table = "[[row]]\nframe_rate = 450\n[[row]]\nframe_rate = 900\nmapping = { worker = 1 }\n";
    fs::write(place.path("table.toml"), table).unwrap();
    let output = place.output(&[&["run", app.to_str().unwrap(), "--cores", "0,0"], args].concat());
    assert!(text(&output.stderr).contains("ended with status 7"), "{}", text(&output.stderr));
    kept_plan(&place)
}

/// What a plan says of who decides.
fn deciders(plan: &Value) -> Value {
    let names =
        ["program", "transport", "agents_ns", "coordinator", "policy", "rows", "rate_millihz"];
    names.iter().map(|name| ((*name).to_owned(), plan[name].clone())).collect()
}

#[test]
fn a_run_that_is_told_nothing_tells_of_agents_and_the_rate_only() {
    let told = deciders(&plan(&[]));
    let rate = told["rate_millihz"].as_u64().unwrap();
    assert!(rate > 0);
    let expected = json!({"program": null, "transport": null, "agents_ns": 100_000_000,
                          "coordinator": 0, "policy": null, "rows": [], "rate_millihz": rate});
    assert_eq!(told, expected);
    assert_eq!(deciders(&plan(&["--policy", "none"])), told);
}

#[test]
fn a_policy_is_told_with_its_agents_its_coordinator_and_the_rate() {
    let args = ["--policy", "balance:margin=5", "--coordinator", "1", "--transport", "buffer"];
    let plan = plan(&[&args[..], &["--frame-rate", "12.5", "--mode", "replicate"]].concat());
    let expected = json!({"program": null, "transport": "buffer", "agents_ns": 100_000_000,
                          "coordinator": 1, "rows": [], "rate_millihz": 12500,
                          "policy": {"name": "balance", "params": ["margin=5"]}});
    assert_eq!(deciders(&plan), expected);
    let tasks = plan["tasks"].as_array().unwrap();
    assert!(tasks.iter().all(|task| task["mode"] == "replicate"), "{tasks:?}");
}

#[test]
fn tasks_move_where_they_wait_if_the_run_says_so() {
    let at_waits = |args: &[&str]| {
        let told = plan(args)["tasks"].clone();
        let tasks = told.as_array().unwrap().iter();
        tasks.map(|task| task["moves_at_waits"] == true).collect::<Vec<_>>()
    };
    assert!(!at_waits(&[]).contains(&true));
    assert!(!at_waits(&["--migration-points", "checkpoints"]).contains(&true));
    assert!(!at_waits(&["--migration-points", "waits"]).contains(&false));
}

#[test]
fn agents_report_as_often_as_they_are_told_also_without_a_policy() {
    let told = deciders(&plan(&["--agent-period", "20ms", "--fast"]));
    let expected = json!({"program": null, "transport": null, "agents_ns": 20_000_000,
                          "coordinator": 0, "policy": null, "rows": [], "rate_millihz": 0});
    assert_eq!(told, expected);
}

#[test]
fn a_table_is_told_row_by_row_and_chooses_its_policy() {
    let rows = json!([
        {"rate_millihz": 450_000, "points": [0, 0], "cores": [0, 0, 0]},
        {"rate_millihz": 900_000, "points": [0, 0], "cores": [0, 1, 0]},
    ]);
    let told = plan(&["--table", "table.toml"]);
    assert_eq!((&told["policy"]["name"], &told["rows"]), (&json!("table"), &rows));
    let other = plan(&["--table", "table.toml", "--policy", "static"]);
    assert_eq!((&other["policy"]["name"], &other["rows"]), (&json!("static"), &rows));
}

#[test]
fn the_program_of_recreated_tasks_lies_beside_the_module() {
    let (_folder, place) = Place::scripted(KEEPS_ITS_PLAN);
    let app = place.app(STREAM);
    let module = place.path("tasks.so");
    fs::write(&module, "").unwrap();
    let said = fs::read_to_string(&app).unwrap();
    let module_line = said.lines().find(|line| line.starts_with("module")).unwrap();
    fs::write(&app, said.replace(module_line, "module = \"tasks.so\"")).unwrap();

    let args = ["run", app.to_str().unwrap(), "--mode", "recreate"];
    assert_snapshot!("no_program", place.error(&args));
    fs::write(place.path("tasks.task"), "").unwrap();
    place.output(&args);
    let program = place.path("tasks.task").display().to_string();
    assert_eq!(kept_plan(&place)["program"], json!(program));
}

#[test]
fn what_cannot_be_is_refused_before_anything_starts() {
    let place = Place::new();
    let cases: [(&[&str], &str); 9] = [
        (&["--coordinator", "2", "--cores", "0,0"], "--coordinator: core 2 does not exist"),
        (&["--policy", "table"], "--policy table: there is no table to decide by"),
        (&["--table", "nowhere.toml"], "--table: nowhere.toml cannot be read"),
        (&["--mode", "teleport"], "write one of handoff, replicate, recreate, reenter"),
        (&["--migration-points", "home"], "write one of checkpoints, waits"),
        (&["--transport", "pigeon"], "write one of auto, alias, buffer"),
        (&["--policy", "two words"], "invalid policy `two words`"),
        (&["--policy", "balance:margin"], "invalid parameter `margin`"),
        (&["--agent-period", "10us"], "the period of agents is at least 1ms"),
    ];
    for (args, expected) in cases {
        let said = refusal(&place, args);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

#[test]
fn a_table_that_names_a_core_too_many_is_shown_at_its_line() {
    let place = Place::new();
    let table = "[[row]]\nframe_rate = 450\nmapping = { worker = 2 }\n";
    fs::write(place.path("table.toml"), table).unwrap();
    assert_snapshot!(refusal(&place, &["--cores", "0,0", "--table", "table.toml"]));
}

#[test]
fn a_task_that_cannot_be_recreated_is_shown_where_it_stands() {
    let place = Place::new();
    let app = place.app(&STREAM.replacen("restart = true", "", 1));
    assert_snapshot!(place.error(&["run", app.to_str().unwrap(), "--mode", "recreate"]));
}

#[test]
fn a_policy_that_the_helper_does_not_know_is_named() {
    let text = "there is no policy of this name, here or in the module";
    let error = json!({"error": {"kind": "policy", "task": "", "index": 0, "core": null,
                                 "key": "balanced", "text": text}});
    let (_folder, place) = Place::scripted(&(helper_that_says(&[error]) + "exit 2"));
    assert_snapshot!(refusal(&place, &["--policy", "balanced"]));
}

/// The totals of three tasks, of which two move with what is theirs.
fn status() -> Value {
    let core = |core: u32| {
        json!({"core": core, "state": "up", "busy_ns": 500_000_000, "polling_ns": 0,
               "switches": 7, "sleeps": 3, "notes": 1, "hz": 0, "load_ppm": 0, "energy_uj": 0,
               "points": []})
    };
    let task = |task: &str, mode: &str, reserved: u64, images: u64| {
        json!({"task": task, "index": 0, "core": 1, "state": "ended", "busy_ns": 1_000_000,
               "polling_ns": 0, "runs": 1, "jobs": 2, "misses": 0, "worst_late_ns": 0,
               "migrations": 1, "refused": 0, "restarts": images / 4, "heap_bytes": 10,
               "heap_peak_bytes": 2000, "mode": mode, "reserved_bytes": reserved,
               "images": images, "replayed": images / 2, "skipped": 0, "damaged": 0, "load_ppm": 0,
               "context_bytes": 0, "shared_bytes": 0, "shared_peak_bytes": 0, "shared_left": 0})
    };
    json!({"time_ns": 1_000_000_000, "live": 0, "cores": [core(0), core(1)], "channels": [],
           "tasks": [task("source", "handoff", 0, 0), task("worker", "replicate", 655_360, 9),
                     task("sink", "recreate", 4096, 0)],
           "policy": "balance", "coordinator": 1, "rate_millihz": 500_000, "energy_source": "",
           "machine_energy_uj": 0})
}

fn migration(task: &str, mode: &str, by: &str, copied_ns: u64, bytes: u64) -> Value {
    json!({"migration": {"task": task, "index": 0, "source": 0, "target": 1, "status": "ok",
           "request_ns": 1000, "parked_ns": 3000, "attached_ns": 8000, "running_ns": 9500,
           "output_ns": 20_000, "copied_ns": copied_ns, "bytes": bytes, "mode": mode, "by": by}})
}

/// What a run through every mode says, with these options.
fn result(args: &[&str]) -> String {
    let started = json!({"started": {"pid": 1, "kernels": [], "gvm_bytes": 1, "start_ns": 0,
                                     "clock": "counter"}});
    let advice = json!({"advice": {"time_ns": 2_000_000, "policy": "balance", "core": 1,
                        "text": "it moved task 7, of which there are 3: ignored"}});
    let end = json!({"end": {"status": status(), "dropped_events": 0, "dropped_migrations": 0,
                             "ok": true}});
    let lines = [
        started,
        migration("source", "handoff", "task", 0, 0),
        migration("worker", "replicate", "policy", 9000, 70_000),
        migration("sink", "recreate", "user", 7000, 300),
        advice,
        end,
    ];
    let (_folder, place) = Place::scripted(&helper_that_says(&lines));
    let app = place.app(STREAM);
    let output = place.output(&[&["run", app.to_str().unwrap(), "--cores", "0,0"], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_result_shows_modes_copies_who_asked_and_what_was_ignored() {
    assert_snapshot!(result(&[]));
}

#[test]
fn a_summary_holds_modes_copies_who_asked_and_what_was_ignored() {
    let summary: Value = serde_json::from_str(&result(&["--json", "--policy", "balance"])).unwrap();
    assert_eq!(summary["options"]["policy"], "balance");
    assert_eq!(summary["options"]["agents_ns"], 100_000_000);
    assert_eq!(summary["options"]["mode"], Value::Null);
    assert_eq!((&summary["policy"], &summary["coordinator"]), (&json!("balance"), &json!(1)));
    assert_eq!(summary["rate_millihz"], 500_000);
    assert_eq!(summary["modes"][2]["reserved_bytes"], 655_360);
    assert_eq!(summary["tasks"][1]["replayed"], 4);
    assert_eq!(summary["migrations"][2]["by"], "policy");
    assert_eq!(summary["advice"][0]["core"], 1);
    let copied = |latency: &&Value| latency["phase"].as_str().unwrap().ends_with("to copied");
    let latencies = summary["migration_latency"].as_array().unwrap();
    let modes: Vec<&Value> = latencies.iter().filter(copied).map(|l| &l["mode"]).collect();
    assert_eq!(modes, ["recreate", "replicate"]);
}
