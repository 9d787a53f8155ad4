// SPDX-License-Identifier: Apache-2.0
//! Helpers that several targets use.

use std::env;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::pwrite;
use whimbrel_import::{Options, as_utf8, together};
use whimbrel_model::{App, Manifest, PlanOptions, Problem, Problems, Source, plan};

/// The path of a socket has 107 bytes at most.
const PLACE_LEN_MAX: usize = 80;

/// For the files and sockets of targets, wherever `TMPDIR` is. Nothing removes it.
pub static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let place = env::temp_dir();
    let is_short = place.as_os_str().len() <= PLACE_LEN_MAX;
    let folder = tempfile::tempdir_in(if is_short { &place } else { Path::new("/tmp") });
    folder.unwrap().keep()
});

/// A file in memory, for what reads files by their paths.
#[derive(Debug)]
pub struct MemoryFile {
    file: OwnedFd,
}

impl MemoryFile {
    /// An empty one.
    ///
    /// # Errors
    /// The system refuses.
    pub fn new() -> io::Result<Self> {
        Ok(Self { file: memfd_create("fuzz", MemfdFlags::CLOEXEC)? })
    }

    /// Where it is, for this process.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }

    /// Makes it hold nothing but this.
    ///
    /// # Errors
    /// The system refuses.
    pub fn hold(&self, bytes: &[u8]) -> io::Result<()> {
        ftruncate(&self.file, 0)?;
        let written = pwrite(&self.file, bytes, 0)?;
        if written == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }
}

/// What takes all that is written, and counts it.
#[derive(Debug, Default)]
pub struct Nowhere(pub u64);

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Files of other tools as an application, as far as they are one.
pub fn import(path: &str, contents: &[u8]) {
    match together(&[(path, contents)], &Options::default()) {
        Ok((toml, warnings)) => {
            show(path, contents, warnings);
            // What was made of a file is an application, or says what is wrong with it.
            let made = Manifest::parse(&toml).and_then(|manifest| build(&manifest));
            if let Err(problems) = made {
                show("app.toml", toml.as_bytes(), problems.iter().cloned().map(|one| (0, one)));
            }
        }
        Err(problems) => show(path, contents, problems),
    }
}

/// An application of its parts, and the plan of it.
///
/// # Errors
/// What is wrong with it.
pub fn build(manifest: &Manifest) -> Result<App, Problems> {
    let app = App::build(manifest, &[], Path::new("/apps/fuzz"), Path::new("/home"))?;
    let line = plan(&app, &PlanOptions::plain(vec![0, 1], "fuzz.so")).line();
    assert_eq!(line.find('\n'), Some(line.len() - 1), "a plan is a line");
    Ok(app)
}

/// Problems as a person sees them. Only the first: thousands take as long as they are many.
pub fn show(path: &str, contents: &[u8], all: impl IntoIterator<Item = (usize, Problem)>) {
    let source = Source::new(path, String::from_utf8_lossy(&as_utf8(contents)));
    for (_, problem) in all.into_iter().take(2) {
        let _ = format!("{:?}", source.report(problem));
    }
}
