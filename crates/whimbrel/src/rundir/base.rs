// SPDX-License-Identifier: Apache-2.0
//! The folder of all runs of this user, and why it may be trusted.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use whimbrel_model::Problem;

/// A folder that belongs to this user and is closed to everyone else.
#[derive(Debug)]
pub struct Base(PathBuf);

impl Base {
    /// Opens the folder, made if it does not exist.
    ///
    /// # Errors
    /// It cannot be made, belongs to somebody else, is open to others, or is no folder.
    pub fn open() -> Result<Self, Problem> {
        match env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
            Some(runtime) if runtime.is_absolute() => Self::in_folder(&runtime.join("whimbrel")),
            _ => {
                let uid = geteuid().as_raw();
                Self::in_folder(Path::new(&format!("/tmp/whimbrel-{uid}")))
            }
        }
    }

    /// The same for a given folder, whose parent must exist.
    pub(super) fn in_folder(path: &Path) -> Result<Self, Problem> {
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let message = format!("the folder {} cannot be made: {error}", path.display());
                return Err(Problem::new(message)
                    .help("set XDG_RUNTIME_DIR to a folder of yours, or unset it to use /tmp"));
            }
            _ => {}
        }
        Self::check(path)?;
        Ok(Self(path.to_owned()))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Somebody else could have made the folder first, to read or replace what is in it.
    fn check(path: &Path) -> Result<(), Problem> {
        let refuse = |why: String| {
            let message = format!("the run directory {} cannot be trusted: {why}", path.display());
            let help = "move it away, or set XDG_RUNTIME_DIR to a folder that only you can use";
            Problem::new(message).help(help)
        };
        let there = fs::symlink_metadata(path).map_err(|error| refuse(error.to_string()))?;
        if !there.is_dir() {
            return Err(refuse("it is no folder".into()));
        }
        if there.uid() != geteuid().as_raw() {
            return Err(refuse(format!("it belongs to user {}", there.uid())));
        }
        if there.mode() & 0o077 != 0 {
            return Err(refuse(format!("others may use it (mode {:o})", there.mode() & 0o777)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn refusal(path: &Path) -> String {
        Base::in_folder(path).unwrap_err().message
    }

    #[test]
    fn a_folder_that_others_may_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whimbrel");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(refusal(&path).ends_with("others may use it (mode 755)"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(Base::in_folder(&path).is_ok());
    }

    #[test]
    fn a_link_or_a_file_in_its_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        symlink(folder.path(), &link).unwrap();
        fs::write(&file, "").unwrap();
        for path in [link, file] {
            assert!(refusal(&path).ends_with("it is no folder"));
        }
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        if geteuid().is_root() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("whimbrel");
            fs::create_dir(&path).unwrap();
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            assert!(refusal(&path).ends_with("it belongs to user 65534"));
        } else {
            assert!(refusal(Path::new("/")).ends_with("it belongs to user 0"));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_says_what_to_set() {
        let problem = Base::in_folder(Path::new("/nonexistent/whimbrel")).unwrap_err();
        assert!(problem.help.unwrap().contains("XDG_RUNTIME_DIR"));
    }
}
