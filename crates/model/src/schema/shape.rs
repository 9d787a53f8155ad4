// SPDX-License-Identifier: Apache-2.0
//! What a key takes, as plain data: for the reader, for people, and for editors.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use crate::reader::is_name;

/// The keys of a table of TOML.
#[derive(Debug)]
pub struct Table {
    /// Its keys, in the order in which a person writes them.
    pub keys: &'static [Key],
    /// Keys that several tables have, behind its own.
    pub parts: &'static [&'static Table],
}

/// A key of a table.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it means, in one sentence with a space before it.
    pub says: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// Whether it must be there.
    pub needed: bool,
    /// Its value where it is left out: TOML.
    pub default: Option<&'static str>,
    /// The same in words, where it depends on others.
    pub otherwise: Option<&'static str>,
    /// The kernels that know it; `None`: all.
    pub only: Option<Only>,
    /// A value, for documents: TOML.
    pub example: &'static str,
}

/// The kernels that know a key, by their name in documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Others refuse it: see [`App::check_only`](crate::App::check_only).
    Known(&'static str),
    /// Others ignore it, so that one file is for all.
    Heeded(&'static str),
}

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text of one line: what people are told of it, and a pattern of it for editors.
    Text(&'static str, fn(&str) -> bool, &'static str),
    /// A whole number of something, or of nothing in particular.
    Whole(&'static str, i64, u64),
    /// A number: what it counts, the least and the most.
    Number(&'static str, f64, f64),
    /// The same, and the least is just not enough.
    Above(&'static str, f64, f64),
    /// A number that is kept as a whole one, so many times as large.
    Scaled(&'static str, f64, f64, f64),
    /// Bytes.
    Size(u64, u64),
    /// `true` or `false`.
    Truth,
    /// One of some words.
    Words(&'static [&'static str]),
    /// A number, or an expression of parameters.
    Amount(&'static str),
    /// An amount, or one for each kind of core.
    Cycles,
    /// An array: what people are told of it, and how many there are at least.
    List(&'static str, &'static Shape, usize),
    /// One value, or an array of them.
    OneOrMore(&'static str, &'static Shape),
    /// A table: `[name]`.
    Table(&'static str, &'static Table),
    /// Tables: `[[name]]`.
    Tables(&'static str, &'static Table),
    /// The application's own parameters.
    Params,
    /// Tables that are all alike, by names: `[name.send]`.
    Each(&'static str, &'static [&'static str], &'static Table),
    /// Something else: what people are told of it, its type in Python, its JSON Schema.
    Other(&'static str, &'static str, fn() -> Value),
}

/// A name for C and the formats of traces.
pub(crate) const NAME: Shape =
    Shape::Text("1 to 31 letters, digits and _", is_name, "^[A-Za-z0-9_]{1,31}$");
/// Text for people.
pub(crate) const LINE: Shape = Shape::Text("one line of text", |_| true, "");
/// Text that is there.
pub(crate) const FILLED: fn(&str) -> bool = |text| !text.is_empty();

impl Table {
    /// Its own keys, then those of its parts.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> + Clone {
        self.keys.iter().chain(self.parts.iter().flat_map(|part| part.keys))
    }

    /// A JSON Schema of it.
    pub fn json_schema(&self, title: &str) -> Value {
        let mut schema = self.json();
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        schema["title"] = json!(title);
        schema
    }

    pub(crate) fn json(&self) -> Value {
        let properties: Map<_, _> = self.all().map(|key| (key.name.into(), key.json())).collect();
        let required = self.all().filter(|key| key.needed).map(|key| key.name);
        let required: Vec<&str> = required.collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

impl Key {
    /// A sentence with what it takes, its default, and which kernels know it.
    pub fn about(&self) -> String {
        let mut about = self.says.trim().trim_end_matches('.').to_owned();
        let range = self.shape.range();
        if !range.is_empty() {
            let _ = write!(about, "; {range}");
        }
        if let Some(default) = self.default {
            let _ = write!(about, "; default {default}");
        }
        if let Some(default) = self.otherwise {
            let _ = write!(about, "; default: {default}");
        }
        let _ = match self.only {
            Some(Only::Known(kernels)) => write!(about, "; {kernels} only"),
            Some(Only::Heeded(kernels)) => {
                write!(about, "; {kernels} only; other kernels ignore it")
            }
            None => Ok(()),
        };
        about
    }

    fn json(&self) -> Value {
        let mut schema = self.shape.json();
        schema["description"] = json!(self.about());
        // What is true, a number or text is written in TOML as in JSON.
        if let Some(default) = self.default.and_then(|text| serde_json::from_str(text).ok()) {
            schema["default"] = default;
        }
        schema
    }
}

impl Shape {
    /// What a person is told to write.
    pub fn wanted(&self) -> String {
        match self {
            Self::Text(wanted, ..)
            | Self::Amount(wanted)
            | Self::List(wanted, ..)
            | Self::OneOrMore(wanted, _)
            | Self::Table(wanted, _)
            | Self::Tables(wanted, _)
            | Self::Each(wanted, ..)
            | Self::Other(wanted, ..) => (*wanted).into(),
            Self::Whole(what, ..) if what.starts_with("the ") => {
                format!("{what}, from {}", self.range())
            }
            Self::Whole("", ..) => format!("a whole number from {}", self.range()),
            Self::Whole(of, ..) => format!("a whole number of {of}, from {}", self.range()),
            Self::Number(what, ..) | Self::Scaled(what, ..) => {
                format!("{what}, from {}", self.range())
            }
            Self::Above(what, ..) => format!("{what}, {}", self.range()),
            Self::Size(least, most) => {
                let (least, most) = (size(*least, "\""), size(*most, "\""));
                let least =
                    if least == "0" { "at most".into() } else { format!("from {least} to") };
                format!("a size as \"64KiB\" or a number of bytes, {least} {most}")
            }
            Self::Truth => "true or false".into(),
            Self::Words(_) => self.range(),
            Self::Cycles => "a number, an expression, or one of these for each kind of core: \
                             { arm9 = 1000, dsp = \"samples * 2\" }"
                .into(),
            Self::Params => "a table".into(),
        }
    }

    /// What of all that it could be is taken; empty: that goes without saying.
    fn range(&self) -> String {
        match self {
            Self::Whole(_, least, most) => format!("{least} to {}", whole(*most)),
            Self::Number(_, least, most) | Self::Scaled(_, least, most, _) => {
                format!("{} to {}", real(*least), real(*most))
            }
            Self::Above(_, least, most) => {
                format!("more than {}, at most {}", real(*least), real(*most))
            }
            Self::Size(0, most) => format!("at most {}", size(*most, "")),
            Self::Size(least, most) => format!("{} to {}", size(*least, ""), size(*most, "")),
            Self::Words(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                let (last, others) = quoted.split_last().map_or(("", &[][..]), |(l, o)| (l, o));
                if others.is_empty() {
                    last.to_owned()
                } else {
                    format!("{} or {last}", others.join(", "))
                }
            }
            Self::List(_, of, _) | Self::OneOrMore(_, of) => of.range(),
            _ => String::new(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(_, _, "") => json!({ "type": "string" }),
            Self::Text(_, _, pattern) => json!({ "type": "string", "pattern": pattern }),
            Self::Whole(_, least, most) => {
                json!({ "type": "integer", "minimum": least, "maximum": most })
            }
            Self::Number(_, least, most) | Self::Scaled(_, least, most, _) => {
                json!({ "type": "number", "minimum": least, "maximum": most })
            }
            Self::Above(_, least, most) => {
                json!({ "type": "number", "exclusiveMinimum": least, "maximum": most })
            }
            Self::Size(least, most) => json!({ "anyOf": [
                { "type": "integer", "minimum": least, "maximum": most },
                { "type": "string", "pattern": "^[0-9]+ *(B|KiB|MiB|GiB)?$" },
            ] }),
            Self::Truth => json!({ "type": "boolean" }),
            Self::Words(words) => json!({ "enum": words }),
            Self::Amount(_) => json!({ "type": ["number", "string"] }),
            Self::Cycles => json!({
                "type": ["number", "string", "object"],
                "additionalProperties": { "type": ["number", "string"] },
            }),
            Self::List(_, of, least) => {
                json!({ "type": "array", "items": of.json(), "minItems": least })
            }
            Self::OneOrMore(_, of) => {
                json!({ "anyOf": [of.json(), Self::List("", of, 1).json()] })
            }
            Self::Table(_, table) => table.json(),
            Self::Tables(_, table) => json!({ "type": "array", "items": table.json() }),
            Self::Each(_, names, table) => {
                let each: Map<_, _> =
                    names.iter().map(|name| ((*name).into(), table.json())).collect();
                json!({ "type": "object", "properties": each, "additionalProperties": false })
            }
            Self::Other(_, _, json) => json(),
            Self::Params => json!({
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean", "array"] },
            }),
        }
    }
}

fn whole(number: u64) -> String {
    match number {
        u64::MAX => "2^64 - 1".into(),
        _ if number > u64::from(u32::MAX) && number.is_power_of_two() => {
            format!("2^{}", number.trailing_zeros())
        }
        _ => number.to_string(),
    }
}

fn real(number: f64) -> String {
    if number != 0.0 && !(1e-4..1e5).contains(&number.abs()) {
        format!("{number:e}")
    } else {
        number.to_string()
    }
}

fn size(bytes: u64, quote: &str) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| bytes > 0 && bytes % unit == 0) {
        Some((unit, name)) => format!("{quote}{}{name}{quote}", bytes / unit),
        None => bytes.to_string(),
    }
}
