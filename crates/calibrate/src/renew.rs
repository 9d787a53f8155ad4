// SPDX-License-Identifier: Apache-2.0
//! A file of this command with what was measured since it was written.

use super::file::{WRITTEN, besides, firing_table, idle_state};
use super::fit::Sleep;
use super::steady::Disturbed;
use super::work::Firing;

/// What waking a core and reading from another takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Wakes {
    /// The idle states.
    pub sleeps: [Sleep; 3],
    /// A line of a message.
    pub far_ns: f64,
}

/// What was measured again.
#[derive(Debug, Clone, PartialEq)]
pub struct Now {
    /// Of each task of an application.
    pub work: Vec<Firing>,
    /// Of its firings.
    pub disturbed: Disturbed,
    /// `None`: there was one processor only.
    pub wakes: Option<Wakes>,
}

/// Whether this command has written a file.
pub fn is_ours(text: &str) -> bool {
    text.lines().nth(1).is_some_and(|line| line.starts_with(WRITTEN))
}

/// Its tables, each with its heading; what is before the first one, first.
fn tables(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in text.lines() {
        if line.starts_with('[') {
            all.push(String::new());
        }
        let last = all.last_mut().expect("there is one");
        last.push_str(line);
        last.push('\n');
    }
    all
}

/// The cache's table without what is measured again.
fn cache_as_of(table: &str, far_ns: Option<f64>, disturbed: Disturbed) -> String {
    let is_old = |line: &&str| {
        line.starts_with("disturbed") || (far_ns.is_some() && line.starts_with("far_ns"))
    };
    let mut out = String::new();
    for line in table.lines().filter(|line| !is_old(line)) {
        if line.starts_with("source") {
            out.push_str(&besides(far_ns.unwrap_or(0.0), disturbed));
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// A file of this command with what was measured since: the firings of an application, and if
/// there were two processors, sleeps and messages between them.
pub fn as_of(text: &str, app: &str, hz: u64, miss_ns: f64, now: &Now) -> String {
    let mut out = String::new();
    let mut sleeps = now.wakes.as_ref().map(|wakes| &wakes.sleeps);
    let of_app = format!("app = \"{app}\"");
    for table in tables(text) {
        let heading = table.lines().next().unwrap_or_default();
        match heading {
            "[[work]]" if table.lines().any(|line| line == of_app) => {}
            "[[core.idle_state]]" if now.wakes.is_some() => {
                let new = sleeps.take().into_iter().flatten();
                out.extend(new.map(idle_state));
            }
            "[core.cache]" => {
                let far_ns = now.wakes.as_ref().map(|wakes| wakes.far_ns);
                out.push_str(&cache_as_of(&table, far_ns, now.disturbed));
            }
            _ => out.push_str(&table),
        }
    }
    out.extend(now.work.iter().map(|firing| firing_table(firing, hz, miss_ns, now.disturbed)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# SPDX\n# Written by `whimbrel calibrate` from a test.\n\
        [platform]\nname = \"t\"\n\n[[core.idle_state]]\nname = \"sleep_1ms\"\n\n\
        [[core.idle_state]]\nname = \"sleep_20ms\"\n\n[core.cache]\nmiss_ns = 2\nfar_ns = 9\n\
        disturbed = 0.5\ndisturbed_us = 1\nsource = \"s\"\n\n[costs.send]\ncycles = 1\n\n\
        [[work]]\napp = \"one\"\ntask = \"t\"\n\n[[work]]\napp = \"two\"\ntask = \"t\"\n";

    fn now(wakes: Option<Wakes>) -> Now {
        let (app, task) = ("one".into(), "t".into());
        Now {
            work: vec![Firing { app, task, warm_ns: 1e3, cold_ns: 2e3 }],
            disturbed: Disturbed { part: 0.25, mean_ns: 3e3 },
            wakes,
        }
    }

    #[test]
    fn what_was_measured_again_takes_the_place_of_what_was_there_and_all_else_stays() {
        let sleep = Sleep { name: "100us", exit_ns: 7e3, ..Sleep::default() };
        let wakes = Wakes { sleeps: [sleep; 3], far_ns: 4.0 };
        let new = as_of(TEXT, "one", 1_000_000_000, 2.0, &now(Some(wakes)));
        assert_eq!(new.matches("name = \"sleep_100us\"").count(), 3);
        assert!(!new.contains("sleep_1ms") && new.contains("exit_us = 7\n"));
        assert!(new.contains("miss_ns = 2\nfar_ns = 4 ") && new.contains("disturbed_us = 3 "));
        assert!(new.contains("[costs.send]\ncycles = 1\n"));
        let of = |app: &str| new.matches(&format!("app = \"{app}\"")).count();
        assert_eq!((of("one"), of("two")), (1, 1));
        assert!(new.contains("cycles = 1000\nworking_set = 32000\n"), "{new}");
    }

    #[test]
    fn on_one_processor_sleeps_and_messages_stay_as_they_were() {
        let new = as_of(TEXT, "one", 1_000_000_000, 2.0, &now(None));
        assert!(new.contains("sleep_1ms") && new.contains("sleep_20ms"));
        assert!(new.contains("far_ns = 9\ndisturbed = 0.25 "), "{new}");
        assert_eq!(new.matches("disturbed_us").count(), 1);
    }

    #[test]
    fn only_what_this_command_wrote_is_renewed() {
        assert!(is_ours(TEXT));
        assert!(!is_ours("[platform]\nname = \"t\"\n") && !is_ours(""));
    }
}
