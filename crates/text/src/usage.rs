// SPDX-License-Identifier: Apache-2.0
//! Command lines that make no sense, in the shape of all errors.

use std::error::Error as _;
use std::ffi::OsString;
use std::iter;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use crate::{Failed, nearest};

/// What is wrong with the words of a command line; `None`: it asks for the help or the version.
pub fn wrong(error: &Error, command: &Command, words: &[OsString]) -> Option<Failed> {
    use ErrorKind as Kind;
    if !error.use_stderr() || error.kind() == Kind::DisplayHelpOnMissingArgumentOrSubcommand {
        return None;
    }
    let (verb, command) = verb(command, words);
    let what = named(error, ContextKind::InvalidArg).unwrap_or_default();
    let failed = match error.kind() {
        Kind::InvalidSubcommand => unknown_verb(error, command, &verb),
        Kind::UnknownArgument => unknown_option(command, &verb, &what),
        Kind::InvalidValue => match named(error, ContextKind::InvalidValue).as_deref() {
            None | Some("") => with_values(error, Failed::new(format!("{what} has no value"))),
            Some(text) => with_values(error, Failed::new(invalid(text, &what))),
        },
        Kind::ValueValidation => {
            let text = named(error, ContextKind::InvalidValue).unwrap_or_default();
            let invalid = invalid(&text, &what);
            match error.source() {
                Some(why) if why.is::<ParseIntError>() => {
                    Failed::new(invalid).help("write a whole number")
                }
                why => {
                    Failed::by_reason(&invalid, &why.map(ToString::to_string).unwrap_or_default())
                }
            }
        }
        Kind::MissingRequiredArgument => missing(error, command, &verb, &what),
        Kind::ArgumentConflict => match named(error, ContextKind::PriorArg) {
            Some(other) if other != what => {
                let message = format!("{what} cannot be used with {other}");
                Failed::new(message).help("leave one of them out")
            }
            _ => Failed::new(format!("{what} is given twice")).help("give it once"),
        },
        _ => Failed::new(first_line(error)),
    };
    let help = failed.help.clone().unwrap_or_else(|| format!("see `{verb} --help`"));
    Some(failed.help(help))
}

/// The words of an invalid value, with the option or the argument that it was given to.
pub fn invalid(text: &str, of: &str) -> String {
    format!("invalid value `{text}` for {of}")
}

/// What to write instead of a value that is none of a closed set: the nearest first.
pub fn with_values(error: &Error, failed: Failed) -> Failed {
    let Some(ContextValue::Strings(all)) = error.get(ContextKind::ValidValue) else {
        return failed;
    };
    let text = named(error, ContextKind::InvalidValue).unwrap_or_default();
    let meant = nearest(&text, all.iter().map(String::as_str));
    match (meant, all.join(", ")) {
        (Some(meant), all) => failed.help(format!("write `{meant}`; all values are {all}")),
        (None, all) if all.is_empty() => failed,
        (None, all) => failed.help(format!("write one of {all}")),
    }
}

/// The verb that is asked for, with all words that name it.
fn verb<'a>(command: &'a Command, words: &[OsString]) -> (String, &'a Command) {
    let mut found = (command.get_name().to_owned(), command);
    for word in words.iter().skip(1) {
        let Some(next) = found.1.find_subcommand(word) else { break };
        found = (format!("{} {}", found.0, next.get_name()), next);
    }
    found
}

fn unknown_verb(error: &Error, command: &Command, verb: &str) -> Failed {
    let word = named(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    let failed = Failed::new(format!("`{verb}` has no verb `{word}`"));
    // What is meant may be an old spelling.
    let known = command.get_subcommands();
    let known = known.flat_map(|verb| iter::once(verb.get_name()).chain(verb.get_all_aliases()));
    match nearest(&word, known).and_then(|name| command.find_subcommand(name)) {
        Some(meant) => failed.help(format!("write `{}`", meant.get_name())),
        None => failed,
    }
}

fn unknown_option(command: &Command, verb: &str, word: &str) -> Failed {
    if !word.starts_with('-') {
        return Failed::new(format!("`{verb}` takes no argument `{word}`"))
            .help(format!("omit it, or see `{verb} --help`"));
    }
    let failed = Failed::new(format!("`{verb}` has no option `{word}`"));
    // An old spelling is known, and not to be learnt.
    let mut known = vec![("help", "help")];
    known.extend(command.get_version().map(|_| ("version", "version")));
    for arg in command.get_arguments() {
        let Some(long) = arg.get_long() else { continue };
        known.push((long, long));
        known.extend(arg.get_all_aliases().unwrap_or_default().into_iter().map(|old| (old, long)));
    }
    let meant = nearest(word.trim_start_matches('-'), known.iter().map(|(name, _)| *name));
    match known.iter().find(|(name, _)| Some(*name) == meant) {
        Some((_, long)) => failed.help(format!("write `--{long}`")),
        None => failed,
    }
}

fn missing(error: &Error, command: &Command, verb: &str, what: &str) -> Failed {
    let failed = Failed::new(format!("`{verb}` needs {what}"));
    let mut all = command.get_positionals();
    let values = all.find(|arg| arg.to_string() == what).map(clap::Arg::get_possible_values);
    if let Some(values) = values.filter(|values| !values.is_empty()) {
        let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        return failed.help(format!("write one of {}", names.join(", ")));
    }
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    match usage.trim_start_matches("Usage: ") {
        usage if usage.is_empty() || usage.contains('\n') => failed,
        usage => failed.help(format!("write {usage}")),
    }
}

/// A part of an error, of options without the names of their values.
fn named(error: &Error, kind: ContextKind) -> Option<String> {
    let name = |text: &str| match text.split_once([' ', '[']) {
        Some((option, _)) if option.starts_with('-') => option.to_owned(),
        _ => text.to_owned(),
    };
    match error.get(kind)? {
        ContextValue::String(text) if kind == ContextKind::InvalidValue => Some(text.clone()),
        ContextValue::String(text) => Some(name(text)),
        ContextValue::Strings(all) => {
            Some(all.iter().map(|text| name(text)).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}

/// What clap says of a kind that needs no other words.
fn first_line(error: &Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction, value_parser};

    use super::*;

    fn command() -> Command {
        let mode = Arg::new("mode").long("mode").value_parser(["handoff", "replicate"]);
        let count = Arg::new("count").long("count").alias("limit").value_parser(value_parser!(u8));
        let fast = Arg::new("fast").long("fast").action(ArgAction::SetTrue).conflicts_with("count");
        let file = Arg::new("FILE").required(true);
        let sim = Command::new("sim").alias("simulate").args([mode, count, fast, file]);
        Command::new("tool").subcommand_required(true).subcommand(sim)
    }

    fn told(line: &str) -> (String, String) {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut command = command();
        let error = command.try_get_matches_from_mut(&words).unwrap_err();
        let failed = wrong(&error, &command, &words).unwrap();
        (failed.message, failed.help.unwrap())
    }

    #[test]
    fn each_kind_of_a_wrong_command_line_says_what_failed_and_what_to_write() {
        for (line, message, help) in [
            ("tool simm", "`tool` has no verb `simm`", "write `sim`"),
            ("tool simulat", "`tool` has no verb `simulat`", "write `sim`"),
            ("tool fly", "`tool` has no verb `fly`", "see `tool --help`"),
            ("tool sim f --mod handoff", "`tool sim` has no option `--mod`", "write `--mode`"),
            ("tool sim f --limt 1", "`tool sim` has no option `--limt`", "write `--count`"),
            ("tool sim f --zzz", "`tool sim` has no option `--zzz`", "see `tool sim --help`"),
            (
                "tool sim f g",
                "`tool sim` takes no argument `g`",
                "omit it, or see `tool sim --help`",
            ),
            (
                "tool sim f --mode handof",
                "invalid value `handof` for --mode",
                "write `handoff`; all values are handoff, replicate",
            ),
            (
                "tool sim f --mode jump",
                "invalid value `jump` for --mode",
                "write one of handoff, replicate",
            ),
            ("tool simulate f --count x", "invalid value `x` for --count", "write a whole number"),
            ("tool sim f --count", "--count has no value", "see `tool sim --help`"),
            ("tool sim", "`tool sim` needs <FILE>", "write tool sim <FILE>"),
            (
                "tool sim f --fast --count 1",
                "--fast cannot be used with --count",
                "leave one of them out",
            ),
            ("tool sim f --count 1 --count 2", "--count is given twice", "give it once"),
        ] {
            assert_eq!(told(line), (message.to_owned(), help.to_owned()), "{line}");
        }
    }

    #[test]
    fn the_help_is_no_error() {
        let words = ["tool", "sim", "--help"].map(OsString::from);
        let error = command().try_get_matches_from(&words).unwrap_err();
        assert_eq!(wrong(&error, &command(), &words), None);
    }
}
