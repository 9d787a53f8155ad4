// SPDX-License-Identifier: Apache-2.0
//! Takes back what runs left behind whose command was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::FlockOperation;
use serde::Serialize;
use whimbrel_occupy::place::descriptor;

use super::{Base, FILES, FoundRun, GUEST_IMAGE, RunRecord, frequencies, lock};
use crate::process::Process;

/// What the sockets of a run's clients are called, behind their tasks.
const CLIENT: &str = ".client";

/// How long a helper may take to notice by itself that its command has gone.
const GRACE: Duration = Duration::from_millis(500);

/// A run that was reclaimed.
#[derive(Debug, Serialize)]
pub struct Reclaimed {
    /// Its name.
    pub run: String,
    /// The processes of it that had to be ended.
    pub ended: Vec<u32>,
}

/// Removes the directories of dead runs, ends what still lives of their helpers and kernels, and
/// puts back the frequencies they had set. A run that another command reclaims at the same time is
/// that command's.
///
/// # Errors
/// A directory cannot be read or removed, a process does not end, or a frequency cannot be put
/// back.
pub fn reclaim(base: &Base) -> io::Result<Vec<Reclaimed>> {
    let mut reclaimed = Vec::new();
    for FoundRun { name: run, .. } in base.every()? {
        if let Some(ended) = reclaim_run(base, &run)? {
            reclaimed.push(Reclaimed { run, ended });
        }
    }
    Ok(reclaimed)
}

/// The processes of a run that had to be ended. `None`: it lives, has gone, or has a file that no
/// run makes.
pub(super) fn reclaim_run(base: &Base, name: &str) -> io::Result<Option<Vec<u32>>> {
    let Ok(Some(folder)) = lock(base, name, FlockOperation::NonBlockingLockExclusive) else {
        return Ok(None);
    };
    // From here on nobody else removes the folder or gives its name to another.
    let path = place_of(base, name);
    if strangers(&path)?.is_some() {
        return Ok(None);
    }
    let ended = end_processes(RunRecord::read(&folder))?;
    frequencies::restore(&folder)?;
    remove(&path)?;
    Ok(Some(ended))
}

/// A folder by the descriptor of the one that it is in, which stays the same.
fn place_of(base: &Base, name: &str) -> PathBuf {
    descriptor(base.folder()).join(name)
}

/// The folders of dead runs that were left as they are, each with a file in it that no run makes.
///
/// # Errors
/// A directory cannot be read.
pub fn left(base: &Base) -> io::Result<Vec<(String, String)>> {
    let mut left = Vec::new();
    for found in base.every()? {
        let file = strangers(&place_of(base, &found.name))?;
        left.extend(file.map(|file| (found.name, file)));
    }
    Ok(left)
}

/// Something in a folder that no run makes.
fn strangers(folder: &Path) -> io::Result<Option<String>> {
    let entries = match fs::read_dir(folder) {
        // Its run has just ended.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_of_run(&name) || entry.file_type().is_ok_and(|file| file.is_dir()) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Whether a run makes files of this name.
fn is_of_run(name: &str) -> bool {
    FILES.contains(&name) || name.ends_with(CLIENT) || name.ends_with(GUEST_IMAGE)
}

/// Removes the folder of a run, and nothing that the run has not made.
///
/// # Errors
/// Something cannot be removed, or is not a run's.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if is_of_run(&name) {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {} // its process did
                other => other?,
            }
        }
    }
    fs::remove_dir(folder)
}

/// Ends the helper before the kernels, so that it does not take their end for a failure.
fn end_processes(record: Option<RunRecord>) -> io::Result<Vec<u32>> {
    let Some(record) = record else { return Ok(Vec::new()) };
    if let Some(helper) = &record.helper {
        helper.wait(GRACE);
    }
    let all = record.helper.iter().chain(record.kernels.iter().flatten());
    let killed = all.map(|process: &Process| Ok(process.kill()?.then_some(process.pid)));
    Ok(killed.collect::<io::Result<Vec<_>>>()?.into_iter().flatten().collect())
}
