// SPDX-License-Identifier: Apache-2.0
//! The verbs that make one file of another.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use whimbrel_model::Setting;
use whimbrel_run::args::values::{hertz, setting, window};

/// Makes an app.toml of files of other tools.
///
/// It reads rt-app's JSON, graphs of SDF3, GraphML and DOT, and traces of Linux that Perfetto
/// recorded, told apart by the end of the name.
/// Tasks have no code: they compute for so many cycles, or do the events of a script. Several files
/// are one application. What has no meaning here is told as a warning; what cannot be expressed is
/// an error, and then nothing is written. See docs/imports.md.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The files: .json of rt-app, .xml of SDF3, .graphml, .dot or .gv, .pftrace of Perfetto
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "APP.toml")]
    pub output: Option<PathBuf>,

    /// The frequency in megahertz at which durations of rt-app and of traces become cycles: that of
    /// the processor that it was calibrated on, or recorded
    #[arg(long = "mhz", value_name = "N", value_parser = hertz, default_value = "1000")]
    pub hz: u64,

    /// Of a trace, these of its threads, by name or number
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub threads: Vec<String>,

    /// Of a trace, what lies between these times after its first event, as 1s..3s
    #[arg(long = "window", value_name = "FROM..TO", value_parser = window, default_value = "..")]
    pub window_ns: (u64, u64),
}

/// Draws an application as a graph, in Graphviz' language DOT.
///
/// A task has the colour of the core it starts on, a pinned one a thick line, a mailbox a node of
/// its own. To look at it: whimbrel graph APP.toml | dot -Tsvg -o app.svg
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The application's app.toml, or files that `import` takes, which together are one
    #[arg(value_name = "APP.toml", required = true)]
    pub app: Vec<PathBuf>,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE.dot")]
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
pub struct SchemaArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub of: SchemaOf,

    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE.json")]
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
