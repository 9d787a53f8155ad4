// SPDX-License-Identifier: Apache-2.0
//! The verbs that make one file of another.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use whimbrel_model::Setting;
use whimbrel_run::args::values::{hertz, setting, window};

const IMPORT_EXAMPLES: &str = "\
Examples:
  whimbrel import player.json -o player.toml
  whimbrel import recorded.pftrace --threads player,mixer --window 1s..3s -o player.toml";
const GRAPH_EXAMPLES: &str = "\
Examples:
  whimbrel graph apps/fm_radio/app.toml -o radio.dot
  whimbrel graph apps/fm_radio/app.toml | dot -Tsvg -o radio.svg";
const SCHEMA_EXAMPLES: &str = "\
Examples:
  whimbrel schema app -o app.schema.json";

/// Makes an app.toml of files of other tools.
///
/// It reads rt-app's JSON, graphs of SDF3, GraphML, DOT and TGFF, models of APP4MC, and traces of
/// Linux that Perfetto recorded, told apart by the end of the name.
/// Tasks have no code: they compute for a number of cycles, or do the events of a script. Several
/// files are one application. Parts without a meaning here are warnings; a part that cannot be
/// expressed is an error, and then nothing is written. See docs/imports.md.
#[derive(Debug, Args)]
#[command(after_long_help = IMPORT_EXAMPLES)]
pub struct ImportArgs {
    /// The files: .json of rt-app, .xml of SDF3, .graphml, .dot, .gv, .tgff, .amxmi, .pftrace
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// The file to write, or - for standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// The megahertz at which durations become cycles
    ///
    /// It is the frequency of the processor on which rt-app was calibrated, the trace recorded, or
    /// the times of TGFF measured
    #[arg(long = "mhz", value_name = "MHZ", value_parser = hertz, default_value = "1000")]
    pub hz: u64,

    /// The threads of a trace, by name or number [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub threads: Vec<String>,

    /// The part of a trace between two times, for example 1s..3s
    ///
    /// Times count from its first event
    #[arg(long = "window", value_name = "FROM..TO", value_parser = window, default_value = "..")]
    pub window_ns: (u64, u64),
}

/// Draws an application as a graph, in Graphviz' language DOT.
///
/// A task has the colour of the core it starts on, a pinned one a thick line, a mailbox a
/// separate node.
#[derive(Debug, Args)]
#[command(after_long_help = GRAPH_EXAMPLES)]
pub struct GraphArgs {
    /// The application's app.toml or its folder, or files that `import` takes
    ///
    /// Several files together are one application.
    #[arg(value_name = "APP.toml", required = true)]
    pub app: Vec<PathBuf>,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Replace a parameter of the application; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    pub set: Vec<Setting>,
}

/// Prints the keys of a file of TOML as a JSON Schema, by which editors complete and check it.
///
/// With taplo, as Even Better TOML of VS Code: whimbrel schema app -o app.schema.json, and as the
/// first line of app.toml: #:schema ./app.schema.json
#[derive(Debug, Args)]
#[command(after_long_help = SCHEMA_EXAMPLES)]
pub struct SchemaArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub of: SchemaOf,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A kind of file.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaOf {
    /// An application: app.toml
    App,
    /// A board: board.toml
    Board,
    /// Hardware: platform.toml
    Platform,
    /// The rows of the table policy: table.toml
    Table,
}
