// SPDX-License-Identifier: Apache-2.0
//! How long a firing of each task takes, from runs.
//!
//! A firing in a full stream finds caches warm: its time is that of a run without periods. At the
//! application's own rate a core sleeps between frames, and a firing takes longer. What it takes
//! longer is kept as memory that is fetched again after a sleep.

use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;
use whimbrel_model::{App, Direction};
use whimbrel_run::benchmark::median;

use super::measured::Run;

/// What a firing of a task takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Firing {
    /// The application.
    pub app: String,
    /// The task; all of its `count` together.
    pub task: String,
    /// In a full stream.
    pub warm_ns: f64,
    /// At the application's own rate; never less.
    pub cold_ns: f64,
}

/// At which rate an application runs.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Without periods; otherwise at its own rate for a while.
    pub fast: bool,
    /// For a shorter while.
    pub quick: bool,
}

/// The option that says on which cores a verb runs: to `sim` it is their number.
pub fn cores_option(verb: &str) -> &'static str {
    if verb == "sim" { "--core-count" } else { "--cores" }
}

/// The options of `run` or `sim` on some cores.
pub fn options(verb: &str, app: &Path, cores: &str, set: &[OsString], pace: Pace) -> Vec<OsString> {
    let pace: &[&str] = match (pace.fast, pace.quick) {
        (true, _) => &["--fast"],
        (false, true) => &["--duration", "1s"],
        (false, false) => &["--duration", "3s"],
    };
    let head = [verb.into(), app.into(), cores_option(verb).into(), cores.into()];
    head.into_iter().chain(set.iter().cloned()).chain(pace.iter().map(OsString::from)).collect()
}

/// Nanoseconds of a firing of each task, by names in the order of the application; tasks without a
/// firing are left out.
#[expect(clippy::cast_precision_loss, reason = "a mean of measurements")]
pub fn per_firing(app: &App, run: &Run) -> Vec<(String, f64)> {
    let mut all: Vec<(String, u64, u64)> = Vec::new();
    for (number, (task, measured)) in app.tasks.iter().zip(&run.tasks).enumerate() {
        let ports = app.ports.iter().filter(|port| port.task == number);
        let firings = ports.filter_map(|port| {
            let channel = run.channels.get(port.channel)?;
            let messages = match port.direction {
                Direction::In => channel.received,
                Direction::Out => channel.sent,
            };
            Some(messages / u64::from(port.rate.max(1)))
        });
        let firings = firings.max().unwrap_or(0);
        match all.iter_mut().find(|(name, ..)| *name == task.name) {
            Some(one) => (one.1, one.2) = (one.1 + measured.busy_ns, one.2 + firings),
            None => all.push((task.name.clone(), measured.busy_ns, firings)),
        }
    }
    let known = all.into_iter().filter(|(_, _, firings)| *firings > 0);
    known.map(|(name, busy_ns, firings)| (name, busy_ns as f64 / firings as f64)).collect()
}

/// The medians over runs without periods, and over usual firings of recorded runs at the
/// application's rate.
pub fn firings(app: &App, fast: &[Run], paced: &[Run]) -> Vec<Firing> {
    let warm = |task: &str| {
        let all = fast.iter().flat_map(|run| per_firing(app, run));
        median(all.filter(|(name, _)| name == task).map(|(_, ns)| ns).collect())
    };
    let cold = |task: &str| {
        median(paced.iter().filter_map(|run| run.firings.usual_ns(app, task)).collect())
    };
    let mut names: Vec<&str> = app.tasks.iter().map(|task| task.name.as_str()).collect();
    names.dedup();
    let firing = |task: &str| {
        let warm_ns = warm(task)?;
        let cold_ns = cold(task).unwrap_or(warm_ns).max(warm_ns);
        Some(Firing { app: app.name.clone(), task: task.into(), warm_ns, cold_ns })
    };
    names.into_iter().filter_map(firing).collect()
}

#[cfg(test)]
mod tests {
    use super::super::measured::{Channel, Task};
    use super::super::steady::Firings;
    use super::*;
    use whimbrel_model::Manifest;

    /// Two workers between a source that sends two messages for each of theirs, and a sink.
    fn app() -> App {
        let text = "
            [app]\nname = \"test\"
            [[task]]\nname = \"source\"\ncycles = 1\nperiod_us = 1000
            [[task]]\nname = \"worker\"\ncount = 2\ncycles = 1
            [[task]]\nname = \"sink\"\ncycles = 1
            [[channel]]\nfrom = \"source.out\"\nto = \"worker.in\"\nslot_bytes = 8\nproduce = 2
            [[channel]]\nfrom = \"worker.out\"\nto = \"sink.in\"\nslot_bytes = 8\nconsume = 2
        ";
        let here = Path::new("/");
        App::build(&Manifest::parse(text).unwrap(), &[], here, here).unwrap()
    }

    fn run(busy_ns: [u64; 4], firings: u64) -> Run {
        let channel =
            |messages| Channel { sent: messages, received: messages, ..Channel::default() };
        Run {
            tasks: busy_ns.map(|busy_ns| Task { busy_ns, ..Task::default() }).into(),
            channels: [2 * firings, 2 * firings, 2 * firings, 2 * firings].map(channel).into(),
            ..Run::default()
        }
    }

    #[test]
    fn the_time_of_a_firing_is_that_of_all_tasks_of_a_name_over_all_their_firings() {
        let times = per_firing(&app(), &run([1_000, 600, 200, 500], 10));
        let names: Vec<_> = times.iter().map(|(name, ns)| (name.as_str(), *ns)).collect();
        assert_eq!(names, [("source", 100.0), ("worker", 20.0), ("sink", 50.0)]);
    }

    #[test]
    fn a_task_that_never_fired_has_no_time() {
        assert_eq!(per_firing(&app(), &run([5; 4], 0)), []);
    }

    #[test]
    fn a_firing_at_the_own_rate_is_not_quicker_than_in_a_full_stream() {
        let fast =
            [run([1_000, 0, 0, 0], 10), run([3_000, 0, 0, 0], 10), run([1_200, 0, 0, 0], 10)];
        let usual = |ns| Run { firings: Firings::of(&[(0, ns)]), ..Run::default() };
        let slow = firings(&app(), &fast, &[usual(200.0)]);
        let quick = firings(&app(), &fast, &[usual(10.0)]);
        assert_eq!((slow[0].warm_ns, slow[0].cold_ns), (120.0, 200.0));
        assert_eq!((quick[0].warm_ns, quick[0].cold_ns), (120.0, 120.0));
    }
}
