// SPDX-License-Identifier: Apache-2.0
//! Cycles and working sets whose simulation takes what was measured.
//!
//! The busy time of a measured firing has everything in it: the middleware's steps, and what the
//! first firing after a sleep takes longer. The simulator charges these by costs of their own. So
//! they are taken off, by simulating the application in the way in which it was measured: what a
//! firing takes longer there than here is not its own work.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use whimbrel_model::{App, Problem};

use super::measured::{self, Run};
use super::work::{self, Firing, Pace};

/// Each comes closer: what is taken off one task changes when others run.
const TURNS: u32 = 2;

/// An application, and how it was run.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// It.
    pub app: &'a App,
    /// Its file.
    pub path: &'a Path,
    /// On so many cores.
    pub cores: usize,
    /// With these settings.
    pub set: &'a [OsString],
    /// For a short while.
    pub quick: bool,
}

/// Settles firings that were measured; `text` is the platform with those it is given.
///
/// # Errors
/// A simulation fails.
pub fn settle(
    what: Measured<'_>,
    measured: &[Firing],
    text: impl Fn(&[Firing]) -> String,
) -> Result<Vec<Firing>, Problem> {
    let mut fitted = measured.to_vec();
    for _ in 0..TURNS {
        let simulated = simulate(what, &text(&fitted))?;
        for (one, measured) in fitted.iter_mut().zip(measured) {
            if let Some(found) = simulated.iter().find(|found| found.task == one.task) {
                correct(one, measured, found);
            }
        }
    }
    Ok(fitted)
}

/// At least a nanosecond is the task's own, and a firing after a sleep takes no less than another.
fn correct(one: &mut Firing, measured: &Firing, simulated: &Firing) {
    one.warm_ns = (one.warm_ns + measured.warm_ns - simulated.warm_ns).max(1.0);
    one.cold_ns = (one.cold_ns + measured.cold_ns - simulated.cold_ns).max(one.warm_ns);
}

/// What firings take in virtual time, in both ways in which they were measured.
fn simulate(what: Measured<'_>, text: &str) -> Result<Vec<Firing>, Problem> {
    let unwritable = |error| Problem::new(format!("no folder for a platform: {error}"));
    let folder = tempfile::tempdir().map_err(unwritable)?;
    let platform = folder.path().join("fitted.toml");
    fs::write(&platform, text).map_err(unwritable)?;
    let options = |fast| {
        let (cores, pace) = (what.cores.to_string(), Pace { fast, quick: what.quick });
        let mut all = work::options("sim", what.path, &cores, what.set, pace);
        all.extend(["--compute", "model", "--platform"].map(OsString::from));
        all.push(platform.clone().into());
        all
    };
    let fast: Run = measured::run(&options(true))?;
    let paced = measured::recorded(what.app, &options(false), &folder.path().join("run"))?;
    Ok(work::firings(what.app, &[fast], &[paced]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing(warm_ns: f64, cold_ns: f64) -> Firing {
        Firing { app: "a".into(), task: "t".into(), warm_ns, cold_ns }
    }

    #[test]
    fn what_a_simulation_takes_longer_is_not_the_tasks_own() {
        let measured = firing(100.0, 300.0);
        let mut one = measured.clone();
        correct(&mut one, &measured, &firing(110.0, 350.0));
        assert_eq!(one, firing(90.0, 250.0));
        // What is left of that, the next turn finds.
        correct(&mut one, &measured, &firing(101.0, 298.0));
        assert_eq!(one, firing(89.0, 252.0));
    }

    #[test]
    fn nothing_becomes_less_than_nothing() {
        let measured = firing(100.0, 100.0);
        let mut one = measured.clone();
        correct(&mut one, &measured, &firing(900.0, 900.0));
        assert_eq!(one, firing(1.0, 1.0));
    }
}
