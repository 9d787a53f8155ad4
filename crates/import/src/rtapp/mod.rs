// SPDX-License-Identifier: Apache-2.0
//! rt-app's JSON: the grammar of version 1.0 (its `doc/tutorial.txt` and
//! `src/rt-app_parse_config.c`), with what its preprocessor `workgen` takes, what versions since
//! have, and the grammar that it had before. Each thread becomes a task with a script.

mod before;
mod convert;
mod events;
mod held;
mod objects;
mod places;
mod thread;

use super::draft::Draft;
use super::json::{Entry, parse};
use super::notes::Notes;
use before::Resources;
pub(super) use places::Policy;
use thread::Thread;
use whimbrel_model::{Problem, nearest};

const TOP: [&str; 3] = ["tasks", "resources", "global"];
/// What has a meaning of `global`; the rest says how rt-app logs, locks its memory, writes.
const GLOBALS: [&str; 2] = ["calibration", "default_policy"];

/// What `global` says of every task.
#[derive(Debug, Clone, Copy)]
struct Global {
    hz: u64,
    /// Nanoseconds of one loop of computing; 0: they are not given.
    loop_ns: u64,
    policy: Policy,
}

/// Reads whole files as one, as rt-app's `merge.py` does: what one names is the same in all. Each
/// has a text, and where its places are counted from.
pub(super) fn read(files: &[(&str, usize)], hz: u64, notes: &mut Notes) -> Option<Draft> {
    let mut parsed: Vec<Vec<Entry>> = Vec::new();
    for (text, base) in files {
        parsed.extend(parse(text, *base).map_err(|problem| notes.refuse(problem)).ok());
    }
    if parsed.len() < files.len() {
        return None;
    }
    let top: Vec<&Entry> = parsed.iter().flat_map(|file| once(file, &TOP, notes)).collect();
    let mut global = Global { hz, loop_ns: 0, policy: Policy::Other };
    let mut resources = Resources::default();
    for entry in &top {
        match entry.key.as_str() {
            "global" => read_global(entry.object(notes).unwrap_or_default(), &mut global, notes),
            // Before there were names, it was a number of mutexes.
            "resources" if entry.number().is_some() => {}
            "resources" => resources.read(entry, notes),
            "tasks" => {}
            key if nearest(key, TOP).is_some() => {
                entry.unknown("the file", TOP.into_iter(), notes);
            }
            key => {
                let warning = Problem::new(format!("`{key}` of the file has no meaning here"));
                notes.warn(warning.at(entry.at.clone(), "left out"));
            }
        }
    }
    let threads = threads(&top, &global, &resources, notes);
    let source = format!("Made from rt-app; a microsecond of its `run` is {} cycles.", Mhz(hz));
    Some(Draft { source, ..convert::draft(&threads, &global, notes) })
}

fn threads(
    top: &[&Entry],
    global: &Global,
    resources: &Resources,
    notes: &mut Notes,
) -> Vec<Thread> {
    let mut threads = Vec::new();
    let tasks: Vec<&&Entry> = top.iter().filter(|entry| entry.key == "tasks").collect();
    for tasks in &tasks {
        for entry in tasks.object(notes).unwrap_or_default() {
            threads.extend(thread::read(entry, global, resources, notes));
        }
    }
    let Some(first) = tasks.first() else {
        notes.refuse(Problem::new("the file has no `tasks`").help("add the object of the tasks"));
        return threads;
    };
    if threads.iter().all(|thread| thread.count == 0) && notes.problems.is_empty() {
        let problem =
            Problem::new("no task has an instance").help("set `instance` of a task to 1 or more");
        notes.refuse(problem.at(first.value.at.clone(), "these tasks"));
    }
    threads
}

/// The entries of an object, with a problem for each of these keys that comes again.
fn once<'a>(object: &'a [Entry], keys: &[&str], notes: &mut Notes) -> Vec<&'a Entry> {
    let mut all: Vec<&Entry> = Vec::new();
    for entry in object {
        let first = all.iter().find(|other| other.key == entry.key);
        match first.filter(|_| keys.contains(&entry.key.as_str())) {
            None => all.push(entry),
            Some(first) => {
                let problem = Problem::new(format!("`{}` is given twice", entry.key));
                let problem = problem.at(entry.at.clone(), "the second");
                notes.refuse(problem.at(first.at.clone(), "the first").help("keep one"));
            }
        }
    }
    all
}

fn read_global(object: &[Entry], global: &mut Global, notes: &mut Notes) {
    let mut ignored: Vec<&Entry> = Vec::new();
    for entry in once(object, &GLOBALS, notes) {
        match entry.key.as_str() {
            "calibration" if entry.number().is_none() && entry.text(notes).is_some() => {
                ignored.push(entry);
            }
            "calibration" => global.loop_ns = entry.count(notes).unwrap_or_default(),
            "default_policy" => {
                global.policy = Policy::read(entry, notes).unwrap_or(global.policy);
            }
            _ => ignored.push(entry),
        }
    }
    let Some(first) = ignored.first() else { return };
    let keys: Vec<String> = ignored.iter().map(|entry| format!("`{}`", entry.key)).collect();
    let warning = Problem::new(format!("{} of `global` left out", keys.join(", ")));
    let duration = ignored.iter().find(|entry| entry.key == "duration");
    let mut unknown = ignored.iter().filter(|entry| !GLOBALS.contains(&entry.key.as_str()));
    let meant = unknown.find_map(|entry| Some((entry, nearest(&entry.key, GLOBALS)?)));
    notes.warn(match (duration, meant) {
        (_, Some((entry, meant))) => {
            warning.at(entry.at.clone(), "left out").help(format!("write `{meant}`"))
        }
        (Some(entry), _) => warning.at(entry.at.clone(), "give --duration to the run instead"),
        _ => warning.at(first.at.clone(), "left out"),
    });
}

/// A frequency in megahertz, with as many digits as it needs.
struct Mhz(u64);

impl std::fmt::Display for Mhz {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}
