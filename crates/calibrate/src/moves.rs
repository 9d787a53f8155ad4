// SPDX-License-Identifier: Apache-2.0
//! How long a core that sleeps takes to have a task that moves there, as it is in a run.
//!
//! `whimbrel bench wake` has the machine for itself, and moves a task that has done nothing else.
//! In a run a helper looks at the kernels on whichever processor is free, so that none sleeps as
//! deeply; and a task moves when it has just sent messages to where it goes, and others are woken
//! there before it runs. So an application that is made for it is run, whose task moves to and fro
//! between a core that has slept shortly and one that has slept for long, and is simulated; what
//! its moves take longer there is taken off what these two states take to wake up from, and off the
//! first switch after them.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use whimbrel_model::Problem;
use whimbrel_run::benchmark::median;
use whimbrel_text::cure;

use super::fit::Sleep;
use super::measured::{self, Move, Run};
use super::work::cores_option;

/// Every 20 ms a source feeds a task that feeds three.
const APP: &str = r#"
[app]
name = "moves"
frame_rate = 50

[[task]]
name = "source"
periodic = true
cycles = 60000

[[task]]
name = "mover"
cycles = 60000

[[task]]
name = "sink"
count = 3
cycles = 20000

[[channel]]
from = "source.out"
to = "mover.in"
slot_bytes = 64

[[channel]]
from = "mover.out"
to = "sink.in"
slot_bytes = 64
"#;
/// Two frames and 0.309 of one: at every moment of a frame alike.
const SHUTTLE: &str = "mover=1,0@46.18ms";
/// In virtual time.
const LONGER: u32 = 10;

/// What moves to a core take, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Arrival {
    /// From when the task is parked until the core has it.
    attach_ns: f64,
    /// From then until it runs.
    run_ns: f64,
}

/// Those to core 0 and to core 1.
pub type Arrivals = [Arrival; 2];

/// The application.
#[derive(Debug)]
pub struct Moves {
    folder: TempDir,
    seconds: u32,
}

impl Moves {
    /// Writes it.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn new(quick: bool) -> Result<Self, Problem> {
        let folder = tempfile::tempdir().map_err(|error| unwritable(&error))?;
        let moves = Self { folder, seconds: if quick { 1 } else { 2 } };
        fs::write(moves.app(), APP).map_err(|error| unwritable(&error))?;
        Ok(moves)
    }

    fn app(&self) -> PathBuf {
        self.folder.path().join("moves.toml")
    }

    fn arrivals(&self, verb: &str, cores: &str, more: &[OsString]) -> Result<Arrivals, Problem> {
        let seconds = self.seconds * if verb == "sim" { LONGER } else { 1 };
        let mut all: Vec<OsString> = vec![verb.into(), self.app().into()];
        all.extend([cores_option(verb), cores, "--shuttle", SHUTTLE].map(OsString::from));
        all.extend(["--duration".into(), format!("{seconds}s").into()]);
        let run = measured::run(&[&all[..], more].concat())?;
        let to = |target| {
            arrival(&run, target).ok_or_else(|| {
                Problem::new(format!("no task moved to core {target} in a run to be measured"))
                    .help("stop what else runs: the machine is too busy")
            })
        };
        Ok([to(0)?, to(1)?])
    }

    /// On two processors, once.
    ///
    /// # Errors
    /// The run fails, or nothing moved in it.
    pub fn real(&self, [first, second]: [u32; 2]) -> Result<Arrivals, Problem> {
        self.arrivals("run", &format!("{first},{second}"), &[])
    }

    /// Idle states from which a simulated core has a task as soon as a real one; `text` is the
    /// platform with those it is given.
    ///
    /// # Errors
    /// A simulation fails.
    pub fn settle(
        &self,
        sleeps: &[Sleep; 3],
        real: &[Arrivals],
        text: impl Fn(&[Sleep; 3]) -> String,
    ) -> Result<[Sleep; 3], Problem> {
        let platform = self.folder.path().join("fitted.toml");
        fs::write(&platform, text(sleeps)).map_err(|error| unwritable(&error))?;
        let more = ["--platform".into(), platform.into()];
        let simulated = self.arrivals("sim", "2", &more)?;
        let of = |core: usize, part: fn(&Arrival) -> f64| {
            median(real.iter().map(|one| part(&one[core])).collect()).unwrap_or_default()
        };
        let real = [0, 1].map(|core| Arrival {
            attach_ns: of(core, |one| one.attach_ns),
            run_ns: of(core, |one| one.run_ns),
        });
        Ok(corrected(*sleeps, real, simulated))
    }
}

fn unwritable(error: &std::io::Error) -> Problem {
    Problem::new(format!("no folder for an application to be measured: {error}")).help(cure(error))
}

fn arrival(run: &Run, target: u32) -> Option<Arrival> {
    let there = run.migrations.iter().filter(|m| m.target == target && m.parked_ns != 0);
    let ran: Vec<&Move> = there.filter(|m| m.attached_ns != 0 && m.running_ns != 0).collect();
    #[expect(clippy::cast_precision_loss, reason = "times far below 2^53")]
    let ns = |part: fn(&Move) -> u64| median(ran.iter().map(|m| part(m) as f64).collect());
    Some(Arrival {
        attach_ns: ns(|m| m.attached_ns.saturating_sub(m.parked_ns))?,
        run_ns: ns(|m| m.running_ns.saturating_sub(m.attached_ns))?,
    })
}

/// The one core has slept shortly, the other for long.
fn corrected(mut sleeps: [Sleep; 3], real: Arrivals, simulated: Arrivals) -> [Sleep; 3] {
    for (state, core) in [(0, 0), (2, 1)] {
        let (sleep, real, simulated) = (&mut sleeps[state], real[core], simulated[core]);
        sleep.exit_ns = (sleep.exit_ns + real.attach_ns - simulated.attach_ns).max(0.0);
        sleep.switch_ns = (sleep.switch_ns + real.run_ns - simulated.run_ns).max(0.0);
    }
    sleeps
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use whimbrel_model::{App, Manifest};

    use super::*;

    fn arrivals(ns: [f64; 4]) -> Arrivals {
        let [first, second, third, fourth] = ns;
        [(first, second), (third, fourth)].map(|(attach_ns, run_ns)| Arrival { attach_ns, run_ns })
    }

    #[test]
    fn what_a_simulated_move_takes_longer_is_taken_off_the_state_that_its_core_was_in() {
        let state = |exit_ns| Sleep { exit_ns, switch_ns: 200.0, ..Sleep::default() };
        let sleeps = [40e3, 30e3, 50e3].map(state);
        let real = arrivals([15e3, 900.0, 70e3, 1_000.0]);
        let found = corrected(sleeps, real, arrivals([20e3, 800.0, 60e3, 1_100.0]));
        assert_eq!(found.map(|sleep| sleep.exit_ns), [35e3, 30e3, 60e3]);
        assert_eq!(found.map(|sleep| sleep.switch_ns), [300.0, 200.0, 100.0]);
        let found = corrected(sleeps, arrivals([0.0; 4]), arrivals([90e3, 300.0, 20e3, 0.0]));
        assert_eq!(found.map(|sleep| sleep.exit_ns), [0.0, 30e3, 30e3]);
        assert_eq!(found.map(|sleep| sleep.switch_ns), [0.0, 200.0, 200.0]);
    }

    #[test]
    fn an_arrival_is_the_median_of_the_moves_to_a_core_that_were_made() {
        let to = |target, parked_ns, attached_ns, running_ns| Move {
            target,
            parked_ns,
            attached_ns,
            running_ns,
            ..Move::default()
        };
        let migrations = vec![
            to(0, 10, 30, 31),
            to(1, 10, 900, 907),
            to(0, 50, 60, 0),
            to(0, 50, 0, 0),
            to(0, 0, 0, 0),
            to(0, 90, 100, 103),
        ];
        let run = Run { migrations, ..Run::default() };
        let of = |target| arrival(&run, target).map(|one| (one.attach_ns, one.run_ns));
        assert_eq!((of(0), of(1), of(2)), (Some((15.0, 2.0)), Some((890.0, 7.0)), None));
    }

    #[test]
    fn the_application_makes_sense() {
        let here = Path::new("/");
        let app = App::build(&Manifest::parse(APP).unwrap(), &[], here, here).unwrap();
        assert_eq!((app.tasks.len(), app.frame_rate), (5, Some(50.0)));
    }
}
