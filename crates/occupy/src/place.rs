// SPDX-License-Identifier: Apache-2.0
//! Where a file or a folder that a user names is written.
//!
//! In a folder that others may write, as `/tmp`, somebody else may have made a link of that name,
//! which leads to what only we may write, or a file that he may read. So links are followed only
//! where nobody else can have put them, and what is there is looked at before it is replaced. All
//! of it is done below a descriptor of the folder: a folder that takes another's place meanwhile is
//! not written.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat, fstat, fstatfs, mkdirat, openat,
    readlinkat, statat,
};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

/// Links that are followed, as many as Linux does.
const LINKS: usize = 40;
const SEARCH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A name in a folder that is held by its descriptor. The last link has been followed.
#[derive(Debug)]
pub struct Place {
    folder: OwnedFd,
    name: OsString,
}

/// What has the name now.
#[derive(Debug)]
pub enum There {
    /// Nothing.
    Nothing,
    /// A file, by its mode if it is of this user.
    File(Option<u32>),
    /// A pipe or a device, open for writing.
    Other(File),
}

impl Place {
    /// Follows a path to the folder that its end is in.
    ///
    /// # Errors
    /// There is no such folder, or a link is not followed.
    pub fn find(path: &Path) -> io::Result<Self> {
        let mut rest: VecDeque<OsString> = parts(path);
        let start = |path: &Path| if path.is_absolute() { "/" } else { "." };
        let mut folder = openat(CWD, start(path), SEARCH, Mode::empty())?;
        let mut links = 0;
        while let Some(name) = rest.pop_front() {
            let last = rest.is_empty();
            if name == ".." {
                folder = openat(&folder, "..", SEARCH, Mode::empty())?;
                continue;
            }
            match statat(&folder, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if kind(&found) == FileType::Symlink => {
                    // Those of `/proc` lead to what a process has open, whatever they say.
                    if fstatfs(&folder)?.f_type == PROC_SUPER_MAGIC {
                        if last {
                            return Ok(Self { folder, name });
                        }
                        folder = openat(&folder, &*name, SEARCH, Mode::empty())?;
                        continue;
                    }
                    links += 1;
                    if links > LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    check_link(&fstat(&folder)?, &found, &name)?;
                    let target = readlinkat(&folder, &*name, Vec::new())?;
                    let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                    if target.is_absolute() {
                        folder = openat(CWD, "/", SEARCH, Mode::empty())?;
                    }
                    let mut followed = parts(&target);
                    followed.append(&mut rest);
                    rest = followed;
                }
                Err(error) if error != Errno::NOENT || !last => return Err(error.into()),
                _ if last => return Ok(Self { folder, name }),
                _ => {
                    let flags = SEARCH | OFlags::NOFOLLOW;
                    folder = openat(&folder, &*name, flags, Mode::empty())?;
                }
            }
        }
        Err(Errno::ISDIR.into())
    }

    /// The name by the descriptor, for what takes paths, as long as this is there.
    pub fn path(&self) -> PathBuf {
        descriptor(&self.folder).join(&self.name)
    }

    /// Where that is, for another process.
    ///
    /// # Errors
    /// `/proc` does not tell.
    pub fn whole(&self) -> io::Result<PathBuf> {
        Ok(descriptor(&self.folder).read_link()?.join(&self.name))
    }

    /// Looks at what is to be replaced or written, and opens it.
    ///
    /// # Errors
    /// This user may not write it, or somebody else has put it where all may.
    pub fn there(&self) -> io::Result<There> {
        match self.look()? {
            None => return Ok(There::Nothing),
            Some(FileType::Symlink) => return self.open_linked(),
            Some(_) => {}
        }
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        // A file is only asked whether it may be written.
        let file = File::from(openat(&self.folder, &*self.name, flags, Mode::empty())?);
        let opened = fstat(&file)?;
        Ok(if kind(&opened) == FileType::RegularFile {
            let own = opened.st_uid == geteuid().as_raw();
            There::File(own.then_some(opened.st_mode & 0o7777))
        } else {
            There::Other(file)
        })
    }

    /// Looks at what has the name, and opens nothing: what reads from a pipe would notice.
    ///
    /// # Errors
    /// Somebody else has put it where all may.
    pub fn look(&self) -> io::Result<Option<FileType>> {
        let found = match statat(&self.folder, &*self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            found => found?,
        };
        if kind(&found) == FileType::Symlink {
            return Ok(Some(FileType::Symlink));
        }
        let own = found.st_uid == geteuid().as_raw();
        let device = matches!(kind(&found), FileType::CharacterDevice | FileType::BlockDevice);
        let all = Mode::from_raw_mode(fstat(&self.folder)?.st_mode).contains(Mode::WOTH);
        if all && !own && !device && found.st_uid != 0 {
            let why = "in a folder that all may write: name another file";
            return Err(refused(&self.name, &format!("belongs to user {}, {why}", found.st_uid)));
        }
        Ok(Some(kind(&found)))
    }

    /// What a process has open, by its link in `/proc`, as `/dev/stdout` is one.
    fn open_linked(&self) -> io::Result<There> {
        // Behind what is there already, where that is a file.
        let file = File::options().append(true).open(self.path())?;
        Ok(There::Other(file))
    }

    /// Makes a folder of this user here, or takes one that is there. Gives whether it was made.
    ///
    /// # Errors
    /// It cannot be made, or what is there is another user's or may be written by others.
    pub fn folder(&self, mode: u32) -> io::Result<(OwnedFd, bool)> {
        let made = match mkdirat(&self.folder, &*self.name, Mode::from_raw_mode(mode)) {
            Err(Errno::EXIST) => false,
            other => other.map(|()| true)?,
        };
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = openat(&self.folder, &*self.name, flags, Mode::empty())?;
        let found = fstat(&folder)?;
        if found.st_uid != geteuid().as_raw() {
            let why = format!("belongs to user {}: name a new folder", found.st_uid);
            return Err(refused(&self.name, &why));
        }
        if others_may_write(&found) {
            let why = format!("may be written by others (mode {:o})", found.st_mode & 0o777);
            let cure = "close it by `chmod go-w`, or name a new folder";
            return Err(refused(&self.name, &format!("{why}: {cure}")));
        }
        Ok((folder, made))
    }
}

/// A folder's path by its descriptor.
pub fn descriptor(folder: &impl AsFd) -> PathBuf {
    let folder: BorrowedFd<'_> = folder.as_fd();
    PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()))
}

/// Whether others than the owner may make and remove what is in a folder. A group that is this
/// user's first is often his alone, and what he makes is then open to it.
pub(crate) fn others_may_write(folder: &Stat) -> bool {
    let mode = Mode::from_raw_mode(folder.st_mode);
    let foreign = folder.st_gid != getegid().as_raw();
    mode.contains(Mode::WOTH) || mode.contains(Mode::WGRP) && foreign
}

/// A link of this user's or of root is followed, and one where nobody else can have made it.
fn check_link(folder: &Stat, link: &Stat, name: &OsStr) -> io::Result<()> {
    let trusted = |owner: u32| owner == 0 || owner == geteuid().as_raw();
    if trusted(link.st_uid) || trusted(folder.st_uid) && !others_may_write(folder) {
        return Ok(());
    }
    let why = format!("is a link of user {}, which that user can redirect", link.st_uid);
    Err(refused(name, &format!("{why}: name its target")))
}

fn refused(name: &OsStr, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {why}", Path::new(name).display()))
}

fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let named = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    named.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    use super::*;

    /// A user that is not this one; `None`, and a word of it, where nothing can be given to him.
    fn other() -> Option<u32> {
        let root = geteuid().is_root();
        if !root {
            eprintln!("skipped: only root gives files to another user");
        }
        root.then_some(65_534)
    }

    fn open(folder: &Path, mode: u32) {
        fs::set_permissions(folder, Permissions::from_mode(mode)).unwrap();
    }

    fn found(path: &Path) -> String {
        match Place::find(path).and_then(|place| place.there().map(|_| place)) {
            Ok(place) => place.whole().unwrap().display().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn ones_own_links_are_followed_wherever_they_are_and_anothers_where_only_he_can_be_meant() {
        let Some(other) = other() else { return };
        let around = crate::tests::fake::folder();
        let at = |name: &str| around.path().join(name);
        fs::create_dir(at("far")).unwrap();
        fs::write(at("far/file"), "").unwrap();
        symlink(at("far"), at("folder")).unwrap();
        symlink("folder/file", at("own")).unwrap();
        symlink("far/file", at("foreign")).unwrap();
        lchown(at("foreign"), Some(other), None).unwrap();
        let file = around.path().canonicalize().unwrap().join("far/file").display().to_string();
        for mode in [0o700, 0o1777] {
            open(around.path(), mode);
            for path in ["own", "folder/file", "far/../folder/./file"] {
                assert_eq!(found(&at(path)), file, "{path}");
            }
        }
        let why = format!("foreign is a link of user {other}, which that user can redirect");
        assert!(found(&at("foreign")).starts_with(&why), "{}", found(&at("foreign")));
        open(around.path(), 0o755);
        assert_eq!(found(&at("foreign")), file);
        // Also on the way to the file, and in the other's own folder.
        symlink("far", at("way")).unwrap();
        lchown(at("way"), Some(other), None).unwrap();
        chown(around.path(), Some(other), None).unwrap();
        assert!(found(&at("way/file")).starts_with("way is a link of user"));
        assert_eq!(found(&at("own")), file);
    }

    #[test]
    fn what_another_user_has_put_where_all_may_is_not_written() {
        let Some(other) = other() else { return };
        let around = crate::tests::fake::folder();
        let at = |name: &str| around.path().join(name);
        fs::write(at("file"), "").unwrap();
        rustix::fs::mknodat(CWD, at("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        let look = |name: &str| Place::find(&at(name)).unwrap().there();
        fs::set_permissions(at("file"), Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(look("file").unwrap(), There::File(Some(0o666))));
        for name in ["file", "pipe"] {
            chown(at(name), Some(other), None).unwrap();
        }
        open(around.path(), 0o1777);
        for name in ["file", "pipe"] {
            let why = look(name).unwrap_err().to_string();
            assert!(why.starts_with(&format!("{name} belongs to user {other}")), "{why}");
        }
        // In a folder of his own his file may be replaced, and its mode is not kept.
        open(around.path(), 0o755);
        assert!(matches!(look("file").unwrap(), There::File(None)));
    }

    #[test]
    fn a_folder_of_another_user_or_open_to_others_is_not_taken() {
        let around = crate::tests::fake::folder();
        let path = around.path().join("run");
        let place = Place::find(&path).unwrap();
        let taken = || place.folder(0o700).map(|(_, made)| made).map_err(|e| e.to_string());
        assert_eq!([taken(), taken()], [Ok(true), Ok(false)]);
        open(&path, 0o757);
        assert!(taken().unwrap_err().starts_with("run may be written by others (mode 757)"));
        open(&path, 0o700);
        if let Some(other) = other() {
            chown(&path, Some(other), None).unwrap();
            assert!(taken().unwrap_err().starts_with(&format!("run belongs to user {other}")));
        }
        fs::remove_dir(&path).unwrap();
        symlink(around.path(), &path).unwrap();
        assert!(place.folder(0o700).is_err(), "the name was a folder's when it was looked for");
    }

    #[test]
    fn what_takes_the_folders_place_is_not_written() {
        let around = crate::tests::fake::folder();
        let [real, away] = ["real", "away"].map(|name| around.path().join(name));
        fs::create_dir(&real).unwrap();
        let place = Place::find(&real.join("file")).unwrap();
        fs::rename(&real, &away).unwrap();
        symlink("/nonexistent", &real).unwrap();
        fs::write(place.path(), "here").unwrap();
        assert_eq!(fs::read_to_string(away.join("file")).unwrap(), "here");
    }

    #[test]
    fn what_a_process_has_open_is_written_by_its_link() {
        let (mut reader, writer) = io::pipe().unwrap();
        let path = descriptor(&writer);
        let There::Other(mut file) = Place::find(&path).unwrap().there().unwrap() else {
            panic!("it is not a pipe");
        };
        io::Write::write_all(&mut file, b"x").unwrap();
        drop((file, writer));
        let mut said = String::new();
        io::Read::read_to_string(&mut reader, &mut said).unwrap();
        assert_eq!(said, "x");
        assert!(Place::find(Path::new("/")).is_err() && Place::find(Path::new("")).is_err());
    }
}
