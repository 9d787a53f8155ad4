// SPDX-License-Identifier: Apache-2.0
//! Runs on boards that a script plays (common/fake_board.py): behind a command, and at a serial
//! device.

use std::fs;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use command_fds::{CommandFdExt, FdMapping};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use serde_json::{Value, json};

use crate::common::{
    PATIENCE, Place, STREAM, kill, pid, root, text, wait_until_gone, write_script,
};

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;

fn fake() -> PathBuf {
    root().join("crates/whimbrel/tests/common/fake_board.py")
}

/// A board that behaves like this, and whose [start] has these lines. One that says nothing, or has
/// booted before, is given up soon; another may take as long as the machine lets it.
fn board_file(place: &Place, mode: &str, start: &str) -> String {
    let silence_s =
        if matches!(mode, "mute" | "silent" | "garbage") { 2 } else { PATIENCE.as_secs() };
    let text = format!(
        "[board]\nname = \"fake\"\ncores = 2\n[memory]\nstack_least = \"1KiB\"\ngvm = \"16MiB\"\n\
         [start]\nsilence_s = {silence_s}\nwatchdog_ms = 700\n{start}\n"
    );
    let path = place.path("board.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A place with a stream, an image that nobody reads, and a board that behaves like this.
fn emulated(mode: &str) -> (Place, Vec<String>) {
    flipping(mode, "0")
}

/// The same, with so many of the bits on its line flipped, in both directions.
fn flipping(mode: &str, part: &str) -> (Place, Vec<String>) {
    let place = Place::new();
    // What it complains of begins with its name.
    let program = place.path("fake_board");
    write_script(&program, &format!("exec python3 {} \"$@\"", fake().display()));
    let command = format!("command = [{program:?}, \"{{image}}\", \"{mode}\", \"{part}\"]");
    let args = arguments(&place, &board_file(&place, mode, &command));
    fs::write(place.path("image"), "").unwrap();
    (place, [args, vec!["--image".into(), "image".into()]].concat())
}

fn arguments(place: &Place, board: &str) -> Vec<String> {
    let app = place.app(STREAM);
    let args = ["run", app.to_str().unwrap(), "--board", board];
    args.map(str::to_owned).to_vec()
}

fn output((place, args): &(Place, Vec<String>), more: &[&str]) -> Output {
    let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
    place.output(&args)
}

/// What is said of a run on a board that behaves like this, which must fail.
fn failure(mode: &str, more: &[&str]) -> String {
    let output = output(&emulated(mode), &[&["--quiet"], more].concat());
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{mode}: {said}");
    said
}

/// Starts a run in the background, and waits until its board has answered.
fn started((place, args): &(Place, Vec<String>)) -> Child {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = place.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    while place.output(&["top", "test-1", "--json"]).status.code() != Some(0) {
        assert!(Instant::now() < end, "the board does not answer");
        thread::sleep(Duration::from_millis(20));
    }
    child
}

/// What the board was told to start with.
fn told(place: &Place) -> Value {
    serde_json::from_slice(&fs::read(place.path("start")).unwrap()).unwrap()
}

// ---- Behind a command ---------------------------------------------------------------------------

#[test]
fn a_run_on_a_board_is_summed_up_like_any_other() {
    let place = emulated("short");
    let steered = ["--policy", "balance:high=80", "--frame-rate", "25"];
    let done = output(&place, &[&["--json", "--set", "messages=7"], &steered[..]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let summary: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&summary["ended"], &summary["ok"]), (&json!("finished"), &json!(true)));
    assert_eq!(summary["options"]["board"], "fake");
    assert_eq!(summary["options"]["cpus"], json!([0, 1]));

    let told = told(&place.0);
    assert_eq!(told["plan"].as_str().map(str::len), Some(16));
    assert_eq!(told["record"], false);
    assert_eq!((&told["rate_millihz"], &told["watchdog_ms"]), (&json!(25_000), &json!(700)));
    assert_eq!(told["policy"], json!({"name": "balance", "params": ["high=80"]}));
    let params = told["params"].as_array().unwrap();
    let messages = params.iter().find(|param| param["key"] == "messages").unwrap();
    assert_eq!(messages, &json!({"key": "messages", "text": "7", "numbers": [7.0]}));
}

#[test]
fn a_board_that_missed_the_start_is_told_again() {
    let place = emulated("deaf");
    let mut run = started(&place);
    kill(u64::from(run.id()), SIGINT);
    assert!(run.wait().unwrap().success());
}

#[test]
fn a_run_on_a_board_is_watched_and_steered_from_other_terminals() {
    let emulated = emulated("obedient");
    let run = started(&emulated);
    let place = &emulated.0;
    let listed = place.json(&["ps", "--json"], 0);
    assert_eq!((&listed[0]["run"], &listed[0]["load"]), (&json!("test-1"), &json!([0.0, 0.0])));
    for (args, expected) in [
        (&["migrate", "test-1", "worker", "1"][..], "worker"),
        (&["policy", "test-1", "balance"], "policy balance"),
        (&["frame-rate", "test-1", "40"], "40 frames per second"),
        (&["top", "test-1", "--once"], "core"),
    ] {
        let done = place.output(args);
        let said = text(&done.stdout);
        assert!(done.status.success() && said.contains(expected), "{args:?}: {said}");
    }
    kill(u64::from(run.id()), SIGINT);
    let done = run.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(text(&done.stdout).contains("stopped"), "{}", text(&done.stdout));
}

/// Steers a run that prints its summary as JSON, ends it, and gives that.
fn steered(mut place: (Place, Vec<String>)) -> Value {
    place.1.push("--json".into());
    let run = started(&place);
    for args in [&["migrate", "test-1", "worker", "1"][..], &["frame-rate", "test-1", "40"]] {
        let done = place.0.output(args);
        assert!(done.status.success(), "{args:?}: {}", text(&done.stderr));
    }
    kill(u64::from(run.id()), SIGINT);
    let done = run.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

#[test]
fn flipped_bits_are_repaired_in_both_directions_and_what_was_sent_again_is_counted() {
    let count = |summary: &Value, key: &str| summary["line"][key].as_u64().unwrap();
    for (part, flips) in [("0", false), ("1e-5", false), ("1e-4", true), ("2e-4", true)] {
        // Which bits are flipped is chance: those of so few pieces from the board may all be whole.
        let mut runs = (0..).map(|_| steered(flipping("obedient", part)));
        let enough = |summary: &Value| {
            assert_eq!(summary["ended"], "stopped", "{part}: {summary}");
            println!("{part} of the bits: {}", summary["line"]);
            assert!(part != "0" || count(summary, "damaged") == 0, "{summary}");
            count(summary, "repeated_from_board") > 0 && count(summary, "damaged") > 0
        };
        let repaired = runs.by_ref().take(if flips { 10 } else { 1 }).any(|run| enough(&run));
        assert!(repaired || !flips, "{part}: nothing was sent again in ten runs");
    }
}

#[test]
fn event_streams_come_over_the_line_into_the_folder_of_the_run() {
    let place = emulated("short");
    let done = output(&place, &["--record", "recorded", "--quiet"]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(fs::read(place.0.path("recorded/core-1.events")).unwrap(), b"WBEVENTS");
    assert!(place.0.path("recorded/summary.json").is_file());
    assert_eq!(told(&place.0)["record"], true);
}

#[test]
fn a_board_that_goes_wrong_is_one_clear_error() {
    for (mode, expected) in [
        ("mute", "the board fake does not answer: nothing came for 2s"),
        ("garbage", "the board fake sent an invalid line"),
        ("asserts", "the kernel of core 1 of the board fake failed: configASSERT fails in line 7"),
        ("leaves", "the board fake ended with status 3 during the run"),
        ("other", "the image of the board fake is of another plan, 0123456789abcdef"),
        ("core", "core 1 of the board fake is not there: it has not booted"),
    ] {
        let said = failure(mode, &[]);
        assert!(said.contains(expected), "{mode}: {said}");
        assert_eq!(said.matches('×').count(), 1, "{mode}: {said}");
    }
    let said = failure("other", &[]);
    assert_eq!(said.matches("another plan").count(), 1, "{said}");
    let said = failure("events", &["--record", "recorded"]);
    assert!(said.contains("the run cannot be recorded: there is no core 7"), "{said}");
}

#[test]
fn what_an_emulator_complains_of_is_in_the_error_and_what_tasks_print_is_passed_on() {
    let done = output(&emulated("complains"), &["--quiet"]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    let error = "the board fake ended with status 1 before it answered: no such machine";
    assert!(said.contains(error), "{said}");
    assert!(said.starts_with("printed by a task\n"), "{said}");
}

#[test]
fn a_board_ends_with_its_command_whatever_kills_that() {
    let place = emulated("obedient");
    let mut run = started(&place);
    let record = fs::read(place.0.runs().join("test-1/run.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["kernels"], json!([null, null]));
    kill(u64::from(run.id()), SIGKILL);
    run.wait().unwrap();
    wait_until_gone(&[record["helper"].clone()]);
    let cleaned = place.0.output(&["clean"]);
    assert_eq!(text(&cleaned.stdout), "reclaimed test-1: no process of it was left\n");
}

#[test]
fn an_emulator_that_is_killed_is_told_with_its_signal() {
    let place = emulated("obedient");
    let run = started(&place);
    let record = fs::read(place.0.runs().join("test-1/run.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    kill(pid(&record["helper"]), SIGKILL);
    let said = text(&run.wait_with_output().unwrap().stderr);
    assert!(said.contains("the board fake was killed by signal 9 during the run"), "{said}");
}

#[test]
fn what_a_board_cannot_be_told_is_refused_before_it_starts() {
    let place = Place::new();
    let app = place.app(STREAM);
    let app = app.to_str().unwrap();
    let missing = board_file(&place, "", "command = [\"no-such-emulator\", \"{image}\"]");
    fs::write(place.path("image"), "").unwrap();
    for (args, expected) in [
        (&["--board", "nowhere"][..], "no board is called `nowhere`"),
        (&["--board", &missing, "--image", "none"], "--image none: there is no such file"),
        (&["--board", &missing, "--image", "image"], "no-such-emulator: No such file"),
        (&["--board", &missing], "the board fake does not say how images are built"),
        (&["--board", &missing, "--mode", "replicate"], "moves by replicate, which the board fake"),
        (&["--board", &missing, "--move", "worker=2@1s"], "core 2 does not exist"),
        (&["--board", &missing, "--cores", "0"], "cannot be used with"),
        (&["--board", &missing, "--spin", "1us"], "cannot be used with"),
        (&["--image", "image"], "--board"),
    ] {
        let said = place.error(&[&["run", app], args].concat());
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    assert!(fs::read_dir(place.runs()).unwrap().next().is_none(), "something is left behind");
}

// ---- At a device --------------------------------------------------------------------------------

/// A serial line with a board at its end, which is killed when this is dropped.
struct Device {
    board: Child,
    _line: OwnedFd,
}

impl Drop for Device {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.board.kill();
        let _ = self.board.wait();
    }
}

/// A board at a device that behaves like this, once it has booted, and a place with the arguments
/// of a run on it.
fn at_device(mode: &str) -> (Device, (Place, Vec<String>)) {
    at_noisy_device(mode, "0")
}

/// The same, with so many of the bits on its line flipped.
fn at_noisy_device(mode: &str, part: &str) -> (Device, (Place, Vec<String>)) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    // While nobody has the other end open, the board's would be at an end.
    let line = ioctl_tiocgptpeer(&master, flags).unwrap();
    // A line as hardware has it: what the board says before the run is not sent back to it.
    let mut settings = tcgetattr(&line).unwrap();
    settings.make_raw();
    tcsetattr(&line, OptionalActions::Now, &settings).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let place = Place::new();
    let mut board = Command::new("python3");
    board.arg(fake()).args(["-", mode, part]).current_dir(place.path("")).stderr(Stdio::null());
    let end = FdMapping { parent_fd: File::from(master).into(), child_fd: 3 };
    board.fd_mappings(vec![end]).unwrap();
    let device = Device { board: board.spawn().unwrap(), _line: line };
    let end = Instant::now() + PATIENCE;
    while !place.path("booted").exists() {
        assert!(Instant::now() < end, "the board does not boot");
        thread::sleep(Duration::from_millis(5));
    }
    let start = format!("device = {name:?}\nbaud = 9600");
    let args = arguments(&place, &board_file(&place, mode, &start));
    (device, (place, args))
}

#[test]
fn a_board_at_a_serial_device_is_run_like_any_other() {
    let (_device, place) = at_device("stays");
    let run = started(&place);
    let moved = place.0.output(&["migrate", "test-1", "worker", "1"]);
    assert!(moved.status.success(), "{}", text(&moved.stderr));
    kill(u64::from(run.id()), SIGINT);
    let done = run.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", text(&done.stderr));
    // It waits for the next run.
    let again = started(&place);
    kill(u64::from(again.id()), SIGINT);
    assert!(again.wait_with_output().unwrap().status.success());
}

#[test]
fn a_serial_device_that_flips_bits_is_run_like_any_other() {
    let (_device, place) = at_noisy_device("obedient", "1e-4");
    let summary = steered(place);
    assert_eq!(summary["ended"], "stopped", "{summary}");
    assert!(summary["line"]["repeated_from_board"].as_u64().unwrap() > 0, "{summary}");
}

#[test]
fn a_device_that_is_silent_or_garbled_is_one_clear_error() {
    for (mode, expected) in [
        ("mute", "the board fake does not answer: nothing came for 2s"),
        ("silent", "the board fake has sent nothing for 2s"),
        ("garbage", "the board fake sent an invalid line"),
    ] {
        let (_device, place) = at_device(mode);
        let done = output(&place, &["--quiet"]);
        let said = text(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{mode}: {said}");
        assert!(said.contains(expected), "{mode}: {said}");
    }
}

#[test]
fn a_device_with_another_plan_is_told_once_with_a_cure_that_a_device_allows() {
    let (_device, place) = at_device("other stays");
    let done = output(&place, &["--quiet"]);
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert_eq!(said.matches("another plan").count(), 1, "{said}");
    assert!(said.contains("write it to the board"), "{said}");
}

#[test]
fn a_device_that_goes_away_is_one_clear_error() {
    let (device, place) = at_device("stays");
    let run = started(&place);
    drop(device);
    let done = run.wait_with_output().unwrap();
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("the serial line of the board fake was disconnected during the run"),
        "{said}"
    );
}

#[test]
fn a_device_that_cannot_be_had_is_told_with_the_reason() {
    let place = Place::new();
    for (device, expected) in [
        ("/nowhere/ttyUSB0", "the serial line /nowhere/ttyUSB0 cannot be opened: No such file"),
        ("/dev/null", "the serial line /dev/null cannot be opened: Inappropriate ioctl"),
    ] {
        let args = arguments(&place, &board_file(&place, "", &format!("device = {device:?}")));
        let said = place.error(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.contains(expected), "{said}");
    }
    let (_device, (place, mut args)) = at_device("mute");
    args.extend(["--image".to_owned(), "image".to_owned()]);
    let said = place.error(&args.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(said.contains("--image: the board fake has its image already"), "{said}");
}
