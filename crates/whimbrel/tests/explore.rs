// SPDX-License-Identifier: Apache-2.0
//! `whimbrel explore` from its arguments to its files. The simulator is a script that computes
//! outcomes from what the plan says, so that every figure is known.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Place, text, write_script};
use serde_json::Value;

/// Energy is a millijoule for each core and a microjoule for its number; on one core alone seven
/// deadlines are missed; latency is ten milliseconds for each slot of the first channel.
const SIMULATOR: &str = r#"#!/usr/bin/env python3
import json, os, pathlib, sys, time

def note(file, text):
    with open(file, "a") as f:
        f.write(f"{text}\n")

def tell(kind, /, **members):
    print(json.dumps({kind: members}), file=out, flush=True)

def fail(kind, text):
    tell("error", kind=kind, text=text, task="", index=0, core=None, key="")
    sys.exit(2)

def exists(name):
    return pathlib.Path(name).exists()

out = os.fdopen(os.dup(3), "w")
note("processes.txt", os.getpid())
for line in os.fdopen(3):
    plan = json.loads(line).get("plan")
    if plan is None:
        continue
    cores, slots = len(plan["cores"]), plan["channels"][0]["slots"]
    until = max(at["at_ns"] for at in plan["commands"] if "stop" in at["command"])
    tasks = "".join(f" {t['name']}.{t.get('index', 0)}={t.get('core', 0)}" for t in plan["tasks"])
    note("platforms.txt", plan["platform"])
    note("ran.txt", f"{cores} {slots} {tasks}")
    if exists("slow"):
        time.sleep(0.2)
    if exists("broken"):
        fail("module", "no module")
    tell("started", pid=1, kernels=[], gvm_bytes=1, start_ns=1000, clock="virtual")
    if slots == 1:
        fail("deadlock", "a deadlock")
    zero = dict.fromkeys(["polling_ns", "switches", "sleeps", "notes", "hz", "load_ppm"], 0)
    zero.update(state="up", busy_ns=until // 4, points=[])
    listed = [{"core": n, "energy_uj": 1000 + n, **zero} for n in range(cores)]
    task = {"task": "a", "index": 0, "core": 0, "state": "ended", "jobs": 100, "runs": 1}
    task["misses"] = 7 if cores == 1 else 0
    counts = "busy_ns polling_ns worst_late_ns migrations refused restarts images damaged replayed"
    counts += " skipped heap_bytes heap_peak_bytes shared_bytes shared_peak_bytes shared_left"
    counts += " reserved_bytes context_bytes load_ppm"
    task.update(dict.fromkeys(counts.split(), 0), mode="handoff")
    status = {"time_ns": until + 1000, "live": 0, "cores": listed, "tasks": [task], "channels": []}
    status.update(policy="", rate_millihz=0, energy_source="simulation", machine_energy_uj=0)
    rest = {"dropped_events": 0, "dropped_migrations": 0, "ok": True}
    tell("end", status=status, latency_ns=slots * 10000000, **rest)
    if exists("once"):
        break
"#;

const APP: &str = r#"
[app]
name = "three"
frame_rate = 50

[[task]]
name = "a"
periodic = true
cycles = 1000

[[task]]
name = "b"
cycles = 1000

[[task]]
name = "c"
cycles = 1000

[[channel]]
from = "a.out"
to = "b.in"
slot_bytes = 64

[[channel]]
from = "b.out"
to = "c.in"
slot_bytes = 64
"#;

const PLATFORM: &str = r#"
[platform]
name = "three_cores"

[[core]]
count = 3
source = "ours: a test"

[[core.point]]
mhz = 100
active_mw = 84.0

[[core.point]]
mhz = 400
active_mw = 500.0
"#;

struct Bench {
    place: Place,
    _helpers: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let helpers = tempfile::tempdir().unwrap();
        write_script(&helpers.path().join("whimbrel-sim"), SIMULATOR);
        let place = Place::with_helpers(helpers.path().to_owned());
        fs::write(place.path("app.toml"), APP).unwrap();
        fs::write(place.path("platform.toml"), PLATFORM).unwrap();
        // The module of synthetic tasks.
        fs::write(place.path("synthetic.so"), "").unwrap();
        Self { place, _helpers: helpers }
    }

    fn command(&self, args: &[&str]) -> Command {
        let first = ["explore", "app.toml", "--platform", "./platform.toml", "--points", "high"];
        self.place.command(&[&first[..], args].concat())
    }

    /// Standard output and standard error of a command that ends with this status.
    fn say(&self, args: &[&str], status: i32) -> (String, String) {
        let output = self.command(args).output().unwrap();
        let said = self.place.anonymous(&text(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{said}");
        (text(&output.stdout), said)
    }

    /// One line for each simulation: cores, slots of the first channel, core of each task.
    fn ran(&self) -> Vec<String> {
        let mut lines = self.lines("ran.txt");
        lines.sort();
        lines
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.place.path(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

#[test]
fn every_mapping_runs_once_on_the_cores_it_has() {
    let bench = Bench::new();
    let (out, _) = bench.say(&["--json", "--objectives", "energy,misses,cores"], 0);
    // S(3, 1) + S(3, 2) + S(3, 3) mappings of three tasks; energy at the floor is covered already.
    let ran = bench.ran();
    assert!(ran.contains(&"1 14  a.0=0 b.0=0 c.0=0".to_owned()), "{ran:?}");
    assert_eq!(ran.iter().filter(|line| line.starts_with('2')).count(), 3, "{ran:?}");
    assert_eq!(ran.iter().filter(|line| line.starts_with('3')).count(), 1, "{ran:?}");
    let found: Value = serde_json::from_str(&out).unwrap();
    let rate = &found["rates"][0];
    assert_eq!((&rate["rate"], &rate["ran"]), (&50.0.into(), &5.into()));
    let front = rate["front"].as_array().unwrap();
    let energies: Vec<f64> =
        front.iter().map(|of| of["outcome"]["energy_mj"].as_f64().unwrap()).collect();
    assert_eq!(energies, [1.0, 2.001]);
    assert_eq!(front[0]["outcome"]["misses"], 7);
    assert_eq!(front[1]["outcome"]["latency_ms"], 140.0);
    assert_eq!(front[1]["outcome"]["load"][1], 0.25);
    assert_eq!(front[1]["hz"][2], Value::Null);
}

#[test]
fn a_simulator_is_kept_for_the_next_candidate_and_replaced_once_it_has_gone() {
    let bench = Bench::new();
    let args = ["--slots", "4,5,6,7", "--objectives", "energy,misses,latency,cores"];
    bench.say(&args, 0);
    let runs = bench.ran().len();
    assert!(runs > 15, "{runs}");
    let threads = thread::available_parallelism().unwrap().get();
    assert!(bench.lines("processes.txt").len() <= threads.min(runs));
    fs::remove_file(bench.place.path("processes.txt")).unwrap();
    fs::write(bench.place.path("once"), "").unwrap();
    bench.say(&args, 0);
    assert_eq!(bench.ran().len(), 2 * runs);
    assert_eq!(bench.lines("processes.txt").len(), runs);
}

#[test]
fn a_simulation_has_the_cores_of_its_candidate_and_nothing_else() {
    let bench = Bench::new();
    bench.say(&["--core-counts", "2", "--pin", "a=1", "--pin", "b=2", "--pin", "c=1"], 0);
    assert_eq!(bench.ran(), ["2 14  a.0=0 b.0=1 c.0=0"]);
    let text = fs::read_to_string(bench.place.path("platforms.txt")).unwrap();
    let hardware: Value = serde_json::from_str(text.trim()).unwrap();
    let cores = hardware["cores"].as_array().unwrap();
    assert_eq!(cores.len(), 2);
    assert!(cores.iter().all(|core| core["start"] == 1));
}

#[test]
fn the_table_of_the_front_leaves_out_what_does_not_differ() {
    let bench = Bench::new();
    let (out, _) = bench.say(&["--core-counts", "2", "--objectives", "energy,latency"], 0);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "50 frames per second: 3 candidates ran");
    assert_eq!(lines[1], "id  energy mJ  misses  latency ms  cores  MHz        mapping");
    assert_eq!(lines[2], " 0      2.001       0     140.000      2  400/400/-  a=0 b=0 c=1");
    let (out, _) = bench.say(&["--core-counts", "2", "--slots", "4,14"], 0);
    assert!(out.contains("slots  mapping"), "{out}");
}

#[test]
fn the_folder_has_everything_and_is_not_written_over() {
    let bench = Bench::new();
    let table = ["--write-table", "best.toml", "--frame-rates", "25,50"];
    bench.say(&[&["-o", "found"], &table[..]].concat(), 0);
    for name in ["explore.csv", "explore.parquet", "front.json", "evaluated.jsonl"] {
        assert!(bench.place.path("found").join(name).is_file(), "{name}");
    }
    assert!(!bench.place.path("found/explore.parts").exists());
    let rows = fs::read_to_string(bench.place.path("best.toml")).unwrap();
    let parsed = whimbrel_model::Table::parse(&rows).unwrap();
    assert!(rows.contains("frequency_mhz = [400, 400, \"off\"]"), "{rows}");
    assert_eq!(rows.matches("[[row]]").count(), 2);
    drop(parsed);
    let (_, said) = bench.say(&["-o", "found"], 2);
    assert!(
        said.contains("already contains an exploration") && said.contains("--resume"),
        "{said}"
    );
    let (_, said) = bench.say(&["-o", "best.toml"], 2);
    assert!(said.contains("best.toml cannot be made") && said.contains("new folder"), "{said}");
    assert_eq!(fs::read_to_string(bench.place.path("best.toml")).unwrap(), rows);
}

#[test]
fn a_table_goes_where_a_link_leads_and_beside_files_of_other_names() {
    let bench = Bench::new();
    let at = |name: &str| bench.place.path(name);
    symlink("real.toml", at("best.toml")).unwrap();
    fs::write(at("best.toml.part"), "mine").unwrap();
    fs::write(at("real.toml.part"), "mine").unwrap();
    bench.say(&["--write-table", "best.toml"], 0);
    assert!(at("best.toml").is_symlink());
    assert!(fs::read_to_string(at("real.toml")).unwrap().contains("[[row]]"));
    for name in ["best.toml.part", "real.toml.part"] {
        assert_eq!(fs::read_to_string(at(name)).unwrap(), "mine", "{name}");
    }
}

#[test]
fn a_python_that_fails_or_lacks_the_package_is_told_with_what_installs_it() {
    let place = Place::with_helpers(std::env::temp_dir());
    let words = ["explore", "app.toml", "--platform", "mpsoc3", "--scheduler", "tcp://127.0.0.1:1"];
    // A folder of the package's name is none. Python without what is installed beside it:
    fs::create_dir(place.path("whimbrel")).unwrap();
    write_script(&place.path("bare"), "exec python3 -S \"$@\"");
    write_script(&place.path("ill"), "echo 'no codec' >&2; exit 1");
    for (python, why) in [
        ("./bare", "./bare has no package `whimbrel`"),
        ("./ill", "./ill failed (exit status: 1): no codec"),
        ("/bin/false", "/bin/false failed (exit status: 1)"),
        ("/none", "cannot be started"),
    ] {
        let mut command = place.command(&words);
        command.env("WHIMBREL_PYTHON", python).env_remove("PYTHONPATH");
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert!(said.contains(why) && said.contains("pip install ./python"), "{said}");
        assert_eq!(output.status.code(), Some(2));
    }
}

#[test]
fn a_package_in_the_folder_that_it_is_started_in_is_not_run() {
    let place = Place::with_helpers(std::env::temp_dir());
    let words = ["explore", "app.toml", "--platform", "mpsoc3", "--scheduler", "tcp://127.0.0.1:1"];
    write_script(&place.path("bare"), "exec python3 -S \"$@\"");
    fs::create_dir(place.path("whimbrel")).unwrap();
    for module in ["__init__", "cluster"] {
        let ran = "open('ran', 'w')\n";
        fs::write(place.path(&format!("whimbrel/{module}.py")), ran).unwrap();
    }
    let mut command = place.command(&words);
    command.env("WHIMBREL_PYTHON", "./bare").env_remove("PYTHONPATH");
    let said = text(&command.output().unwrap().stderr);
    assert!(said.contains("./bare has no package `whimbrel`"), "{said}");
    assert!(!place.path("ran").exists());
}

#[test]
fn an_exploration_goes_on_without_a_run_twice_but_only_with_what_it_began_with() {
    let bench = Bench::new();
    let (_, said) = bench.say(&["-o", "found", "--budget", "3", "--core-counts", "2-3"], 0);
    assert!(said.contains("resume with --resume found"), "{said}");
    assert_eq!(bench.ran().len(), 3);
    bench.say(&["--resume", "found", "--core-counts", "2-3"], 0);
    assert_eq!(bench.ran().len(), 4);
    let (_, said) = bench.say(&["--resume", "found", "--seed", "2"], 2);
    assert!(said.contains("another application, platform, duration or seed"), "{said}");
    let (_, said) = bench.say(&["--resume", "nowhere"], 2);
    assert!(said.contains("nowhere/evaluated.jsonl cannot be resumed"), "{said}");
}

#[test]
fn ctrl_c_ends_it_and_keeps_what_is_done() {
    let bench = Bench::new();
    fs::write(bench.place.path("slow"), "").unwrap();
    let args = ["-o", "found", "--slots", "2,3,4,5,6,7,8,9,10,11,12,13", "--json"];
    let mut command = bench.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    while bench.ran().len() < 2 {
        assert!(Instant::now() < end, "no candidate ran");
        thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["complete"], false);
    let ran = found["rates"][0]["ran"].as_u64().unwrap();
    assert!((1..60).contains(&ran), "{ran}");
    let kept = fs::read_to_string(bench.place.path("found/evaluated.jsonl")).unwrap();
    assert_eq!(kept.lines().count() as u64, ran + 1);
}

#[test]
fn where_every_candidate_misses_deadlines_the_answer_is_no_and_there_is_no_table() {
    let bench = Bench::new();
    bench.say(&["--core-counts", "1"], 1);
    let (_, said) = bench.say(&["--core-counts", "1", "--write-table", "best.toml"], 2);
    assert!(said.contains("no row for 50 frames per second"), "{said}");
    assert!(said.contains("--write-table: there is no row to write"), "{said}");
    assert!(!bench.place.path("best.toml").exists());
}

#[test]
fn a_candidate_that_deadlocks_is_told_and_the_others_count() {
    let bench = Bench::new();
    let (out, _) = bench.say(&["--core-counts", "2", "--slots", "1,14", "-o", "found"], 0);
    assert!(out.contains("3 candidates ran, 3 could not run (a deadlock)"), "{out}");
    // Only those that ran can be repeated.
    let said = bench.place.error(&["sim", "--candidate", "found:3"]);
    assert!(
        said.contains("found has no row 3") && said.contains("this file has 0, 1, 2"),
        "{said}"
    );
}

#[test]
fn what_keeps_every_simulation_from_starting_is_said_once() {
    let bench = Bench::new();
    fs::write(bench.place.path("broken"), "").unwrap();
    let (_, said) = bench.say(&[], 2);
    assert_eq!(said.matches("no module").count(), 1, "{said}");
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    let bench = Bench::new();
    for (args, message) in [
        (&["--pin", "d=0"][..], "--pin: there is no task `d`"),
        (&["--pin", "a=3"], "--pin: core 3 does not exist"),
        (&["--pin", "a"], "`a` is not a pin"),
        (&["--core-counts", "4"], "--core-counts: 4 cores cannot be used"),
        (&["--core-counts", "0"], "`0` is not a number of cores"),
        (&["--frame-rates", "0"], "write 0.001 to 1e9 frames per second"),
        (&["--frame-rates", "50,-1"], "write 0.001 to 1e9 frames per second"),
        (&["--frame-rates", "1000000"], "no candidate keeps up"),
        (&["--policies", "fastest"], "there is no policy `fastest`"),
        (&["--policies", "table"], "`table` cannot be explored"),
        (&["--slots", "0"], "`0` is not a number of slots"),
        (&["--slots", "x_y=4"], "there is no channel `x_y`"),
        (&["--objectives", "speed"], "write one of energy, misses, latency, cores"),
        (&["--budget", "0"], "must not be 0"),
        (&["--tolerance", "much"], "`much` is not a part"),
        (&["--tolerance", "speed=1%"], "write one of energy, misses, latency, cores, power"),
        (&["--tolerance", "power=1%"], "`power` is not an objective here"),
    ] {
        let (_, said) = bench.say(args, 2);
        assert!(said.contains(message), "{args:?}: {said}");
    }
    assert!(bench.ran().is_empty());
    let wrong = ["explore", "app.toml", "--platform", "./platform.toml", "--points", "133"];
    assert!(bench.place.error(&wrong).contains("no core has a point of 133 MHz"));
    let mut nothing = bench.place.command(&["explore", "app.toml", "--platform", "host"]);
    let said = nothing.env("XDG_CONFIG_HOME", bench.place.path("config")).output().unwrap().stderr;
    assert!(String::from_utf8_lossy(&said).contains("calibrate"));
}
