// SPDX-License-Identifier: Apache-2.0
//! The options of `report`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_run::args::values::window;

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel report radio
  whimbrel report radio --exact 10s..12s
  whimbrel report radio simulated found -o compared.html";

/// Shows recorded runs and explorations as one page of HTML.
///
/// The page is complete and needs no network. It shows a timeline of cores and queues, frequencies,
/// power and temperatures, and tables of migrations, tasks and channels. Several runs are compared
/// side by side. An exploration is shown as its Pareto front. docs/record-and-view.md says more.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ReportArgs {
    /// Folders that `--record` or `explore -o` made
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,

    /// The file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,

    /// Keep every event between two times, for example 10s..12s; repeatable
    ///
    /// Times count from the start of a run. The page has room for about a million events. Of a
    /// longer run it keeps those around migrations and missed deadlines, and a sample of the
    /// others; elsewhere the timeline shows how long each task ran. `..` keeps all, however many.
    #[arg(long, value_name = "FROM..TO", value_parser = window)]
    pub exact: Vec<(u64, u64)>,

    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
}
