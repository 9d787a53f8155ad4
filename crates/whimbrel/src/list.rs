// SPDX-License-Identifier: Apache-2.0
//! `whimbrel list`: the names that options and arguments take.

use serde::Serialize;
use whimbrel_model::{Decides, POLICIES};
use whimbrel_run::board;
use whimbrel_run::failure::{Answer, Outcome};
use whimbrel_run::load::{application, boards, platform, platforms};
use whimbrel_run::output::{Column, columns, print, print_json};

use crate::cli::{ListArgs, ListOf, TableArgs};
use crate::ps::ps;

#[derive(Debug, Serialize)]
struct PlatformRow {
    platform: String,
    /// 0: those of the machine it is used on.
    cores: usize,
    /// The highest frequency of any; `null`: not known.
    mhz: Option<u64>,
}

#[derive(Debug, Serialize)]
struct PolicyRow {
    policy: &'static str,
    decides: &'static str,
    does: &'static str,
}

#[derive(Debug, Serialize)]
struct BoardRow {
    board: String,
    cores: u32,
    kind: String,
    guest: bool,
    variants: Vec<String>,
}

#[derive(Debug, Serialize)]
struct TaskRow {
    task: String,
    index: u32,
    core: u32,
    priority: u32,
    migratable: bool,
}

/// Lists names.
///
/// # Errors
/// A file that is wrong.
pub fn list(args: &ListArgs) -> Outcome {
    match args.what {
        ListOf::Platforms => of_platforms(args.json),
        ListOf::Policies => of_policies(args.json),
        ListOf::Boards => of_boards(args.json),
        ListOf::Runs => ps(&TableArgs { json: args.json }),
        ListOf::Tasks => of_tasks(args),
    }
}

fn put<T: Serialize>(rows: &[T], json: bool, all: &[Column<'_>]) -> Outcome {
    if json {
        print_json(&rows)?
    } else {
        print(&columns(all))?
    }
    Ok(Answer::Yes)
}

fn of_platforms(json: bool) -> Outcome {
    let mut rows = Vec::new();
    for name in platforms() {
        let cores = platform(&name)?.cores;
        let mhz = cores.iter().flat_map(|core| &core.points).map(|point| point.hz / 1_000_000);
        rows.push(PlatformRow { platform: name, cores: cores.len(), mhz: mhz.max() });
    }
    put(
        &rows,
        json,
        &[
            Column::of("platform", &rows, |row| row.platform.clone()),
            Column::of(">cores", &rows, |row| match row.cores {
                0 => "-".to_owned(),
                n => n.to_string(),
            }),
            Column::of(">MHz", &rows, |row| row.mhz.map_or("-".into(), |mhz| mhz.to_string())),
        ],
    )
}

fn of_policies(json: bool) -> Outcome {
    let row = |policy: &whimbrel_model::Policy| PolicyRow {
        policy: policy.name,
        decides: match policy.decides {
            Decides::Nothing => "nothing",
            Decides::Moves => "moves",
            Decides::MovesAndPoints | Decides::MovesPointsAndOff => "moves, frequencies",
        },
        does: policy.does,
    };
    let rows: Vec<PolicyRow> = POLICIES.iter().map(row).collect();
    put(
        &rows,
        json,
        &[
            Column::of("policy", &rows, |row| row.policy.to_owned()),
            Column::of("decides on", &rows, |row| row.decides.to_owned()),
            Column::of("what it does", &rows, |row| row.does.to_owned()),
        ],
    )
}

fn of_boards(json: bool) -> Outcome {
    let mut rows = Vec::new();
    for name in boards() {
        let (board, _) = board::read(&name, "--board")?;
        rows.push(BoardRow {
            board: name,
            cores: board.cores,
            kind: board.kind,
            guest: board.guest.is_some(),
            variants: board.variants.into_iter().map(|variant| variant.name).collect(),
        });
    }
    put(
        &rows,
        json,
        &[
            Column::of("board", &rows, |row| row.board.clone()),
            Column::of(">cores", &rows, |row| row.cores.to_string()),
            Column::of("kind", &rows, |row| row.kind.clone()),
            Column::of("guest", &rows, |row| if row.guest { "yes" } else { "no" }.to_owned()),
            Column::of("variants", &rows, |row| match row.variants.join(", ") {
                all if all.is_empty() => "-".to_owned(),
                all => all,
            }),
        ],
    )
}

fn of_tasks(args: &ListArgs) -> Outcome {
    let app = application(&args.app, &[])?.app;
    let row = |task: &whimbrel_model::Task| TaskRow {
        task: task.name.clone(),
        index: task.index,
        core: *task.core.get_ref(),
        priority: task.priority,
        migratable: task.migratable,
    };
    let rows: Vec<TaskRow> = app.tasks.iter().map(row).collect();
    put(
        &rows,
        args.json,
        &[
            Column::of("task", &rows, |row| app.label(&row.task, row.index)),
            Column::of(">core", &rows, |row| row.core.to_string()),
            Column::of(">priority", &rows, |row| row.priority.to_string()),
            Column::of("may move", &rows, |row| if row.migratable { "yes" } else { "no" }.into()),
        ],
    )
}
