// SPDX-License-Identifier: Apache-2.0
//! The options of `top`.

use std::time::Duration;

use clap::Args;
use whimbrel_run::args::values::interval;

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel top
  whimbrel top fm_radio-1 --interval 1s
  whimbrel top --once
  whimbrel top --web --port 8000

Environment:
  NO_COLOR        Not empty: show no colours
  COLUMNS, LINES  The size of the view with --once [default: 80 and 24]";

/// Shows a run in progress on the terminal or in a browser, and steers it.
///
/// Cores with their load, tasks and the core each is on, the messages in channels, and a log of
/// migrations, deaths and ignored decisions. `?` shows the keys. What becomes of the view is of no
/// consequence for the run.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TopArgs {
    /// The run by its name in `whimbrel ps` [default: the only one]
    pub run: Option<String>,

    /// How often figures are renewed, from 100ms to 5s
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub interval: Duration,

    /// Print the view once, as plain text, after one interval
    #[arg(long, conflicts_with_all = ["json", "web"])]
    pub once: bool,

    /// Print the totals since the start once, as JSON
    #[arg(long, conflicts_with = "web")]
    pub json: bool,

    /// Serve the view as a page for browsers of this machine, and print its address
    ///
    /// Only programs that know the token in the address see the page and steer the run.
    #[arg(long)]
    pub web: bool,

    /// The port of the page on 127.0.0.1; 0 is a free one
    #[arg(long, value_name = "N", default_value_t = 0, requires = "web")]
    pub port: u16,
}
