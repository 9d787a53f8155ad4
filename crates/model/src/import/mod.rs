// SPDX-License-Identifier: Apache-2.0
//! Applications written for other tools, as the text of an `app.toml`. See `docs/imports.md`.
//!
//! What is read is strict: what is not known is an error at its place, what is known but has no
//! meaning here is a warning. Every task is synthetic: it computes for so many cycles.

mod dataflow;
mod dot;
mod draft;
mod graph;
mod graphml;
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
    /// XML of SDF3, or GraphML.
    Xml,
    /// DOT of Graphviz.
    Dot,
}

impl Format {
    /// The format of a file by the end of its name.
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending {
            "json" => Some(Self::RtApp),
            "xml" | "graphml" => Some(Self::Xml),
            "dot" | "gv" => Some(Self::Dot),
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
        Some(Format::Xml) => of_xml(stem, text, &mut notes),
        Some(Format::Dot) => dot::read(stem, text, &mut notes),
        None => {
            let problem = Problem::new(format!("{path} is of no format that is known"));
            let help = "the end of its name tells: .json is rt-app's, .xml of SDF3, .graphml of \
                        GraphML, .dot and .gv of Graphviz";
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

/// XML of either kind.
fn of_xml(stem: &str, text: &str, notes: &mut Notes) -> Option<draft::Draft> {
    let document = xml::parse(text).map_err(|problem| notes.refuse(problem)).ok()?;
    let root = xml::Element::root(&document);
    match root.name() {
        "graphml" => graphml::read(stem, root, notes),
        _ => sdf3::read(stem, root, notes),
    }
}

fn first_place(labels: &[LabeledSpan]) -> usize {
    labels.iter().map(LabeledSpan::offset).min().unwrap_or_default()
}
