// SPDX-License-Identifier: Apache-2.0
//! What a shell may propose for a word of the command line: verbs, options and their values, and
//! the runs, tasks, platforms and boards that exist.
//!
//! The scripts of the shells ask by `--complete SHELL INDEX WORDS...`. The first line of the answer
//! names the files that the shell is to propose as well, as only it can quote their names: none,
//! `files`, `commands`, `/` (folders), or the ends of their names. Each further line is a word, and
//! its description behind a tabulator. Names that others have chosen are proposed only if no shell
//! and no terminal would find more than a name in them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, complete};
use whimbrel_model::POLICIES;
use whimbrel_run::control::{Reply, Request, ask};
use whimbrel_run::load::{boards, platforms};
use whimbrel_run::protocol::Status;
use whimbrel_run::rundir::{Base, FoundRun, SOCKET};

use crate::cli::Cli;

/// The option by which scripts ask. It is not of the command line that people use.
pub const OPTION: &str = "--complete";
/// How long a person waits for names that must be looked up.
const PATIENCE: Duration = Duration::from_millis(200);
/// The ends of names of applications, and of the files of other tools that become one.
const APPLICATIONS: &str = ".toml .json .xml .graphml .dot .gv .tgff .amxmi .pftrace";

/// Answers a script, if the arguments of this process are its question. Nothing is an error, for
/// it would stand in a prompt.
pub fn called() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    arguments.next().filter(|first| first == OPTION)?;
    let shell = arguments.next().unwrap_or_default();
    let index = arguments.next().and_then(|index| index.to_str()?.parse().ok()).unwrap_or(0);
    let words: Vec<OsString> = arguments.collect();
    let (words, index, broken) =
        if shell == "bash" { joined(&words, index) } else { (words, index, String::new()) };
    // A shell that does not read the answer does not need it.
    let _ = io::stdout().write_all(answer(words, index, &broken).as_bytes());
    Some(ExitCode::SUCCESS)
}

/// The answer for the word at `index`, of which `broken` is not replaced by the shell.
fn answer(mut words: Vec<OsString>, index: usize, broken: &str) -> String {
    words.truncate(index + 1);
    words.resize(index + 1, OsString::new());
    let begun = words[index].to_string_lossy().into_owned();
    if let Some(end) = words[..index].iter().position(|word| word == "--") {
        // The command line of `occupy`.
        return if end + 1 == index { "commands\n" } else { "files\n" }.to_owned();
    }
    let files = Arc::new(OnceLock::new());
    let mut command = proposing(Cli::command(), &Arc::new(words.clone()), &files);
    let found = complete(&mut command, words, index, None).unwrap_or_default();

    let is_option = |found: &CompletionCandidate| found.get_value().as_encoded_bytes()[0] == b'-';
    let has_others = files.get().is_some() || found.iter().any(|found| !is_option(found));
    let mut lines = format!("{}\n", files.get().copied().unwrap_or_default());
    for found in found.iter().filter(|found| !found.is_hide_set() && !found.get_value().is_empty())
    {
        // Options are many: they are proposed where nothing else could stand, or when begun.
        if begun.is_empty() && has_others && is_option(found) {
            continue;
        }
        let Some(value) = found.get_value().to_str().and_then(|value| value.strip_prefix(broken))
        else {
            continue;
        };
        let help = found.get_help().map(ToString::to_string).unwrap_or_default();
        lines.push_str(&format!("{value}\t{}\n", help.lines().next().unwrap_or_default()));
    }
    lines
}

/// The words of a command line that bash has broken at `=` and `:`, the index among them, and what
/// bash keeps of that word.
fn joined(words: &[OsString], index: usize) -> (Vec<OsString>, usize, String) {
    let breaks = |word: &OsStr| {
        let word = word.as_encoded_bytes();
        !word.is_empty() && word.iter().all(|sign| b"=:".contains(sign))
    };
    let (mut whole, mut place, mut broken) = (Vec::<OsString>::new(), 0, String::new());
    let mut goes_on = false;
    for (at, word) in words.iter().enumerate() {
        let is_break = breaks(word);
        match whole.last_mut() {
            Some(last) if is_break || goes_on => {
                if at == index {
                    broken = last.to_string_lossy().into_owned();
                    broken.push_str(if is_break { word.to_str().unwrap_or_default() } else { "" });
                }
                last.push(word);
            }
            _ => whole.push(word.clone()),
        }
        goes_on = is_break;
        if at == index {
            place = whole.len() - 1;
        }
    }
    // A word that has not been begun is not among them.
    if index >= words.len() {
        place = whole.len();
    }
    (whole, place, broken)
}

/// What is proposed where these words have been typed.
type Names = fn(&[OsString]) -> Vec<String>;

/// The command with what each argument takes, by the name of its value: it is one kind in every
/// verb.
fn proposing(
    command: Command,
    words: &Arc<Vec<OsString>>,
    files: &Arc<OnceLock<&'static str>>,
) -> Command {
    let command = command.mut_args(|arg| proposed(arg, words, files));
    command.mut_subcommands(|verb| proposing(verb, words, files))
}

fn proposed(arg: Arg, words: &Arc<Vec<OsString>>, files: &Arc<OnceLock<&'static str>>) -> Arg {
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let (of_these, names): (&str, Names) = match name.as_deref().unwrap_or_default() {
        "RUN" => ("", |_| living().into_iter().map(|run| run.name).collect()),
        "TASK[.INDEX]" => ("", |words| tasks(&status(words))),
        "CHANNEL" => {
            ("", |words| status(words).channels.into_iter().map(|one| one.channel).collect())
        }
        "CORE" => {
            ("", |words| status(words).cores.iter().map(|one| one.core.to_string()).collect())
        }
        "PLATFORM" => (".toml", |_| platforms()),
        "BOARD" => (".toml", |_| boards()),
        "POLICY" => ("", |_| policies().collect()),
        "NAME[:KEY=VALUE,...]" => ("", |_| policies().chain(["none".to_owned()]).collect()),
        "APP.toml" => (APPLICATIONS, |_| Vec::new()),
        "FILE.toml" => (".toml", |_| Vec::new()),
        "ROWS.json" => (".json", |_| Vec::new()),
        "DIR" => ("/", |_| Vec::new()),
        "FILE" | "DIR|FILE" | "ELF" | "FILE@TIME" if has_no_values(&arg) => {
            ("files", |_| Vec::new())
        }
        "COMMAND" => ("commands", |_| Vec::new()),
        _ => return arg,
    };
    let (words, files) = (Arc::clone(words), Arc::clone(files));
    arg.add(ArgValueCompleter::new(move |begun: &OsStr| {
        // An argument is asked where an option is begun, too.
        if begun.as_encoded_bytes().starts_with(b"-") {
            return Vec::new();
        }
        // An option whose value may be left out is asked before the argument that follows it.
        let _ = files.set(of_these);
        let words = Arc::clone(&words);
        let mut names = promptly(move || names(&words));
        names.retain(|name| is_plain(name) && name.starts_with(&*begun.to_string_lossy()));
        names.into_iter().map(CompletionCandidate::new).collect()
    }))
}

/// `schema FILE` takes words.
fn has_no_values(arg: &Arg) -> bool {
    arg.get_possible_values().is_empty()
}

/// What is looked up, if that does not take long: a run may be stuck, a folder far away.
fn promptly<T: Default + Send + 'static>(look_up: impl FnOnce() -> T + Send + 'static) -> T {
    let (found, taken) = mpsc::channel();
    // Nobody may wait for it any more. If it lasts, it ends with the process.
    thread::spawn(move || drop(found.send(look_up())));
    taken.recv_timeout(PATIENCE).unwrap_or_default()
}

/// Whether a shell takes it as it is, and a terminal shows it as it is.
fn is_plain(name: &str) -> bool {
    let plain = |sign: u8| sign.is_ascii_alphanumeric() || b"_.-".contains(&sign);
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(plain)
}

fn living() -> Vec<FoundRun> {
    Base::open().ok().and_then(|base| base.living().ok()).unwrap_or_default()
}

/// What the run says that the command line names.
fn status(words: &[OsString]) -> Status {
    let named = |run: &FoundRun| words.iter().any(|word| word == run.name.as_str());
    let run = living().into_iter().find(named);
    match run.map(|run| ask(&run.path.join(SOCKET), &Request::Status)) {
        Some(Ok(Reply::Status(status))) => *status,
        _ => Status::default(),
    }
}

/// Those that still run, as `migrate` takes them.
fn tasks(status: &Status) -> Vec<String> {
    let runs = status.tasks.iter().filter(|task| task.state != "ended" && task.state != "lost");
    let several = |name: &str| status.tasks.iter().any(|task| task.task == name && task.index > 0);
    let name = |task: &str, index| {
        if several(task) { format!("{task}.{index}") } else { task.to_owned() }
    };
    runs.map(|task| name(&task.task, task.index)).collect()
}

fn policies() -> impl Iterator<Item = String> {
    POLICIES.iter().map(|policy| policy.name.to_owned())
}
