// SPDX-License-Identifier: Apache-2.0
//! The folder of all runs of this user, and why it may be trusted.

use std::env;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use whimbrel_model::Problem;
use whimbrel_occupy::folder::{Distrust, Folder};

/// A folder that belongs to this user and is closed to everyone else.
#[derive(Debug)]
pub struct Base(Folder);

impl Base {
    /// Opens the folder, made if it does not exist.
    ///
    /// # Errors
    /// It cannot be made, belongs to somebody else, is open to others, or is no folder; or somebody
    /// else may put another in its place, as when root has a user's `XDG_RUNTIME_DIR`.
    pub fn open() -> Result<Self, Problem> {
        match env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from) {
            Some(runtime) if runtime.is_absolute() => Self::in_folder(&runtime, "whimbrel"),
            _ => Self::in_folder(Path::new("/tmp"), &format!("whimbrel-{}", geteuid().as_raw())),
        }
    }

    /// The same for a given name in a folder that exists.
    pub(super) fn in_folder(parent: &Path, name: &str) -> Result<Self, Problem> {
        Folder::open_in(parent, name).map(Self).map_err(|why| refused(&parent.join(name), &why))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The same, by its descriptor.
    pub(super) fn folder(&self) -> &Folder {
        &self.0
    }
}

/// Another user could have made the folder first, to read or replace what is in it. Only that user
/// can remove it from `/tmp`, so the cure is one that this user can carry out.
fn refused(path: &Path, why: &Distrust) -> Problem {
    let shown = path.display();
    if let Distrust::Io(error) = why {
        return Problem::new(format!("the folder {shown} cannot be made: {error}"))
            .help("set XDG_RUNTIME_DIR to your own folder, or unset it to use /tmp");
    }
    let own = "mkdir -pm 700 ~/.whimbrel && export XDG_RUNTIME_DIR=~/.whimbrel";
    let help = match why {
        Distrust::Open(_) => format!("close it: chmod 700 {shown}"),
        _ => format!("use a folder that only you can use: {own}"),
    };
    Problem::new(format!("the run directory {shown} cannot be trusted: {why}")).help(help)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn in_folder(path: &Path) -> Result<Base, Problem> {
        Base::in_folder(path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap())
    }

    fn refusal(path: &Path) -> String {
        in_folder(path).unwrap_err().message
    }

    #[test]
    fn a_folder_that_others_may_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whimbrel");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(refusal(&path).ends_with("others may use it (mode 755)"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(in_folder(&path).is_ok());
    }

    #[test]
    fn a_link_or_a_file_in_its_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, file) = (folder.path().join("link"), folder.path().join("file"));
        symlink(folder.path(), &link).unwrap();
        fs::write(&file, "").unwrap();
        for path in [link, file] {
            assert!(refusal(&path).ends_with("it is not a folder"));
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
            assert!(refusal(Path::new("/root")).ends_with("it belongs to user 0"));
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_says_what_to_set() {
        let problem = in_folder(Path::new("/nonexistent/whimbrel")).unwrap_err();
        assert!(problem.help.unwrap().contains("XDG_RUNTIME_DIR"));
    }

    #[test]
    fn a_folder_that_somebody_else_made_first_has_a_cure_for_this_user() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root gives a folder to another user");
            return;
        }
        // As in /tmp, where this user could not move it away.
        let shared = tempfile::tempdir().unwrap();
        fs::set_permissions(shared.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let path = shared.path().join("whimbrel-0");
        fs::create_dir(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        let help = in_folder(&path).unwrap_err().help.unwrap();
        let (_, cure) = help.split_once(": ").unwrap();
        let home = tempfile::tempdir().unwrap();
        let words = format!("umask 0; {cure}; echo $XDG_RUNTIME_DIR");
        let mut shell = std::process::Command::new("sh");
        let done = shell.args(["-c", &words]).env("HOME", home.path()).output().unwrap();
        let runtime = String::from_utf8(done.stdout).unwrap();
        assert!(in_folder(&Path::new(runtime.trim()).join("whimbrel")).is_ok(), "{runtime}");
    }

    #[test]
    fn root_with_the_folder_of_a_user_makes_nothing_in_it() {
        if !geteuid().is_root() {
            eprintln!("skipped: only root gives a folder to another user");
            return;
        }
        let runtime = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(runtime.path(), Some(65_534), None).unwrap();
        let precious = tempfile::tempdir().unwrap();
        symlink(precious.path(), runtime.path().join("whimbrel")).unwrap();
        let message = refusal(&runtime.path().join("whimbrel"));
        assert!(message.ends_with("belongs to user 65534"), "{message}");
        assert_eq!(fs::read_dir(precious.path()).unwrap().count(), 0);
        fs::remove_file(runtime.path().join("whimbrel")).unwrap();
        refusal(&runtime.path().join("whimbrel"));
        assert_eq!(fs::read_dir(runtime.path()).unwrap().count(), 0);
    }
}
