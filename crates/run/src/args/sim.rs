// SPDX-License-Identifier: Apache-2.0
//! The options of `sim`.

use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};
use whimbrel_model::{Compute, PerChannel, Pin, Problem, Transport};
use whimbrel_text::option::{self, Opt};

use super::heading::{HARDWARE, SIMULATION};
use super::values::{CorePoints, RateChange, RowOf, Save, one_of, pin, positive_duration};
use super::{CommonArgs, Parameters};

/// The platform that is simulated, and explored, if none is named.
pub const PLATFORM: &str = "mpsoc3";

/// How tasks may take their time.
const COMPUTES: [&str; 2] = ["real", "model"];

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel sim apps/hello/app.toml --shuttle bird=1,0@400ms
  whimbrel sim apps/fm_radio/app.toml --platform ca9x4 --record radio --set output=
  whimbrel sim apps/fm_radio/app.toml --frame-rate 300 --frame-rate-change 900@2s --table radio.toml
  whimbrel sim apps/synthetic/app.toml --core-count 2 --map load --duration 10s --json
  whimbrel sim --candidate radio/explore.csv:12 --record run";

/// Runs an application in virtual time, on hardware that need not exist.
///
/// The middleware and the application are the same as in `run`, with a kernel for each core of the
/// platform. What they do takes the time that the platform's costs give it. Cores consume by their
/// operating points and idle states, and transfers are in each other's way. Tasks really compute,
/// and so write what they would write on real cores. With `--compute model` they only take the
/// time of it. The same seed gives the same result, to the last bit, on every machine.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("app", |app| app.required(false).required_unless_present("candidate")))]
pub struct SimArgs {
    /// A platform's name or file [default: mpsoc3]
    ///
    /// docs/platform-toml.md describes such a file
    #[arg(long, value_name = "PLATFORM", help_heading = HARDWARE)]
    pub platform: Option<String>,

    /// Use only its first N cores [default: all]
    #[arg(long, alias = "cores", value_name = "N", value_parser = n_cores)]
    #[arg(help_heading = HARDWARE)]
    pub core_count: Option<u32>,

    /// Where cores begin: MHz of each, - for off
    ///
    /// For example 266/133/-. Cores that are off do not exist in the simulation; the others have
    /// numbers without a gap
    #[arg(long, value_name = "MHZ/MHZ/...", help_heading = HARDWARE)]
    pub points: Option<CorePoints>,

    /// Keep a task on a core, for example lpf=0 or bpf.2=1; repeatable
    #[arg(long = "pin", value_name = "TASK=CORE", value_parser = pin)]
    #[arg(help_heading = HARDWARE, hide_short_help = true)]
    pub pins: Vec<Pin>,

    /// Slots of channels, for example 8 or codec_phone=4
    ///
    /// A number is for every channel, CHANNEL=N for one; several with spaces between them
    #[arg(long, value_name = "[CHANNEL=]N", help_heading = HARDWARE, hide_short_help = true)]
    pub slots: Option<PerChannel<u32>>,

    /// How channels notify, for example codec_phone=adaptive:1ms
    ///
    /// In the words of `explore --channels`, one for each channel; several with spaces between them
    #[arg(long, value_name = "[CHANNEL=]HOW", help_heading = HARDWARE, hide_short_help = true)]
    pub channels: Option<PerChannel<Transport>>,

    /// Repeat a candidate of an exploration
    ///
    /// ROW is its `id` in FILE. FILE is an explore.csv, explore.parquet or front.json, or the
    /// folder with these. The application, the platform and all settings are those of the
    /// exploration; options given here have precedence. For example radio/explore.csv:12
    #[arg(long, value_name = "FILE:ROW", help_heading = SIMULATION)]
    pub candidate: Option<RowOf>,

    /// The seed of the random numbers [default: 0]
    #[arg(long, value_name = "N", help_heading = SIMULATION)]
    pub seed: Option<u64>,

    /// Compute (real) or only pass time (model)
    ///
    /// The default is the application's
    #[arg(long, value_name = "HOW", value_parser = one_of::<Compute>(COMPUTES))]
    #[arg(help_heading = SIMULATION, hide_possible_values = true)]
    pub compute: Option<Compute>,

    /// Fail beyond this virtual time [default: 1h]
    ///
    /// The default is longer if --duration is
    #[arg(long, alias = "limit", value_name = "TIME", value_parser = positive_duration)]
    #[arg(help_heading = SIMULATION)]
    pub max_time: Option<Duration>,

    /// Fail beyond this number of events
    #[arg(long, value_name = "N", help_heading = SIMULATION, hide_short_help = true)]
    pub max_events: Option<u64>,

    /// Save the simulation at a time, and continue
    ///
    /// For example state@2s
    #[arg(long, value_name = "FILE@TIME", help_heading = SIMULATION)]
    pub save: Option<Save>,

    /// Resume a saved simulation
    ///
    /// Repeat all options that it had. What the application wrote into files before is not in the
    /// saved simulation
    #[arg(long, value_name = "FILE", help_heading = SIMULATION)]
    pub resume: Option<PathBuf>,

    /// Change the frame rate at a time; repeatable
    ///
    /// For example 900@2s
    #[arg(long = "frame-rate-change", alias = "rate", value_name = "N@TIME")]
    #[arg(help_heading = SIMULATION)]
    pub frame_rate_changes: Vec<RateChange>,

    /// What `run` has as well.
    #[command(flatten)]
    pub common: CommonArgs,
}

/// A number of cores; `run` takes a list of them.
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
            platform: given.one(option::PLATFORM, String::from_str)?,
            core_count: given.one(option::CORE_COUNT, n_cores)?,
            points: given.one(option::POINTS, CorePoints::from_str)?,
            pins: given.each(option::PIN, pin)?,
            slots: given.one(option::SLOTS, PerChannel::from_str)?,
            channels: given.one(option::CHANNELS, PerChannel::from_str)?,
            candidate: given.one(option::CANDIDATE, RowOf::from_str)?,
            seed: given.one(option::SEED, value_parser!(u64))?,
            compute: given.one(option::COMPUTE, one_of::<Compute>(COMPUTES))?,
            max_time: given.one(option::MAX_TIME, positive_duration)?,
            max_events: given.one(option::MAX_EVENTS, value_parser!(u64))?,
            save: given.one(option::SAVE, Save::from_str)?,
            resume: given.path(option::RESUME)?,
            frame_rate_changes: given.each(option::FRAME_RATE_CHANGE, RateChange::from_str)?,
            common: CommonArgs::of(&mut given)?,
        };
        given.end(args)
    }

    /// Every time that it names, with its option.
    pub fn times(&self) -> Vec<(Opt, Duration)> {
        let once = [
            (option::DURATION, self.common.duration),
            (option::MAX_TIME, self.max_time),
            (option::SAVE, self.save.as_ref().map(|save| save.at)),
            (option::AGENT_PERIOD, Some(self.common.layout.moving.agent_period)),
        ];
        let once = once.into_iter().filter_map(|(option, time)| Some((option, time?)));
        once.chain(self.common.moves.iter().map(|moved| (option::MOVE, moved.at)))
            .chain(self.common.shuttles.iter().map(|shuttle| (option::SHUTTLE, shuttle.period)))
            .chain(
                self.frame_rate_changes.iter().map(|change| (option::FRAME_RATE_CHANGE, change.at)),
            )
            .collect()
    }
}
