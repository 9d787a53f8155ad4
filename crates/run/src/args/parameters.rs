// SPDX-License-Identifier: Apache-2.0
//! Parameters of the Python package's functions, which become the same options as the words of the
//! command, by the same parsers of values.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

use clap::Command;
use clap::builder::{PathBufValueParser, TypedValueParser};
use whimbrel_model::Problem;
use whimbrel_text::option::Opt;
use whimbrel_text::{Failed, usage};

/// Those that were given and are not taken yet, each as texts that its option takes.
#[derive(Debug, Default)]
pub struct Parameters(pub BTreeMap<String, Vec<String>>);

type Read<T> = Result<T, Problem>;

impl Parameters {
    /// The values of one that may be repeated.
    pub fn each<P: TypedValueParser>(&mut self, option: Opt, parser: P) -> Read<Vec<P::Value>> {
        let texts = self.0.remove(&option.parameter()).unwrap_or_default();
        texts.iter().map(|text| value(option, text, &parser)).collect()
    }

    /// The values of one that takes them with commas between.
    pub fn list<P: TypedValueParser>(&mut self, option: Opt, parser: P) -> Read<Vec<P::Value>> {
        if let Some(texts) = self.0.get_mut(&option.parameter()) {
            *texts = texts.iter().flat_map(|text| text.split(',')).map(str::to_owned).collect();
        }
        self.each(option, parser)
    }

    /// The value of one, if it is given.
    pub fn one<P: TypedValueParser>(&mut self, option: Opt, parser: P) -> Read<Option<P::Value>> {
        Ok(self.each(option, parser)?.pop())
    }

    /// The value of one that is always given.
    pub fn needed<P: TypedValueParser>(&mut self, option: Opt, parser: P) -> Read<P::Value> {
        let value = self.one(option, parser)?;
        value.ok_or_else(|| {
            Problem::new(format!("{option} is missing")).help(format!("give {option} a value"))
        })
    }

    /// The value of one, or that of a text.
    pub fn or<P: TypedValueParser>(
        &mut self,
        option: Opt,
        parser: P,
        text: &str,
    ) -> Read<P::Value> {
        self.0.entry(option.parameter()).or_insert_with(|| vec![text.into()]);
        self.needed(option, parser)
    }

    /// A path, if it is given.
    pub fn path(&mut self, option: Opt) -> Read<Option<PathBuf>> {
        self.one(option, PathBufValueParser::new())
    }

    /// Whether it is given.
    pub fn flag(&mut self, option: Opt) -> bool {
        self.0.remove(&option.parameter()).is_some_and(|texts| !texts.is_empty())
    }

    /// The files of the application.
    pub fn app(&mut self) -> Vec<PathBuf> {
        self.0.remove("app").unwrap_or_default().into_iter().map(PathBuf::from).collect()
    }

    /// The options, if every parameter was taken.
    pub fn end<T>(self, options: T) -> Read<T> {
        match self.0.keys().next() {
            Some(name) => Err(Problem::new(format!("there is no parameter {name}="))
                .help("omit it, or correct its name")),
            None => Ok(options),
        }
    }
}

fn value<P: TypedValueParser>(option: Opt, text: &str, parser: &P) -> Read<P::Value> {
    parser.parse_ref(&Command::default(), None, text.as_ref()).map_err(|error| {
        let what = usage::invalid(text, &option.to_string());
        match error.source() {
            Some(why) => Failed::by_reason(&what, &why.to_string()).into(),
            None if text.is_empty() => {
                Problem::new(format!("{option} has no value")).help("write one, or omit it")
            }
            None => usage::with_values(&error, Failed::new(what)).into(),
        }
    })
}
