// SPDX-License-Identifier: Apache-2.0
//! `whimbrel calibrate`: a file that the simulator takes, and what is refused.

mod common;

use std::fs;
use std::process::{Child, Command};

use common::{Place, root, text};

/// Rows as `whimbrel bench --json` writes them, of a machine that nobody has.
fn rows() -> String {
    let row = |bench: &str, p50: f64| format!(r#"{{"bench":"{bench}","unit":"ns","p50":{p50}}}"#);
    let copy = |bench: &str, p50: f64, against: f64| {
        let beside = format!(r#","against":"memcpy on one core","against_p50":{against}}}"#);
        row(bench, p50).replace('}', &beside)
    };
    let wake = |bench: &str, p50: f64, against: f64| {
        let beside = format!(r#","against":"what follows","against_p50":{against}}}"#);
        row(&format!("wake.{bench}"), p50).replace('}', &beside)
    };
    let all = [
        wake("100us.notice", 45_600.0, 15_600.0),
        wake("100us.ring", 15_600.0, 60.0),
        wake("100us.firing", 2_000.0, 1_100.0),
        wake("1ms.notice", 52_800.0, 12_900.0),
        wake("1ms.ring", 12_900.0, 50.0),
        wake("1ms.firing", 1_100.0, 1_060.0),
        wake("100us.attach", 39_500.0, 260.0),
        wake("1ms.attach", 37_500.0, 250.0),
        wake("20ms.notice", 92_500.0, 24_300.0),
        wake("20ms.ring", 24_300.0, 60.0),
        wake("20ms.firing", 2_350.0, 1_090.0),
        wake("20ms.attach", 91_700.0, 1_090.0),
        wake("64KiB.read", 19_000.0, 8_760.0),
        row("switch", 50.0),
        row("channel.64B.spin", 150.0),
        row("channel.4KiB.spin", 550.0),
        row("migration.handoff.spin", 345.0),
        row("migration.replicate.4KiB.copy", 400.0),
        row("migration.replicate.256KiB.copy", 6_000.0),
        copy("migration.replicate.64KiB", 900.0, 600.0),
        copy("migration.replicate.64KiB.cold", 9_000.0, 5_600.0),
        row("migration.recreate.64KiB", 900_000.0),
        row("migration.recreate.4MiB", 6_000_000.0),
        row("alloc.one_kernel.64B", 6.8),
        row("agent.100Hz.8tasks", 17.0),
        row("agent.100Hz.16tasks", 26.0),
        row("coordinator.100Hz.8tasks", 16.0),
        row("coordinator.100Hz.16tasks", 23.0),
    ];
    format!("[{}]", all.join(","))
}

fn calibrate(place: &Place, more: &[&str]) -> serde_json::Value {
    let path = place.path("rows.json");
    fs::write(&path, rows()).unwrap();
    let args = ["calibrate", "--rows", path.to_str().unwrap(), "--mhz", "2500", "--json"];
    place.json(&[&args[..], more].concat(), 0)
}

#[test]
fn a_machine_that_was_not_measured_cannot_be_simulated_until_it_is() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let sim = |config: &str| {
        let args = ["sim", app.to_str().unwrap(), "--platform", "host", "--json", "--quiet"];
        let model = ["--compute", "model", "--set", "output=", "--duration", "1s"];
        let mut command = place.command(&[&args[..], &model].concat());
        command.env("XDG_CONFIG_HOME", place.path(config)).output().unwrap()
    };
    let refused = sim("config");
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("this machine was not measured"));
    assert!(text(&refused.stderr).contains("whimbrel calibrate"));

    let file = place.path("config/whimbrel/host.toml");
    let result = calibrate(&place, &["--cores", "0,0", "-o", file.to_str().unwrap()]);
    assert_eq!((&result["cores"], &result["hz"]), (&2.into(), &2_500_000_000u64.into()));
    let done = sim("config");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&summary["platform"], &summary["deadline_misses"]), (&"host".into(), &0.into()));
    // Six tasks of some ten microseconds each, fifty times a second.
    let load = summary["cores"][0]["load"].as_f64().unwrap();
    assert!((1e-4..1e-1).contains(&load), "{load}");
}

#[test]
fn a_platform_is_named_after_its_file_and_the_table_shows_each_row_twice() {
    let place = Place::new();
    let path = place.path("my-board.toml");
    let result = calibrate(&place, &["-o", path.to_str().unwrap()]);
    assert!(fs::read_to_string(&path).unwrap().contains("name = \"my_board\""));
    let switch =
        result["rows"].as_array().unwrap().iter().find(|r| r["bench"] == "switch").unwrap();
    assert_eq!(switch["measured"], switch["given_back"]);
}

#[test]
fn an_application_is_run_really_for_its_cycles_and_the_check_compares_both() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let app = app.to_str().unwrap();
    let path = place.path("measured.toml");
    let path = path.to_str().unwrap();
    let result = calibrate(
        &place,
        &[
            "--quick", "--app", app, "--cores", "0", "-o", path, "--set", "output=", "--set",
            "plays=50",
        ],
    );
    let tasks: Vec<_> =
        result["work"].as_array().unwrap().iter().map(|w| w["task"].clone()).collect();
    assert_eq!(tasks, ["lpf", "demodulator", "bpf", "sum"]);
    assert_simulated_as_measured(&place, app, path, &result["work"]);

    let (status, found, _) = check(&place, app, path);
    let throughput = &found["figures"][0];
    assert_eq!(throughput["unit"], "frames/s");
    let ratio = throughput["simulated"].as_f64().unwrap() / throughput["real"].as_f64().unwrap();
    // Only sanity: what else runs on this machine slows one side down, and not the other.
    assert!((0.1..10.0).contains(&ratio), "{throughput}");
    let verdict = &throughput["verdict"];
    let [low, high] = [0, 1].map(|end| throughput["interval"][end].as_f64().unwrap());
    assert!(low <= throughput["real"].as_f64().unwrap() && high >= low, "{throughput}");
    assert_eq!(found["confidence"], 0.75, "of three runs");
    // It was measured in the check, too.
    let since = found["since"].as_array().unwrap();
    assert!(since.iter().any(|change| change["what"] == "sum, own rate"), "{since:?}");
    // Other tests may keep the machine busy; then there is no error, and the answer is no.
    let busy = found["busy"].as_bool().unwrap();
    assert_eq!(status, i32::from(busy));
    assert_eq!(throughput["error_percent"].is_null(), busy, "{throughput}");
    assert_eq!(verdict.is_null(), busy, "{throughput}");
}

/// A simulated firing takes what was measured, and not what the middleware costs besides.
fn assert_simulated_as_measured(place: &Place, app: &str, path: &str, work: &serde_json::Value) {
    let sim = ["sim", app, "--platform", path, "--fast", "--compute", "model", "--json", "--quiet"];
    let set = ["--set", "output=", "--set", "plays=50", "--cores", "1"];
    let summary = place.json(&[&sim[..], &set].concat(), 0);
    for firing in work.as_array().unwrap() {
        let all = summary["tasks"].as_array().unwrap().iter();
        let busy = all.filter(|task| task["task"] == firing["task"]);
        let busy: Vec<f64> = busy.map(|task| task["busy_ns"].as_f64().unwrap()).collect();
        let firings = summary["frames"].as_f64().unwrap() * busy.len() as f64;
        let (ns, measured) = (busy.iter().sum::<f64>() / firings, firing["warm_ns"].as_f64());
        assert!((ns / measured.unwrap() - 1.0).abs() < 0.005, "{ns} {firing}");
    }
}

/// The exit status, the JSON and the messages of a short check on one processor.
fn check(place: &Place, app: &str, platform: &str) -> (i32, serde_json::Value, String) {
    let check = ["calibrate", "--check", app, "--platform", platform, "--cores", "0", "--quick"];
    let set = ["--set", "output=", "--set", "plays=50", "--json"];
    let output = place.output(&[&check[..], &set].concat());
    let said = text(&output.stderr);
    let found = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    (output.status.code().unwrap(), found, said)
}

#[test]
fn a_check_on_one_processor_that_is_named_twice_says_that_it_needs_two() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let check = ["calibrate", "--check", app.to_str().unwrap(), "--platform", "mpsoc3"];
    let output = place.output(&[&check[..], &["--cores", "0,0", "--quick"]].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("needs two processors, and 0,0 is one"), "{said}");
}

/// Two programs that do nothing but take processor 0, on which these tests measure.
struct Load([Child; 2]);

impl Load {
    fn start() -> Self {
        let spin = ["-c", "0", "sh", "-c", "while :; do :; done"];
        Self([(); 2].map(|()| Command::new("taskset").args(spin).spawn().unwrap()))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn on_a_busy_machine_the_check_says_by_how_much_instead_of_an_error() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let load = Load::start();
    let (status, found, said) = check(&place, app.to_str().unwrap(), "epyc2");
    drop(load);
    assert_eq!((status, &found["busy"]), (1, &true.into()), "{said}");
    let machine = &found["machine"][0];
    assert_eq!((&machine["busy"], &machine["runs"]), (&true.into(), &3.into()), "{machine}");
    // One of at least three programs had the processor at any moment.
    assert!(machine["others_percent"].as_f64().unwrap() > 20.0, "{machine}");
    assert!(machine["involuntary_per_s"].as_f64().unwrap() > 0.0, "{machine}");
    for figure in found["figures"].as_array().unwrap() {
        assert!(figure["error_percent"].is_null() && figure["real"].is_number(), "{figure}");
    }
    assert!(said.contains("the machine was busy in"), "{said}");
    assert!(said.contains("stop what else runs"), "{said}");
}

#[test]
fn what_was_measured_on_a_busy_machine_says_so() {
    let place = Place::new();
    let (rows_path, file) = (place.path("rows.json"), place.path("busy.toml"));
    fs::write(&rows_path, rows()).unwrap();
    let app = root().join("apps/fm_radio/app.toml");
    let measure = |more: &[&str]| {
        let head = ["calibrate", "--rows", rows_path.to_str().unwrap(), "--cores", "0", "--json"];
        let tail = ["--quick", "--set", "output=", "-o", file.to_str().unwrap()];
        let output = place.output(&[&head[..], &tail, more].concat());
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["machine"].clone(), text(&output.stderr))
    };
    let load = Load::start();
    let (machine, said) = measure(&["--set", "plays=50", "--app", app.to_str().unwrap()]);
    let (unmeasured, quiet) = measure(&[]);
    drop(load);
    assert!(
        machine["busy"] == true && machine["others_percent"].as_f64() > Some(20.0),
        "{machine}"
    );
    assert!(said.contains("the machine was busy: other programs took"), "{said}");
    assert!(said.contains("calibrate again"), "{said}");
    assert!(unmeasured.is_null() && !quiet.contains("busy"), "{quiet}");
}

#[test]
fn rows_that_are_missing_or_make_no_sense_are_refused() {
    let place = Place::new();
    let path = place.path("rows.json");
    let with = |content: &str| {
        fs::write(&path, content).unwrap();
        place.error(&["calibrate", "--rows", path.to_str().unwrap(), "-o", "out.toml"])
    };
    assert!(with("[]").contains("the benchmarks have no row"));
    assert!(with("{").contains("has no rows"));
    assert!(
        with(&rows().replace("\"p50\":50", "\"p50\":-50"))
            .contains("the row switch of the benchmarks is -50")
    );
    let missing = place.error(&["calibrate", "--rows", "nothing.json", "-o", "out.toml"]);
    assert!(missing.contains("nothing.json cannot be read"), "{missing}");
    assert!(!place.path("out.toml").exists());
}

#[test]
fn a_task_to_check_must_exist_and_a_file_must_have_a_folder() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let said = place.error(&["calibrate", "--check", app.to_str().unwrap(), "--task", "nobody"]);
    assert!(said.contains("fm_radio has no task nobody"), "{said}");
    fs::write(place.path("rows.json"), rows()).unwrap();
    let said =
        place.error(&["calibrate", "--rows", "rows.json", "--mhz", "1", "-o", "rows.json/x.toml"]);
    assert!(said.contains("cannot be written"), "{said}");
    for args in [["--check", "a", "-o", "b"], ["--check", "a", "--app", "b"]] {
        assert_eq!(place.output(&[&["calibrate"], &args[..]].concat()).status.code(), Some(2));
    }
}

#[test]
fn processors_that_cannot_be_used_and_one_that_is_too_few_are_refused_before_anything_is_measured()
{
    let place = Place::new();
    fs::write(place.path("rows.json"), rows()).unwrap();
    for args in
        [&["--quick", "--cores", "65535"][..], &["--rows", "rows.json", "--cores", "0,65535"]]
    {
        let said = place.error(&[&["calibrate", "-o", "out.toml"], args].concat());
        assert!(said.contains("processor 65535 cannot be used"), "{said}");
        assert!(said.contains("this process may use"), "{said}");
    }
    for one in ["0", "0,0"] {
        let said = place.error(&["calibrate", "--quick", "--cores", one, "-o", "out.toml"]);
        assert!(said.contains("measuring needs two processors"), "{said}");
        assert!(!said.contains("measuring switch"), "{said}");
    }
    assert!(!place.path("out.toml").exists());
    calibrate(&place, &["--cores", "0", "-o", place.path("out.toml").to_str().unwrap()]);
    let written = fs::read_to_string(place.path("out.toml")).unwrap();
    assert!(written.contains("\"1 processor as measured"), "{written}");
}

#[test]
fn a_platform_to_check_is_looked_at_before_anything_is_run() {
    let place = Place::new();
    let app = root().join("apps/fm_radio/app.toml");
    let said = place.error(&["calibrate", "--check", app.to_str().unwrap(), "--platform", "nope"]);
    assert!(said.contains("no platform is called `nope`"), "{said}");
    assert!(!said.contains("on real cores"), "{said}");

    let one = place.path("one.toml");
    let one = one.to_str().unwrap();
    calibrate(&place, &["--cores", "0", "-o", one]);
    let check = ["calibrate", "--check", app.to_str().unwrap(), "--platform", one];
    let said = place.error(&[&check[..], &["--cores", "0,0"]].concat());
    assert!(said.contains("one has 1 core, and runs on two are compared"), "{said}");
    assert!(!said.contains("on real cores"), "{said}");
}
