// SPDX-License-Identifier: Apache-2.0
//! `whimbrel ps` and `whimbrel clean`: the runs of this user, living and dead.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use whimbrel_model::{CoreList, CoreName, Problem};
use whimbrel_run::control::{Reply, Request, ask};
use whimbrel_run::failure::{Answer, Outcome};
use whimbrel_run::loads;
use whimbrel_run::output::{Column, columns, percent, print, print_json};
use whimbrel_run::rundir::{Base, FoundRun, SOCKET, left, reclaim};

use crate::cli::TableArgs;
use crate::steer::unreadable;

/// Over which time the load is measured.
const LOAD_TIME: Duration = Duration::from_millis(100);

/// One run as `--json` shows it.
#[derive(Debug, Serialize)]
struct RunRow {
    run: String,
    app: Option<String>,
    pid: Option<u32>,
    age_s: Option<u64>,
    cpus: Vec<CoreName>,
    /// One per core, from 0 to 1; empty when the run does not answer.
    load: Vec<f64>,
    tasks: Vec<Place>,
}

/// Where a task is.
#[derive(Debug, Serialize)]
struct Place {
    task: String,
    index: u32,
    core: u32,
    state: String,
}

/// Lists the runs that live.
///
/// # Errors
/// The run directory cannot be trusted or read.
pub fn ps(args: &TableArgs) -> Outcome {
    let base = Base::open()?;
    let living = base.living().map_err(|error| unreadable(&base, &error))?;
    let rows: Vec<RunRow> = living.iter().map(row).collect();

    if args.json {
        print_json(&rows)?;
    } else if rows.is_empty() {
        print("no runs\n")?;
    } else {
        print(&listing(&rows))?;
    }
    Ok(Answer::Yes)
}

fn row(run: &FoundRun) -> RunRow {
    let record = run.record.as_ref();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (load, tasks) = look(run).unwrap_or_default();
    RunRow {
        run: run.name.clone(),
        app: record.map(|record| record.app.clone()),
        pid: record.map(|record| record.command.pid),
        age_s: record.map(|record| now.as_secs().saturating_sub(record.started_s)),
        cpus: record.map(|record| record.cpus.clone()).unwrap_or_default(),
        load,
        tasks,
    }
}

/// Asks twice, since load is what happens in between. `None`: the run starts, ends or is stuck.
fn look(run: &FoundRun) -> Option<(Vec<f64>, Vec<Place>)> {
    let socket = run.path.join(SOCKET);
    let totals = || match ask(&socket, &Request::Status) {
        Ok(Reply::Status(status)) => Some(status),
        _ => None,
    };
    let before = totals()?;
    std::thread::sleep(LOAD_TIME);
    let now = totals()?;
    let load = loads(&before, &now);
    let places = now.tasks.into_iter().map(|task| Place {
        task: task.task,
        index: task.index,
        core: task.core,
        state: task.state,
    });
    Some((load, places.collect()))
}

fn listing(rows: &[RunRow]) -> String {
    let load = |row: &RunRow| row.load.iter().map(|load| percent(*load)).collect::<Vec<_>>();
    columns(&[
        Column::of("run", rows, |row| row.run.clone()),
        Column::of(">pid", rows, |row| row.pid.map_or("-".into(), |pid| pid.to_string())),
        Column::of(">age", rows, |row| row.age_s.map_or_else(|| "-".into(), age)),
        Column::of("cpus", rows, |row| CoreList(row.cpus.clone()).to_string()),
        Column::of(">load", rows, |row| load(row).join(", ")),
        Column::of("tasks", rows, places),
    ])
}

fn age(seconds: u64) -> String {
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// `core 0: lpf bpf.1` for each core that has tasks.
fn places(row: &RunRow) -> String {
    let label = |place: &Place| {
        let several = row.tasks.iter().any(|other| other.task == place.task && other.index > 0);
        if several { format!("{}.{}", place.task, place.index) } else { place.task.clone() }
    };
    let runs = |place: &&Place| place.state != "ended" && place.state != "lost";
    let mut cores: Vec<u32> = row.tasks.iter().filter(runs).map(|place| place.core).collect();
    cores.sort_unstable();
    cores.dedup();
    let here = |core: u32| {
        let tasks = row.tasks.iter().filter(runs).filter(|place| place.core == core).map(label);
        format!("core {core}: {}", tasks.collect::<Vec<_>>().join(" "))
    };
    cores.into_iter().map(here).collect::<Vec<_>>().join("; ")
}

/// Reclaims what killed runs left.
///
/// # Errors
/// The run directory cannot be trusted, or something in it cannot be removed or ended.
pub fn clean(args: &TableArgs) -> Outcome {
    let base = Base::open()?;
    let reclaimed = reclaim(&base).map_err(|error| {
        Problem::new(format!("not everything could be reclaimed: {error}"))
            .help(format!("look into {}", base.path().display()))
    })?;
    if args.json {
        print_json(&reclaimed)?;
        return Ok(Answer::Yes);
    }
    let mut text = String::new();
    for run in &reclaimed {
        let processes = match run.ended.len() {
            0 => "no process of it was left".to_owned(),
            n => format!("{n} processes of it were ended"),
        };
        text.push_str(&format!("reclaimed {}: {processes}\n", run.run));
    }
    for (folder, file) in left(&base).map_err(|error| unreadable(&base, &error))? {
        text.push_str(&format!("left {folder} as it is: no run has made {file} in it\n"));
    }
    print(if text.is_empty() { "nothing to reclaim\n" } else { &text })?;
    Ok(Answer::Yes)
}
