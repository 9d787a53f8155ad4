// SPDX-License-Identifier: Apache-2.0
//! `whimbrel import` and `whimbrel graph`: a file is read, and the text of another written; and
//! `whimbrel schema`.

use std::env;
use std::io::Write;
use std::path::Path;

use whimbrel_import::Options;
use whimbrel_model::{App, Board, Manifest, Platform, Table, dot};
use whimbrel_run::atomic_file;
use whimbrel_run::failure::{Answer, Failure, Outcome, say};
use whimbrel_run::files::{APPLICATION, Given, imported, named, translated};
use whimbrel_run::output::{kib, print_data};

use crate::cli::{GraphArgs, ImportArgs, SchemaArgs, SchemaOf};

/// Warnings that are shown of a file that is imported.
const WARNINGS: usize = 100;

/// Makes an app.toml of files of other tools.
pub fn import(args: &ImportArgs) -> Outcome {
    let wanted = "a file of rt-app (.json), SDF3 (.xml), GraphML (.graphml), DOT (.dot, .gv), \
                  TGFF (.tgff), APP4MC (.amxmi) or Perfetto (.pftrace)";
    let files = Given::read_all(&args.files, wanted)?;
    let (hz, threads, window_ns) = (args.hz, args.threads.clone(), args.window_ns);
    let options = Options { hz, threads, window_ns };
    let toml = imported(&files, &options, WARNINGS)?;
    let Some(path) = args.output.as_deref().filter(|path| *path != Path::new(STANDARD)) else {
        return write(None, &toml);
    };
    atomic_file::save(path, |file| file.write_all(toml.as_bytes()))?;
    say(&format!("wrote {}: whimbrel sim {0}", path.display()));
    Ok(Answer::Yes)
}

/// Draws an application.
pub fn graph(args: &GraphArgs) -> Outcome {
    let source = translated(&Given::read_all(&args.app, APPLICATION)?)?;
    let path = named(&args.app[0]);
    let folder = path.parent().unwrap_or(Path::new(""));
    let here = env::current_dir().unwrap_or_default();
    let app = Manifest::parse(source.text())
        .and_then(|manifest| App::build(&manifest, &args.set, folder, &here))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    write(args.output.as_deref(), &dot(&app))
}

/// Prints the keys of a file.
pub fn schema(args: &SchemaArgs) -> Outcome {
    let (keys, title) = match args.of {
        SchemaOf::App => (Manifest::KEYS, "app.toml of Whimbrel"),
        SchemaOf::Board => (Board::KEYS, "board.toml of Whimbrel"),
        SchemaOf::Platform => (Platform::KEYS, "platform.toml of Whimbrel"),
        SchemaOf::Table => (Table::KEYS, "table.toml of Whimbrel"),
    };
    write(args.output.as_deref(), &format!("{:#}\n", keys.json_schema(title)))
}

/// What stands for standard output.
const STANDARD: &str = "-";

/// Writes a text into a file, or to standard output.
///
/// # Errors
/// It cannot be written.
pub fn write(path: Option<&Path>, text: &str) -> Outcome {
    match path {
        None => print_data(text)?,
        Some(path) if path == Path::new(STANDARD) => print_data(text)?,
        Some(path) => {
            atomic_file::save(path, |file| file.write_all(text.as_bytes()))?;
            say(&format!("{}: {}", path.display(), kib(text.len() as u64)));
        }
    }
    Ok(Answer::Yes)
}
