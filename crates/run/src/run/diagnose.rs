// SPDX-License-Identifier: Apache-2.0
//! Turns what the helper complains about into reports that show the line to change.

use std::io;

use miette::Report;
use whimbrel_model::{App, Problem, Source, Task, instead_of_policy};
use whimbrel_text::lacks;
use whimbrel_text::option::{CORES, DURATION, MAX_EVENTS, MAX_TIME, POLICY, RESUME, SAVE, SET};

use super::place;
use crate::protocol::{CoreDied, ErrorKind, HelperError};

/// The report for an error of the helper.
pub fn report(app: &App, source: &Source, error: &HelperError) -> Report {
    source.report(problem(app, error))
}

/// The same without the lines of the file.
pub fn problem(app: &App, error: &HelperError) -> Problem {
    let task = app.find_task(&error.task, error.index).map(|position| &app.tasks[position]);
    let of_system = io::Error::from_raw_os_error(error.errno);
    let is_memory = of_system.kind() == io::ErrorKind::OutOfMemory;
    match &error.kind {
        ErrorKind::Module => module(app, error),
        ErrorKind::Symbol => symbol(app, error),
        ErrorKind::Recreate => with_task(app, task, error, recreate),
        ErrorKind::Unable => unable(app, task, error),
        ErrorKind::Setup => setup(app, error),
        ErrorKind::Finish => finish(app, error),
        ErrorKind::Core => core(error),
        ErrorKind::Guest => guest(error),
        ErrorKind::Policy => policy(error),
        ErrorKind::Frequency => frequency(error),
        ErrorKind::Client => {
            with_task(app, app.tasks.iter().find(|t| t.name == error.key), error, client)
        }
        ErrorKind::Memory => {
            memory(app, task, error).help(lacks(&of_system).filter(|_| !is_memory).unwrap_or(
                "lower `stack`, `heap`, `slots` or `memory`; `whimbrel doctor` shows the limits",
            ))
        }
        ErrorKind::Stack => with_task(app, task, error, stack),
        ErrorKind::Fault => with_task(app, task, error, fault),
        ErrorKind::Heap => with_task(app, task, error, heap),
        ErrorKind::Port => port(app, task, error),
        ErrorKind::Task => with_task(app, task, error, failed),
        ErrorKind::Exit => with_task(app, task, error, exited),
        ErrorKind::Deadlock => deadlock(app, error),
        ErrorKind::Limit => Problem::new(error.text.clone())
            .help(format!("raise {MAX_TIME} or {MAX_EVENTS}, or end the sources with {DURATION}")),
        ErrorKind::Island => Problem::new(error.text.clone())
            .help("run it again; with WHIMBREL_PROCESSORS=1 the simulation is one process"),
        ErrorKind::Save => Problem::new(format!("{SAVE} {}: {}", error.key, error.text))
            .help("check the free space and the permissions of the folder"),
        ErrorKind::Unsaved => Problem::new(format!("{SAVE} {}: {}", error.key, error.text))
            .help("give a virtual time, from the start of the simulation"),
        ErrorKind::Restore => Problem::new(format!("{RESUME} {}: {}", error.key, error.text))
            .help("resume with the options and the build that saved the simulation"),
        ErrorKind::Standstill => with_task(app, task, error, standstill),
        ErrorKind::Kernel => {
            Problem::new(format!("the kernel{} failed: {}", of_core(error), error.text)).help(
                lacks(&of_system)
                    .unwrap_or("run `whimbrel doctor`: it shows what this machine lacks"),
            )
        }
        _ => Problem::new(format!("the helper failed ({}): {}", name(&error.kind), error.text))
            .help("install one version of both executables, or report this as a bug"),
    }
}

/// The report for a kernel that was killed.
pub fn death(death: &CoreDied) -> Problem {
    let CoreDied { signal, lost, running, why, .. } = death;
    let help = if !why.is_empty() {
        "read the output of its emulator, and run again: tasks that no other core can run are lost"
            .into()
    } else if *lost > 0 && running.is_empty() {
        "let the lost tasks run on another core: see their `cycles`, `kinds` and `migratable`"
            .into()
    } else if *lost > 0 {
        format!("set `restart = true` for `{running}`, which ran there and is lost")
    } else {
        let by = if *signal == 0 { "what stopped the core" } else { "what killed the process" };
        format!("find out {by}, or run again; every task kept running")
    };
    Problem::new(format!("the kernel of {}", death.words())).help(help)
}

fn module(app: &App, error: &HelperError) -> Problem {
    let text = &error.text;
    let (why, help) = match text.split_once(": undefined symbol: wb_") {
        Some((module, name)) => (
            format!("{module}: it was built for another version: this one has no `wb_{name}`"),
            "build the module again with the headers of this version".to_owned(),
        ),
        None if text.contains(": it ") => match text.rsplit_once(": ") {
            Some((why, cure)) => (why.to_owned(), format!("{cure}, as with `make`")),
            None => (text.clone(), "build it again".to_owned()),
        },
        None if text.starts_with("it has thread-local") => match text.split_once("; ") {
            Some((why, cure)) => (why.to_owned(), cure.to_owned()),
            None => (text.clone(), "keep such state with the task".to_owned()),
        },
        None => {
            (text.clone(), "build it with `make build`, and link missing symbols into it".into())
        }
    };
    Problem::new(format!("the module cannot be loaded: {why}"))
        .at(app.module.span(), "this module")
        .help(help)
}

fn symbol(app: &App, error: &HelperError) -> Problem {
    let key = &error.key;
    let task = app.tasks.iter().find(|task| task.entry.get_ref() == key);
    let problem = Problem::new(format!("the module has no function `{key}`"));
    let problem = match task {
        Some(task) => problem.at(task.entry.span(), "the entry of this task"),
        None => problem.at(app.module.span(), "this module"),
    };
    problem.help(format!(
        "define `int {key}(struct wb_task *self)` in the module without `static`, or change `entry`"
    ))
}

fn setup(app: &App, error: &HelperError) -> Problem {
    let problem = Problem::new(format!("the application refuses to start: {}", error.text));
    at_parameter(app, error, problem).unwrap_or_else(|problem| problem)
}

fn finish(app: &App, error: &HelperError) -> Problem {
    let problem = Problem::new(format!("the application could not finish: {}", error.text));
    at_parameter(app, error, problem).unwrap_or_else(|problem| {
        problem.help("see its `finish` function, and the files that it writes")
    })
}

/// The first parameter that the hook mentions is what it complains about.
fn at_parameter(app: &App, error: &HelperError, problem: Problem) -> Result<Problem, Problem> {
    let words = error.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut keys = std::iter::once(error.key.as_str()).chain(words);
    match keys.find_map(|key| app.params.iter().find(|param| param.key == key)) {
        Some(param) => Ok(problem
            .at(param.span.clone(), "this parameter")
            .help(format!("change it in [params], or with {SET} {}=…", param.key))),
        None => Err(problem),
    }
}

fn core(error: &HelperError) -> Problem {
    Problem::new(format!(
        "processor {} is not available{}: {}",
        error.key,
        of_core(error),
        error.text
    ))
    .help(format!("choose others with {CORES}; `whimbrel doctor` lists those that are allowed"))
}

fn guest(error: &HelperError) -> Problem {
    let HelperError { key, text, .. } = error;
    Problem::new(format!("the guest {key} failed to start: {text}"))
        .help("check `command` of [guest] of its board.toml: see docs/run-on-a-board.md")
}

fn policy(error: &HelperError) -> Problem {
    let name = if error.key.is_empty() { String::new() } else { format!(" {}", error.key) };
    let problem = Problem::new(format!("{POLICY}{name}: {}", error.text));
    problem.help(instead_of_policy(&error.key, &error.text))
}

fn frequency(error: &HelperError) -> Problem {
    Problem::new(format!("--frequency cpufreq: processor {}: {}", error.key, error.text))
        .help("run as root, or use `--frequency emulate`, which works everywhere")
}

fn deadlock(app: &App, error: &HelperError) -> Problem {
    let problem = Problem::new(format!("every task waits for another: {}", error.text));
    if error.key.is_empty() {
        return problem.help(
            "signal or resume a task only while it waits, lock mutexes in the same order \
             everywhere, and give a permit for each one taken",
        );
    }
    let named = |name| app.channels.iter().find(|channel| channel.name == name);
    let channels = error.key.split(' ').filter_map(named);
    let shown = channels.fold(problem, |problem, channel| {
        problem.at(channel.span.clone(), format!("of channel {}", channel.name))
    });
    shown.help(
        "give a loop more `slots` or `initial` messages, change the order in which its tasks \
         receive and send, or close a port that is no longer used",
    )
}

/// As in the protocol.
fn name(kind: &ErrorKind) -> String {
    serde_json::to_value(kind)
        .ok()
        .and_then(|name| Some(name.as_str()?.to_owned()))
        .unwrap_or_default()
}

fn of_core(error: &HelperError) -> String {
    error.core.map_or_else(String::new, |core| format!(" on core {core}"))
}

fn with_task(
    app: &App,
    task: Option<&Task>,
    error: &HelperError,
    explain: fn(&str, &Task, &HelperError) -> Problem,
) -> Problem {
    match task {
        Some(task) => explain(&app.label(&task.name, task.index), task, error),
        None => Problem::new(format!("{}: {}", name(&error.kind), error.text))
            .help("see `whimbrel doctor`, and docs/troubleshooting.md"),
    }
}

/// Of a task, of a channel, or of the whole application.
fn memory(app: &App, task: Option<&Task>, error: &HelperError) -> Problem {
    let HelperError { key, text, .. } = error;
    if let Some(task) = task {
        let label = app.label(&task.name, task.index);
        return Problem::new(format!("no globally visible memory for `{label}`: {text}"))
            .at(task.span.clone(), "this task");
    }
    match app.channels.iter().find(|channel| channel.name == *key) {
        Some(channel) => Problem::new(format!("no globally visible memory for `{key}`: {text}"))
            .at(channel.span.clone(), "this channel"),
        None => Problem::new(format!("no globally visible memory: {text}")),
    }
}

fn stack(label: &str, task: &Task, error: &HelperError) -> Problem {
    let kib = task.stack_bytes.get_ref() / 1024;
    let place = place::of(&error.frames).map(|(place, _)| place).unwrap_or_default();
    Problem::new(format!("`{label}` needs a larger stack than {kib} KiB: {}{place}", error.text))
        .at(task.stack_bytes.span(), "the stack of this task")
        .help(format!("raise `stack` of `{}`, for instance to \"{}KiB\"", task.name, kib * 4))
}

fn heap(label: &str, task: &Task, error: &HelperError) -> Problem {
    let kib = task.heap_bytes / 1024;
    let more = numbers(&error.text).next_back().unwrap_or_default() / 1024 + 1;
    let place = place::of(&error.frames).map(|(place, _)| place).unwrap_or_default();
    Problem::new(format!("`{label}` needs a larger heap than {kib} KiB: {}{place}", error.text))
        .at(task.span.clone(), "this task")
        .help(format!(
            "raise `heap` of `{}`, for instance to \"{}KiB\"; malloc() is NULL when it is full",
            task.name,
            (kib + more).saturating_mul(2).checked_next_power_of_two().unwrap_or(kib * 4)
        ))
}

/// The whole numbers among the words of a text.
fn numbers(text: &str) -> impl DoubleEndedIterator<Item = u64> {
    text.split(' ').filter_map(|word| word.parse().ok())
}

/// A port that a task does not have, or, with a channel, whose slots have another size.
fn port(app: &App, task: Option<&Task>, error: &HelperError) -> Problem {
    let Some(task) = task else {
        return Problem::new(format!("port: {}", error.text))
            .help("correct the ports in app.toml or in the module");
    };
    let label = app.label(&task.name, task.index);
    let problem = Problem::new(format!("`{label}` cannot use a port: {}", error.text));
    let Some(channel) = app.channels.iter().find(|channel| channel.name == error.key) else {
        return problem.at(task.span.clone(), "this task").help(format!(
            "bind it with a [[channel]] whose `from` or `to` is \"{}.PORT\", or correct its name \
             in `{}`",
            task.name,
            task.entry.get_ref()
        ));
    };
    // The first number of the text is the size of the messages.
    let bytes = numbers(&error.text).next().unwrap_or_default();
    problem.at(channel.span.clone(), "this channel").help(format!(
        "set `slot_bytes = {bytes}` for this channel, or let both of its tasks use messages of {} \
         bytes",
        channel.slot_bytes
    ))
}

fn client(label: &str, task: &Task, error: &HelperError) -> Problem {
    Problem::new(format!("`{label}` cannot listen for clients: {}", error.text))
        .at(task.span.clone(), "this task")
        .help("set XDG_RUNTIME_DIR to a shorter path: a socket's path has at most 107 bytes")
}

fn fault(label: &str, task: &Task, error: &HelperError) -> Problem {
    let place = place::of(&error.frames);
    let has_line = place.as_ref().is_some_and(|(_, has_line)| *has_line);
    let where_to = place.map(|(place, _)| place).unwrap_or_default();
    let problem =
        Problem::new(format!("`{label}` failed{}: {}{where_to}", of_core(error), error.text))
            .at(task.span.clone(), "this task");
    let look = "AddressSanitizer in docs/troubleshooting.md shows more";
    problem.help(if has_line {
        format!("correct what that line does, or what its callers gave it: {look}")
    } else if where_to.is_empty() {
        format!(
            "look for the fault in `{}` and the functions that it calls: {look}",
            task.entry.get_ref()
        )
    } else {
        format!("build the module with -g, and this tells the file and the line: {look}")
    })
}

fn recreate(label: &str, task: &Task, error: &HelperError) -> Problem {
    Problem::new(format!("`{label}` cannot be recreated: {}", error.text))
        .at(task.entry.span(), "the entry of this task")
        .help("call only functions that docs/freertos.md allows for a recreated task")
}

fn standstill(label: &str, task: &Task, error: &HelperError) -> Problem {
    let message = format!("`{label}` makes no progress{}: {}", of_core(error), error.text);
    Problem::new(message).at(task.span.clone(), "this task").help(
        "end its computation, or wait in a call that takes time instead of a loop of free calls",
    )
}

fn unable(app: &App, task: Option<&Task>, error: &HelperError) -> Problem {
    let HelperError { key, text, .. } = error;
    if let Some(channel) = app.channels.iter().find(|channel| channel.name == *key) {
        return Problem::new(format!("`memory` of `{key}` is not supported here: {text}"))
            .help("leave `memory` out, or name another platform with --platform")
            .at(channel.span.clone(), "this channel");
    }
    let Some(task) = task else {
        return Problem::new(format!("the platform's `{key}` is not supported here: {text}"))
            .help("leave the key out, or name another platform with --platform");
    };
    let label = app.label(&task.name, task.index);
    Problem::new(format!("`{key}` of `{label}` is not supported here: {text}"))
        .help("leave the key out of this task, or run it where it is supported")
        .at(task.span.clone(), "this task")
}

// A task that knows a cure has it in a second line.
fn failed(label: &str, task: &Task, error: &HelperError) -> Problem {
    let entry = task.entry.get_ref();
    let exits = ["it called ", "its process exited"];
    let help = if exits.iter().any(|how| error.text.starts_with(how)) {
        format!(
            "return from `{entry}`, or call wb_task_exit() with a text: both end the task alone"
        )
    } else {
        format!("see what `{entry}` returns there")
    };
    let (cause, cure) = error.text.split_once("\nhelp: ").unwrap_or((&error.text, &help));
    Problem::new(format!("`{label}` ended the run: {cause}"))
        .help(cure)
        .at(task.span.clone(), "this task")
}

fn exited(label: &str, task: &Task, error: &HelperError) -> Problem {
    Problem::new(format!("`{label}` ended with an error: {}", error.text))
        .at(task.span.clone(), "this task")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use whimbrel_model::Manifest;

    use super::*;

    const APP: &str = "[app]\nname = \"a\"\n\n[[task]]\nname = \"bpf\"\ncycles = 1\n\
                       mode = \"replicate\"\n";

    #[test]
    fn a_death_is_shown_with_what_to_do() {
        let mut died = CoreDied {
            core: 0,
            pid: 1,
            signal: 9,
            detected_ns: 1,
            by: "robust-futex".into(),
            running: String::new(),
            lost: 1,
            restarted: 0,
            resumed: 0,
            moved: 0,
            returns: false,
            why: String::new(),
            back_after_ns: None,
        };
        assert!(!format!("{:?}", death(&died)).contains("read the output of its emulator"));
        died.why = "its clock does not answer".into();
        assert!(format!("{:?}", death(&died)).contains("read the output of its emulator"));
        died.why.clear();
        assert!(format!("{:?}", death(&died)).contains("let the lost tasks run on another core"));
        died.running = "bpf".into();
        assert!(format!("{:?}", death(&died)).contains("`restart = true` for `bpf`"));
    }

    fn error(task: &str, key: &str) -> HelperError {
        let text = "its kernels cannot: do without".to_owned();
        let (task, key) = (task.to_owned(), key.to_owned());
        HelperError { task, key, ..HelperError::new(ErrorKind::Unable, text) }
    }

    #[test]
    fn the_kinds_are_words_of_the_protocol_and_one_of_another_version_keeps_its_word() {
        let kind = |word: &str| serde_json::from_value::<ErrorKind>(word.into()).unwrap();
        assert_eq!(kind("standstill"), ErrorKind::Standstill);
        assert_eq!(name(&kind("standstill")), "standstill");
        assert_eq!(name(&kind("newer")), "newer");
    }

    fn told(error: &HelperError) -> String {
        let source = Source::new("app.toml", APP);
        let here = Path::new("/");
        let app = App::build(&Manifest::parse(APP).unwrap(), &[], here, here).unwrap();
        format!("{:?}", report(&app, &source, error))
    }

    #[test]
    fn what_the_kernels_cannot_do_is_shown_at_its_task() {
        let told = told(&error("bpf", "mode"));
        assert!(told.contains("`mode` of `bpf` is not supported here"), "{told}");
        assert!(told.contains("do without") && told.contains("[[task]]"), "{told}");
    }

    #[test]
    fn what_has_no_room_is_shown_at_its_task_or_channel() {
        let memory = |task, key| HelperError { kind: ErrorKind::Memory, ..error(task, key) };
        let of_task = told(&memory("bpf", ""));
        assert!(of_task.contains("no globally visible memory for `bpf`"), "{of_task}");
        assert!(of_task.contains("this task") && of_task.contains("lower `stack`"), "{of_task}");
        assert!(told(&memory("", "")).contains("no globally visible memory: its kernels"));
    }

    #[test]
    fn a_task_that_ends_the_run_may_say_what_to_do() {
        let failed = |text: &str| {
            let text = text.to_owned();
            told(&HelperError { kind: ErrorKind::Task, text, ..error("bpf", "") })
        };
        let known = failed("the line is busy\nhelp: call later");
        assert!(known.contains("`bpf` ended the run: the line is busy\n"), "{known}");
        assert!(known.contains("help: call later"), "{known}");
        let other = failed("it is broken");
        assert!(other.contains("returns there"), "{other}");
    }

    #[test]
    fn what_a_platform_asks_for_in_vain_has_no_task() {
        let told = told(&error("", "points"));
        assert!(told.contains("the platform's `points` is not supported here"), "{told}");
    }
}
