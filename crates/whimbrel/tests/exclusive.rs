// SPDX-License-Identifier: Apache-2.0
//! `run --exclusive`, in a machine of the test's own.

mod common;
#[path = "../../occupy/tests/private/mod.rs"]
mod private;

use std::fs;
use std::process::{Command, Output};

use common::{Place, STREAM, text};
use private::{Running, affinity, everything};

/// A run of half a second with these options.
fn run(place: &Place, args: &[&str]) -> Output {
    let app = place.app(STREAM);
    let head = ["run", app.to_str().unwrap(), "--quiet", "--json", "--duration", "500ms"];
    let mut command: Command = place.command(&[&head, args].concat());
    command.env("WHIMBREL_OCCUPY_STATE", place.path("state")).output().unwrap()
}

private_tests! {
    fn the_processors_of_an_exclusive_run_are_its_own_until_it_ends() {
        let place = Place::new();
        let bystander = Running::shell("sleep 60");
        let seen = place.path("seen");
        let look = format!(
            "while :; do grep Cpus_allowed_list /proc/{}/status >> {}; sleep 0.01; done",
            bystander.pid(), seen.display()
        );
        let _looking = Running::shell(&look);
        let output = run(&place, &["--exclusive", "--cores", "1"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["options"]["exclusive"], true);

        let seen = fs::read_to_string(seen).unwrap();
        assert!(seen.lines().any(|line| line.ends_with("\t0")), "{seen}");
        assert_eq!(affinity(bystander.pid()), affinity(1));
        assert!(!everything().values().any(|text| text.starts_with("whimbrel-linux")));
        assert!(!place.path("state").join("journal").exists());
    }

    fn an_exclusive_run_on_all_processors_is_refused() {
        let place = Place::new();
        let output = run(&place, &["--exclusive"]);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("no processor for the system"), "{said}");
        assert!(said.contains("--cores LIST"), "{said}");
        assert!(fs::read_dir(place.runs()).unwrap().next().is_none(), "a run directory is left");
    }
}
