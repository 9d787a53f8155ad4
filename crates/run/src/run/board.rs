// SPDX-License-Identifier: Apache-2.0
//! A run on a board: how it begins, and what is said when it goes wrong there.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde::Serialize;
use whimbrel_model::{Param, Plan, PolicyName, Problem, Start, hash, tables};

use super::events::Streams;
use super::helper::{Helper, Input, describe_end};
use super::results::Results;
use super::session::Opening;
use super::watchdog;
use crate::board::{image, serial};
use crate::failure::{Failure, say};
use crate::fingerprint::fingerprint;
use crate::load::board::Target;
use crate::load::{Loaded, utf8};
use crate::protocol::{ErrorKind, HelperError};
use crate::rundir::{IMAGE, RunDir};

/// The line that a board waits for. See `docs/kernels-linux-protocol.md`.
#[derive(Serialize)]
struct StartLine<'a> {
    plan: &'a str,
    record: bool,
    policy: Option<&'a PolicyName>,
    rate_millihz: u64,
    params: &'a [Param],
    watchdog_ms: u32,
}

/// What a board is told first.
pub fn opening(target: &Target, plan: &Plan) -> Opening {
    let folder = plan.record.as_ref().map(PathBuf::from);
    let start = StartLine {
        plan: &hash(plan, fingerprint),
        record: folder.is_some(),
        policy: plan.policy.as_ref(),
        rate_millihz: plan.rate_millihz.into(),
        params: &plan.params,
        watchdog_ms: target.board.watchdog_ms,
    };
    // What consists of numbers and text always is JSON.
    let start = serde_json::to_string(&start).unwrap_or_default();
    Opening {
        line: format!("{{\"start\":{start}}}\n"),
        silence: Some(silence(target)),
        streams: folder.map(|folder| Streams::new(folder, plan.cores.len())),
    }
}

/// How long it may say nothing.
fn silence(target: &Target) -> Duration {
    Duration::from_secs(target.board.silence_s.into())
}

/// Starts a board with its image, or takes the line of one that has it already.
///
/// # Errors
/// The image is not there or cannot be built, or there is no such emulator or device.
pub fn start(
    loaded: &Loaded,
    target: &Target,
    plan: &Plan,
    run: &RunDir,
    quiet: bool,
    inputs: Sender<Input>,
) -> Result<Helper, Failure> {
    let patience = watchdog::patience(silence(target));
    match &target.board.start {
        Start::Command(_) => {
            let image = utf8(&image(loaded, target, plan, run, quiet)?)?;
            let words = target.board.command(&image, &utf8(&target.folder)?);
            let made_by = &target.board.made_by;
            Ok(Helper::emulate(&words, made_by, &loaded.folder, patience, inputs)?)
        }
        Start::Device { .. } if target.image.is_some() => {
            let name = &target.board.name;
            let problem = Problem::new(format!("--image: the board {name} has its image already"));
            Err(problem.help("leave it out: the board is at a device, and is not started").into())
        }
        Start::Device { path, baud } => Ok(attach(path, *baud, patience, inputs)?),
    }
}

/// The image that the board is to run; it is built if none was named.
fn image(
    loaded: &Loaded,
    target: &Target,
    plan: &Plan,
    run: &RunDir,
    quiet: bool,
) -> Result<PathBuf, Failure> {
    if let Some(path) = &target.image {
        return path.canonicalize().ok().filter(|path| path.is_file()).ok_or_else(|| {
            let message = format!("--image {}: there is no such file", path.display());
            Problem::new(message).help("leave it out, and the image is built").into()
        });
    }
    let path = run.path().join(IMAGE);
    let parts = image::Parts {
        app: &loaded.app,
        source: &loaded.source,
        folder: &loaded.folder,
        tables: &(tables(plan, &loaded.app.name, &hash(plan, fingerprint))
            + &loaded.linked(&target.board)?),
        is_guest: false,
    };
    let progress = |line: &str| {
        if !quiet {
            say(line);
        }
    };
    image::build((&target.board, &target.folder), &parts, &path, progress)?;
    Ok(path)
}

fn attach(
    path: &str,
    baud: u32,
    patience: Duration,
    inputs: Sender<Input>,
) -> Result<Helper, Problem> {
    let line = serial::connect(path, baud).map_err(|error| {
        Problem::new(format!("the serial line {path} cannot be opened: {error}")).help(
            "plug the board in, and see that you may open this file and nothing else has it open; \
             `device` and `baud` of board.toml name it",
        )
    })?;
    Helper::attach(line, patience, inputs)
}

/// What is said of an error that means something else on a board than on this machine.
pub fn failed(name: &str, error: &HelperError) -> Option<Problem> {
    let HelperError { kind, core, key, text, task, .. } = error;
    Some(match (kind, core) {
        (ErrorKind::Image, _) => {
            Problem::new(format!("the image of the board {name} is of another plan, {key}")).help(
                "write the plan again with the same application and options, build its image, and \
                 write it to the board; a board that the command starts gets such an image if \
                 --image is left out",
            )
        }
        (ErrorKind::Plan, _) => {
            Problem::new(format!("the board {name} cannot start with `{key}`: {text}"))
                .help("build its image of this application and options: see docs/run-on-a-board.md")
        }
        (ErrorKind::Core, Some(core)) => {
            Problem::new(format!("core {core} of the board {name} is not there: {text}"))
                .help("start the board so that all its cores boot: see [start] of board.toml")
        }
        (ErrorKind::Kernel, Some(core)) => {
            let ran = if task.is_empty() { String::new() } else { format!(", which ran {task},") };
            Problem::new(format!(
                "the kernel of core {core} of the board {name}{ran} failed: {text}"
            ))
            .help("check its tasks for unsupported calls and for overwritten memory")
        }
        (ErrorKind::Memory, _) => {
            let of_task = if task.is_empty() { String::new() } else { format!(" for `{task}`") };
            Problem::new(format!("the memory of the board {name} is too small{of_task}: {text}"))
                .help("lower `stack`, `heap`, `slots` or `memory`: see docs/run-on-a-board.md")
        }
        (ErrorKind::Line, _) => {
            Problem::new(format!("a line is too long for the board {name}: {text}"))
                .help("shorten the parameters and the policy, which the board gets at the start")
        }
        (ErrorKind::Record, _) => Problem::new(format!("the run cannot be recorded: {text}")).help(
            "check the space and permissions of the folder, and that nothing else uses the line",
        ),
        _ => return None,
    })
}

/// A line of a board is not one of the protocol.
pub fn garbled(name: &str, line: &str) -> Problem {
    Problem::new(format!("the board {name} sent an invalid line: {line}")).help(
        "let nothing else print on its serial line, and set `baud` of board.toml to its speed",
    )
}

/// A board has disconnected, or has stopped sending.
pub fn gone(name: &str, results: &Results) -> Problem {
    let began = results.started.is_some();
    let printed = results.noise.as_ref().map(|noise| format!("; it printed: {noise}"));
    let printed = printed.unwrap_or_default();
    if let (true, Some(_), Some(line)) = (began, results.silent, &results.noise) {
        return garbled(name, line);
    }
    if let Some(silence) = results.silent {
        let (message, help) = if began {
            (
                format!("the board {name} has sent nothing for {silence:?}"),
                "check whether it was reset or stopped by a debugger, and run again: nothing of \
                 the run is left here",
            )
        } else {
            (
                format!("the board {name} does not answer: nothing came for {silence:?}{printed}"),
                "check that it runs the image of this application, has booted, and is at this \
                 line; raise `silence_s` of board.toml if it needs longer",
            )
        };
        return Problem::new(message).help(help);
    }
    let when = if began { "during the run" } else { "before it answered" };
    let Some(exit) = results.exit else {
        return Problem::new(format!(
            "the serial line of the board {name} was disconnected {when}{printed}"
        ))
        .help("check its cable, and run again: nothing of the run is left here");
    };
    let mut message = format!("the board {name} {} {when}", describe_end(exit));
    if !results.complaints.is_empty() {
        message.push_str(&format!(": {}", results.complaints));
    }
    Problem::new(message + &printed)
        .help("check `command` of board.toml, and run again: nothing of the run is left here")
}
