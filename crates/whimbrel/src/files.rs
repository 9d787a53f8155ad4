// SPDX-License-Identifier: Apache-2.0
//! `whimbrel import` and `whimbrel graph`: a file is read, and the text of another written.

use std::io::{self, Write};
use std::path::Path;
use std::{env, fs};

use whimbrel_model::import::{Format, Options, application};
use whimbrel_model::{App, Manifest, Problem, Source, dot};

use crate::atomic_file;
use crate::cli::{GraphArgs, ImportArgs};
use crate::failure::{Answer, Failure, Outcome, first_of, say};
use crate::output::print;

/// Makes an app.toml of a file of another tool.
pub fn import(args: &ImportArgs) -> Outcome {
    let source = read(
        &args.file,
        "a file of rt-app (.json), of SDF3 (.xml), GraphML (.graphml) or DOT (.dot, .gv)",
    )?;
    let toml = imported(&source, &Options { hz: args.hz })?;
    write(args.output.as_deref(), &toml)
}

/// Draws an application.
pub fn graph(args: &GraphArgs) -> Outcome {
    let source = read(&args.app, "the path of an app.toml, as apps/fm_radio/app.toml")?;
    let source = translated(source)?;
    let folder = args.app.parent().unwrap_or(Path::new(""));
    let here = env::current_dir().unwrap_or_default();
    let app = Manifest::parse(source.text())
        .and_then(|manifest| App::build(&manifest, &args.set, folder, &here))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    write(args.output.as_deref(), &dot(&app))
}

/// The application of a file of another tool; an app.toml as it is.
///
/// # Errors
/// The file is wrong; reports show its lines.
pub fn translated(source: Source) -> Result<Source, Failure> {
    if Format::of(source.name()).is_none() {
        return Ok(source);
    }
    let toml = imported(&source, &Options::default())?;
    // Lines that are shown of it are not those of the file.
    Ok(Source::new(format!("{}, as app.toml", source.name()), toml))
}

/// The text of an application; warnings go to standard error.
fn imported(source: &Source, options: &Options) -> Result<String, Failure> {
    let imported = application(source.name(), source.text(), options)
        .map_err(|problems| Failure::in_file(source, problems))?;
    let (first, more) = first_of(imported.warnings);
    for warning in first {
        say(format!("{:?}", source.report(warning)).trim_end());
    }
    if let Some(n) = more {
        say(&format!("  ⚠ … and {n} more in {}", source.name()));
    }
    Ok(imported.toml)
}

fn read(path: &Path, wanted: &str) -> Result<Source, Problem> {
    let text = fs::read_to_string(path).map_err(|error| {
        let problem = Problem::new(format!("{} cannot be read: {error}", path.display()));
        problem.help(format!("the argument is {wanted}"))
    })?;
    Ok(Source::new(path.display().to_string(), text))
}

/// Writes a text into a file, or to standard output.
///
/// # Errors
/// It cannot be written.
pub fn write(path: Option<&Path>, text: &str) -> Outcome {
    match path {
        None => print(text)?,
        Some(path) => atomic_file::write(path, |file| file.write_all(text.as_bytes())).map_err(
            |error: io::Error| {
                Problem::new(format!("{} cannot be written: {error}", path.display()))
            },
        )?,
    }
    Ok(Answer::Yes)
}
