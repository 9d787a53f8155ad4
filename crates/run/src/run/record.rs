// SPDX-License-Identifier: Apache-2.0
//! The folder of a recorded run.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use whimbrel_model::Problem;
use whimbrel_occupy::place::{Place, descriptor};
use whimbrel_text::cure;
use whimbrel_text::option::RECORD;

use super::summary::Summary;
use crate::atomic_file;
use crate::load::utf8;

/// The folder of a run that has not started. When it is dropped, what was made for it is removed.
#[derive(Debug)]
pub struct Prepared {
    path: PathBuf,
    /// Whether the folder was not there before.
    made: bool,
    /// How many cores may have a stream in it.
    cores: usize,
}

impl Prepared {
    /// Makes the folder, closed to other users, or takes an empty one of this user.
    ///
    /// # Errors
    /// It cannot be made, its path cannot be text to the helper, it holds files already, or it is
    /// another user's or may be written by others.
    pub fn new(path: &Path, cores: usize) -> Result<Self, Problem> {
        let refuse = |why: String| Problem::new(format!("{RECORD} {}: {why}", path.display()));
        let unreadable = |error: io::Error| refuse(error.to_string()).help(cure(&error));
        std::path::absolute(path).map_err(unreadable).and_then(|path| speakable(&path))?;
        let place = Place::find(path).map_err(unreadable)?;
        let (folder, made) = place.folder(0o700).map_err(unreadable)?;
        // By its descriptor: no other folder is in its place.
        let here = descriptor(&folder);
        let path = here.read_link().map_err(unreadable)?;
        let prepared = Self { path, made, cores };
        if fs::read_dir(here).map_err(unreadable)?.next().is_some() {
            // They are not of this run.
            prepared.keep();
            let help = "name a new folder, or remove what is in this one";
            return Err(refuse("the folder holds files already".into()).help(help));
        }
        // Links may have led to a path that is not.
        speakable(&prepared.path)?;
        Ok(prepared)
    }

    /// The whole path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The run has started: what is there stays.
    pub fn keep(mut self) -> PathBuf {
        self.made = false;
        self.cores = 0;
        std::mem::take(&mut self.path)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // What cannot be removed, or what somebody else has put there, is left.
        for core in 0..self.cores {
            let _ = fs::remove_file(self.path.join(format!("core-{core}.events")));
        }
        if self.made {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// Checks that a path can be text to the helper, whose lines are text.
fn speakable(path: &Path) -> Result<(), Problem> {
    let help = "name a folder whose whole path is UTF-8";
    utf8(path).map(drop).map_err(|problem| problem.within(RECORD).help(help))
}

/// Adds `summary.json`, which is there either whole or not at all.
///
/// # Errors
/// It cannot be written.
pub fn finish(folder: &Path, summary: &Summary) -> Result<(), Problem> {
    atomic_file::save(&folder.join("summary.json"), |file| {
        file.write_all(&serde_json::to_vec_pretty(summary)?)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_with_files_in_it_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("run");
        assert_eq!(Prepared::new(&new, 1).unwrap().keep(), new.canonicalize().unwrap());
        assert!(Prepared::new(&new, 1).is_ok());
        fs::write(new.join("core-0.events"), "mine").unwrap();
        let problem = Prepared::new(&new, 1).unwrap_err();
        assert!(problem.message.contains("holds files already"));
        assert!(new.join("core-0.events").is_file());
    }

    #[test]
    fn of_a_run_that_did_not_start_only_what_was_made_for_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        fs::create_dir(&old).unwrap();
        fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
        for path in [&new, &old] {
            let prepared = Prepared::new(path, 2).unwrap();
            for name in ["core-0.events", "core-1.events", "core-2.events"] {
                fs::write(path.join(name), "").unwrap();
            }
            drop(prepared);
            let left: Vec<_> =
                fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name()).collect();
            assert_eq!(left, ["core-2.events"], "it belongs to another run");
            fs::remove_file(path.join("core-2.events")).unwrap();
            drop(Prepared::new(path, 2).unwrap());
            assert!(path.is_dir(), "it was there");
        }
    }
}
