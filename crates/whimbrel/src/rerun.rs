// SPDX-License-Identifier: Apache-2.0
//! `whimbrel rerun`: a simulation or an exploration once more, compared with what it was.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use serde_json::{Value, json};
use signal_hook::flag;
use whimbrel_model::{Decision, Problem};
use whimbrel_run::failure::{Answer, Failure, Outcome, say};
use whimbrel_run::load::experiment::{EXPERIMENT, Experiment};
use whimbrel_run::output::{print, print_json};
use whimbrel_run::protocol::Status;
use whimbrel_run::{Callbacks, accompany, fingerprint_of, prepared, signals};
use whimbrel_text::cure;

use crate::cli::{ExploreArgs, RerunArgs};
use crate::explore;

/// What a run prints is not compared; of what differs in a summary, so many places are named.
const NAMED_MOST: usize = 8;
const SUMMARY: &str = "summary.json";

/// A file of the result, and how it differs from that of the second run.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// `None`: it is the same.
    pub difference: Option<String>,
}

/// Repeats what a folder contains, and says whether the result is the same to the byte.
///
/// # Errors
/// It cannot be repeated, or fails.
pub fn rerun(args: &RerunArgs) -> Outcome {
    let folder = fs::canonicalize(&args.folder).map_err(|error| {
        let message = format!("{} cannot be read: {error}", args.folder.display());
        Problem::new(message).help(cure(&error))
    })?;
    // An ending signal lets what is made for it go as well.
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals::ending() {
        flag::register(signal, Arc::clone(&stop)).map_err(|error| {
            Problem::new(format!("signals cannot be taken: {error}")).help(cure(&error))
        })?;
    }
    let compared = repeated(&folder, &stop)?;
    let same = compared.iter().all(|file| file.difference.is_none());
    if args.json {
        print_json(&json!({ "same": same, "files": compared }))?;
    } else {
        print(&told(&compared))?;
    }
    Ok(if same { Answer::Yes } else { Answer::No })
}

fn told(compared: &[Compared]) -> String {
    let line = |file: &Compared| match &file.difference {
        None => format!("same to the byte  {}\n", file.name),
        Some(difference) => format!("different         {}: {difference}\n", file.name),
    };
    compared.iter().map(line).collect()
}

/// Repeats it in a folder of its own, until `stop`.
///
/// # Errors
/// As [`rerun`].
pub fn repeated(folder: &Path, stop: &AtomicBool) -> Result<Vec<Compared>, Failure> {
    let experiment = Experiment::read(folder)?;
    if experiment.whimbrel != env!("CARGO_PKG_VERSION") {
        let this = env!("CARGO_PKG_VERSION");
        say(&format!("made by Whimbrel {}, repeated by {this}", experiment.whimbrel));
    }
    let scratch = tempfile::tempdir().map_err(|error| {
        Problem::new(format!("no folder can be made: {error}")).help(cure(&error))
    })?;
    match experiment.verb.as_str() {
        "sim" => simulated(&experiment, folder, scratch.path(), stop),
        "explore" => explored(&experiment, folder, scratch.path(), stop),
        verb => {
            let message =
                format!("{}: `{verb}` is not repeated", folder.join(EXPERIMENT).display());
            Err(Problem::new(message).help("name the folder of `sim` or of `explore`").into())
        }
    }
}

/// Lets a simulation go on until it is to stop.
struct Until<'a>(&'a AtomicBool);

impl Callbacks for Until<'_> {
    fn goes_on(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn watches(&self) -> bool {
        false
    }

    fn totals(&mut self, _: &Status) {}

    fn decide(&mut self, _: &Value) -> Option<Decision> {
        None
    }
}

fn simulated(
    experiment: &Experiment,
    folder: &Path,
    scratch: &Path,
    stop: &AtomicBool,
) -> Result<Vec<Compared>, Failure> {
    let args = experiment.sim_args(folder, scratch)?;
    let (run, complete) = prepared(&args)?;
    let again = scratch.join("run");
    let ended = accompany(run, Some(&again), complete, &mut Until(stop));
    // A run that has failed fails once more.
    if !again.join(SUMMARY).exists() || stop.load(Ordering::Relaxed) {
        ended?;
    }
    let mut compared = vec![Compared {
        name: SUMMARY.into(),
        difference: summaries(experiment, scratch, &folder.join(SUMMARY), &again.join(SUMMARY))?,
    }];
    let streams = |folder: &Path| -> Result<BTreeSet<String>, Problem> {
        let entries = fs::read_dir(folder).map_err(|error| gone(folder, &error))?;
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| name.ends_with(".events")).collect())
    };
    for name in streams(folder)?.union(&streams(&again)?) {
        compared.push(bytes(name, &folder.join(name), &again.join(name))?);
    }
    for (key, fingerprint) in &experiment.outputs {
        let now = experiment.file_in(scratch, key).and_then(|path| fs::read(path).ok());
        let difference = match now {
            None => Some("it is not written".into()),
            Some(now) if fingerprint_of(&now) != *fingerprint => Some("other bytes".into()),
            Some(_) => None,
        };
        compared.push(Compared { name: format!("the file of {key}"), difference });
    }
    Ok(compared)
}

/// How a summary differs from another, of a run whose files were elsewhere.
fn summaries(
    experiment: &Experiment,
    scratch: &Path,
    was: &Path,
    is: &Path,
) -> Result<Option<String>, Problem> {
    let read = |path: &Path| -> Result<Value, Problem> {
        let text = fs::read(path).map_err(|error| gone(path, &error))?;
        serde_json::from_slice(&text).map_err(|error| {
            Problem::new(format!("{}: {error}", path.display())).help("restore the file")
        })
    };
    let (was, mut is) = (read(was)?, read(is)?);
    for (key, text) in &experiment.files {
        let now = experiment.file_in(scratch, key).map(|path| path.to_string_lossy().into_owned());
        if let Some(param) =
            is["app"]["params"].get_mut(key).filter(|param| param.as_str() == now.as_deref())
        {
            *param = Value::String(text.clone());
        }
    }
    let mut places = Vec::new();
    differences(&was, &is, &mut String::new(), &mut places);
    let more = places.len().saturating_sub(NAMED_MOST);
    places.truncate(NAMED_MOST);
    let named = places.join(", ");
    Ok(match (places.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(named),
        (false, more) => Some(format!("{named} and {more} more")),
    })
}

/// Where two values differ, and how.
fn differences(was: &Value, is: &Value, at: &mut String, places: &mut Vec<String>) {
    let length = at.len();
    let mut inner = |key: &str, was: &Value, is: &Value| {
        let dot = if length == 0 { "" } else { "." };
        at.push_str(&format!("{dot}{key}"));
        differences(was, is, at, places);
        at.truncate(length);
    };
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
            for key in keys {
                let of = |object: &serde_json::Map<String, Value>| object.get(key).cloned();
                inner(key, &of(was).unwrap_or_default(), &of(is).unwrap_or_default());
            }
        }
        (Value::Array(was), Value::Array(is)) if was.len() == is.len() => {
            for (place, (was, is)) in was.iter().zip(is).enumerate() {
                inner(&place.to_string(), was, is);
            }
        }
        (was, is) if was != is => places.push(format!("{at} was {was} and is {is}")),
        _ => {}
    }
}

fn gone(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("{} cannot be read: {error}", path.display())).help(cure(error))
}

/// How the bytes of two files differ.
fn bytes(name: &str, was: &Path, is: &Path) -> Result<Compared, Problem> {
    let read = |path: &Path| match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(|error| gone(path, &error)),
    };
    let difference = match (read(was)?, read(is)?) {
        (was, is) if was == is => None,
        (Some(was), Some(is)) => {
            let place = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
            Some(format!("from byte {place} on; {} bytes were {}", is.len(), was.len()))
        }
        (None, _) => Some("it was not there".into()),
        (_, None) => Some("it is not written".into()),
    };
    Ok(Compared { name: name.into(), difference })
}

fn explored(
    experiment: &Experiment,
    folder: &Path,
    scratch: &Path,
    stop: &AtomicBool,
) -> Result<Vec<Compared>, Failure> {
    let mut args: ExploreArgs = experiment.unpack(folder, scratch)?;
    experiment.place(&mut args.app, &mut args.platform, &mut args.set, scratch);
    let again = scratch.join("exploration");
    args.output = Some(again.clone());
    let settings = experiment.settings.clone().unwrap_or_default();
    let settings = serde_json::from_value(settings).map_err(|error| {
        Problem::new(format!("{}: {error}", folder.join(EXPERIMENT).display()))
            .help("restore the file, or explore again")
    })?;
    explore::again(&args, settings, stop)?;
    let files = ["explore.csv", "explore.parquet", "front.json"];
    Ok(files
        .into_iter()
        .map(|name| bytes(name, &folder.join(name), &again.join(name)))
        .collect::<Result<_, _>>()?)
}
