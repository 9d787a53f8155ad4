// SPDX-License-Identifier: Apache-2.0
//! JSON with places, in its order, as rt-app's parser and its preprocessor `workgen` take it: keys
//! that repeat, keys without a value, comments, commas too many.

use jsonc_parser::Scanner;
use jsonc_parser::tokens::Token;

use super::notes::Notes;
use whimbrel_model::{Problem, Span, suggestion};

/// Deeper nesting is refused: the reader uses the stack. rt-app's own goes to seven.
const DEPTH_MAX: usize = 64;

/// A value, and where it stands.
#[derive(Debug)]
pub(super) struct Value {
    pub kind: Kind,
    pub at: Span,
}

/// What a value is.
#[derive(Debug)]
pub(super) enum Kind {
    Text(String),
    /// As it is written.
    Number(String),
    Boolean(bool),
    Null,
    List(Vec<Value>),
    Object(Vec<Entry>),
    /// The key stands alone, as in `"suspend",`.
    Missing,
}

/// One `"key" : value`.
#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    pub at: Span,
    pub value: Value,
}

/// The entries of the object that a text is; places are counted from `base` on.
pub(super) fn parse(text: &str, base: usize) -> Result<Vec<Entry>, Problem> {
    let mut reader = Reader { scanner: Scanner::new(text), base, length: text.len() };
    let Some(first) = reader.next()? else {
        let problem = Problem::new("the file is empty");
        return Err(problem.help("write the object of the tasks, or name another file"));
    };
    let value = reader.value(first, 0)?;
    let Kind::Object(entries) = value.kind else {
        return Err(Problem::new("the file is not an object")
            .help("write an object in braces")
            .at(value.at, "not this"));
    };
    match reader.next()? {
        None => Ok(entries),
        Some((_, at)) => Err(not_json(at, "this follows the object that the file is")),
    }
}

fn not_json(at: Span, words: impl Into<String>) -> Problem {
    Problem::new("this is not JSON")
        .help("correct the text there, or take another file")
        .at(at, words)
}

/// The tokens of a text, and what they make up.
struct Reader<'a> {
    scanner: Scanner<'a>,
    base: usize,
    length: usize,
}

type Placed<'a> = (Token<'a>, Span);

impl<'a> Reader<'a> {
    /// The next token that is no comment.
    fn next(&mut self) -> Result<Option<Placed<'a>>, Problem> {
        loop {
            let token = self.scanner.scan().map_err(|error| {
                let (at, what) = (error.range(), error.kind().to_string());
                let end = at.end.clamp(at.start, self.length);
                not_json(self.base + at.start.min(end)..self.base + end, what)
            })?;
            let at = self.base + self.scanner.token_start()..self.base + self.scanner.token_end();
            match token {
                Some(Token::CommentLine(_) | Token::CommentBlock(_)) => {}
                token => return Ok(token.map(|token| (token, at))),
            }
        }
    }

    /// The next token where the text must not end.
    fn needed(&mut self, open: &Span) -> Result<Placed<'a>, Problem> {
        self.next()?.ok_or_else(|| not_json(open.clone(), "this is never closed"))
    }

    /// The value that begins with this token.
    fn value(&mut self, (token, at): Placed<'a>, depth: usize) -> Result<Value, Problem> {
        if depth > DEPTH_MAX {
            return Err(Problem::new("this is nested too deep")
                .help("nest values less deeply")
                .at(at, "here"));
        }
        let kind = match token {
            Token::String(text) => Kind::Text(text.into_owned()),
            Token::Number(number) => Kind::Number(number.to_owned()),
            Token::Boolean(yes) => Kind::Boolean(yes),
            Token::Null => Kind::Null,
            Token::OpenBracket => Kind::List(self.list(&at, depth)?),
            Token::OpenBrace => Kind::Object(self.object(&at, depth)?),
            _ => return Err(not_json(at, "a value should be here")),
        };
        let end = self.base + self.scanner.token_end();
        Ok(Value { kind, at: at.start..end })
    }

    fn list(&mut self, open: &Span, depth: usize) -> Result<Vec<Value>, Problem> {
        let mut values = Vec::new();
        loop {
            let next = self.needed(open)?;
            if next.0 == Token::CloseBracket {
                return Ok(values);
            }
            values.push(self.value(next, depth + 1)?);
            let next = self.needed(open)?;
            if self.ends(&next, &Token::CloseBracket)? {
                return Ok(values);
            }
        }
    }

    fn object(&mut self, open: &Span, depth: usize) -> Result<Vec<Entry>, Problem> {
        let mut entries = Vec::new();
        loop {
            let (key, at) = match self.needed(open)? {
                (Token::CloseBrace, _) => return Ok(entries),
                (Token::String(key), at) => (key.into_owned(), at),
                (_, at) => return Err(not_json(at, "a key in quotation marks should be here")),
            };
            let mut next = self.needed(open)?;
            let mut value = Value { kind: Kind::Missing, at: at.clone() };
            if next.0 == Token::Colon {
                let first = self.needed(open)?;
                value = self.value(first, depth + 1)?;
                next = self.needed(open)?;
            }
            entries.push(Entry { key, at, value });
            if self.ends(&next, &Token::CloseBrace)? {
                return Ok(entries);
            }
        }
    }

    /// Whether what is after an element closes what it is in; else it must be a comma.
    fn ends(&self, (token, at): &Placed<'a>, close: &Token<'a>) -> Result<bool, Problem> {
        match token {
            token if token == close => Ok(true),
            Token::Comma => Ok(false),
            _ => Err(not_json(at.clone(), "a comma should be before this")),
        }
    }
}

impl Entry {
    /// A whole number.
    pub fn integer(&self, notes: &mut Notes) -> Option<i64> {
        let number = self.number().and_then(|number| number.parse().ok());
        number.or_else(|| self.wrong("a whole number", notes))
    }

    /// A whole number from 0 up.
    pub fn count(&self, notes: &mut Notes) -> Option<u64> {
        let number = self.number().and_then(|number| number.parse().ok());
        number.or_else(|| self.wrong("a whole number from 0 to 2^64 - 1", notes))
    }

    /// A text.
    pub fn text(&self, notes: &mut Notes) -> Option<&str> {
        match &self.value.kind {
            Kind::Text(text) => Some(text),
            _ => self.wrong("a text", notes),
        }
    }

    /// An object.
    pub fn object(&self, notes: &mut Notes) -> Option<&[Entry]> {
        match &self.value.kind {
            Kind::Object(entries) => Some(entries),
            _ => self.wrong("an object", notes),
        }
    }

    /// An array, each element of which `read` takes.
    pub fn list<T>(&self, read: impl Fn(&Kind) -> Option<T>) -> Option<Vec<T>> {
        match &self.value.kind {
            Kind::List(values) => values.iter().map(|value| read(&value.kind)).collect(),
            _ => None,
        }
    }

    /// A number as it is written.
    pub fn number(&self) -> Option<&str> {
        match &self.value.kind {
            Kind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Whether the key stands alone.
    pub fn is_alone(&self) -> bool {
        matches!(self.value.kind, Kind::Missing)
    }

    /// Notes that the value is not what it must be.
    pub fn wrong<T>(&self, wanted: &str, notes: &mut Notes) -> Option<T> {
        let problem = Problem::new(format!("`{}` must be {wanted}", self.key))
            .help(format!("write {wanted}"));
        let words = if self.is_alone() { "has no value" } else { "not this" };
        notes.refuse(problem.at(self.value.at.clone(), words));
        None
    }

    /// Notes that nothing of this name can stand here.
    pub fn unknown<'k>(
        &self,
        place: &str,
        known: impl Iterator<Item = &'k str> + Clone,
        notes: &mut Notes,
    ) {
        let help = suggestion(&self.key, known.clone(), || {
            format!("{place} takes {}", known.collect::<Vec<_>>().join(", "))
        });
        let problem = Problem::new(format!("{place} has no key `{}`", self.key));
        notes.refuse(problem.at(self.at.clone(), "unknown key").help(help));
    }
}
