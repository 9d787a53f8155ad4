// SPDX-License-Identifier: Apache-2.0
//! What of a platform is as fast as its machine is now.
//!
//! How fast a machine is that others share changes within minutes: its clocks, its caches, how long
//! it takes to wake a processor. So a check measures that once more, in turns with what it
//! compares, and simulates with it. What has changed since the platform was written is no error of
//! the simulation, and is told apart.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use whimbrel_model::{App, CpuList, Platform, Problem};
use whimbrel_run::benchmark::{self, median};
use whimbrel_run::failure::{Failure, say};
use whimbrel_text::cure;

use super::fit::{self, Rows, Sleep};
use super::measured::{self, Run};
use super::moves::{Arrivals, Moves};
use super::renew::{self, Now, Wakes};
use super::settle::{Measured, settle};
use super::steady;
use super::work::{self, Firing, Pace};
use super::{medians, settings, two};
use crate::args::CalibrateArgs;

/// A time of the platform's file, and the same as measured again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Of what.
    pub what: String,
    /// In the file, in microseconds.
    pub then_us: f64,
    /// Now.
    pub now_us: f64,
}

/// Measures again, turn by turn.
#[derive(Debug)]
pub struct Remeasurement<'a> {
    app: &'a App,
    path: &'a Path,
    args: &'a CalibrateArgs,
    cpus: &'a CpuList,
    rows: Vec<Rows>,
    moves: Moves,
    arrivals: Vec<Arrivals>,
    fast: Vec<Run>,
    paced: Vec<Run>,
}

impl<'a> Remeasurement<'a> {
    /// Of an application on processors.
    ///
    /// # Errors
    /// There is no room for what is to be run.
    pub fn new(
        app: &'a App,
        path: &'a Path,
        args: &'a CalibrateArgs,
        cpus: &'a CpuList,
    ) -> Result<Self, Problem> {
        Ok(Self {
            app,
            path,
            args,
            cpus,
            rows: Vec::new(),
            moves: Moves::new(args.quick)?,
            arrivals: Vec::new(),
            fast: Vec::new(),
            paced: Vec::new(),
        })
    }

    /// One turn; recorded runs go to `folder`.
    ///
    /// # Errors
    /// A benchmark or a run fails.
    pub fn turn(&mut self, folder: &Path) -> Result<(), Failure> {
        say(&format!("what {} takes now: turn {}", self.app.name, self.fast.len() + 1));
        if let Ok(two) = two(self.cpus) {
            self.rows.push(medians(&benchmark::on_this_machine(
                &["wake".into()],
                Some(two),
                true,
            )?));
            self.arrivals.push(self.moves.real(two)?);
        }
        let (set, cpus) = (settings(&self.args.set), self.cpus.to_string());
        let pace = |fast| Pace { fast, quick: self.args.quick };
        let options = |fast| work::options("run", self.path, &cpus, &set, pace(fast));
        let (fast, paced) = (options(true), options(false));
        self.fast.push(measured::run(&fast)?);
        let place = folder.join(format!("now{}", self.fast.len()));
        self.paced.push(measured::recorded(self.app, &paced, &place)?);
        Ok(())
    }

    /// The platform of `text` as it is now, in a file in `folder`, and what has changed.
    ///
    /// # Errors
    /// Something was not measured, or a simulation fails.
    pub fn platform(&self, text: &str, folder: &Path) -> Result<(PathBuf, Vec<Change>), Failure> {
        let then = Speeds::of(text, &self.app.name)?;
        let mut now = Now {
            work: work::firings(self.app, &self.fast, &self.paced),
            disturbed: steady::disturbed(self.paced.iter().map(|run| &run.firings)),
            wakes: self.wakes(&then.rows)?,
        };
        let as_of = |now: &Now| renew::as_of(text, &self.app.name, then.hz, then.miss_ns, now);
        if let Some(wakes) = now.wakes.clone() {
            let with = |sleeps: &[Sleep; 3]| {
                let wakes = Some(Wakes { sleeps: *sleeps, ..wakes.clone() });
                as_of(&Now { wakes, ..now.clone() })
            };
            let sleeps = self.moves.settle(&wakes.sleeps, &self.arrivals, with)?;
            now.wakes = Some(Wakes { sleeps, ..wakes });
        }
        let set = settings(&self.args.set);
        let what = Measured {
            app: self.app,
            path: self.path,
            cores: self.cpus.0.len(),
            set: &set,
            quick: self.args.quick,
        };
        let with = |work: &[Firing]| as_of(&Now { work: work.to_vec(), ..now.clone() });
        now.work = settle(what, &now.work, with)?;
        let new = as_of(&now);
        let path = folder.join("now.toml");
        fs::write(&path, &new).map_err(|error| {
            Problem::new(format!("a platform cannot be written: {error}")).help(cure(&error))
        })?;
        Ok((path, then.changes(&Speeds::of(&new, &self.app.name)?)))
    }

    fn wakes(&self, rows: &Rows) -> Result<Option<Wakes>, Problem> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let mut all = rows.clone();
        for name in self.rows.iter().flat_map(|rows| rows.keys()) {
            let of = self.rows.iter().filter_map(|rows| rows.get(name).copied());
            all.extend(median(of.collect()).map(|value| (name.clone(), value)));
        }
        Ok(Some(Wakes { sleeps: fit::sleeps(&all)?, far_ns: fit::far_ns(&all)? }))
    }
}

/// What can change of a platform.
#[derive(Debug)]
struct Speeds {
    hz: u64,
    miss_ns: f64,
    /// Its costs, as rows.
    rows: Rows,
    /// Of what, and how long, in microseconds.
    times: Vec<(String, f64)>,
}

impl Speeds {
    #[expect(clippy::cast_precision_loss, reason = "times and frequencies far below 2^53")]
    fn of(text: &str, app: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::new("the platform's file is invalid now")
                .help("calibrate again, and report this as a bug if it repeats")
        };
        let described = Platform::parse(text).map_err(|_| wrong())?.description()?;
        let core = described.cores.first().ok_or_else(wrong)?;
        let hz = core.points.last().map_or(1, |point| point.hz);
        let cache = core.cache.as_ref();
        let ns = |ps: u64| ps as f64 / 1e3;
        let line_bytes = cache.map_or(1, |cache| u64::from(cache.line_bytes.max(1)));
        let (miss_ns, far_ns) = cache.map_or((0.0, 0.0), |c| (ns(c.miss_ps), ns(c.far_ps)));
        let mut times = Vec::new();
        for work in described.work.iter().filter(|work| work.app == app) {
            let us = work.cycles as f64 * 1e6 / hz as f64;
            let lines = work.working_bytes.unwrap_or(0) / line_bytes;
            times.push((format!("{}, full stream", work.task), us));
            let cold_us = us + lines as f64 * miss_ns / 1e3;
            times.push((format!("{}, own rate", work.task), cold_us));
        }
        for state in &core.idle_states {
            let us = ns(state.exit_ps + state.waking.ring_ps) / 1e3;
            times.push((format!("waking from {}", state.name), us));
        }
        times.push(("a KiB from another core".into(), far_ns * 16.0 / 1e3));
        Ok(Self { hz, miss_ns, rows: fit::given_back(&described), times })
    }

    fn changes(&self, now: &Self) -> Vec<Change> {
        let same = |what: &str| now.times.iter().find(|(name, _)| name == what);
        let change = |(what, then_us): &(String, f64)| {
            let (_, now_us) = same(what)?;
            Some(Change { what: what.clone(), then_us: *then_us, now_us: *now_us })
        };
        self.times.iter().filter_map(change).collect()
    }
}
