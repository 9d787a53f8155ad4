// SPDX-License-Identifier: Apache-2.0
//! The options of `sim`.

use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, value_parser};
use whimbrel_model::{Compute, Problem};
use whimbrel_text::option::{self, Opt};

use super::values::{RateChange, Save, one_of, positive_duration};
use super::{CommonArgs, Parameters};

/// How tasks may take their time.
const COMPUTES: [&str; 2] = ["real", "model"];

/// Runs an application in virtual time, on hardware that need not exist.
///
/// The same middleware and the same application as in `run`, with a kernel for each core of the
/// platform: what they do takes the time that the platform's costs give it, cores consume by their
/// operating points and idle states, and transfers are in each other's way. Tasks really compute,
/// and so write what they would write on real cores; with `--compute model` they only take the
/// time of it. The same seed gives the same result, to the last bit, on every machine.
#[derive(Debug, Args)]
pub struct SimArgs {
    /// The hardware: the name of a platform, or the path of a platform's file (see
    /// docs/platform-toml.md)
    #[arg(long, value_name = "PLATFORM", default_value = "mpsoc3")]
    pub platform: String,

    /// Use only the first so many of its cores
    #[arg(long, value_name = "N", value_parser = n_cores)]
    pub cores: Option<u32>,

    /// Where random numbers begin
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Whether tasks compute, or only take the time of it: real or model [default: the
    /// application's]
    #[arg(long, value_name = "HOW", value_parser = one_of::<Compute>(COMPUTES))]
    pub compute: Option<Compute>,

    /// It is an error when the run has not ended after so much virtual time [default: 1h, or the
    /// end of a longer --duration]
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub limit: Option<Duration>,

    /// It is an error when the run has not ended after so many events
    #[arg(long, value_name = "N")]
    pub max_events: Option<u64>,

    /// Save the simulation into a file at a time after its start, as state@2s, and go on
    #[arg(long, value_name = "FILE@TIME")]
    pub save: Option<Save>,

    /// Go on from a saved simulation; all options that it had must be given again
    ///
    /// Files that the application has written are its own matter: what it wrote before is not in
    /// the saved simulation.
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Change the frame rate at a time, as 900@2s; repeatable
    #[arg(long = "rate", value_name = "N@TIME")]
    pub rates: Vec<RateChange>,

    /// What `run` has as well.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// How many cores; only `run` is told which.
fn n_cores(text: &str) -> Result<u32, String> {
    if text.contains([',', ':']) {
        return Err("a simulation takes their number; processors and boards are for `run`".into());
    }
    let number: i64 = text.parse().map_err(|error: ParseIntError| error.to_string())?;
    u32::try_from(number).map_err(|_| format!("{number} is not in 0..={}", u32::MAX))
}

impl SimArgs {
    /// By the parameters of a function.
    pub fn of(mut given: Parameters) -> Result<Self, Problem> {
        let args = Self {
            platform: given.needed(option::PLATFORM, String::from_str)?,
            cores: given.one(option::CORES, n_cores)?,
            seed: given.needed(option::SEED, value_parser!(u64))?,
            compute: given.one(option::COMPUTE, one_of::<Compute>(COMPUTES))?,
            limit: given.one(option::LIMIT, positive_duration)?,
            max_events: given.one(option::MAX_EVENTS, value_parser!(u64))?,
            save: given.one(option::SAVE, Save::from_str)?,
            resume: given.path(option::RESUME)?,
            rates: given.each(option::RATE, RateChange::from_str)?,
            common: CommonArgs::of(&mut given)?,
        };
        given.end(args)
    }

    /// Every time that it names, with its option.
    pub fn times(&self) -> Vec<(Opt, Duration)> {
        let once = [
            (option::DURATION, self.common.duration),
            (option::LIMIT, self.limit),
            (option::SAVE, self.save.as_ref().map(|save| save.at)),
            (option::AGENTS, Some(self.common.layout.moving.agents)),
        ];
        let once = once.into_iter().filter_map(|(option, time)| Some((option, time?)));
        once.chain(self.common.moves.iter().map(|moved| (option::MOVE, moved.at)))
            .chain(self.common.shuttles.iter().map(|shuttle| (option::SHUTTLE, shuttle.period)))
            .chain(self.rates.iter().map(|change| (option::RATE, change.at)))
            .collect()
    }
}
