// SPDX-License-Identifier: Apache-2.0
//! The options of `report`.

use std::path::PathBuf;

use clap::Args;

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel report radio
  whimbrel report radio simulated found -o compared.html";

/// Shows recorded runs and explorations as one page of HTML.
///
/// The page is complete and needs no network. It shows queues, frequencies, power and temperatures,
/// and tables of migrations, tasks and channels. Several runs are compared side by side. An
/// exploration is shown as its Pareto front. For a timeline of cores see `whimbrel trace`.
/// docs/record-and-view.md says more.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct ReportArgs {
    /// Folders that `--record` or `explore -o` made
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,

    /// The file to write; `-` is standard output
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,

    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
}
