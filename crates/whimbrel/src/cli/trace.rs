// SPDX-License-Identifier: Apache-2.0
//! The options of `trace`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use whimbrel_trace::Format;

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel trace radio
  whimbrel trace radio --format vcd -o radio.vcd";

/// Writes a recorded run in the format of a viewer of traces.
///
/// Formats are perfetto (for ui.perfetto.dev), vcd (for GTKWave) and btf (for Trace Compass). A run
/// that was killed is shown as far as it was recorded; standard error says what is missing.
/// docs/record-and-view.md says what each format shows and how to open it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct TraceArgs {
    /// The folder that `--record` made
    #[arg(value_name = "DIR")]
    pub run: PathBuf,

    /// The format
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = "perfetto")]
    pub format: Format,

    /// The file to write; `-` is standard output [default: in DIR]
    ///
    /// In DIR it is trace.pftrace, trace.vcd or trace.btf
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Print only errors
    #[arg(long, short)]
    pub quiet: bool,
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).map(|word| {
        let known = Format::ALL.into_iter().find(|format| format.name() == word);
        known.expect("the parser knows no other words")
    })
}
