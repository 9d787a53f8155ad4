// SPDX-License-Identifier: Apache-2.0
//! `whimbrel calibrate`: this machine as a platform that can be simulated, and how far off that is.
//! See `docs/calibration.md`.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod args;
mod busy;
mod check;
mod figures;
mod file;
mod fit;
mod machine;
mod measured;
mod moves;
mod now;
mod renew;
mod settle;
mod steady;
mod work;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::slice;

use serde::Serialize;
use serde_json::{Value, json};
use whimbrel_model::{App, CpuList, Platform, Problem, Setting, Source};
use whimbrel_run::atomic_file;
use whimbrel_run::benchmark::{self, BenchRow};
use whimbrel_run::failure::{Answer, Failure, Outcome, say};
use whimbrel_run::load::{application, cpus, host_file};
use whimbrel_run::output::{Column, columns, print, print_json};
use whimbrel_text::cure;

pub use args::CalibrateArgs;
use busy::{BUSY_PERCENT, Busy, Reading};
use file::Firings;
use fit::{Fitted, Rows, Sleep};
use machine::Machine;
use measured::Run;
use moves::{Arrivals, Moves};
use settle::{Measured, settle};
use work::{Firing, Pace};

/// How often an application is run, each way.
const RUNS: u32 = 9;
const RUNS_QUICK: u32 = 3;

/// One row, and what the platform's costs make of it.
#[derive(Debug, Serialize)]
struct Back {
    bench: String,
    measured: f64,
    given_back: f64,
}

/// Measures this machine and writes it, or checks what was written.
///
/// # Errors
/// A helper is missing or fails, a run fails, a row is missing, or the file cannot be written.
pub fn calibrate(args: &CalibrateArgs) -> Outcome {
    let cpus = CpuList(cpus(args.cores.as_ref())?);
    if let Some(app) = &args.check {
        return check::check(args, app, &cpus);
    }
    let path = match &args.output {
        Some(path) => path.clone(),
        None => host_file()?,
    };
    let machine = Machine::look(cpus.0.first().copied().unwrap_or(0), cpus.0.len(), args.hz)?;
    let apps: Vec<App> = args
        .apps
        .iter()
        .map(|path| application(slice::from_ref(path), &args.set).map(|read| read.app))
        .collect::<Result<_, _>>()?;
    let before = Reading::take(&cpus)?;
    let rows = rows(args, &cpus)?;
    let mut fitted = fit::fit(&rows)?;
    let (mut work, mut own_rate) = (Vec::new(), Vec::new());
    for (app, path) in apps.iter().zip(&args.apps) {
        let (firings, paced) = firings(app, path, &cpus, args)?;
        work.push(firings);
        own_rate.extend(paced.into_iter().map(|run| run.firings));
    }
    let disturbed = steady::disturbed(own_rate.iter());
    let arrivals = args.rows.is_none().then(|| arrivals(args, &cpus)).transpose()?;
    let during = (args.rows.is_none() || !apps.is_empty()).then(|| before.until_now(&cpus));
    let during = during.transpose()?;
    let name = name(&path);
    let with = |fitted: &Fitted, work: &[Firing]| {
        file::text(&name, &machine, during.as_ref(), fitted, Firings { of_tasks: work, disturbed })
    };
    if let Some((moves, real)) = arrivals {
        let of = |sleeps: &[Sleep; 3]| with(&Fitted { sleeps: *sleeps, ..fitted.clone() }, &[]);
        fitted.sleeps = moves.settle(&fitted.sleeps, &real, of)?;
    }
    let text = |work: &[Firing]| with(&fitted, work);
    let settled = settled(&apps, args, &cpus, &work, text)?;
    let (work, text) = (work.concat(), text(&settled));
    let platform = Platform::parse(&text).map_err(|problems| {
        Failure::in_file(&Source::new(path.display().to_string(), text.clone()), problems)
    })?;
    write(&path, &text)?;
    let given_back = fit::given_back(&platform.description()?);
    let backs: Vec<Back> = given_back
        .into_iter()
        .filter_map(|(bench, given_back)| {
            Some(Back { measured: *rows.get(&bench)?, bench, given_back })
        })
        .collect();
    if let Some(during) = during.as_ref().filter(|during| during.busy) {
        say(&format!(
            "the machine was busy: {}; from {BUSY_PERCENT} % on, what was measured is not what the \
             machine alone takes",
            during.words()
        ));
        say("stop what else runs, or name other processors with --cores, and calibrate again");
    }
    show(args, &path, &machine, during.as_ref(), &backs, Firings { of_tasks: &work, disturbed })
}

/// How long moves take in runs of an application that is made for it.
fn arrivals(args: &CalibrateArgs, cpus: &CpuList) -> Result<(Moves, Vec<Arrivals>), Problem> {
    let (moves, two) = (Moves::new(args.quick)?, two(cpus)?);
    let turns = 1..=if args.quick { RUNS_QUICK } else { RUNS };
    let real = turns.map(|turn| {
        say(&format!("moving a task back and forth: turn {turn}"));
        moves.real(two)
    });
    let real = real.collect::<Result<_, _>>()?;
    Ok((moves, real))
}

/// What is the tasks' own of the firings of each application.
fn settled(
    apps: &[App],
    args: &CalibrateArgs,
    cpus: &CpuList,
    work: &[Vec<Firing>],
    text: impl Fn(&[Firing]) -> String,
) -> Result<Vec<Firing>, Problem> {
    let (set, cores, quick) = (settings(&args.set), cpus.0.len(), args.quick);
    let mut all = Vec::new();
    for ((app, path), firings) in apps.iter().zip(&args.apps).zip(work) {
        let what = Measured { app, path, cores, set: &set, quick };
        all.extend(settle(what, firings, &text)?);
    }
    Ok(all)
}

/// The name of a platform after its file.
fn name(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let name: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(31).collect();
    if name.is_empty() { "host".into() } else { name }
}

fn write(path: &Path, text: &str) -> Result<(), Problem> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let made = folder.map_or(Ok(()), fs::create_dir_all);
    let write = || atomic_file::write(path, |file| file.write_all(text.as_bytes()));
    made.and_then(|()| write()).map_err(|error| {
        Problem::new(format!("{} cannot be written: {error}", path.display()))
            .help("name another file with --output")
    })
}

/// The rows, measured or from a file.
fn rows(args: &CalibrateArgs, cpus: &CpuList) -> Result<Rows, Failure> {
    let Some(path) = &args.rows else {
        let groups: Vec<String> = fit::GROUPS.map(String::from).into();
        return Ok(medians(&benchmark::on_this_machine(&groups, Some(two(cpus)?), args.quick)?));
    };
    let wrong = |why: String| {
        Problem::new(format!("{} {why}", path.display()))
            .help("name a file that `whimbrel bench --json` has written")
    };
    let text =
        fs::read_to_string(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let rows: Vec<BenchRow> =
        serde_json::from_str(&text).map_err(|error| wrong(format!("has no rows: {error}")))?;
    Ok(medians(&rows))
}

/// The first two processors that differ: channels and migrations are measured between them.
fn two(cpus: &CpuList) -> Result<[u32; 2], Problem> {
    let first = cpus.0.first().copied().unwrap_or_default();
    let second = cpus.0.iter().copied().find(|cpu| *cpu != first);
    second.map(|second| [first, second]).ok_or_else(|| {
        Problem::new(format!("measuring needs two processors, and processor {first} is alone"))
            .help("name two with --cores, or give rows that were measured earlier with --rows")
    })
}

/// What the benchmarks compare with a plain copy is known by that name, too.
fn medians(rows: &[BenchRow]) -> Rows {
    let number = |row: &BenchRow, key: &str| row.rest.get(key).and_then(Value::as_f64);
    let mut all = Rows::new();
    for row in rows {
        all.extend(number(row, "p50").map(|p50| (row.bench.clone(), p50)));
        if row.bench.starts_with("wake.") {
            let name = format!("{} against", row.bench);
            all.extend(number(row, "against_p50").map(|p50| (name, p50)));
        }
        if row.rest.get("against").is_some_and(|against| against == "memcpy on one core") {
            let name = format!("{} against memcpy", row.bench);
            all.extend(number(row, "against_p50").map(|p50| (name, p50)));
        }
    }
    all
}

/// The settings as options of a run.
fn settings(set: &[Setting]) -> Vec<OsString> {
    set.iter()
        .flat_map(|set| ["--set".into(), format!("{}={}", set.key, set.value).into()])
        .collect()
}

/// Runs an application in turns without periods and at its own rate; the latter runs, too.
fn firings(
    app: &App,
    path: &Path,
    cpus: &CpuList,
    args: &CalibrateArgs,
) -> Result<(Vec<Firing>, Vec<Run>), Problem> {
    let (set, cpus) = (settings(&args.set), cpus.to_string());
    let (mut fast, mut paced) = (Vec::new(), Vec::new());
    let folder = tempfile::tempdir().map_err(|error| {
        Problem::new(format!("no folder for recorded runs: {error}")).help(cure(&error))
    })?;
    for turn in 1..=if args.quick { RUNS_QUICK } else { RUNS } {
        say(&format!("running {}: turn {turn}", app.name));
        let options =
            |fast| work::options("run", path, &cpus, &set, Pace { fast, quick: args.quick });
        fast.push(measured::run(&options(true))?);
        let place = folder.path().join(turn.to_string());
        paced.push(measured::recorded(app, &options(false), &place)?);
    }
    Ok((work::firings(app, &fast, &paced), paced))
}

fn show(
    args: &CalibrateArgs,
    path: &Path,
    machine: &Machine,
    during: Option<&Busy>,
    rows: &[Back],
    Firings { of_tasks, disturbed }: Firings<'_>,
) -> Outcome {
    if args.json {
        let all = json!({"file": path, "model": machine.model, "hz": machine.hz,
                         "cores": machine.cores, "machine": during, "rows": rows, "work": of_tasks,
                         "disturbed": disturbed});
        print_json(&all)?;
        return Ok(Answer::Yes);
    }
    let number = |value: f64| format!("{value:.1}");
    let mut text = columns(&[
        Column::of("bench", rows, |row| row.bench.clone()),
        Column::of(">measured", rows, |row| number(row.measured)),
        Column::of(">simulated", rows, |row| number(row.given_back)),
    ]);
    text.push_str(&columns(&[
        Column::of("task", of_tasks, |firing| format!("{} {}", firing.app, firing.task)),
        Column::of(">full stream, ns", of_tasks, |firing| number(firing.warm_ns)),
        Column::of(">own rate, ns", of_tasks, |firing| number(firing.cold_ns)),
    ]));
    if disturbed.part > 0.0 {
        text.push_str(&format!(
            "of firings at their own rate {:.1} % took 1.5 times the median or longer: {} ns more \
             on average\n",
            disturbed.part * 100.0,
            number(disturbed.mean_ns)
        ));
    }
    text.push_str(&format!("written: {}\n", path.display()));
    print(&text)?;
    Ok(Answer::Yes)
}
