// SPDX-License-Identifier: Apache-2.0
//! The folder of a recorded run.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use whimbrel_model::Problem;

use super::summary::Summary;

/// Makes the folder, closed to other users, or takes an empty one.
///
/// # Errors
/// It cannot be made or holds files already.
pub fn prepare(path: &Path) -> Result<PathBuf, Problem> {
    let refuse = |why: String| Problem::new(format!("--record {}: {why}", path.display()));
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => other.map_err(|error| refuse(error.to_string()))?,
    }
    let mut entries = fs::read_dir(path).map_err(|error| refuse(error.to_string()))?;
    if entries.next().is_some() {
        let help = "name a new folder, or remove what is in this one";
        return Err(refuse("the folder holds files already".into()).help(help));
    }
    path.canonicalize().map_err(|error| refuse(error.to_string()))
}

/// Adds `summary.json`, which is there either whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn finish(folder: &Path, summary: &Summary) -> Result<(), Problem> {
    let write = || -> io::Result<()> {
        let new = folder.join("summary.json.new");
        fs::write(&new, serde_json::to_vec_pretty(summary)?)?;
        fs::rename(&new, folder.join("summary.json"))
    };
    write().map_err(|error| {
        Problem::new(format!("{}/summary.json cannot be written: {error}", folder.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_files_in_it_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("run");
        assert!(prepare(&new).is_ok());
        assert!(prepare(&new).is_ok());
        fs::write(new.join("notes"), "mine").unwrap();
        assert!(prepare(&new).unwrap_err().message.contains("holds files already"));
    }
}
