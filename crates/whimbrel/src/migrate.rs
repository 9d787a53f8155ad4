// SPDX-License-Identifier: Apache-2.0
//! `whimbrel migrate`: asks a run to move one of its tasks, and waits for the outcome.

use std::io::{self, ErrorKind};

use whimbrel_model::Problem;

use crate::cli::MigrateArgs;
use crate::control::{Reply, Request, ask};
use crate::failure::{Answer, Failure, Outcome};
use crate::output::{print, print_json};
use crate::protocol::Migrated;
use crate::rundir::{Base, Found, SOCKET};

/// Moves a task.
///
/// # Errors
/// No such run, task or core, and every reason for which the task stays where it is.
pub fn migrate(args: &MigrateArgs) -> Outcome {
    let base = Base::open()?;
    let living = base.living().map_err(|error| unreadable(&base, &error))?;
    let run =
        living.iter().find(|run| run.name == args.run).ok_or_else(|| no_run(args, &living))?;
    let request = Request::Migrate {
        task: args.task.name.clone(),
        index: args.task.index,
        core: args.core,
        timeout_ms: u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX).max(1),
    };
    let reply = ask(&run.path.join(SOCKET), &request).map_err(|error| unreachable(args, &error))?;
    match reply {
        Reply::Migrated(migrated) => conclude(args, &migrated),
        Reply::Refused(why) => {
            Err(Problem::new(format!("the run `{}` refuses: {why}", args.run)).into())
        }
        Reply::Status(_) => Err(Problem::new("the run answers another question").into()),
    }
}

/// The base folder cannot be read.
pub fn unreadable(base: &Base, error: &io::Error) -> Problem {
    Problem::new(format!("{} cannot be read: {error}", base.path().display()))
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
    let (why, help) = match migrated.status.as_str() {
        "busy" => {
            ("another migration of it is under way", "wait for that one to end, then try again")
        }
        "pinned" => {
            ("it may not move", "its [[task]] says `migratable = false`: change it and run again")
        }
        "inval" => {
            ("there is no such task or core", "`whimbrel ps` lists the tasks and cores of a run")
        }
        "gone" => (
            "the task has ended or the core's kernel is dead",
            "`whimbrel ps` lists the tasks that still run and where",
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
    };
    Problem::new(format!("`{task}` was not moved to core {core}: {why}")).help(help).into()
}

fn no_run(args: &MigrateArgs, living: &[Found]) -> Problem {
    let names: Vec<&str> = living.iter().map(|run| run.name.as_str()).collect();
    let help = if names.is_empty() {
        "start one with `whimbrel run`: none of yours is running".to_owned()
    } else {
        format!("your runs are {}", names.join(", "))
    };
    Problem::new(format!("no run is called `{}`", args.run)).help(help)
}

fn unreachable(args: &MigrateArgs, error: &io::Error) -> Problem {
    let run = &args.run;
    match error.kind() {
        ErrorKind::PermissionDenied => {
            Problem::new(format!("the run `{run}` belongs to another user"))
                .help("only the user who started a run can steer it")
        }
        ErrorKind::UnexpectedEof => {
            Problem::new(format!("the run `{run}` ended before the migration did"))
                .help("`whimbrel ps` lists the runs that live")
        }
        _ => Problem::new(format!("the run `{run}` cannot be reached: {error}"))
            .help("it may be starting or ending: see `whimbrel ps`"),
    }
}
