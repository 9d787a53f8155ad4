// SPDX-License-Identifier: Apache-2.0
//! The folder of an exploration.

use std::fs::{DirBuilder, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use whimbrel_explore::{
    Exploration, Store, StoreError, System, csv, json, parquet, remove_parts, restore,
};
use whimbrel_model::Problem;
use whimbrel_occupy::place::Place;
use whimbrel_run::atomic_file;
use whimbrel_run::failure::Failure;
use whimbrel_text::cure;
use whimbrel_text::option::{DURATION, OUTPUT, PIN, RESUME, SEED, SET};

use crate::cli::ExploreArgs;

/// Everything that was evaluated, for `--resume`.
const EVALUATED: &str = "evaluated.jsonl";

/// The folder that results go to, if they go to any.
pub fn of(args: &ExploreArgs) -> Option<&Path> {
    args.output.as_deref().or(args.resume.as_deref().filter(|path| !is_file(path)))
}

/// Whether an exploration goes on from its Parquet file alone.
fn is_file(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "parquet")
}

/// What was evaluated already; with `--output` a new file for it.
///
/// # Errors
/// A folder that cannot be made or has an exploration already, or one to go on with that has none
/// or one of something else.
pub fn store(args: &ExploreArgs, identity: &str) -> Result<Store, Problem> {
    let resume = args.resume.as_deref();
    let Some(path) = resume.filter(|path| is_file(path)) else {
        return match resume {
            Some(_) if args.output.is_some() => {
                let problem = Problem::new(format!("{OUTPUT}: {RESUME} resumes in its own folder"));
                Err(problem
                    .help(format!("omit {OUTPUT}, or resume from the folder's explore.parquet")))
            }
            Some(folder) => {
                taken(folder)?;
                let path = folder.join(EVALUATED);
                Store::resume(&path, identity).map_err(|error| no_resume(&path, &error))
            }
            None => new_store(args.output.as_deref(), identity),
        };
    };
    // What cannot be resumed makes no folder.
    restore(path, identity, &mut Store::default()).map_err(|error| no_resume(path, &error))?;
    let mut store = new_store(args.output.as_deref(), identity)?;
    restore(path, identity, &mut store).map_err(|error| no_resume(path, &error))?;
    Ok(store)
}

fn no_resume(path: &Path, error: &StoreError) -> Problem {
    let message = format!("{} cannot be resumed: {error}", path.display());
    let help = match error {
        StoreError::Other => {
            format!("use the {SET}, {PIN}, {DURATION} and {SEED} that it began with")
        }
        _ => format!("start again with {OUTPUT} and a new folder"),
    };
    Problem::new(message).help(help)
}

/// One that is kept in a new folder, or in none.
fn new_store(folder: Option<&Path>, identity: &str) -> Result<Store, Problem> {
    let Some(folder) = folder else { return Ok(Store::default()) };
    DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(|error| {
        let message = format!("{OUTPUT}: {} cannot be made: {error}", folder.display());
        Problem::new(message).help("name a new folder, or an empty one")
    })?;
    taken(folder)?;
    let path = folder.join(EVALUATED);
    Store::create(&path, identity).map_err(|error| match error {
        StoreError::Io(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Problem::new(format!("{OUTPUT}: {} already contains an exploration", folder.display()))
                .help(format!("resume it with {RESUME}, or name a new folder"))
        }
        error => Problem::new(format!("{OUTPUT}: {} cannot be made: {error}", path.display()))
            .help("name a folder that you may write to"),
    })
}

/// An existing folder is used only if no other user may have put files there.
fn taken(folder: &Path) -> Result<(), Problem> {
    let found = if folder.exists() {
        Place::find(folder).and_then(|place| place.folder(0o777)).map(drop)
    } else {
        Ok(())
    };
    found.map_err(|error| {
        Problem::new(format!("{} is not used: {error}", folder.display())).help(cure(&error))
    })
}

/// Writes the files of a result.
///
/// # Errors
/// One of them cannot be written.
pub fn write(
    folder: &Path,
    system: &System,
    found: &Exploration,
    identity: &str,
) -> Result<(), Failure> {
    write_file(&folder.join("explore.csv"), |file| csv(system, found, file))?;
    write_file(&folder.join("explore.parquet"), |file| parquet(system, found, identity, file))?;
    remove_parts(folder).map_err(|error| {
        let message = format!("parts of explore.parquet cannot be removed: {error}");
        Problem::new(message).help(cure(&error))
    })?;
    write_file(&folder.join("front.json"), |file| {
        serde_json::to_writer_pretty(&mut *file, &json(system, found))?;
        file.write_all(b"\n")
    })
}

/// Writes one file, whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write_file(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Failure> {
    Ok(atomic_file::save(path, |file| {
        let mut file = BufWriter::new(file);
        fill(&mut file)?;
        file.flush()
    })?)
}
