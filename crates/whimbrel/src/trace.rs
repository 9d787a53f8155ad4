// SPDX-License-Identifier: Apache-2.0
//! `whimbrel trace`: a recorded run for viewers of traces.

use std::fs::{self, File};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whimbrel_model::Problem;
use whimbrel_run::atomic_file;
use whimbrel_run::failure::{Answer, Failure, Outcome, say};
use whimbrel_run::output::print;
use whimbrel_text::cure;
use whimbrel_trace::{ExportError, Exported, Format, Oddities, Recorded, export};

use crate::cli::TraceArgs;

/// Runs with fewer records are written before anybody looks.
const LARGE: u64 = 1 << 20;

/// Writes the trace.
///
/// # Errors
/// The folder is not that of a recorded run, its files cannot be read, or the trace not be written.
pub fn trace(args: &TraceArgs) -> Outcome {
    let run = Recorded::open(&args.run).map_err(|error| unreadable(&error))?;
    let path = match &args.output {
        Some(path) if path.as_os_str() == "-" => return to_standard_output(args, &run),
        Some(path) => path.clone(),
        None => args.run.join("trace").with_extension(args.format.extension()),
    };
    atomic_file::clean_up_after_signals();
    let started = Instant::now();
    let exported = to_file(args, &run, &path)?;
    if !args.quiet {
        say(&summary(&exported, &path, started.elapsed()));
        warn(&run, &exported.oddities);
    }
    Ok(Answer::Yes)
}

/// What is wrong with a folder that is not that of a recorded run.
pub fn unreadable(error: &whimbrel_trace::Error) -> Problem {
    let help = "name a folder that `whimbrel run --record` made (see docs/recorded-run.md)";
    Problem::new(error.to_string()).help(help)
}

fn to_standard_output(args: &TraceArgs, run: &Recorded) -> Outcome {
    let out = io::stdout();
    if out.is_terminal() && args.format == Format::Perfetto {
        let help = "name a file with -o, or redirect standard output";
        return Err(Problem::new("a Perfetto trace is binary").help(help).into());
    }
    let mut text = Vec::new();
    let shown = out.is_terminal();
    let exported = if shown {
        export(run, args.format, &mut text, &mut |_| {})
    } else {
        export(run, args.format, &mut out.lock(), &mut |_| {})
    };
    if shown {
        print(&String::from_utf8_lossy(&text))?;
    }
    match exported {
        Ok(exported) => {
            if !args.quiet {
                warn(run, &exported.oddities);
            }
            Ok(Answer::Yes)
        }
        Err(ExportError::Write(error)) => Err(Failure::Output(error)),
        Err(ExportError::Read(error)) => Err(unreadable(&error).into()),
    }
}

/// Writes the trace into a file.
///
/// # Errors
/// As [`trace`].
pub fn to_file(args: &TraceArgs, run: &Recorded, path: &Path) -> Result<Exported, Problem> {
    atomic_file::write(path, |file| write(args, run, file)).map_err(|error| match error {
        ExportError::Read(error) => unreadable(&error),
        ExportError::Write(error) => {
            Problem::new(format!("{}: {error}", path.display())).help(cure(&error))
        }
    })
}

fn write(args: &TraceArgs, run: &Recorded, out: &mut File) -> Result<Exported, ExportError> {
    let bar = progress(args, run.records());
    let exported = export(run, args.format, out, &mut |read| bar.set_position(read));
    bar.finish_and_clear();
    exported
}

fn progress(args: &TraceArgs, records: u64) -> ProgressBar {
    let bar = ProgressBar::new(records);
    let shown = !args.quiet && records >= LARGE && io::stderr().is_terminal();
    bar.set_draw_target(if shown {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    });
    let style = "{wide_bar} {human_pos} of {human_len} events, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).unwrap_or(ProgressStyle::default_bar()));
    bar
}

fn summary(exported: &Exported, path: &Path, took: Duration) -> String {
    let Exported { events, slices, arrows, misses, .. } = exported;
    let bytes = fs::metadata(path).map_or(0, |file| file.len());
    format!(
        "{}: {events} events, {slices} slices, {arrows} migrations, {misses} missed deadlines, \
         {bytes} bytes in {:.2} s",
        path.display(),
        took.as_secs_f64()
    )
}

/// Says what of the run is not in the trace.
fn warn(run: &Recorded, odd: &Oddities) {
    run.damage(odd).iter().for_each(|line| say(line));
}
