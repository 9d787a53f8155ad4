// SPDX-License-Identifier: Apache-2.0
//! `whimbrel sim --candidate`: a candidate of an exploration as the options that repeat it.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use whimbrel_explore::{ReplayError, Row, Settings, read};
use whimbrel_model::{Compute, Problem};
use whimbrel_run::args::SimArgs;
use whimbrel_run::args::values::{RowOf, rate};
use whimbrel_run::failure::Failure;
use whimbrel_run::load::application;
use whimbrel_text::option::CANDIDATE;

use super::simulate::STAYING;
use super::simulator;

/// At most so many rows are named.
const ROWS_NAMED: usize = 12;

/// The options with those that the candidate stands for; what was given goes before them.
///
/// # Errors
/// There is no such candidate, or its application or platform is not as it was.
pub fn replayed(args: &SimArgs) -> Result<SimArgs, Failure> {
    let mut args = args.clone();
    let Some(RowOf { file, row }) = &args.candidate else { return Ok(args) };
    let wrong = |error: ReplayError| no_replay(file, &error);
    let found = read(file, *row).map_err(wrong)?;
    let (settings, layout) = (&found.settings, &mut args.common.layout);
    // Whoever names another application or platform knows that it is one.
    let same = layout.app.is_empty() && args.platform.is_none() && layout.set.is_empty();
    if layout.app.is_empty() {
        layout.app.clone_from(&settings.files);
    }
    if let Some(missing) = layout.app.iter().find(|file| !file.exists()) {
        let missing = missing.display();
        let problem = Problem::new(format!("{CANDIDATE}: the application {missing} is not here"));
        let help = "name it, or change to the folder that the exploration was started in";
        return Err(problem.help(help).into());
    }
    let name = application(&layout.app, &[])?.app.name;
    if name != settings.app {
        let message = format!("{}: explored was `{}`, not `{name}`", file.display(), settings.app);
        return Err(Problem::new(message).help("name the application that was explored").into());
    }
    let platform = args.platform.get_or_insert_with(|| settings.platform.clone());
    let mut set = settings.set.clone();
    set.retain(|known| layout.set.iter().all(|given| given.key != known.key));
    layout.set.splice(0..0, set);

    let known = Settings {
        files: layout.app.clone(),
        platform: platform.clone(),
        set: layout.set.clone(),
        ..settings.clone()
    };
    let (system, simulator) = simulator(&known)?;
    if same && simulator.identity() != settings.identity {
        let message = format!("{}: the application or the platform has changed", file.display());
        let help = "explore again, or name the application to take it as it is";
        return Err(Problem::new(message).help(help).into());
    }
    let words = found.row(&system).map_err(wrong)?;
    fill(&mut args, &words, settings)?;
    args.compute.get_or_insert(Compute::Model);
    args.common.duration.get_or_insert(Duration::from_nanos(settings.duration_ns));
    args.seed.get_or_insert(settings.seed);
    Ok(args)
}

/// Gives the options that are not given what the row has.
fn fill(args: &mut SimArgs, words: &Row, settings: &Settings) -> Result<(), Problem> {
    let layout = &mut args.common.layout;
    layout.map = match layout.map.take() {
        None => Some(parsed(&words.mapping, FromStr::from_str)?),
        given => given,
    };
    if layout.frame_rate.is_none() && !layout.fast && !words.rate.is_empty() {
        layout.frame_rate = Some(parsed(&words.rate, rate)?);
    }
    if layout.moving.policy.is_none() && layout.moving.table.is_none() {
        layout.moving.policy = Some(parsed(&words.policy, FromStr::from_str)?);
    }
    if args.pins.is_empty() && words.policy != STAYING {
        args.pins.clone_from(&settings.pins);
    }
    if args.points.is_none() {
        args.points = Some(parsed(&words.points, FromStr::from_str)?);
    }
    if args.slots.is_none() {
        args.slots = Some(parsed(&words.slots, FromStr::from_str)?);
    }
    if args.channels.is_none() {
        args.channels = Some(parsed(&words.channels, FromStr::from_str)?);
    }
    Ok(())
}

/// A value of a file that was written by this program, unless somebody has changed it.
fn parsed<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Problem> {
    read(text).map_err(|why| {
        Problem::new(format!("{CANDIDATE}: `{text}` is invalid: {why}"))
            .help("use the file as `whimbrel explore` wrote it")
    })
}

fn no_replay(file: &Path, error: &ReplayError) -> Problem {
    let help = match error {
        ReplayError::Io(_) => "name the explore.csv, explore.parquet or front.json of an \
                               exploration, or its folder"
            .to_owned(),
        ReplayError::Alone => "name the explore.parquet, or keep front.json in this folder".into(),
        ReplayError::NoRow(_, known) if known.is_empty() => {
            "no candidate ran: explore again".into()
        }
        ReplayError::NoRow(_, known) => {
            let all: Vec<String> = known.iter().take(ROWS_NAMED).map(u64::to_string).collect();
            let last = known.last().copied().unwrap_or_default();
            let rest =
                if known.len() > ROWS_NAMED { format!(", … {last}") } else { String::new() };
            let rows = all.join(", ");
            format!("name a candidate that ran, by its `id`; this file has {rows}{rest}")
        }
        ReplayError::Other(_) | ReplayError::Version(_) | ReplayError::Misfit => {
            "name a result of this version of `whimbrel explore`, for this application".into()
        }
    };
    Problem::new(format!("{CANDIDATE}: {} {error}", file.display())).help(help)
}
