// SPDX-License-Identifier: Apache-2.0
//! `run --exclusive`, in a machine of the test's own.

mod common;
#[path = "../../occupy/tests/private/mod.rs"]
mod private;

use std::fs;

use common::{Place, STREAM, text};
use private::{Running, affinity, everything, wait_until};

private_tests! {
    fn the_processors_of_an_exclusive_run_are_its_own_until_it_ends() {
        let place = Place::new();
        let app = place.app(STREAM);
        let bystander = Running::sleep();
        let all = affinity(bystander.pid());
        let state = place.path("state");
        let mut run = place.start_with(
            &[app.to_str().unwrap(), "--quiet", "--json", "--exclusive", "--cores", "1"],
            &[("WHIMBREL_OCCUPY_STATE", state.to_str().unwrap())],
        );
        wait_until("the bystander is elsewhere", || affinity(bystander.pid()) != all);
        run.signal(2);
        let output = run.finish();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["options"]["exclusive"], true);

        assert_eq!(affinity(bystander.pid()), all);
        assert!(!everything().values().any(|text| text.starts_with("whimbrel-linux")));
        assert!(!state.join("journal").exists());
    }

    fn an_exclusive_run_on_all_processors_is_refused() {
        let place = Place::new();
        let app = place.app(STREAM);
        let mut command = place.command(&["run", app.to_str().unwrap(), "--exclusive"]);
        let output = command.env("WHIMBREL_OCCUPY_STATE", place.path("state")).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("no processor for the system"), "{said}");
        assert!(said.contains("--cores LIST"), "{said}");
        assert!(fs::read_dir(place.runs()).unwrap().next().is_none(), "a run directory is left");
    }
}
