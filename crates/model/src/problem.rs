// SPDX-License-Identifier: Apache-2.0
//! What is wrong with an application, and where in its file.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Range;
use std::sync::Arc;

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteSpanContents, NamedSource, Severity, SourceCode,
    SourceSpan, SpanContents,
};
use thiserror::Error;
use whimbrel_text::{Failed, plain, word};
pub use whimbrel_text::{nearest, suggestion};

/// A place in a file, in bytes from its start.
pub type Span = Range<usize>;

/// One thing that is wrong, or that a person should know of though it hinders nothing: what, where,
/// and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Problem {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The places that show it; the first is the one to change.
    pub labels: Vec<LabeledSpan>,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether it is an error or a warning.
    pub severity: Severity,
}

impl Diagnostic for Problem {
    fn severity(&self) -> Option<Severity> {
        Some(self.severity)
    }

    fn help(&self) -> Option<Box<dyn Display + '_>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

impl Problem {
    /// A problem without a place. Its words and those of the others below may be shown as they are
    /// then: what they quote of files and names has lost what a terminal obeys.
    pub fn new(message: impl Into<String>) -> Self {
        let (labels, help, severity) = (Vec::new(), None, Severity::Error);
        Self { message: shown(message), labels, help, severity }
    }

    /// Adds a place, with a few words that stand beside it.
    #[must_use]
    pub fn at(mut self, span: Span, words: impl Into<String>) -> Self {
        self.labels.push(LabeledSpan::new_with_span(Some(shown(words)), span));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shown(help));
        self
    }

    /// The same of a part of what is wrong: `what` stands before it.
    #[must_use]
    pub fn within(self, what: impl Display) -> Self {
        Self { message: shown(format!("{what}: {}", self.message)), ..self }
    }

    /// What is wrong and what to do, for a place that has one line.
    pub fn line(&self) -> String {
        let help = self.help.as_ref().map(|help| format!(": {help}"));
        format!("{}{}", self.message, help.unwrap_or_default())
    }
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Self {
        let problem = Self::new(failed.message);
        failed.help.into_iter().fold(problem, Self::help)
    }
}

fn shown(words: impl Into<String>) -> String {
    plain(&words.into()).into_owned()
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

    /// Makes a report that shows the lines of this file that a problem points at.
    pub fn report(&self, mut problem: Problem) -> miette::Report {
        for label in problem.labels.iter_mut().filter(|label| label.len() > PLACE_MOST) {
            let start = boundary(&self.text, label.offset());
            let end = boundary(&self.text, start + AROUND);
            let end = self.text[start..end].find('\n').map_or(end, |at| start + at);
            *label = LabeledSpan::new(label.label().map(str::to_owned), start, end - start);
        }
        // The same length, so that places are where they were.
        let text = match plain(&self.text) {
            Cow::Borrowed(_) => Arc::clone(&self.text),
            Cow::Owned(text) => text.into(),
        };
        let source = NamedSource::new(word(&self.name), Shown(text));
        miette::Report::new(problem).with_source_code(source.with_language("TOML"))
    }
}

/// A text of which no more is shown than a person reads: a whole file may be one line.
struct Shown(Arc<str>);

/// The longest lines that are shown whole, and what is shown around a place in longer ones.
const WHOLE_MOST: usize = 2000;
const AROUND: usize = 60;
/// Of a longer place the beginning is shown: it may be most of the file.
const PLACE_MOST: usize = 400;

impl SourceCode for Shown {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text = &self.0;
        let whole = text.read_span(span, lines_before, lines_after)?;
        // A place that was counted in other bytes than the file's, as where signs are escaped, may
        // end within a character. It may end one byte behind the text, too.
        let start = boundary(text, span.offset());
        let end = boundary(text, span.offset() + span.len()).max(start);
        // What is longer reaches from one place to another: they are shown apart.
        if text[start..end].split('\n').any(|line| line.len() > PLACE_MOST + WHOLE_MOST) {
            return Err(MietteError::OutOfBounds);
        }
        if lines_before == 0 || whole.data().len() <= span.len() + WHOLE_MOST {
            return Ok(whole);
        }
        let first = boundary(text, start.saturating_sub(AROUND));
        let first = text[first..start].rfind('\n').map_or(first, |at| first + at + 1);
        let last = boundary(text, end + AROUND);
        let last = text[end..last].find('\n').map_or(last, |at| end + at);
        let part = SourceSpan::new(first.into(), last - first);
        let line = text[..first].matches('\n').count();
        let data = &text.as_bytes()[first..last];
        Ok(Box::new(MietteSpanContents::new(data, part, line, 0, 1)))
    }
}

/// The last begin of a character up to there.
fn boundary(text: &str, at: usize) -> usize {
    let mut up_to = (0..=at.min(text.len())).rev();
    up_to.find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// What a file holds that must be text.
///
/// # Errors
/// It is not UTF-8. The place is that in a [`Source`] of it in which what is none is replaced.
pub fn as_text(contents: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(contents).map_err(|error| {
        let mark = if contents.starts_with("\u{feff}".as_bytes()) { "\u{feff}".len() } else { 0 };
        let at = error.valid_up_to() - mark;
        let problem = Problem::new("this is not UTF-8");
        problem
            .at(at..at + char::REPLACEMENT_CHARACTER.len_utf8(), "from here on")
            .help("save it as UTF-8, or take the one that it was made from: it may be damaged")
    })
}

/// Everything that is wrong with one file, in the order in which it was found.
pub type Problems = Vec<Problem>;

/// `Ok(value)` when nothing is wrong.
pub(crate) fn none_or<T>(problems: Problems, value: impl FnOnce() -> T) -> Result<T, Problems> {
    if problems.is_empty() { Ok(value()) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_begins_or_ends_within_a_character_or_behind_the_text_is_shown() {
        let text = "é".repeat(WHOLE_MOST);
        let shown = Shown(text.as_str().into());
        for end in [1, 2, 3, 201, text.len() - 1, text.len(), text.len() + 1] {
            for start in [end.saturating_sub(3), end - 1, end] {
                let part = shown.read_span(&(start, end - start).into(), 1, 1).unwrap();
                let (at, data) = (part.span().offset(), part.data());
                assert!(std::str::from_utf8(data).is_ok(), "{start}..{end}");
                assert!(at <= start && at + data.len() + 1 >= end, "{start}..{end}");
                assert!(data.len() <= end - start + 2 * (AROUND + 2), "{start}..{end}");
            }
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_in_no_line_of_a_report() {
        let text = "[tasks.a]\r\nname = \"\u{1b}]0;t\u{7}\u{202e}é\u{9b}31m\"\r\n";
        let at = text.find("31m").unwrap();
        let problem =
            Problem::new("wrong name `\u{1b}[8m`").at(at..at + 3, "\u{202e}").help("\u{9b}");
        let shown = format!("{:?}", Source::new("a\u{1b}.toml\n", text).report(problem));
        assert_eq!(shown.chars().find(|c| c.is_control() && *c != '\n'), None, "{shown:?}");
        assert!(!shown.contains('\u{202e}') && shown.contains("a?.toml?:2:"), "{shown}");
        assert!(shown.contains("wrong name `?[8m`") && shown.contains("]0;t?\u{fffd}é·31m"));
    }

    #[test]
    fn of_a_place_that_is_most_of_a_file_the_beginning_is_shown() {
        let text = format!("{{{}}}", "x".repeat(100 * WHOLE_MOST));
        let problem = Problem::new("wrong").at(0..text.len(), "these tasks");
        let shown = format!("{:?}", Source::new("a.json", text).report(problem));
        assert!(shown.contains("these tasks") && shown.len() < WHOLE_MOST, "{shown}");
    }
}
