// SPDX-License-Identifier: Apache-2.0
//! JSON with places, in its order, with keys that repeat, comments, and commas too many: what
//! rt-app's parser and its preprocessor take.

use jsonc_parser::ast::{Object, ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::notes::Notes;
use crate::problem::{Problem, Span, suggestion};

/// Deeper nesting is refused: the parser uses the stack. rt-app's own goes to seven.
const DEPTH_MAX: usize = 64;

/// One `"key" : value`.
pub(super) struct Entry<'a> {
    pub key: &'a str,
    pub at: Span,
    pub value: &'a Value<'a>,
}

/// The object that a text is.
pub(super) fn parse(text: &str) -> Result<Object<'_>, Problem> {
    check_depth(text)?;
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: true,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options);
    match parsed {
        Ok(parsed) => match parsed.value {
            Some(Value::Object(object)) => Ok(object),
            Some(other) => Err(Problem::new("the file is no object").at(span(&other), "not this")),
            None => Err(Problem::new("the file is empty")),
        },
        Err(error) => {
            let at = error.range();
            let end = at.end.clamp(at.start, text.len());
            let what = error.kind().to_string();
            Err(Problem::new("this is not JSON").at(at.start.min(end)..end, what))
        }
    }
}

fn check_depth(text: &str) -> Result<(), Problem> {
    let (mut depth, mut at) = (0_usize, 0);
    let end_of = |from: usize, mark: &str| {
        text.as_bytes()[from..]
            .windows(mark.len())
            .position(|window| window == mark.as_bytes())
            .map_or(text.len(), |found| from + found + mark.len())
    };
    while let Some(byte) = text.as_bytes().get(at) {
        let next = text.as_bytes().get(at + 1);
        at = match (byte, next) {
            (b'"' | b'\'', _) => end_of_string(text.as_bytes(), at),
            (b'/', Some(b'/')) => end_of(at, "\n"),
            (b'/', Some(b'*')) => end_of(at + 2, "*/"),
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return Err(Problem::new("this is nested too deep").at(at - 1..at, "here"));
        }
    }
    Ok(())
}

fn end_of_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == text[start] => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Where a value stands.
pub(super) fn span(value: &impl Ranged) -> Span {
    value.start()..value.end()
}

/// The entries of an object, in their order.
pub(super) fn entries<'a>(object: &'a Object<'a>) -> impl Iterator<Item = Entry<'a>> {
    object.properties.iter().map(|property| {
        let key = match &property.name {
            ObjectPropName::String(text) => text.value.as_ref(),
            ObjectPropName::Word(word) => word.value,
        };
        Entry { key, at: span(&property.name), value: &property.value }
    })
}

impl<'a> Entry<'a> {
    /// A whole number.
    pub fn integer(&self, notes: &mut Notes) -> Option<i64> {
        let number = self.value.as_number_lit().and_then(|number| number.value.parse().ok());
        number.or_else(|| self.wrong("a whole number", notes))
    }

    /// A whole number from 0 up.
    pub fn count(&self, notes: &mut Notes) -> Option<u64> {
        let number = self.value.as_number_lit().and_then(|number| number.value.parse().ok());
        number.or_else(|| self.wrong("a whole number from 0 up", notes))
    }

    /// A text.
    pub fn text(&self, notes: &mut Notes) -> Option<&'a str> {
        let text = self.value.as_string_lit().map(|text| text.value.as_ref());
        text.or_else(|| self.wrong("a text", notes))
    }

    /// An object.
    pub fn object(&self, notes: &mut Notes) -> Option<&'a Object<'a>> {
        self.value.as_object().or_else(|| self.wrong("an object", notes))
    }

    /// Notes that the value is not what it must be.
    pub fn wrong<T>(&self, wanted: &str, notes: &mut Notes) -> Option<T> {
        let problem = Problem::new(format!("`{}` must be {wanted}", self.key));
        notes.refuse(problem.at(span(self.value), "not this"));
        None
    }

    /// Notes that nothing of this name can stand here.
    pub fn unknown<'k>(
        &self,
        place: &str,
        known: impl Iterator<Item = &'k str> + Clone,
        notes: &mut Notes,
    ) {
        let help = suggestion(self.key, known.clone(), || {
            format!("{place} takes {}", known.collect::<Vec<_>>().join(", "))
        });
        let problem = Problem::new(format!("{place} has no key `{}`", self.key));
        notes.refuse(problem.at(self.at.clone(), "unknown key").help(help));
    }
}
