// SPDX-License-Identifier: Apache-2.0
//! Folders of this user alone, and their files by descriptors.
//!
//! What stands in such a folder is done with our rights, so nobody else may have written it. A path
//! may name another folder by the time that it is used; a descriptor does not. So the folder is
//! opened once and checked as opened, and each file below it is opened by its name alone, follows
//! no link, and is checked as opened, too.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::place::others_may_write;

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum Distrust {
    /// It cannot be opened or made.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A file or a link.
    #[error("it is not a folder")]
    NoFolder,
    /// Of another user.
    #[error("it belongs to user {0}")]
    Owner(u32),
    /// Others may use it.
    #[error("others may use it (mode {0:o})")]
    Open(u32),
    /// The folder that it is in is another user's, or anybody may put another in its place.
    #[error("others may replace it: {} {why}", .folder.display())]
    Replaceable {
        /// The folder that it is in.
        folder: PathBuf,
        /// What is wrong with that.
        why: String,
    },
}

impl From<Distrust> for io::Error {
    fn from(distrust: Distrust) -> Self {
        match distrust {
            Distrust::Io(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

/// A folder of this user that nobody else may use, by its descriptor.
#[derive(Debug)]
pub struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
}

const OTHERS: Mode = Mode::RWXG.union(Mode::RWXO);
const WRITERS: Mode = Mode::WGRP.union(Mode::WOTH);

impl Folder {
    /// Opens a folder, made if it does not exist; that which it is in exists. One of this user that
    /// others may only read is closed to them.
    ///
    /// # Errors
    /// Why it is not used.
    pub fn open(path: &Path) -> Result<Self, Distrust> {
        match mkdirat(CWD, path, Mode::RWXU) {
            Err(error) if error != Errno::EXIST => return Err(io::Error::from(error).into()),
            _ => {}
        }
        match Self::opened(CWD, path, path.to_owned()).and_then(Self::closed) {
            Err(Distrust::Open(mode)) if mode & 0o022 == 0 => {
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let folder = openat(CWD, path, flags, Mode::empty()).map_err(io::Error::from)?;
                // This needs the folder to be ours, so it closes no other's in its place.
                fchmod(&folder, Mode::RWXU).map_err(io::Error::from)?;
                Self::opened(CWD, path, path.to_owned()).and_then(Self::closed)
            }
            opened => opened,
        }
    }

    /// The same, in a folder where nobody else may replace it: that of this user or of root, which
    /// others may not write, or where they may not replace what is not theirs, as `/tmp`.
    ///
    /// # Errors
    /// Why it is not used.
    pub fn open_in(parent: &Path, name: &str) -> Result<Self, Distrust> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = openat(CWD, parent, flags, Mode::empty()).map_err(io::Error::from)?;
        let replaceable = |why: String| Distrust::Replaceable { folder: parent.to_owned(), why };
        let found = fstat(&above).map_err(io::Error::from)?;
        if ![0, geteuid().as_raw()].contains(&found.st_uid) {
            return Err(replaceable(format!("belongs to user {}", found.st_uid)));
        }
        if others_may_write(&found) && !mode(&found).contains(Mode::SVTX) {
            let why = format!("may be written by others (mode {:o})", bits(mode(&found)));
            return Err(replaceable(why));
        }
        match mkdirat(&above, name, Mode::RWXU) {
            Err(error) if error != Errno::EXIST => return Err(io::Error::from(error).into()),
            _ => {}
        }
        Self::opened(above.as_fd(), Path::new(name), parent.join(name)).and_then(Self::closed)
    }

    /// A folder in this one, which nobody else can reach whatever its own mode is.
    ///
    /// # Errors
    /// There is none, or why it is not used.
    pub fn folder(&self, name: &str) -> Result<Self, Distrust> {
        Self::opened(self.as_fd(), Path::new(name), self.path.join(name))
    }

    /// Makes one.
    ///
    /// # Errors
    /// Something has the name, or it cannot be made.
    pub fn make(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(self, name, Mode::RWXU)?)
    }

    fn opened(at: BorrowedFd<'_>, name: &Path, path: PathBuf) -> Result<Self, Distrust> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = openat(at, name, flags, Mode::empty()).map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => Distrust::NoFolder,
            // Whose it is says more.
            Errno::ACCESS => owner(at, name).map_or(Distrust::Io(error.into()), Distrust::Owner),
            error => Distrust::Io(error.into()),
        })?;
        let found = fstat(&descriptor).map_err(io::Error::from)?;
        if found.st_uid != geteuid().as_raw() {
            return Err(Distrust::Owner(found.st_uid));
        }
        Ok(Self { descriptor, path })
    }

    fn closed(self) -> Result<Self, Distrust> {
        let found = fstat(&self).map_err(io::Error::from)?;
        match mode(&found) {
            mode if mode.intersects(OTHERS) => Err(Distrust::Open(bits(mode))),
            _ => Ok(self),
        }
    }

    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file of this user for reading.
    ///
    /// # Errors
    /// There is none, or it is no file of this user alone.
    pub fn read(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDONLY)
    }

    /// Opens one for writing at its end; if there is none, it is made, for this user alone.
    ///
    /// # Errors
    /// It cannot be made, or it is no file of this user alone.
    pub fn append(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
    }

    /// Makes a file in the place of what has the name, if anything has.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn anew(&self, name: &str) -> io::Result<File> {
        self.remove(name)?;
        self.file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    fn file(&self, name: &str, flags: OFlags) -> io::Result<File> {
        // A pipe would have us wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = openat(self, name, flags, Mode::RUSR | Mode::WUSR)?;
        let found = fstat(&file)?;
        let regular = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !regular || found.st_uid != geteuid().as_raw() || mode(&found).intersects(WRITERS) {
            let why = format!("{name} in it is not a regular file that only this user may write");
            return Err(io::Error::other(why));
        }
        if flags.contains(OFlags::CREATE) {
            // Whatever the umask is: it takes from what a new file may be.
            fchmod(&file, Mode::RUSR | Mode::WUSR)?;
        }
        Ok(file.into())
    }

    /// Gives a file another name, in the place of what has that.
    ///
    /// # Errors
    /// It cannot be renamed.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(self, from, self, to)?)
    }

    /// Removes a file; without one there is nothing to do.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(self, name, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// The same folder, once more.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn again(&self) -> io::Result<Self> {
        Ok(Self { descriptor: self.descriptor.try_clone()?, path: self.path.clone() })
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn owner(at: BorrowedFd<'_>, name: &Path) -> Option<u32> {
    let found = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    (found.st_uid != geteuid().as_raw()).then_some(found.st_uid)
}

fn mode(found: &Stat) -> Mode {
    Mode::from_raw_mode(found.st_mode)
}

fn bits(mode: Mode) -> u32 {
    mode.bits() & 0o777
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn own() -> (tempfile::TempDir, Folder) {
        let around = crate::tests::fake::folder();
        let folder = Folder::open(&around.path().join("own")).unwrap();
        (around, folder)
    }

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_its_users_alone_whatever_the_umask_is() {
        // The umask is the whole process's, so this looks in a child that has another.
        let (around, folder) = own();
        for umask in ["0", "0777"] {
            let test = "folder::tests::in_a_child_files_are_made";
            let mut command = std::process::Command::new("sh");
            let words = format!("umask {umask}; exec \"$0\" --exact --ignored {test}");
            command.args(["-c", &words]).arg(std::env::current_exe().unwrap());
            let made = command.env("FOLDER", folder.path()).output().unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
            for name in ["appended", "anew"] {
                assert_eq!(mode_of(&folder.path().join(name)), 0o600, "{name} by {umask}");
            }
        }
        drop(around);
    }

    #[test]
    #[ignore = "a part of another test"]
    fn in_a_child_files_are_made() {
        let folder = Folder::open(Path::new(&std::env::var_os("FOLDER").unwrap())).unwrap();
        folder.append("appended").unwrap().write_all(b"more").unwrap();
        folder.anew("anew").unwrap();
    }

    #[test]
    fn links_pipes_and_files_that_others_may_write_are_not_opened() {
        let (around, folder) = own();
        let at = |name: &str| folder.path().join(name);
        let precious = around.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        symlink(&precious, at("link")).unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        fs::write(at("open"), "").unwrap();
        fs::set_permissions(at("open"), Permissions::from_mode(0o666)).unwrap();
        for name in ["link", "pipe", "open"] {
            assert!(folder.read(name).is_err(), "{name}");
            assert!(folder.append(name).is_err(), "{name}");
            folder.anew(name).unwrap().write_all(b"new").unwrap();
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "new");
        }
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    }

    #[test]
    fn a_folder_stays_the_same_whatever_takes_its_place() {
        let (around, folder) = own();
        let away = around.path().join("away");
        fs::rename(folder.path(), &away).unwrap();
        symlink("/nonexistent", folder.path()).unwrap();
        folder.anew("file").unwrap();
        assert!(away.join("file").exists());
        assert!(matches!(Folder::open(folder.path()), Err(Distrust::NoFolder)));
    }

    #[test]
    fn a_folder_that_others_may_replace_is_refused() {
        let around = crate::tests::fake::folder();
        let open = |mode: u32| {
            fs::set_permissions(around.path(), Permissions::from_mode(mode)).unwrap();
            Folder::open_in(around.path(), "own").map(drop).map_err(|error| error.to_string())
        };
        assert_eq!([open(0o755), open(0o1777)], [Ok(()), Ok(())]);
        assert!(open(0o707).unwrap_err().ends_with("may be written by others (mode 707)"));
        if !geteuid().is_root() {
            eprintln!("skipped: only root gives a folder to another user");
            return;
        }
        std::os::unix::fs::chown(around.path(), Some(65_534), None).unwrap();
        assert!(open(0o700).unwrap_err().ends_with("belongs to user 65534"));
    }
}
