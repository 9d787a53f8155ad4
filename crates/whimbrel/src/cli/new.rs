// SPDX-License-Identifier: Apache-2.0
//! The options of `new`.

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

const USAGE: &str = "\
whimbrel new [OPTIONS] <NAME>
       whimbrel new --module-mk";
const EXAMPLES: &str = "\
Examples:
  whimbrel new radio
  whimbrel new ~/work/radio --lang c++
  whimbrel new radio --board virt_a64";

/// Makes a small application in a new folder, to build, run, simulate and change.
///
/// Three tasks in a stream, with app.toml, a Makefile, a test that moves one of them (`make test`),
/// a README and settings of clangd. Its files are yours, without conditions. If the compiler or
/// make is missing, the files are made all the same, and a warning says what to install.
#[derive(Debug, Args)]
#[command(override_usage = USAGE, after_long_help = EXAMPLES)]
pub struct NewArgs {
    /// The folder to make; its last part is the application's name
    ///
    /// The name is a letter, then letters, digits and _, at most 31 characters. A folder that
    /// exists already is an error.
    #[arg(
        value_name = "NAME",
        required_unless_present = "module_mk",
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub folder: Option<PathBuf>,

    /// The language of its tasks
    #[arg(long = "lang", value_name = "LANGUAGE", default_value = "c")]
    pub language: Language,

    /// The board in the commands of its README [default: vexpress_a9]
    ///
    /// A folder in `boards`, or the path of a board.toml. Boards run tasks in C
    #[arg(long, value_name = "BOARD")]
    pub board: Option<String>,

    /// Print where module.mk is, which Makefiles of applications include
    #[arg(long, conflicts_with_all = ["folder", "language", "board"])]
    pub module_mk: bool,
}

/// A language that tasks are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// C11
    C,
    /// C++20
    #[value(name = "c++")]
    Cpp,
    /// Rust, without std
    Rust,
}
