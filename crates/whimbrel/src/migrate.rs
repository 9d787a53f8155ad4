// SPDX-License-Identifier: Apache-2.0
//! `whimbrel migrate`: asks a run to move one of its tasks, and waits for the outcome.

use whimbrel_model::Problem;
use whimbrel_run::control::{Reply, Request};
use whimbrel_run::failure::{Answer, Failure, Outcome};
use whimbrel_run::output::{print, print_json};
use whimbrel_run::protocol::Migrated;

use crate::cli::MigrateArgs;
use crate::steer::{find, other_version, request};

/// Moves a task.
///
/// # Errors
/// No such run, task or core, and every reason for which the task stays where it is.
pub fn migrate(args: &MigrateArgs) -> Outcome {
    let run = find(&args.run)?;
    let wanted = Request::Migrate {
        task: args.task.name.clone(),
        index: args.task.index,
        core: args.core,
        timeout_ms: u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX).max(1),
    };
    match request(&run, &wanted)? {
        Reply::Migrated(migrated) => conclude(args, &migrated),
        _ => Err(other_version().into()),
    }
}

fn conclude(args: &MigrateArgs, migrated: &Migrated) -> Outcome {
    if args.json {
        print_json(migrated)?;
    } else if migrated.status == "ok" {
        print(&format!("{} runs on core {}\n", args.task, args.core))?;
    }
    if migrated.status == "ok" { Ok(Answer::Yes) } else { Err(refusal(args, migrated)) }
}

fn refusal(args: &MigrateArgs, migrated: &Migrated) -> Failure {
    let (task, core) = (&args.task, args.core);
    let (why, help) = reason(&migrated.status);
    Problem::new(format!("`{task}` was not moved to core {core}: {why}")).help(help).into()
}

/// Why a task was not moved, and what to do about it.
pub fn reason(status: &str) -> (&'static str, &'static str) {
    match status {
        "busy" => {
            ("another migration of it is under way", "wait for that one to end, then try again")
        }
        "pinned" => {
            ("it may not move", "change `migratable = false` of its [[task]], and run again")
        }
        "inval" => (
            "there is no such task or core, or the core is of a kind that the task is not for",
            "see `whimbrel ps`: it lists the tasks and cores of a run; app.toml has the `kinds`",
        ),
        "gone" => (
            "the task has ended or the core's kernel is dead",
            "see `whimbrel ps`: it lists the tasks that still run and where",
        ),
        "held" => (
            "at its checkpoint it held a mutex or a C++ exception, which cannot move with it",
            "let it release them before wb_checkpoint(), then try again",
        ),
        "timeout" => (
            "it reached no checkpoint, or the core did not take it, in time",
            "give it longer with --timeout; a long computation needs wb_checkpoint() in it",
        ),
        _ => ("the run refuses", "see `whimbrel ps`"),
    }
}
