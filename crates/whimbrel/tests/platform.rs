// SPDX-License-Identifier: Apache-2.0
//! Runs on a platform: emulated frequencies, energy, and frequencies that Linux sets.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Place, Run, STREAM, kill, pid, root, text, wait_until_gone};
use insta::assert_snapshot;
use serde_json::Value;

/// A quarter of the speed of this machine, which is the other core's.
const TWO_SPEEDS: &str = r#"
[platform]
name = "two_speeds"

[[core]]
idle = "off"
start_mhz = 100

[[core.point]]
mhz = 100
active_mw = 80

[[core.point]]
mhz = 400
active_mw = 1000

[[core]]

[[core.point]]
mhz = 400
active_mw = 1000
idle_mw = 250
"#;

const PACED: &str = "[[task]]\nname = \"paced\"\nperiodic = true\ndeadline_frames = 10\n";

fn platform(place: &Place, text: &str) -> String {
    let path = place.path("platform.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn run(place: &Place, app: &Path, args: &[&str]) -> Value {
    let platform = platform(place, TWO_SPEEDS);
    let all = ["run", app.to_str().unwrap(), "--platform", &platform, "--cores", "0,0", "--json"];
    place.json(&[&all[..], args].concat(), 0)
}

#[test]
fn a_rate_too_high_for_the_frequency_misses_deadlines_and_one_that_fits_does_not() {
    let place = Place::new();
    let app = place.app(PACED);
    // A job takes 8 ms at a quarter of the speed: twice its period, then a hundredth of it.
    let jobs = ["--set", "step_ms=2", "--set", "messages=40", "--frame-rate"];
    let hurried = run(&place, &app, &[&jobs[..], &["250"]].concat());
    let jobs = ["--set", "step_ms=2", "--set", "messages=3", "--frame-rate"];
    let calm = run(&place, &app, &[&jobs[..], &["1.25"]].concat());

    assert!(hurried["deadline_misses"].as_u64().unwrap() >= 10, "{hurried}");
    assert_eq!(calm["deadline_misses"], 0);
}

#[test]
fn energy_is_estimated_from_the_time_at_each_point() {
    let place = Place::new();
    let app = place.app(PACED);
    let args = ["--set", "step_ms=5", "--set", "messages=4", "--frame-rate", "100"];
    let summary = run(&place, &app, &args);
    let cores = summary["cores"].as_array().unwrap();
    let at =
        |core: usize, point: usize, key: &str| cores[core]["points"][point][key].as_u64().unwrap();

    assert_eq!(summary["platform"], "two_speeds");
    assert_eq!(summary["options"]["frequency"], "emulate");
    assert_eq!(summary["energy"]["source"], "platform");
    assert_eq!((&cores[0]["hz"], &cores[0]["mean_hz"]), (&100_000_000.into(), &1e8.into()));
    // Four jobs of 5 ms at a quarter of the speed.
    assert!(at(0, 0, "active_ns") > 60_000_000, "{summary}");
    assert_eq!(at(0, 1, "active_ns") + at(0, 1, "idle_ns"), 0);
    // An idle core consumes nothing where it is shut down, and a quarter where it is not.
    assert_eq!(cores[0]["energy_uj"].as_u64().unwrap(), at(0, 0, "active_ns") * 80 / 1_000_000);
    assert_eq!(cores[1]["energy_uj"].as_u64().unwrap(), at(1, 0, "idle_ns") / 4000);
}

#[test]
fn the_tables_show_frequencies_and_energy() {
    let place = Place::new();
    let app = place.app(PACED);
    let path = platform(&place, TWO_SPEEDS);
    let args = ["run", app.to_str().unwrap(), "--platform", &path, "--cores", "0,0"];
    let output = place.output(&[&args[..], &["--set", "messages=1", "--quiet"]].concat());
    let shown = text(&output.stdout);

    for part in ["mean MHz", "100: 100 %", "estimated from the platform's power"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn the_radio_on_the_slowest_core_of_mpsoc3_keeps_up_with_a_rate_that_fits_only() {
    let place = Place::new();
    let slow = fs::read_to_string(root().join("platforms/mpsoc3.toml")).unwrap();
    let slow = slow.replace("idle = \"on\"", "idle = \"on\"\nstart_mhz = 100");
    let path = platform(&place, &slow);
    let app = root().join("apps/fm_radio/app.toml");
    let args = ["run", app.to_str().unwrap(), "--platform", &path, "--cores", "0,0,0"];
    let args = [&args[..], &["--json", "--set", "output="]].concat();
    let at_rate = |rate: &str, duration: &str| {
        place.json(&[&args[..], &["--duration", duration, "--frame-rate", rate]].concat(), 0)
    };
    let fast = ["--fast", "--set", "plays=20", "--duration", "1s"];
    let fast = place.json(&[&args[..], &fast].concat(), 0);
    let most = fast["frames_per_s"].as_f64().unwrap();

    // Whatever the machine does meanwhile, it does not become eight times faster.
    let hurried = at_rate(&format!("{:.3}", most * 8.0), "1500ms");
    assert!(hurried["deadline_misses"].as_u64().unwrap() > 0, "{most} frames per second");
    // A busy machine may hold a job up for longer than a period, but not each time.
    let rate = format!("{:.3}", (most / 25.0).min(8.0));
    let kept_up = (0..10).any(|_| at_rate(&rate, "1500ms")["deadline_misses"] == 0);
    assert!(kept_up, "{rate} of {most} frames per second");
}

#[test]
fn a_platform_with_another_number_of_cores_says_how_to_share_a_processor() {
    let place = Place::new();
    let app = place.app(PACED);
    let args = ["run", app.to_str().unwrap(), "--platform", "mpsoc3", "--cores", "0,0"];
    assert_snapshot!(place.error(&args));
}

#[test]
fn a_platform_that_does_not_exist_is_named() {
    let place = Place::new();
    let app = place.app(PACED);
    assert_snapshot!(place.error(&["run", app.to_str().unwrap(), "--platform", "mpsoc9"]));
}

#[test]
fn a_key_that_is_wrong_is_shown_at_its_line() {
    let place = Place::new();
    let app = place.app(PACED);
    platform(&place, &TWO_SPEEDS.replace("idle = \"off\"", "idel = \"off\""));
    let args = ["run", app.to_str().unwrap(), "--platform", "./platform.toml", "--cores", "0,0"];
    assert_snapshot!(place.error(&args));
}

#[test]
fn the_machine_itself_has_nothing_to_emulate() {
    let place = Place::new();
    let app = place.app(PACED);
    let args = ["run", app.to_str().unwrap(), "--platform", "host", "--frequency", "emulate"];
    assert_snapshot!(place.error(&args));
}

// ---- Frequencies set by Linux, on a made-up tree ----

/// One processor, that of `--cores 0`, from 800 MHz to 2 GHz.
fn sysfs(place: &Place) -> PathBuf {
    let folder = place.path("sys/devices/system/cpu/cpu0/cpufreq");
    fs::create_dir_all(&folder).unwrap();
    for (name, value) in [
        ("scaling_min_freq", "800000"),
        ("scaling_max_freq", "2000000"),
        ("scaling_governor", "schedutil"),
        ("scaling_available_governors", "performance schedutil userspace"),
        ("scaling_setspeed", "<unsupported>"),
        ("scaling_available_frequencies", "2000000 1400000 800000"),
        ("cpuinfo_min_freq", "800000"),
        ("cpuinfo_max_freq", "2000000"),
    ] {
        fs::write(folder.join(name), format!("{value}\n")).unwrap();
    }
    folder
}

fn says(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap().trim().to_owned()
}

#[test]
fn linux_sets_the_frequencies_and_they_are_put_back() {
    let place = Place::new();
    let app = place.app(STREAM);
    let folder = sysfs(&place);
    let mut command = place.command(&["run", app.to_str().unwrap(), "--cores", "0", "--json"]);
    command.args(["--frequency", "cpufreq", "--fast", "--set", "messages=50"]);
    let output = command.env("WHIMBREL_SYSFS", place.path("sys")).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();

    assert_eq!(summary["cores"][0]["hz"], 2_000_000_000u64);
    assert_eq!(summary["cores"][0]["points"].as_array().unwrap().len(), 3);
    assert_eq!(summary["energy"]["source"], "");
    assert_eq!(says(&folder, "scaling_setspeed"), "2000000");
    assert_eq!(says(&folder, "scaling_governor"), "schedutil");
}

/// A run that has set the frequencies of a processor, whose attributes are in the folder.
fn start_with_cpufreq(place: &Place) -> (PathBuf, Run<'_>) {
    let app = place.app(STREAM);
    let folder = sysfs(place);
    let sys = place.path("sys");
    let args = [app.to_str().unwrap(), "--cores", "0", "--frequency", "cpufreq"];
    let run = place.start_with(&args, &[("WHIMBREL_SYSFS", sys.to_str().unwrap())]);
    assert_eq!(says(&folder, "scaling_governor"), "userspace");
    (folder, run)
}

#[test]
fn frequencies_are_put_back_after_everything_was_killed() {
    let place = Place::new();
    let (folder, mut run) = start_with_cpufreq(&place);
    let processes = run.processes();
    // The helper is not to put them back when it sees that its command has gone.
    kill(pid(&processes[0]), 19);
    run.signal(9);
    for process in &processes {
        crate::common::kill_if_there(pid(process), 9);
    }
    run.finish();
    wait_until_gone(&processes);
    assert_eq!(says(&folder, "scaling_governor"), "userspace");
    let cleaned =
        place.command(&["clean"]).env("WHIMBREL_SYSFS", place.path("sys")).output().unwrap();
    assert!(cleaned.status.success(), "{}", text(&cleaned.stderr));
    assert_eq!(says(&folder, "scaling_governor"), "schedutil");
    assert_eq!(fs::read_dir(place.runs()).unwrap().count(), 0);
}

#[test]
fn the_helper_of_a_killed_command_restores_the_frequencies() {
    let place = Place::new();
    let (folder, mut run) = start_with_cpufreq(&place);
    let processes = run.processes();
    run.signal(9);
    run.finish();
    wait_until_gone(&processes);
    assert_eq!(says(&folder, "scaling_governor"), "schedutil");
    assert_eq!(says(&folder, "scaling_max_freq"), "2000000");
}

#[test]
fn a_processor_without_cpufreq_is_named() {
    let place = Place::new();
    let app = place.app(STREAM);
    let mut command = place.command(&["run", app.to_str().unwrap(), "--cores", "0"]);
    command.args(["--frequency", "cpufreq"]).env("WHIMBREL_SYSFS", place.path("sys"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("processor 0 does not tell its frequencies"));
}
