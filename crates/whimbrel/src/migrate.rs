// SPDX-License-Identifier: Apache-2.0
//! `whimbrel migrate`: asks a run to move one of its tasks, and waits for the outcome.

use whimbrel_model::Problem;
use whimbrel_run::args::values::TaskName;
use whimbrel_run::control::{Reply, Request};
use whimbrel_run::failure::{Answer, Failure, Outcome};
use whimbrel_run::output::{print, print_json};
use whimbrel_run::protocol::{Migrated, Status, TaskStatus};
use whimbrel_run::reason;
use whimbrel_text::suggestion;

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
        Reply::Migrated(migrated) if migrated.status == "inval" => {
            let known = request(&run, &Request::Status);
            let Ok(Reply::Status(status)) = known else { return conclude(args, &migrated) };
            Err(nowhere(args, &status).unwrap_or_else(|| refusal(args, &migrated)))
        }
        Reply::Migrated(migrated) => conclude(args, &migrated),
        _ => Err(other_version().into()),
    }
}

/// What is wrong with a task or a core that the run does not have.
fn nowhere(args: &MigrateArgs, status: &Status) -> Option<Failure> {
    let label = |task: &TaskStatus| TaskName { name: task.task.clone(), index: task.index };
    let known: Vec<String> = status.tasks.iter().map(|task| label(task).to_string()).collect();
    let wanted = args.task.to_string();
    let (what, help) = if !known.contains(&wanted) {
        let help = suggestion(&wanted, known.iter().map(String::as_str), || {
            format!("name one of its tasks: {}", known.join(", "))
        });
        (format!("task `{wanted}`"), help)
    } else if args.core as usize >= status.cores.len() {
        let last = status.cores.len().saturating_sub(1);
        (format!("core {}", args.core), format!("name one of cores 0 to {last}"))
    } else {
        return None;
    };
    Some(Problem::new(format!("the run `{}` has no {what}", args.run)).help(help).into())
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
