// SPDX-License-Identifier: Apache-2.0
//! Applications written for other tools, as the text of an `app.toml`. See `docs/imports.md`.
//!
//! What is read is strict: what is not known is an error at its place, what is known but has no
//! meaning here is a warning. Every task is synthetic: it computes for so many cycles.

mod amalthea;
mod dataflow;
mod dot;
mod draft;
mod encoding;
mod graph;
mod graphml;
mod json;
mod names;
mod notes;
mod perfetto;
mod rtapp;
mod sdf3;
mod tgff;
mod xml;

use std::collections::BTreeMap;

use draft::Draft;
pub use encoding::as_utf8;
use notes::{Diagnostics, Notes};
use whimbrel_model::{Problem, as_text};

/// What a file does not say by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The frequency at which durations become cycles, in hertz.
    pub hz: u64,
    /// Of a trace, which of its threads, by name or number.
    pub threads: Vec<String>,
    /// Of a trace, from when to when, in nanoseconds after its first event.
    pub window_ns: (u64, u64),
}

impl Default for Options {
    /// One gigahertz: a nanosecond is a cycle.
    fn default() -> Self {
        Self { hz: 1_000_000_000, threads: Vec::new(), window_ns: (0, u64::MAX) }
    }
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
    /// Task graphs of TGFF.
    Tgff,
    /// A model of APP4MC.
    Amalthea,
    /// A trace of Perfetto.
    Perfetto,
}

impl Format {
    /// The format of a file by the end of its name.
    pub fn of(path: &str) -> Option<Self> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "json" => Some(Self::RtApp),
            "xml" | "graphml" => Some(Self::Xml),
            "dot" | "gv" => Some(Self::Dot),
            "tgff" => Some(Self::Tgff),
            "amxmi" => Some(Self::Amalthea),
            "pftrace" | "perfetto-trace" | "perfetto_trace" => Some(Self::Perfetto),
            _ => None,
        }
    }
}

/// A text, with what is to be told of the files that it was made of, each with the file's number.
pub type Together = (String, Vec<(usize, Problem)>);

/// Makes the text of one `app.toml` from files of other tools, each a path and what it holds. The
/// path gives the format and, where the file has no better, the name. Those of rt-app are one file
/// cut into pieces, and so are those of APP4MC; any other brings tasks of its own, whose names
/// become others where they are taken.
///
/// # Errors
/// A path of another ending; everything in a file that is wrong, unknown, or cannot be expressed,
/// each with the number of its file.
pub fn together(
    files: &[(&str, &[u8])],
    options: &Options,
) -> Result<Together, Vec<(usize, Problem)>> {
    let mut told = Diagnostics::default();
    let mut drafts: BTreeMap<usize, Draft> = BTreeMap::new();
    let (mut workloads, mut models) = (Vec::new(), Vec::new());
    let contents: Vec<_> = files.iter().map(|(_, contents)| as_utf8(contents)).collect();
    for (number, ((path, _), contents)) in files.iter().zip(&contents).enumerate() {
        let mut notes = Notes::default();
        match Format::of(path) {
            Some(_) if is_packed(contents) => {
                let problem = Problem::new("this file is compressed");
                notes.refuse(problem.help("unpack it first, for example with gunzip or unzip"));
            }
            Some(format @ (Format::RtApp | Format::Amalthea)) => {
                let pieces = if format == Format::RtApp { &mut workloads } else { &mut models };
                pieces.extend(text(contents, &mut notes).map(|text| (number, text)));
            }
            format => {
                let draft = alone(format, path, contents, options, &mut notes);
                drafts.extend(draft.map(|draft| (number, draft)));
            }
        }
        told.of_one(number, notes);
    }
    for (pieces, format) in [(workloads, Format::RtApp), (models, Format::Amalthea)] {
        let Some(&(first, _)) = pieces.first() else { continue };
        let draft = told.of_pieces(&pieces, |texts, notes| match format {
            Format::RtApp => rtapp::read(texts, options.hz, notes),
            _ => amalthea::read(texts, notes),
        });
        let name = names::plain(stem(files[first].0));
        drafts.extend(draft.map(|draft| (first, Draft { name, ..draft })));
    }
    told.sort();
    // The first gives the name.
    let draft = drafts.into_values().reduce(Draft::join);
    match draft {
        Some(draft) if told.problems.is_empty() => Ok((draft.write(), told.warnings)),
        _ => Err(told.problems),
    }
}

/// A file that is an application by itself, and none if it is of no format.
fn alone(
    format: Option<Format>,
    path: &str,
    contents: &[u8],
    options: &Options,
    notes: &mut Notes,
) -> Option<Draft> {
    let stem = stem(path);
    match format {
        Some(Format::Xml) => of_xml(stem, text(contents, notes)?, notes),
        Some(Format::Dot) => dot::read(stem, text(contents, notes)?, notes),
        Some(Format::Tgff) => tgff::read(stem, text(contents, notes)?, options.hz, notes),
        Some(Format::Perfetto) => perfetto::read(stem, contents, options, notes),
        Some(Format::RtApp | Format::Amalthea) | None => {
            let problem = Problem::new(format!("{path} is of no format that is known"));
            let help = "rename it: .json is rt-app's, .xml of SDF3, .graphml of GraphML, .dot and \
                        .gv of Graphviz, .tgff of TGFF, .amxmi of APP4MC, .pftrace of Perfetto";
            notes.refuse(problem.help(help));
            None
        }
    }
}

/// XML of either kind.
fn of_xml(stem: &str, text: &str, notes: &mut Notes) -> Option<Draft> {
    let text = xml::document(text).map_err(|problem| notes.refuse(problem)).ok()?;
    let document = xml::parse(&text).map_err(|problem| notes.refuse(problem)).ok()?;
    let root = xml::Element::root(&document, 0);
    match root.name() {
        "graphml" => graphml::read(stem, root, notes),
        _ => sdf3::read(stem, root, notes),
    }
}

/// Whether the first bytes are those of gzip, zip, xz or zstd.
fn is_packed(contents: &[u8]) -> bool {
    let marks: [&[u8]; 4] = [b"\x1f\x8b", b"PK\x03\x04", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"];
    marks.iter().any(|mark| contents.starts_with(mark))
}

/// What a file holds that must be text.
fn text<'a>(contents: &'a [u8], notes: &mut Notes) -> Option<&'a str> {
    let text = as_text(contents).map_err(|problem| notes.refuse(problem)).ok()?;
    // As `Source` does, whose lines are shown.
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The name of a file without its folder and its ending.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().and_then(|file| file.split('.').next()).unwrap_or_default()
}
