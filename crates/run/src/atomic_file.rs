// SPDX-License-Identifier: Apache-2.0
//! Files that are there whole or not at all.
//!
//! What is written has no name until it is complete, and then takes the place of what was there. A
//! link is followed, unless somebody else may have put it there: its target is what is replaced.
//! What is there and no file, as a pipe or a device, is written to and stays.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;

use rustix::fs::{AtFlags, CWD, linkat};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::{Builder, NamedTempFile, TempPath};
use whimbrel_model::Problem;
use whimbrel_occupy::place::{Place, There};
use whimbrel_text::cure;

use crate::signals::is_ignored;

/// What new files may be, for the umask to take from.
const MODE: u32 = 0o666;

/// The name of a file that is not complete, where it cannot be without one. Whoever gives such a
/// file its name or another holds the lock.
static NAMED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Writes a file.
///
/// # Errors
/// That of `fill`, or it cannot be written; what was there is as it was then.
pub fn write<T, E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut File) -> Result<T, E>,
) -> Result<T, E> {
    let place = Place::find(path)?;
    let (replace, mode) = match place.there()? {
        There::Other(mut there) => return fill(&mut there),
        There::File(mode) => (true, mode),
        There::Nothing => (false, None),
    };
    // By the folder's descriptor, so that no other folder takes its place.
    let path = place.path();
    let mut new = New::beside(&path)?;
    if let Some(mode) = mode {
        new.file().set_permissions(Permissions::from_mode(mode))?;
    }
    let filled = fill(new.file())?;
    new.put(&path, replace)?;
    Ok(filled)
}

/// The same, with what a person is told when it cannot be written.
///
/// # Errors
/// As [`write()`].
pub fn save(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), Problem> {
    let written = write(path, fill);
    written.map_err(|error| {
        Problem::new(format!("{} cannot be written: {error}", path.display())).help(cure(&error))
    })
}

/// From here on a signal that ends this command removes what it was writing.
///
/// For commands that leave signals to the system otherwise. Those that whoever started it has it
/// ignore, as `nohup` does, stay ignored.
pub fn clean_up_after_signals() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without this nothing is left either where files need no name.
        let taken = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
        let Ok(mut signals) = Signals::new(taken) else { return };
        thread::spawn(move || {
            for signal in signals.forever() {
                // Held to the end: nothing gets a name any more.
                let named = lock();
                if let Some(path) = named.as_ref() {
                    let _ = fs::remove_file(path);
                }
                // It does not return from these.
                let _ = emulate_default_handler(signal);
            }
        });
    });
}

fn lock() -> MutexGuard<'static, Option<PathBuf>> {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A file that is not complete.
#[derive(Debug)]
enum New {
    /// It is gone with this process, however that ends.
    Nameless(File),
    /// On a file system that has no files without names.
    Named(NamedTempFile),
}

impl New {
    /// In the folder of the one it will be.
    fn beside(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.write(true).mode(MODE).custom_flags(libc::O_TMPFILE);
        options.open(folder(path)).map(Self::Nameless).or_else(|error| match error.raw_os_error() {
            Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL | libc::EISDIR) => {
                Self::named(path)
            }
            _ => Err(error),
        })
    }

    fn named(path: &Path) -> io::Result<Self> {
        let mut named = lock();
        let file = hidden().permissions(Permissions::from_mode(MODE)).tempfile_in(folder(path))?;
        *named = Some(file.path().to_owned());
        Ok(Self::Named(file))
    }

    fn file(&mut self) -> &mut File {
        match self {
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Gives it the name it is to have; `replace`: something has that name.
    fn put(self, path: &Path, replace: bool) -> io::Result<()> {
        let mut named = lock();
        let temporary = match self {
            Self::Named(file) => file.into_temp_path(),
            Self::Nameless(file) if replace => linked_beside(&file, path)?,
            Self::Nameless(file) => match link(&file, path) {
                // Somebody was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    linked_beside(&file, path)?
                }
                linked => return linked,
            },
        };
        *named = None;
        temporary.persist(path).map_err(|error| error.error)
    }
}

fn hidden() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".whimbrel-");
    builder
}

/// Gives a nameless file a name that nothing has: only a rename replaces what is there.
fn linked_beside(file: &File, path: &Path) -> io::Result<TempPath> {
    let linked = hidden().make_in(folder(path), |name| link(file, name))?;
    Ok(linked.into_temp_path())
}

fn link(file: &File, name: &Path) -> io::Result<()> {
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, nameless, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    fn put(new: io::Result<New>, path: &Path, replace: bool) {
        let mut new = new.unwrap();
        new.file().write_all(b"new").unwrap();
        new.put(path, replace).unwrap();
    }

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_takes_its_place_with_a_name_before_or_without() {
        let folder = tempfile::tempdir().unwrap();
        for (n, make) in [New::beside, New::named].into_iter().enumerate() {
            let path = folder.path().join(format!("file-{n}"));
            let fresh = File::create(folder.path().join("fresh")).unwrap();
            put(make(&path), &path, false);
            let modes = [fs::metadata(&path).unwrap(), fresh.metadata().unwrap()];
            assert_eq!(modes[0].permissions(), modes[1].permissions());
            fs::write(&path, "old").unwrap();
            // What came meanwhile is replaced as well.
            for replace in [true, false] {
                put(make(&path), &path, replace);
                assert_eq!(fs::read_to_string(&path).unwrap(), "new");
            }
            drop(make(&path).unwrap());
        }
        assert_eq!(entries(folder.path()), 3);
        assert!(lock().as_ref().is_none_or(|path| !path.exists()));
    }

    #[test]
    fn links_are_followed_to_what_is_there_or_not_but_not_in_a_circle() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("far")).unwrap();
        symlink("far/link", at("near")).unwrap();
        symlink("file", at("far/link")).unwrap();
        for text in ["first", "second"] {
            write(&at("near"), |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(at("far/file")).unwrap(), text);
        }
        assert!(at("near").is_symlink() && at("far/link").is_symlink());
        symlink("circle", at("circle")).unwrap();
        let error = write(&at("circle"), |_| Ok::<_, io::Error>(())).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ELOOP));
    }

    #[test]
    fn what_was_there_keeps_its_mode_and_its_content_when_writing_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let failed = write(&path, |file| {
            file.write_all(b"half")?;
            Err::<(), _>(io::Error::other("no more"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        write(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(entries(folder.path()), 1);
    }
}
