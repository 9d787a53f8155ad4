// SPDX-License-Identifier: Apache-2.0
//! Applications written for other tools, as the text of an `app.toml`. See `docs/imports.md`.
//!
//! What is read is strict: what is not known is an error at its place, what is known but has no
//! meaning here is a warning. Every task is synthetic: it computes for so many cycles.

mod draft;
mod json;
mod names;
mod notes;
mod rtapp;
mod sdf3;
mod xml;

use miette::LabeledSpan;

use crate::problem::{Problem, Problems, Warning};
use notes::Notes;

/// What a file does not say by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The frequency at which durations become cycles, in hertz.
    pub hz: u64,
}

impl Default for Options {
    /// One gigahertz: a nanosecond is a cycle.
    fn default() -> Self {
        Self { hz: 1_000_000_000 }
    }
}

/// An application that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The text of an `app.toml`.
    pub toml: String,
    /// What was left out, or means something else there.
    pub warnings: Vec<Warning>,
}

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON of rt-app.
    RtApp,
    /// XML of SDF3.
    Sdf3,
}

impl Format {
    /// The format of a file by the end of its name: `.json` or `.xml`.
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending {
            "json" => Some(Self::RtApp),
            "xml" => Some(Self::Sdf3),
            _ => None,
        }
    }
}

/// Makes the text of an `app.toml` from a file of another tool. `path` gives the format and, where
/// the text has no better, the name.
///
/// # Errors
/// A path of another ending; everything in the text that is wrong, unknown, or cannot be expressed.
pub fn application(path: &str, text: &str, options: &Options) -> Result<Imported, Problems> {
    let stem = path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default();
    let mut notes = Notes::default();
    let draft = match Format::of(path) {
        Some(Format::RtApp) => rtapp::read(stem, text, options.hz, &mut notes),
        Some(Format::Sdf3) => sdf3::read(stem, text, &mut notes),
        None => {
            let problem = Problem::new(format!("{path} is neither .json nor .xml"));
            let help = "rt-app's files end with .json, those of SDF3 with .xml";
            notes.problems.push(problem.help(help));
            None
        }
    };
    // What is told in the order of the file is easier to follow.
    notes.problems.sort_by_key(|problem| first_place(&problem.labels));
    notes.warnings.sort_by_key(|warning| first_place(&warning.labels));
    match draft {
        Some(draft) if notes.problems.is_empty() => {
            Ok(Imported { toml: draft.write(), warnings: notes.warnings })
        }
        _ => Err(notes.problems.into()),
    }
}

fn first_place(labels: &[LabeledSpan]) -> usize {
    labels.iter().map(LabeledSpan::offset).min().unwrap_or_default()
}
