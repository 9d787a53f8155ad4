// SPDX-License-Identifier: Apache-2.0
//! rt-app's JSON (its `doc/tutorial.txt` and `src/rt-app_parse_config.c`), with the keys that
//! repeat, which its preprocessor `workgen` numbers.

mod convert;
mod events;
mod signals;
mod thread;

use jsonc_parser::ast::Object;

use super::draft::Draft;
use super::json::{Entry, entries, parse};
use super::names;
use super::notes::Notes;
use crate::problem::Problem;
use thread::{Policy, Thread};

const TOP: [&str; 3] = ["tasks", "resources", "global"];
/// What has no meaning for an application: how rt-app logs, locks its memory, writes.
const IGNORED_GLOBALS: [&str; 14] = [
    "duration",
    "pi_enabled",
    "lock_pages",
    "logdir",
    "log_basename",
    "log_size",
    "ftrace",
    "gnuplot",
    "io_device",
    "mem_buffer_size",
    "cumulative_slack",
    "frag",
    "fragment",
    "spacing",
];

/// What `global` says of every task.
#[derive(Debug, Clone, Copy)]
struct Global {
    hz: u64,
    /// Nanoseconds of one loop of computing; 0: they are not given.
    loop_ns: u64,
    policy: Policy,
}

/// Reads a whole file.
pub(super) fn read(stem: &str, text: &str, hz: u64, notes: &mut Notes) -> Option<Draft> {
    let object = parse(text).map_err(|problem| notes.refuse(problem)).ok()?;
    let mut global = Global { hz, loop_ns: 0, policy: Policy::Other };
    let mut tasks = None;
    let mut aliases = Vec::new();
    for entry in once(&object, &TOP, notes) {
        match entry.key {
            "tasks" => tasks = entry.object(notes),
            "global" => read_global(&entry, &mut global, notes),
            "resources" => aliases = signals::aliases(&entry, notes),
            _ => entry.unknown("the file", TOP.into_iter(), notes),
        }
    }
    let Some(tasks) = tasks else {
        notes.refuse(Problem::new("the file has no `tasks`").help("add the object of the tasks"));
        return None;
    };
    let threads: Vec<Thread> =
        entries(tasks).filter_map(|entry| thread::read(&entry, &global, notes)).collect();
    if threads.is_empty() && notes.problems.is_empty() {
        let at = super::json::span(tasks);
        notes.refuse(Problem::new("no task has an instance").at(at, "these tasks"));
    }
    let mhz = Mhz(hz);
    let mut draft = convert::tasks(&threads, &global, notes);
    draft.name = names::plain(stem);
    draft.source = format!("Made from an rt-app file; a microsecond of `run` is {mhz} cycles.");
    draft.channels = signals::channels(&threads, &draft.tasks, &aliases, notes);
    Some(draft)
}

/// The entries of an object, with a problem for each of these keys that comes again.
fn once<'a>(object: &'a Object<'a>, keys: &[&str], notes: &mut Notes) -> Vec<Entry<'a>> {
    let mut all: Vec<Entry<'a>> = Vec::new();
    for entry in entries(object) {
        let first = all.iter().find(|other| other.key == entry.key);
        match first.filter(|_| keys.contains(&entry.key)) {
            None => all.push(entry),
            Some(first) => {
                let problem = Problem::new(format!("`{}` is given twice", entry.key));
                let problem = problem.at(entry.at, "the second");
                notes.refuse(problem.at(first.at.clone(), "the first").help("keep one"));
            }
        }
    }
    all
}

fn read_global(entry: &Entry<'_>, global: &mut Global, notes: &mut Notes) {
    let Some(object) = entry.object(notes) else { return };
    let known = || ["calibration", "default_policy"].into_iter().chain(IGNORED_GLOBALS);
    let keys: Vec<&str> = known().collect();
    let mut ignored = Vec::new();
    for entry in once(object, &keys, notes) {
        match entry.key {
            "calibration" if entry.value.as_string_lit().is_some() => ignored.push(entry),
            "calibration" => global.loop_ns = entry.count(notes).unwrap_or_default(),
            "default_policy" => {
                global.policy = Policy::read(&entry, notes).unwrap_or(global.policy);
            }
            key if IGNORED_GLOBALS.contains(&key) => ignored.push(entry),
            _ => entry.unknown("`global`", known(), notes),
        }
    }
    if ignored.is_empty() {
        return;
    }
    let keys: Vec<String> = ignored.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let mut warning = Problem::new(format!("{} of `global` left out", keys.join(", ")));
    if let Some(entry) = ignored.iter().find(|entry| entry.key == "duration") {
        warning = warning.at(entry.at.clone(), "give --duration to the run instead");
    }
    notes.warn(warning);
}

/// A frequency in megahertz, with as many digits as it needs.
struct Mhz(u64);

impl std::fmt::Display for Mhz {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}
