// SPDX-License-Identifier: Apache-2.0
//! `whimbrel explore`: a space from an application and a platform, a simulator for each candidate,
//! and the files of the result.

mod cluster;
mod folder;
mod job;
mod replay;
mod show;
mod simulate;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::flag;
use whimbrel_explore::{
    Choices, Evaluate, Exploration, Objective, Options, Settings, Space, Surroundings, System,
    explore as search, json,
};
use whimbrel_model::{Compute, Kernels, Problem, millihz};
use whimbrel_run::failure::{Answer, Failure, Outcome, first_of, say};
use whimbrel_run::helpers;
use whimbrel_run::load::experiment::Experiment;
use whimbrel_run::load::{
    Application, application, check_times, measured_work, nanoseconds, simulated_platform, utf8,
};
use whimbrel_run::output::{print, print_json};
use whimbrel_run::signals;
use whimbrel_text::cure;
use whimbrel_text::option::{DURATION, OBJECTIVES, RESUME, TOLERANCE, WRITE_TABLE};

use crate::cli::ExploreArgs;
pub use job::{Job, Pool, Process};
pub use replay::replayed;
pub use show::tables;
pub use simulate::{Setup, Simulator};

/// Explores an application on a platform.
///
/// # Errors
/// Bad input, a simulator that cannot be started, or files that cannot be written.
pub fn explore(args: &ExploreArgs) -> Outcome {
    if args.scheduler.is_some() {
        return Err(cluster::hand_over(args).into());
    }
    let stop = Arc::new(AtomicBool::new(false));
    let Prepared { space, simulator, experiment } = prepared(args)?;
    let (space, simulator) = (&space, &simulator);
    for signal in signals::ending() {
        // In this order: the first signal finds `stop` still unset when it comes to the shutdown.
        flag::register_conditional_shutdown(signal, 2, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|error| {
                Problem::new(format!("signals cannot be taken: {error}")).help(cure(&error))
            })?;
    }
    let bar = show::Bar::new(space, args.quiet);
    let watch = |progress| bar.show(progress);
    let found =
        found(args, space, simulator, simulator, &Surroundings { stop: &stop, watch: &watch });
    bar.end();
    let (identity, found) = found?;
    conclude(args, space.system(), &found, &identity, experiment)
}

/// Everything that an exploration begins with.
#[derive(Debug)]
pub struct Prepared {
    /// What there is to choose from.
    pub space: Space,
    /// What runs candidates on this machine.
    pub simulator: Simulator,
    /// How it is repeated; of one with a folder.
    pub experiment: Option<Experiment>,
}

/// Reads and checks everything that `explore` was given.
///
/// # Errors
/// Bad input.
pub fn prepared(args: &ExploreArgs) -> Result<Prepared, Failure> {
    check_times(&[(DURATION, args.duration)])?;
    let (system, simulator) = simulator(&settings(args))?;
    let duration_ns = nanoseconds(args.duration);
    let space = Space::new(system, &choices(args), duration_ns).map_err(reports)?;
    let experiment = folder::of(args).map(|_| simulator.experiment(args));
    Ok(Prepared { space, simulator, experiment })
}

/// What the outcomes of an exploration depend on besides candidates; what is not known before files
/// are read is empty.
fn settings(args: &ExploreArgs) -> Settings {
    Settings {
        app: String::new(),
        files: args.app.clone(),
        platform: args.platform.clone(),
        set: args.set.clone(),
        pins: args.pins.clone(),
        duration_ns: nanoseconds(args.duration),
        seed: args.seed,
        identity: String::new(),
    }
}

/// An application on a platform, and what runs its candidates.
fn simulator(settings: &Settings) -> Result<(System, Simulator), Failure> {
    let Application { mut app, source, folder, .. } = application(&settings.files, &settings.set)?;
    let hardware = simulated_platform(&settings.platform)?.description()?;
    measured_work(&mut app, &hardware);
    if hardware.groups().iter().any(|group| *group != 0) {
        let message = "cores of the platform share a scheduler (`migration`): no mapping is fixed";
        let help = "take `migration` away, or run `whimbrel sim`";
        return Err(Problem::new(message).help(help).into());
    }
    app.check_only(Kernels::Simulator)
        .and_then(|()| app.set_compute(Compute::Model))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    let system = System::new(&app, &hardware);
    let simulator = Simulator::new(
        helpers::find(helpers::SIMULATOR)?,
        folder.clone(),
        utf8(&helpers::find_module(&app, &folder, &source)?)?,
        Setup {
            app,
            hardware,
            pins: settings.pins.clone(),
            duration_ns: settings.duration_ns,
            seed: settings.seed,
        },
    );
    Ok((system, simulator))
}

/// Explores: candidates are run by `evaluate`. Gives what the result is of besides.
///
/// # Errors
/// A store that cannot be gone on with, or candidates that cannot be run at all.
pub fn found(
    args: &ExploreArgs,
    space: &Space,
    simulator: &Simulator,
    evaluate: &dyn Evaluate,
    around: &Surroundings<'_>,
) -> Result<(String, Exploration), Failure> {
    let identity = simulator.identity();
    let mut store = folder::store(args, &identity)?;
    let mut found =
        search(space, evaluate, &mut store, &options(args)?, *around).map_err(Problem::new)?;
    let app = space.system().app.clone();
    found.settings = Settings { app, identity: identity.clone(), ..settings(args) };
    Ok((identity, found))
}

/// How candidates are chosen.
///
/// # Errors
/// A tolerance is of something that is not an objective.
pub fn options(args: &ExploreArgs) -> Result<Options, Problem> {
    Ok(Options {
        objectives: args.objectives.clone(),
        tolerance: tolerance(args)?,
        seed: args.seed,
        limit: args.exhaustive,
        budget: args.budget.unwrap_or_default(),
    })
}

/// The tolerance of each objective.
fn tolerance(args: &ExploreArgs) -> Result<Vec<f64>, Problem> {
    let given = args.tolerance.clone().unwrap_or_default();
    let unknown = |of: Objective| !args.objectives.contains(&of);
    if let Some(of) = given.iter().filter_map(|(of, _)| *of).find(|of| unknown(*of)) {
        let message = format!("{TOLERANCE}: `{}` is not an objective here", of.word());
        return Err(Problem::new(message).help(format!("add it to {OBJECTIVES}, or leave it out")));
    }
    let of_one = |objective: &Objective| {
        let meant = |(of, _): &&(Option<Objective>, f64)| of.is_none_or(|of| of == *objective);
        given.iter().rev().find(meant).map_or(0.0, |(_, part)| *part)
    };
    Ok(args.objectives.iter().map(of_one).collect())
}

fn choices(args: &ExploreArgs) -> Choices {
    Choices {
        cores: args.core_counts.clone().unwrap_or_default(),
        rates_millihz: args.frame_rates.iter().copied().map(millihz).collect(),
        points: args.points.clone(),
        slots: args.slots.clone(),
        ways: args.channels.clone(),
        policies: args.policies.clone().unwrap_or_default(),
        pins: args.pins.clone(),
    }
}

fn reports(problems: Vec<Problem>) -> Failure {
    let (first, more) = first_of(problems);
    let more = more.map(|n| Problem::new(format!("… and {n} more")).help("correct these first"));
    Failure::Reports(first.into_iter().chain(more).map(miette::Report::new).collect())
}

/// Writes the files that were asked for.
///
/// # Errors
/// One of them cannot be written, or there is no row for the table.
pub fn keep(
    args: &ExploreArgs,
    system: &System,
    found: &Exploration,
    identity: &str,
    experiment: Option<Experiment>,
) -> Result<(), Failure> {
    if let Some(folder) = folder::of(args) {
        folder::write(folder, system, found, identity)?;
        if let Some(mut experiment) = experiment.filter(|_| found.complete()) {
            experiment.settings = serde_json::to_value(&found.settings).ok();
            experiment.write(folder)?;
        }
    }
    args.write_table.as_deref().map_or(Ok(()), |path| write_table(path, system, found))
}

/// Explores once more, without a word, what has been explored on this machine or another.
///
/// # Errors
/// As [`explore`].
pub fn again(args: &ExploreArgs, settings: Settings, stop: &AtomicBool) -> Result<(), Failure> {
    let Prepared { space, simulator, .. } = &prepared(args)?;
    let around = Surroundings { stop, watch: &|_| {} };
    let (_, mut found) = found(args, space, simulator, simulator, &around)?;
    // The files are elsewhere, and were here.
    found.settings = settings;
    let identity = &found.settings.identity;
    args.output.as_deref().map_or(Ok(()), |to| folder::write(to, space.system(), &found, identity))
}

/// Writes the files, prints the fronts, and answers.
fn conclude(
    args: &ExploreArgs,
    system: &System,
    found: &Exploration,
    identity: &str,
    experiment: Option<Experiment>,
) -> Outcome {
    keep(args, system, found, identity, experiment)?;
    if args.json {
        print_json(&json(system, found))?;
    } else {
        print(&tables(system, found))?;
    }
    if let Some(folder) = folder::of(args).filter(|_| !args.quiet) {
        say(&format!("{}: explore.csv, explore.parquet, front.json", folder.display()));
    }
    if let Some(path) = args.write_table.as_ref().filter(|_| !args.quiet) {
        say(&format!("{}: the rows of a table policy", path.display()));
    }
    if !found.complete() {
        let kept =
            folder::of(args).map(|folder| format!(": resume with {RESUME} {}", folder.display()));
        say(&format!("ended before everything was explored{}", kept.unwrap_or_default()));
    }
    Ok(if kept(found) { Answer::Yes } else { Answer::No })
}

/// Whether there is a candidate without a missed deadline for every frame rate.
pub fn kept(found: &Exploration) -> bool {
    found.rates.iter().all(|rate| rate.kept)
}

fn write_table(path: &Path, system: &System, found: &Exploration) -> Result<(), Failure> {
    let (text, without) = whimbrel_explore::table(system, found);
    for rate in without {
        let rate = whimbrel_run::output::thousandths(rate);
        say(&format!(
            "no row for {rate} frames per second: every static candidate misses deadlines"
        ));
    }
    let Some(text) = text else {
        let problem = Problem::new(format!("{WRITE_TABLE}: there is no row to write"));
        let help =
            "allow candidates with the policy `static` that keep every deadline at a frame rate";
        return Err(problem.help(help).into());
    };
    folder::write_file(path, |file| std::io::Write::write_all(file, text.as_bytes()))
}
