// SPDX-License-Identifier: Apache-2.0
//! Reads a table of TOML by its declaration, and notes what is wrong, with its place, instead of
//! stopping.

use std::collections::BTreeMap;
use std::slice;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Key, Only, Shape, Table};
use crate::problem::{Problem, Problems, Span, nearest, suggestion};
use crate::reader::{Node, bytes, describe, document, number, text};

/// A key of a file that only some kernels know, with another value than it has by default.
#[derive(Debug, Clone)]
pub struct Limited {
    /// Its name.
    pub key: &'static str,
    /// Its table, as `[[task]]`.
    pub of: String,
    /// The kernels that know it.
    pub kernels: &'static str,
    /// Where its value stands.
    pub at: Span,
}

/// What other tools call a key, with its name here.
const ALIASES: [(&str, &str); 28] = [
    ("affinity", "core"),
    ("cpu", "core"),
    ("cpus", "cores"),
    ("prio", "priority"),
    ("period", "period_us"),
    ("period_ms", "period_us"),
    ("period_ns", "period_us"),
    ("jitter_ms", "jitter_us"),
    ("deadline", "deadline_frames"),
    ("offset", "offset_frames"),
    ("phase", "offset_frames"),
    ("wcet", "cycles"),
    ("wcet_us", "cycles"),
    ("runtime", "cycles"),
    ("fps", "frame_rate"),
    ("rate", "frame_rate"),
    ("function", "entry"),
    ("stack_size", "stack"),
    ("instances", "count"),
    ("library", "module"),
    ("source", "from"),
    ("src", "from"),
    ("dst", "to"),
    ("target", "to"),
    ("capacity", "slots"),
    ("depth", "slots"),
    ("message_bytes", "slot_bytes"),
    ("frequency", "mhz"),
];

/// What was noted of a file.
pub(crate) struct Noted<'s> {
    /// The file's text.
    pub source: &'s str,
    /// What is wrong with it.
    pub problems: Problems,
    /// How many of the first of them are keys that do not exist.
    unknown: usize,
    /// The keys that some kernels refuse.
    limited: Vec<Limited>,
    /// The tables around the one that is read.
    path: Vec<&'static str>,
    /// Whether the last of them is one of several.
    listed: bool,
    /// The event of a script that is read.
    event: Option<&'static str>,
}

impl<'s> Noted<'s> {
    /// Nothing yet.
    pub fn of(source: &'s str) -> Self {
        let (problems, limited, path) = (Vec::new(), Vec::new(), Vec::new());
        Self { source, problems, unknown: 0, limited, path, listed: false, event: None }
    }

    /// What messages call the table that is read, as `[[task]]`.
    pub fn title(&self) -> String {
        let path = self.path.join(".");
        match (self.event, path.as_str()) {
            (Some("loop"), _) => "a loop".into(),
            (Some(event), _) => format!("the event `{event}`"),
            (None, "") => "the file".into(),
            _ if self.listed => format!("[[{path}]]"),
            _ => format!("[{path}]"),
        }
    }

    /// Reads an event of a script.
    pub fn in_event<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.event.replace(name);
        let read = read(self);
        self.event = outer;
        read
    }

    /// Reads what is below the table.
    fn below<T>(
        &mut self,
        name: &'static str,
        listed: bool,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.path.push(name);
        let was_listed = std::mem::replace(&mut self.listed, listed);
        let read = read(self);
        self.listed = was_listed;
        self.path.pop();
        read
    }

    /// Notes a key that some kernels refuse.
    fn limit(&mut self, key: &'static Key, at: Span) {
        let Some(Only::Known(kernels)) = key.only else { return };
        if self.source.get(at.clone()) != key.default {
            self.limited.push(Limited { key: key.name, of: self.title(), kernels, at });
        }
    }

    /// Notes a value that is of another shape than its key's, unless its inside was noted.
    fn refuse(&mut self, name: &str, shape: &Shape, node: &Node<'_>, before: usize) {
        if self.problems.len() == before {
            let wanted = shape.wanted();
            let message = format!("`{name}` of {} must be {wanted}", self.title());
            let words = if let Shape::Words(words) = shape { *words } else { &[] };
            let text = node.get_ref().as_str().unwrap_or_default();
            let help = match nearest(text, words.iter().copied()) {
                Some(meant) => format!("write \"{meant}\""),
                None => format!("write {wanted}"),
            };
            let problem = Problem::new(message).at(node.span(), describe(node));
            self.problems.push(problem.help(help));
        }
    }

    /// Notes a key that the table does not take.
    fn unknown(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        known: impl Iterator<Item = &'static str> + Clone,
    ) {
        let (name, title) = (key.get_ref().as_ref(), self.title());
        let alias = ALIASES.iter().find(|(alias, meant)| {
            alias.eq_ignore_ascii_case(name) && known.clone().any(|key| key == *meant)
        });
        let help = match alias {
            Some((_, meant)) => format!("write `{meant}`"),
            None => suggestion(name, known.clone(), || {
                format!("{title} takes {}", known.collect::<Vec<_>>().join(", "))
            }),
        };
        let problem = Problem::new(format!("{title} has no key `{name}`"));
        // Before what follows from it, as that another key is missing.
        self.problems.insert(self.unknown, problem.at(key.span(), "unknown key").help(help));
        self.unknown += 1;
    }
}

/// A value that a key of some shape takes.
pub(crate) trait Read: Sized {
    /// `None`: it is of another shape, or out of range; or what is wrong inside was noted.
    fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self>;
}

/// A table as far as it could be read: without a value that is wrong and not needed.
#[derive(Debug, Clone)]
pub(crate) struct Tried<T> {
    pub read: Option<T>,
    pub is_right: bool,
}

/// What [`table!`](super::table) declares.
pub(crate) trait Tabular: Sized {
    /// `None`: it is no table.
    fn tried(node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Tried<Self>>;
}

impl<T: Tabular> Read for Tried<T> {
    fn read(_: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        T::tried(node, noted)
    }
}

/// Reads a whole file.
///
/// # Errors
/// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong type or
/// out of range: all of them at once.
pub(crate) fn parse<T: Read>(source: &str) -> Result<T, Problems> {
    parse_limited(source).map(|(read, _)| read)
}

/// The same, with the keys that some kernels refuse.
///
/// # Errors
/// As above.
pub(crate) fn parse_limited<T: Read>(source: &str) -> Result<(T, Vec<Limited>), Problems> {
    let document = document(source)?;
    let node = Spanned::new(0..0, DeValue::Table(document));
    let mut noted = Noted::of(source);
    match T::read(&Shape::Params, &node, &mut noted) {
        Some(read) if noted.problems.is_empty() => Ok((read, noted.limited)),
        _ => Err(noted.problems),
    }
}

/// One table of the file, as far as it has been read: key by key as they are declared.
pub(crate) struct TableReader<'t, 'p, 's> {
    table: &'t DeTable<'t>,
    pub place: Span,
    declared: &'static Table,
    next: slice::Iter<'static, Key>,
    noted: &'p mut Noted<'s>,
    /// How many problems there were before.
    before: usize,
    /// Where its name stands.
    named: Option<Span>,
}

impl<'t, 'p, 's> TableReader<'t, 'p, 's> {
    pub fn new(
        declared: &'static Table,
        table: &'t DeTable<'t>,
        place: Span,
        noted: &'p mut Noted<'s>,
    ) -> Self {
        let (next, before) = (declared.keys.iter(), noted.problems.len());
        Self { table, place, declared, next, noted, before, named: None }
    }

    fn take<T: Read>(&mut self, key: &'static Key) -> Option<Spanned<T>> {
        let node = self.table.get(key.name)?;
        self.noted.limit(key, node.span());
        let before = self.noted.problems.len();
        let value = match key.shape {
            Shape::Table(..) | Shape::Tables(..) | Shape::Each(..) => {
                let listed = matches!(key.shape, Shape::Tables(..));
                self.noted.below(key.name, listed, |noted| T::read(&key.shape, node, noted))
            }
            _ => T::read(&key.shape, node, self.noted),
        };
        if value.is_none() {
            self.noted.refuse(key.name, &key.shape, node, before);
        }
        if key.name == "name" {
            self.named = Some(node.span());
        }
        value.map(|value| Spanned::new(node.span(), value))
    }

    /// The value of the next key, unless it is missing, or wrong, which is then a problem.
    pub fn optional<T: Read>(&mut self) -> Option<Spanned<T>> {
        let key = self.next.next()?;
        self.take(key)
    }

    /// The same of a key that must be there. Where it is not, that is a problem, and the table is
    /// left out.
    pub fn must<T: Read>(&mut self) -> Option<Spanned<T>> {
        let key = self.next.next()?;
        if !self.table.contains_key(key.name) {
            let problem = Problem::new(format!("{} has no `{}`", self.noted.title(), key.name));
            let problem = problem.at(self.place.clone(), "this one");
            let help = format!("add `{}`: {}", key.name, key.shape.wanted());
            self.noted.problems.push(problem.help(help));
        }
        self.take(key)
    }

    /// The value of the next key or its default, at the place of the table's name.
    pub fn placed<T: Read>(&mut self, default: T) -> Spanned<T> {
        let value = self.optional();
        let here = || self.named.clone().unwrap_or_else(|| self.place.clone());
        value.unwrap_or_else(|| Spanned::new(here(), default))
    }

    /// All that it says, with the places of the values.
    pub fn places(&self) -> BTreeMap<String, Span> {
        let entries = self.table.iter();
        entries.map(|(key, node)| (key.get_ref().to_string(), node.span())).collect()
    }

    /// Reads the keys that it has in common with other tables.
    pub fn part<T>(&mut self, of: &'static Table, read: impl FnOnce(&mut Self) -> T) -> T {
        let own = std::mem::replace(&mut self.next, of.keys.iter());
        let read = read(self);
        self.next = own;
        read
    }

    /// Notes every key that is not declared. Returns whether nothing is wrong with the table.
    pub fn finish(self) -> bool {
        for key in self.table.keys() {
            let known = self.declared.all().map(|key| key.name);
            if !known.clone().any(|known| known == key.get_ref().as_ref()) {
                self.noted.unknown(key, known);
            }
        }
        self.noted.problems.len() == self.before
    }
}

/// A default, as it is written in a declaration.
pub(crate) enum Literal {
    Whole(i32),
    Real(f64),
    Truth(bool),
    Text(&'static str),
}

impl From<i32> for Literal {
    fn from(value: i32) -> Self {
        Self::Whole(value)
    }
}

impl From<f64> for Literal {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl From<bool> for Literal {
    fn from(value: bool) -> Self {
        Self::Truth(value)
    }
}

impl From<&'static str> for Literal {
    fn from(value: &'static str) -> Self {
        Self::Text(value)
    }
}

/// A value that may stand in a declaration as a default.
pub(crate) trait Standing: Default {
    fn standing(literal: Literal) -> Self;
}

macro_rules! standing {
    ($($type:ty: $($pattern:pat => $value:expr),+;)*) => { $(
        impl Standing for $type {
            fn standing(literal: Literal) -> Self {
                match literal {
                    $($pattern => $value,)+
                    _ => Self::default(),
                }
            }
        }
    )* };
}

standing! {
    u32: Literal::Whole(value) => value.unsigned_abs();
    i32: Literal::Whole(value) => value;
    u64: Literal::Whole(value) => value.unsigned_abs().into(),
         Literal::Text(text) => crate::reader::size_of(text).unwrap_or_default();
    f64: Literal::Real(value) => value, Literal::Whole(value) => value.into();
    bool: Literal::Truth(value) => value;
    String: Literal::Text(text) => text.into();
}

fn integer(node: &Node<'_>) -> Option<i128> {
    let integer = node.get_ref().as_integer()?;
    i128::from_str_radix(integer.as_str(), integer.radix()).ok()
}

impl Read for i128 {
    fn read(shape: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        match shape {
            Shape::Whole(_, least, most) => {
                let range = i128::from(*least)..=i128::from(*most);
                integer(node).filter(|value| range.contains(value))
            }
            Shape::Size(least, most) => {
                bytes(node).filter(|size| (*least..=*most).contains(size)).map(i128::from)
            }
            Shape::Scaled(_, least, most, scale) => {
                let value = (number(node)? * scale).round();
                let range = (least * scale).round()..=(most * scale).round();
                #[expect(clippy::cast_possible_truncation, reason = "it lies between two that fit")]
                range.contains(&value).then_some(value as i128)
            }
            _ => None,
        }
    }
}

macro_rules! read_whole {
    ($($type:ty)*) => { $(
        impl Read for $type {
            fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
                i128::read(shape, node, noted)?.try_into().ok()
            }
        }
    )* };
}

read_whole! { u32 u64 i32 }

impl Read for f64 {
    fn read(shape: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        match shape {
            Shape::Number(_, least, most) => number(node).filter(|n| (*least..=*most).contains(n)),
            Shape::Above(_, least, most) => number(node).filter(|n| *n > *least && *n <= *most),
            _ => None,
        }
    }
}

impl Read for bool {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        node.get_ref().as_bool()
    }
}

impl Read for String {
    fn read(shape: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        let Shape::Text(_, is_valid, _) = shape else { return None };
        text(node).filter(|text| is_valid(text))
    }
}

impl<T: Read> Read for Spanned<T> {
    fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        Some(Spanned::new(node.span(), T::read(shape, node, noted)?))
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        let all = node.get_ref().as_array();
        match shape {
            Shape::List(_, of, least) => {
                let all: Vec<_> = all?.iter().map(|node| T::read(of, node, noted)).collect();
                all.into_iter().collect::<Option<Self>>().filter(|all| all.len() >= *least)
            }
            Shape::OneOrMore(_, of) => match all {
                Some(all) => {
                    let all = all.iter().map(|node| T::read(of, node, noted));
                    all.collect::<Option<Self>>().filter(|all| !all.is_empty())
                }
                None => Some(vec![T::read(of, node, noted)?]),
            },
            Shape::Tables(..) if !all?.iter().all(|node| node.get_ref().is_table()) => None,
            // What is wrong with one hides nothing of the others.
            _ => {
                let all: Vec<_> = all?.iter().map(|node| T::read(shape, node, noted)).collect();
                all.into_iter().collect()
            }
        }
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        let Shape::Each(_, names, _) = shape else { return None };
        let (mut all, mut is_right) = (Self::new(), true);
        for (key, node) in node.get_ref().as_table()? {
            let Some(name) = names.iter().find(|name| **name == key.get_ref().as_ref()) else {
                noted.unknown(key, names.iter().copied());
                continue;
            };
            let before = noted.problems.len();
            let value = noted.below(name, false, |noted| T::read(shape, node, noted));
            match value {
                Some(value) => {
                    all.insert((*name).to_owned(), value);
                }
                None => {
                    noted.refuse(name, &Shape::Params, node, before);
                    is_right = false;
                }
            }
        }
        is_right.then_some(all)
    }
}

impl Read for (u32, u32) {
    fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        let [one, two] = Vec::<u32>::read(shape, node, noted)?.try_into().ok()?;
        Some((one, two))
    }
}
