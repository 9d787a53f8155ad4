// SPDX-License-Identifier: Apache-2.0
//! Helpers that do not keep to the protocol: scripts in the place of whimbrel-linux.

use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Place, STREAM, kill, text};

const STARTED: &str =
    r#"{"started":{"pid":1,"kernels":[],"gvm_bytes":1,"start_ns":1,"clock":"tsc"}}"#;

fn refusal(script: &str, args: &[&str]) -> String {
    let (_folder, place) = Place::scripted(script);
    let app = place.app(STREAM);
    place.error(&[&["run", app.to_str().unwrap(), "--quiet"], args].concat())
}

#[test]
fn a_helper_that_ends_without_a_word_is_an_error() {
    let said = refusal("exit 7", &[]);
    assert!(said.contains("whimbrel-linux ended with status 7 during the run"), "{said}");
}

#[test]
fn a_helper_that_closes_its_socket_but_stays_is_ended() {
    let said = refusal("exec 3>&-\nexec sleep 600", &[]);
    assert!(said.contains("was killed by signal 9"), "{said}");
}

#[test]
fn a_helper_that_says_what_makes_no_sense_is_quoted() {
    let said =
        refusal(&format!("echo '{STARTED}' >&3\necho '{{\"unheard\":1}}' >&3\nread x <&3"), &[]);
    assert!(said.contains("unheard"), "{said}");
    assert!(said.contains("make build"), "{said}");
}

#[test]
fn a_helper_that_never_ends_is_ended() {
    let script = format!("echo '{STARTED}' >&3\nwhile read line <&3; do :; done\nexec sleep 600");
    let said = refusal(&script, &["--duration", "10ms"]);
    assert!(said.contains("did not drain"), "{said}");
}

#[test]
fn a_run_that_its_user_ends_before_it_has_started_is_no_error() {
    let (_folder, place) = Place::scripted("exec sleep 60");
    let app = place.app(STREAM);
    let mut command = place.command(&["run", app.to_str().unwrap()]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + PATIENCE;
    // The command listens to signals before it starts the helper, and writes this after that.
    while !place.runs().join("test-1/run.json").is_file() {
        assert!(Instant::now() < end);
        thread::sleep(Duration::from_millis(2));
    }
    kill(u64::from(child.id()), 2);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "stopped before it started\n");
    assert!(output.stdout.is_empty());
}

#[test]
fn an_error_before_the_start_is_told_as_it_is() {
    let error =
        r#"{"error":{"kind":"memory","task":"","index":0,"core":null,"key":"","text":"no room"}}"#;
    let said = refusal(&format!("echo '{error}' >&3\nexit 2"), &[]);
    assert!(said.contains("no globally visible memory: no room"), "{said}");
}

#[test]
fn a_helper_that_is_missing_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::with_helpers(folder.path().to_owned());
    let app = place.app(STREAM);
    let said = place.error(&["run", app.to_str().unwrap()]);
    assert!(said.contains("make build"), "{said}");
}

#[test]
fn what_the_application_prints_does_not_mix_with_the_result() {
    let (_folder, place) = Place::scripted("echo from the application\nexit 1");
    let app = place.app(STREAM);
    let output = place.output(&["run", app.to_str().unwrap(), "--json"]);
    assert!(text(&output.stderr).contains("from the application"));
    assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok());
}
