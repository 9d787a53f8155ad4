// SPDX-License-Identifier: Apache-2.0
//! The options of `explore`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use serde::{Deserialize, Serialize};
use whimbrel_explore::{Budget, Objective, PointChoice, SlotChoice, WayChoice, parse_list};
use whimbrel_model::{Pin, PolicyName, Problem, Setting, ranges};
use whimbrel_run::args::values::{hertz, pin, positive_duration, rate, setting};
use whimbrel_run::args::{PLATFORM, Parameters};
use whimbrel_text::option;

/// Where nothing is said.
const ALL_POINTS: &str = "all";
const OF_EACH: &str = "2s";
const FIRST_SEED: &str = "1";
const RUN_ALL: &str = "20000";

/// The headings of options.
const SPACE: &str = "What to choose from";
const SEARCH: &str = "Search";

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel explore apps/fm_radio/app.toml --frame-rates 450,900 --points auto --pin lpf=0 -o found
  whimbrel explore apps/synthetic/app.toml --platform davinci --core-counts 1-2 --budget 10m
  whimbrel explore apps/fm_radio/app.toml --resume found --write-table radio.toml

Environment:
  WHIMBREL_PYTHON  The Python that has the package, for --scheduler [default: python3]";

/// Searches mappings, operating points, queue sizes and policies in the simulator.
///
/// Runs candidates on all processors of this machine and prints, for each frame rate, the Pareto
/// front of energy, missed deadlines, latency and cores. Candidates that are equal except for the
/// numbers of cores and tasks run once; those that overload a core do not run. Spaces of up to
/// --exhaustive candidates are run through, larger ones are searched (NSGA-II). See
/// docs/explore.md.
///
/// The first Ctrl-C ends it and keeps what is done, which --resume continues.
///
/// Exit status: 0 there is a candidate without a missed deadline for every frame rate, 1 there is
/// not, 2 an error.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[command(after_long_help = EXAMPLES)]
pub struct ExploreArgs {
    /// The application's app.toml or its folder, or files that `import` takes
    ///
    /// Several files together are one application.
    #[arg(value_name = "APP.toml", required = true)]
    pub app: Vec<PathBuf>,

    /// The hardware: a platform's name or file
    ///
    /// docs/platform-toml.md describes such a file
    #[arg(long, value_name = "PLATFORM", default_value = PLATFORM)]
    pub platform: String,

    /// Numbers of cores, for example 1-3 or 1,4 [default: every number]
    ///
    /// The other cores of the platform are off
    #[arg(long, alias = "cores", value_name = "LIST", value_parser = counts)]
    #[arg(help_heading = SPACE)]
    pub core_counts: Option<Counts>,

    /// Frame rates, each with its own front [default: the application's]
    ///
    /// For example 300,600,900
    #[arg(long, alias = "rates", value_name = "LIST", value_delimiter = ',', value_parser = rate)]
    #[arg(help_heading = SPACE)]
    pub frame_rates: Vec<f64>,

    /// First operating points: all, high, auto or MHz
    ///
    /// high is the highest, auto the lowest without a missed deadline (by bisection)
    #[arg(long, value_name = "POINTS", default_value = ALL_POINTS, value_parser = points)]
    #[arg(help_heading = SPACE)]
    pub points: PointChoice,

    /// Slots of channels, for example 4,8,14; repeatable
    ///
    /// A list is for every channel; demodulator_bpf=4,8 is for one. The default is the
    /// application's
    #[arg(long, value_name = "[CHANNEL=]LIST", value_parser = slots, help_heading = SPACE)]
    pub slots: Vec<SlotChoice>,

    /// How channels notify, for example interrupt; repeatable
    ///
    /// Of interrupt, polling:20ms, adaptive:1ms and batch:8:5ms, each with /internal behind it or
    /// without. A list is for every channel; codec_phone=interrupt,adaptive:1ms is for one. The
    /// default is the application's
    #[arg(long, value_name = "[CHANNEL=]LIST", value_parser = ways, help_heading = SPACE)]
    pub channels: Vec<WayChoice>,

    /// Policies, for example static,balance [default: static]
    ///
    /// Parameters follow a name: balance:settle_ms=500
    #[arg(long, value_name = "LIST", value_parser = parse_list, help_heading = SPACE)]
    pub policies: Option<Policies>,

    /// Keep a task on a core, for example lpf=0 or bpf.2=1; repeatable
    #[arg(long = "pin", value_name = "TASK=CORE", value_parser = pin, help_heading = SPACE)]
    pub pins: Vec<Pin>,

    /// Replace a parameter of the application; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,

    /// The virtual time that each candidate runs
    #[arg(long, value_name = "TIME", default_value = OF_EACH, value_parser = positive_duration)]
    pub duration: Duration,

    /// The seed of the search and of the drawn cycles
    #[arg(long, value_name = "N", default_value = FIRST_SEED, help_heading = SEARCH)]
    pub seed: u64,

    /// End after N candidates of a frame rate, or a time, for example 10m
    #[arg(long, value_name = "N|TIME", value_parser = budget, help_heading = SEARCH)]
    pub budget: Option<Budget>,

    /// Run all candidates if a frame rate has at most N
    #[arg(long, alias = "limit", value_name = "N", default_value = RUN_ALL, help_heading = SEARCH)]
    pub exhaustive: usize,

    /// What to minimise [default: energy,misses,latency,cores]
    ///
    /// Of energy, misses, latency, cores, power, energy_per_frame, energy_per_task and time; frames
    /// are maximised
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = objective(),
          default_value = "energy,misses,latency,cores", hide_default_value = true)]
    #[arg(help_heading = SEARCH, hide_possible_values = true)]
    pub objectives: Vec<Objective>,

    /// Leave out of a front what is about as good, for example 1%
    ///
    /// A front has one of the candidates that differ by less in every objective (ε-dominance). 1%
    /// is for every objective; energy=1%,latency=5% for some
    #[arg(long, value_name = "[OBJECTIVE=]PART", value_parser = tolerance, help_heading = SEARCH)]
    pub tolerance: Option<Tolerance>,

    /// Write the results, and what --resume needs, into this new folder
    ///
    /// The results are explore.csv, explore.parquet and front.json
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Resume an exploration: its folder, or its explore.parquet
    ///
    /// With the same options the result is that of an exploration that was not ended. With
    /// explore.parquet, --output names a new folder
    #[arg(long, value_name = "DIR|FILE", help_heading = SEARCH)]
    pub resume: Option<PathBuf>,

    /// Run on a Dask cluster, for example tcp://10.0.0.1:8786
    ///
    /// The address is that of its scheduler. The workers need the Python package of Whimbrel (see
    /// docs/python.md)
    #[arg(long, value_name = "ADDRESS", help_heading = SEARCH)]
    pub scheduler: Option<String>,

    /// Write what was found as a table for `run --table`
    ///
    /// It contains for each frame rate what keeps every deadline with the least energy.
    /// docs/policies.md describes it
    #[arg(long, alias = "table", value_name = "FILE.toml")]
    pub write_table: Option<PathBuf>,

    /// Print the fronts as JSON
    ///
    /// It is the front.json of --output
    #[arg(long)]
    pub json: bool,

    /// Show nothing while it runs
    #[arg(long, short)]
    pub quiet: bool,
}

impl ExploreArgs {
    /// By the parameters of a function, which prints nothing.
    pub fn of(mut given: Parameters) -> Result<Self, Problem> {
        let args = Self {
            app: given.app(),
            platform: given.needed(option::PLATFORM, String::from_str)?,
            core_counts: given.one(option::CORE_COUNTS, counts)?,
            frame_rates: given.list(option::FRAME_RATES, rate)?,
            points: given.or(option::POINTS, points, ALL_POINTS)?,
            slots: given.each(option::SLOTS, slots)?,
            channels: given.each(option::CHANNELS, ways)?,
            policies: given.one(option::POLICIES, parse_list)?,
            pins: given.each(option::PIN, pin)?,
            set: given.each(option::SET, setting)?,
            duration: given.or(option::DURATION, positive_duration, OF_EACH)?,
            seed: given.or(option::SEED, value_parser!(u64), FIRST_SEED)?,
            budget: given.one(option::BUDGET, budget)?,
            exhaustive: given.or(option::EXHAUSTIVE, usize::from_str, RUN_ALL)?,
            objectives: match given.list(option::OBJECTIVES, objective())? {
                none if none.is_empty() => Objective::DEFAULT.to_vec(),
                some => some,
            },
            tolerance: given.one(option::TOLERANCE, tolerance)?,
            output: given.path(option::OUTPUT)?,
            resume: given.path(option::RESUME)?,
            scheduler: None,
            write_table: given.path(option::WRITE_TABLE)?,
            json: false,
            quiet: true,
        };
        given.end(args)
    }
}

/// One value of an option: clap takes a `Vec` for several.
type Counts = Vec<usize>;
type Policies = Vec<PolicyName>;
type Tolerance = Vec<(Option<Objective>, f64)>;

fn counts(text: &str) -> Result<Counts, String> {
    let count = |text: &str| {
        let number = text.trim().parse().ok().filter(|count| (1..=4095).contains(count));
        number.ok_or_else(|| {
            format!("`{text}` is not a number of cores: write a list such as 1-3 or 1,4")
        })
    };
    ranges(text, count)
}

fn points(text: &str) -> Result<PointChoice, String> {
    match text {
        "all" => return Ok(PointChoice::All),
        "high" => return Ok(PointChoice::High),
        "auto" => return Ok(PointChoice::Auto),
        _ => {}
    }
    let hz = |word: &str| {
        let wrong = |_| format!("`{word}` is not a frequency: write all, high, auto or 133,266");
        hertz(word.trim()).map_err(wrong)
    };
    text.split(',').map(hz).collect::<Result<_, _>>().map(PointChoice::Hz)
}

/// What of `CHANNEL=LIST` is the channel, if one is named.
fn of_channel(text: &str) -> (Option<String>, &str) {
    match text.split_once('=') {
        Some((channel, list)) => (Some(channel.trim().to_owned()), list),
        None => (None, text),
    }
}

fn slots(text: &str) -> Result<SlotChoice, String> {
    let (channel, list) = of_channel(text);
    let number = |word: &str| {
        let slots = word.trim().parse().ok().filter(|slots| (1..=32_768).contains(slots));
        slots.ok_or_else(|| format!("`{word}` is not a number of slots: from 1 to 32768"))
    };
    let slots = list.split(',').map(number).collect::<Result<_, _>>()?;
    Ok(SlotChoice { channel, slots })
}

fn ways(text: &str) -> Result<WayChoice, String> {
    let (channel, list) = of_channel(text);
    let ways = list.split(',').map(str::parse).collect::<Result<_, _>>()?;
    Ok(WayChoice { channel, ways })
}

fn budget(text: &str) -> Result<Budget, String> {
    match text.parse() {
        Ok(0) => Err("must not be 0".into()),
        Ok(runs) => Ok(Budget::Runs(runs)),
        Err(_) => positive_duration(text).map(Budget::Time),
    }
}

fn tolerance(text: &str) -> Result<Tolerance, String> {
    let one = |word: &str| {
        let (objective, part) = match word.split_once('=') {
            Some((objective, part)) => (Some(objective), part),
            None => (None, word),
        };
        let objective = objective.map(|word| {
            let known = Objective::ALL.into_iter().find(|(name, _)| *name == word);
            let all = || Objective::ALL.map(|(name, _)| name).join(", ");
            known
                .map(|(_, known)| known)
                .ok_or_else(|| format!("there is no objective `{word}`: write one of {}", all()))
        });
        let (number, of) = part.strip_suffix('%').map_or((part, 1.0), |number| (number, 100.0));
        let part = number.trim().parse().ok().map(|number: f64| number / of);
        let part = part.filter(|part| (0.0..1.0).contains(part));
        let part = part.ok_or_else(|| format!("`{word}` is not a part: write 1% or 0.01"))?;
        Ok((objective.transpose()?, part))
    };
    text.split(',').map(one).collect()
}

fn objective() -> impl TypedValueParser<Value = Objective> {
    PossibleValuesParser::new(Objective::ALL.map(|(word, _)| word)).map(|word| {
        let known = Objective::ALL.into_iter().find(|(name, _)| *name == word);
        known.expect("the parser knows no other words").1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cores_are_a_list_with_ranges() {
        assert_eq!(counts("1-3,8"), Ok(vec![1, 2, 3, 8]));
        for bad in ["", "0", "3-1", "1-", "a", "-1", "5000"] {
            assert!(counts(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn points_are_a_word_or_frequencies() {
        assert_eq!(points("auto"), Ok(PointChoice::Auto));
        assert_eq!(points("133.5,266"), Ok(PointChoice::Hz(vec![133_500_000, 266_000_000])));
        for bad in ["", "low", "0", "-1", "133,,266", "1e9", "nan"] {
            assert!(points(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn slots_are_for_all_channels_or_for_one() {
        let named = SlotChoice { channel: Some("a_b".into()), slots: vec![4, 8] };
        assert_eq!(slots("a_b=4,8"), Ok(named));
        assert_eq!(slots("14"), Ok(SlotChoice { channel: None, slots: vec![14] }));
        for bad in ["", "0", "a=", "4,x", "40000", "-1"] {
            assert!(slots(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pin_may_be_of_all_tasks_of_a_name() {
        assert_eq!(pin("bpf=1"), Ok(Pin { task: "bpf".into(), index: None, core: 1 }));
        assert_eq!(pin("bpf.0=1"), Ok(Pin { task: "bpf".into(), index: Some(0), core: 1 }));
        for bad in ["bpf", "bpf=", "=1", "bpf=a", "b.x=1"] {
            assert!(pin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tolerance_is_a_part_of_every_objective_or_of_some() {
        assert_eq!(tolerance("1%"), Ok(vec![(None, 0.01)]));
        let energy = (Some(Objective::Energy), 0.5);
        assert_eq!(tolerance("0.25,energy=50%"), Ok(vec![(None, 0.25), energy]));
        for bad in ["", "-1%", "100%", "2", "much", "nan", "beauty=1%"] {
            assert!(tolerance(bad).is_err(), "{bad}");
        }
        assert!(tolerance("beauty=1%").unwrap_err().contains("energy_per_frame"));
    }

    #[test]
    fn a_budget_is_a_number_of_runs_or_a_time() {
        assert_eq!(budget("500"), Ok(Budget::Runs(500)));
        assert_eq!(budget("10m"), Ok(Budget::Time(Duration::from_secs(600))));
        for bad in ["0", "0s", "-1", "soon"] {
            assert!(budget(bad).is_err(), "{bad}");
        }
    }
}
