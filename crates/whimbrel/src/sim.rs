// SPDX-License-Identifier: Apache-2.0
//! `whimbrel sim`: an application in virtual time.
//!
//! A simulation is a run by another helper: it is loaded, watched and summed up in the same way.
//! What differs is what its cores are, and that what is to happen at a time is in its plan.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use whimbrel_model::{Problem, escape};

use crate::cli::SimArgs;
use crate::failure::Outcome;
use crate::fingerprint::fingerprint;
use crate::load::sim::{Simulated, check_times, load};
use crate::load::{nanoseconds, utf8};
use crate::run::execute;

/// When a run without --limit is taken for endless.
const LIMIT: Duration = Duration::from_secs(3600);

/// How long channels may take to drain after the duration.
const DRAIN: Duration = Duration::from_secs(2);

/// Simulates an application.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn sim(args: &SimArgs) -> Outcome {
    check_times(&args.times())?;
    let Simulated { run, platform, commands } = load(args)?;
    let lines = extra_lines(args, &platform, &commands);
    let (save, resume) =
        (whole(args.save.as_ref().map(|s| &*s.file))?, whole(args.resume.as_deref())?);
    let complete = |plan: String| {
        let plan = plan.strip_suffix("start\n").unwrap_or(&plan).to_owned() + &lines;
        // A run that goes on from another may be recorded elsewhere, or saved again.
        let told = plan.lines().filter(|line| !line.starts_with("record "));
        let id = fingerprint(&told.collect::<Vec<_>>().join("\n"));
        let at = args.save.as_ref().map_or(0, |save| nanoseconds(save.at));
        let save = save.map(|file| format!("at {at} 0 save {} {id}\n", escape(&file)));
        let resume = resume.map(|file| format!("restore {} {id}\n", escape(&file)));
        plan + &save.unwrap_or_default() + &resume.unwrap_or_default() + "start\n"
    };
    execute(&args.common, run, complete)
}

/// The whole path of a file: the helper works in the folder of the application.
fn whole(file: Option<&Path>) -> Result<Option<String>, Problem> {
    let whole = |file: &Path| {
        let path = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        utf8(&path)
    };
    file.map(whole).transpose()
}

/// The lines of the plan that only a simulation has.
pub fn extra_lines(args: &SimArgs, platform: &str, commands: &str) -> String {
    let mut lines = format!("platform {}\n", escape(platform));
    lines.push_str(commands);
    for change in &args.rates {
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "at {} 0 rate planned {}", nanoseconds(change.at), change.millihz);
    }
    let mut limit = nanoseconds(LIMIT);
    if let Some(end) = args.common.duration.map(nanoseconds) {
        let forced = end.saturating_add(nanoseconds(DRAIN));
        limit = limit.max(forced);
        let _ = write!(lines, "at {end} 0 stop\nat {forced} 0 kill\n");
    }
    let limit = args.limit.map_or(limit, nanoseconds);
    let _ = writeln!(lines, "limit {limit} {}", args.max_events.unwrap_or(0));
    lines
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: SimArgs,
    }

    fn args(options: &str) -> SimArgs {
        Line::parse_from(["sim", "app.toml"].into_iter().chain(options.split_whitespace())).args
    }

    #[test]
    fn a_limit_that_is_given_holds_however_long_the_run_is_to_be() {
        let limit = |options: &str| {
            let lines = extra_lines(&args(options), "", "");
            let line = lines.lines().find_map(|line| line.strip_prefix("limit "));
            line.unwrap().split(' ').next().unwrap().parse::<u64>().unwrap() / 1_000_000_000
        };
        assert_eq!(limit(""), 3600);
        assert_eq!(limit("--duration 10s"), 3600);
        assert_eq!(limit("--duration 2h"), 7202);
        assert_eq!(limit("--duration 10s --limit 5s"), 5);
    }

    #[test]
    fn a_time_beyond_virtual_time_is_refused_whichever_option_has_it() {
        let refused = |options: &str| check_times(&args(options).times()).err();
        assert_eq!(refused("--duration 200days --move a=1@199days"), None);
        for (option, value) in [
            ("--duration", "600years"),
            ("--limit", "50years"),
            ("--save", "F@600years"),
            ("--move", "a=1@600years"),
            ("--shuttle", "a=1,0@600years"),
            ("--rate", "900@201days"),
            ("--agents", "600years"),
        ] {
            let problem = refused(&format!("{option} {value}")).expect(option);
            assert!(problem.message.starts_with(option), "{}", problem.message);
            assert_eq!(problem.help.as_deref(), Some("write at most 200days"));
        }
    }
}
