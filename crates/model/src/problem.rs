// SPDX-License-Identifier: Apache-2.0
//! What is wrong with an application, and where in its file.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, LabeledSpan, NamedSource};
use thiserror::Error;

/// A place in a file, in bytes from its start.
pub type Span = Range<usize>;

/// One thing that is wrong: what, where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[error("{message}")]
pub struct Problem {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The places that show it; the first is the one to change.
    #[label(collection)]
    pub labels: Vec<LabeledSpan>,
    /// What to do about it.
    #[help]
    pub help: Option<String>,
}

impl Problem {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), labels: Vec::new(), help: None }
    }

    /// Adds a place, with a few words that stand beside it.
    #[must_use]
    pub fn at(mut self, span: Span, words: impl Into<String>) -> Self {
        self.labels.push(LabeledSpan::new_with_span(Some(words.into()), span));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Something that a person should know of, though it hinders nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[error("{message}")]
#[diagnostic(severity(Warning))]
pub struct Warning {
    /// What it is, in one sentence without a full stop.
    pub message: String,
    /// The places that show it.
    #[label(collection)]
    pub labels: Vec<LabeledSpan>,
    /// What to do about it.
    #[help]
    pub help: Option<String>,
}

impl From<Problem> for Warning {
    fn from(Problem { message, labels, help }: Problem) -> Self {
        Self { message, labels, help }
    }
}

/// A file as it was read, which problems point into.
#[derive(Debug, Clone)]
pub struct Source {
    name: String,
    text: Arc<str>,
}

impl Source {
    /// Names a text; the name is what a person sees, usually a path. A byte order mark that it
    /// begins with is left out.
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let text = text.strip_prefix('\u{feff}').map_or_else(|| Arc::clone(&text), Arc::from);
        Self { name: name.into(), text }
    }

    /// The name given to [`Source::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Makes a problem or a warning that shows the lines of this file it points at.
    pub fn report(&self, problem: impl Diagnostic + Send + Sync + 'static) -> miette::Report {
        let source = NamedSource::new(self.name.clone(), Arc::clone(&self.text));
        miette::Report::new(problem).with_source_code(source.with_language("TOML"))
    }
}

/// Everything that is wrong with one file; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// `Ok(value)` when nothing is wrong.
    pub fn none_or<T>(problems: Vec<Problem>, value: impl FnOnce() -> T) -> Result<T, Self> {
        if problems.is_empty() { Ok(value()) } else { Err(Self(problems)) }
    }

    /// The problems, in the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl From<Vec<Problem>> for Problems {
    fn from(problems: Vec<Problem>) -> Self {
        Self(problems)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The known name nearest to a wrong one, if it is near enough to be meant.
pub(crate) fn nearest<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(distance, name)| *distance <= name.len().max(wrong.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// What to write instead of a wrong name: the known one that is meant, or what `otherwise` says.
pub(crate) fn suggestion<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(wrong, known).map_or_else(otherwise, |meant| format!("did you mean `{meant}`?"))
}
