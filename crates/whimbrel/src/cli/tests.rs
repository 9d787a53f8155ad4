// SPDX-License-Identifier: Apache-2.0
//! One meaning for each word, and a help that fits a screen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory, Parser};

use super::Cli;

/// Lines of a screen, and its columns: the widest that the help uses.
const SCREEN: (usize, usize) = (40, 100);
/// Columns of a narrow one.
const NARROW: usize = 80;

/// Options that take values of several kinds, and why.
const OF_SEVERAL_KINDS: [(&str, &str); 7] = [
    ("channels", "an exploration tries several, a simulation has one of each channel"),
    ("cores", "a run also has cores of boards, a calibration has none"),
    ("cpu", "a measurement of noise is of one processor, an occupation of several"),
    ("output", "an exploration writes several files, into a folder"),
    ("points", "an exploration tries several, a simulation has one of each core"),
    ("resume", "an exploration is a folder, or one file of it"),
    ("slots", "an exploration tries several, a simulation has one number of each channel"),
];

/// What a verb and its options were called before, with a value.
const RENAMED: [(&str, &str, &str, &str); 13] = [
    ("run", "move-at", "migration-points", "waits"),
    ("run", "agents", "agent-period", "20ms"),
    ("sim", "move-at", "migration-points", "waits"),
    ("sim", "agents", "agent-period", "20ms"),
    ("sim", "cores", "core-count", "2"),
    ("sim", "limit", "max-time", "2s"),
    ("sim", "rate", "frame-rate-change", "900@2s"),
    ("explore", "cores", "core-counts", "1-2"),
    ("explore", "rates", "frame-rates", "300,600"),
    ("explore", "limit", "exhaustive", "100"),
    ("explore", "table", "write-table", "table.toml"),
    ("plan", "move-at", "migration-points", "waits"),
    ("plan", "agents", "agent-period", "20ms"),
];

/// What they begin with that are the project's own.
const PREFIX: &str = "WHIMBREL_";

/// Variables of the environment that no user sets: `occupy` does so for its program, tests do.
const OF_NO_USER: [&str; 5] = [
    "WHIMBREL_OCCUPY",
    "WHIMBREL_OCCUPY_STORIES",
    "WHIMBREL_SIM_PATIENCE_MS",
    "WHIMBREL_SIM_PREEMPTS",
    "WHIMBREL_SYSFS",
];

fn built(columns: usize) -> Command {
    let mut command = Cli::command().term_width(columns);
    command.build();
    command
}

/// Every verb but `help`, with the words that name it.
fn verbs(command: &Command, before: &str) -> Vec<(String, Command)> {
    let own = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    own.flat_map(|verb| {
        let name = format!("{before} {}", verb.get_name()).trim().to_owned();
        let below = verbs(verb, &name);
        [(name, verb.clone())].into_iter().chain(below).collect::<Vec<_>>()
    })
    .collect()
}

/// What an option takes: the names of its values in the help, and their type.
fn taken(option: &Arg) -> String {
    let names: Vec<&str> =
        option.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let values = if option.get_action().takes_values() { names.join(" ") } else { String::new() };
    format!("{values}: {:?}", option.get_value_parser().type_id())
}

#[test]
fn an_option_takes_the_same_values_in_every_verb() {
    let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, verb) in verbs(&built(SCREEN.1), "") {
        for option in verb.get_arguments() {
            let Some(name) = option.get_long() else { continue };
            kinds.entry(name.to_owned()).or_default().insert(taken(option));
        }
    }
    let several = kinds.iter().filter(|(_, kinds)| kinds.len() > 1);
    let several: Vec<&str> = several.map(|(name, _)| name.as_str()).collect();
    assert_eq!(several, OF_SEVERAL_KINDS.map(|(name, _)| name), "{kinds:#?}");
}

#[test]
fn a_former_spelling_is_taken_and_not_shown() {
    for (verb, former, now, value) in RENAMED {
        let app = if verb == "plan" { &["a.toml", "--board=desk"][..] } else { &["a.toml"] };
        let parsed = |option: &str| {
            let words = ["whimbrel", verb, &format!("--{option}={value}")].map(str::to_owned);
            let words = words.into_iter().chain(app.iter().map(|&word| word.to_owned()));
            format!("{:?}", Cli::try_parse_from(words).unwrap().command)
        };
        assert_eq!(parsed(former), parsed(now), "{verb} --{former}");
        let mut command = built(SCREEN.1);
        let verb = command.find_subcommand_mut(verb).unwrap();
        let help = verb.render_long_help().to_string();
        assert!(help.contains(&format!("--{now}")), "{help}");
        assert!(!help.contains(&format!("--{former} ")), "{help}");
    }
    for (former, now, words) in [
        ("rate", "frame-rate", &["radio-1", "40"][..]),
        ("export", "plan", &["a.toml", "--board=desk"]),
    ] {
        let parsed = |verb| {
            let words = ["whimbrel", verb].into_iter().chain(words.iter().copied());
            format!("{:?}", Cli::try_parse_from(words).unwrap().command)
        };
        assert_eq!(parsed(former), parsed(now));
        let help = built(SCREEN.1).render_help().to_string();
        assert!(!help.contains(&format!("\n  {former} ")), "{help}");
    }
}

#[test]
fn the_short_help_fits_a_screen() {
    for columns in [SCREEN.1, NARROW] {
        for (name, mut verb) in verbs(&built(columns), "") {
            if columns == NARROW && !["run", "sim"].contains(&name.as_str()) {
                continue;
            }
            let help = verb.render_help().to_string();
            assert!(help.lines().count() <= SCREEN.0, "{name}, {columns} columns:\n{help}");
        }
    }
    let lines = built(SCREEN.1).render_help().to_string().lines().count();
    assert!(lines <= SCREEN.0, "{lines}");
}

#[test]
fn every_verb_has_examples_which_are_command_lines() {
    let command = built(SCREEN.1);
    for (name, verb) in verbs(&command, "").into_iter().chain([("whimbrel".to_owned(), command)]) {
        let after = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> =
            after.lines().filter(|line| line.starts_with("  whimbrel ")).collect();
        assert!(!examples.is_empty(), "{name}");
        for example in examples {
            let words = example.split('|').next().unwrap().split_whitespace();
            let parsed = Cli::try_parse_from(words).map(drop);
            assert!(parsed.is_ok() && example.len() <= SCREEN.1, "{example}: {parsed:?}");
            assert!(name == "whimbrel" || example.contains(&name), "{name}: {example}");
        }
    }
}

/// All sources of programs that a user starts.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "c") {
            found.push(path);
        }
    }
}

#[test]
fn the_help_lists_every_variable_of_the_environment() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates/occupy/src", "crates/run/src", "crates/whimbrel/src", "kernels"] {
        sources(&root.join(folder), &mut files);
    }
    let help = built(SCREEN.1).render_long_help().to_string();
    let mut read = BTreeSet::new();
    for text in files.iter().map(|file| fs::read_to_string(file).unwrap()) {
        let quoted = text.split('"').filter(|word| word.starts_with(PREFIX));
        let name = |word: &&str| {
            word.len() > PREFIX.len()
                && word.bytes().all(|sign| sign == b'_' || sign.is_ascii_uppercase())
        };
        read.extend(quoted.filter(name).map(str::to_owned));
    }
    assert!(read.len() > OF_NO_USER.len());
    for name in read.iter().filter(|name| !OF_NO_USER.contains(&name.as_str())) {
        assert!(help.contains(&format!("\n  {name} ")), "{name}\n{help}");
    }
    assert!(help.contains("\n  NO_COLOR ") && help.contains("\n  XDG_RUNTIME_DIR "), "{help}");
}
