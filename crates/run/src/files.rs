// SPDX-License-Identifier: Apache-2.0
//! The files of an application: its own app.toml, or those of other tools, which become one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use whimbrel_import::{Format, Options, as_utf8, together};
use whimbrel_model::{Problem, Source, as_text, nearest};

use crate::failure::{Failure, say, show};

/// What the argument should be where an application is run.
pub const APPLICATION: &str = "the path of an app.toml or of its folder, as apps/fm_radio/app.toml";

/// The file that an argument names: of a folder its app.toml.
pub fn named(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("app.toml") } else { path.to_owned() }
}

/// The names in a folder that fit.
fn names_in(folder: &Path, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| fits(name)).collect();
    names.sort();
    names
}

/// The path with its first part that does not exist replaced by nearly the same one, if all of it
/// is there.
fn beside(path: &Path) -> Option<PathBuf> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing = path.ancestors().take_while(is_missing).last()?;
    let rest = path.strip_prefix(missing).ok()?;
    let with = |name: &str| {
        let part = missing.with_file_name(name);
        if rest.as_os_str().is_empty() { part } else { part.join(rest) }
    };
    let folder = missing.parent().filter(|folder| !folder.as_os_str().is_empty());
    let names = names_in(folder.unwrap_or(Path::new(".")), |name| with(name).exists());
    // What all names end with makes none of them near.
    let (alike, others): (Vec<&Path>, Vec<&Path>) =
        names.iter().map(Path::new).partition(|name| name.extension() == missing.extension());
    let stem = |name: &Path| name.file_stem().and_then(OsStr::to_str).map(str::to_owned);
    let stems: Vec<String> = alike.iter().filter_map(|name| stem(name)).collect();
    let meant = nearest(missing.file_stem()?.to_str()?, stems.iter().map(String::as_str));
    let by_stem = alike.iter().find(|name| meant.is_some() && stem(name).as_deref() == meant);
    match by_stem {
        Some(name) => Some(with(name.to_str()?)),
        None => {
            let others = others.iter().filter_map(|name| name.to_str());
            nearest(missing.file_name()?.to_str()?, others).map(with)
        }
    }
}

/// What to write instead of a file that cannot be read.
fn instead(path: &Path, error: &io::Error) -> Option<String> {
    let missing = Some(path).filter(|_| error.kind() == io::ErrorKind::NotFound);
    missing.and_then(beside).map(|meant| format!("write `{}`", meant.display()))
}

/// How long a pipe may have no writer.
const PIPE_TIME: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// A file as it was read.
#[derive(Debug)]
pub struct Given {
    path: String,
    contents: Vec<u8>,
}

impl Given {
    /// Reads a file; `wanted` says what the argument should be.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(path: &Path, wanted: &str) -> Result<Self, Problem> {
        let file = named(path);
        if path.is_dir() && !file.exists() {
            let problem = Problem::new(format!("the folder {} has no app.toml", path.display()));
            let applications = names_in(path, |name| path.join(name).join("app.toml").exists());
            return Err(problem.help(match &applications[..] {
                [] => format!("name {wanted}, or make one with `whimbrel new`"),
                names => format!("name an application in it: {}", names.join(", ")),
            }));
        }
        let contents = contents(&file).map_err(|error| {
            let problem = Problem::new(format!("{} cannot be read: {error}", file.display()));
            problem.help(instead(path, &error).unwrap_or_else(|| format!("name {wanted}")))
        })?;
        Ok(Self { path: file.display().to_string(), contents })
    }

    /// What it is, where that is clear and no app.toml.
    fn other_kind(&self) -> Option<&'static str> {
        let end = Path::new(&self.path).extension().and_then(OsStr::to_str);
        match (self.contents.trim_ascii(), end.unwrap_or_default()) {
            ([], _) => Some("is empty"),
            ([0x7f, b'E', b'L', b'F', ..], _) => Some("is a compiled program or module"),
            (_, "toml") => None,
            (_, "py") => Some("is a Python program"),
            (_, "c" | "h" | "cc" | "cpp" | "hpp" | "rs") => Some("is source code"),
            (_, "md" | "yaml" | "yml" | "sh") => Some("is of another format"),
            (contents, _) if as_text(contents).is_err() => Some("is a binary file"),
            _ => None,
        }
    }

    /// Reads several.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn read_all(paths: &[PathBuf], wanted: &str) -> Result<Vec<Self>, Problem> {
        paths.iter().map(|path| Self::read(path, wanted)).collect()
    }

    /// What problems point into.
    fn source(&self) -> Source {
        Source::new(self.path.clone(), String::from_utf8_lossy(&as_utf8(&self.contents)))
    }

    /// The same, if it is text.
    fn text(&self) -> Result<Source, Failure> {
        let source = self.source();
        match as_text(&self.contents) {
            Ok(_) => Ok(source),
            Err(problem) => Err(Failure::in_file(&source, vec![problem])),
        }
    }
}

/// Reads a file that a person has named. A device may have no end, and a pipe that nothing ever
/// writes to no beginning.
fn contents(path: &Path) -> io::Result<Vec<u8>> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let mut file = File::options().read(true).custom_flags(flags).open(path)?;
    let mut all = Vec::new();
    let kind = file.metadata()?.file_type();
    if kind.is_char_device() || kind.is_block_device() {
        return Err(io::Error::other("it is a device"));
    }
    if kind.is_fifo() {
        let written = poll(&mut [PollFd::new(&file, PollFlags::IN)], Some(&PIPE_TIME))?;
        // A writer that has opened it and writes nothing yet is waited for.
        if written == 0 {
            let mut first = [0];
            match file.read(&mut first) {
                Ok(0) => return Err(io::Error::other("nothing writes to this pipe")),
                Ok(_) => all.extend(first),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
    fcntl_setfl(&file, OFlags::empty())?;
    file.read_to_end(&mut all)?;
    Ok(all)
}

/// Reads a file of TOML that an option names; `what` is its name in errors, `wanted` what the
/// option takes.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn toml(path: &Path, what: &str, wanted: &str) -> Result<Source, Failure> {
    let contents = contents(path).map_err(|error| {
        let problem = Problem::new(format!("{what} {} cannot be read: {error}", path.display()));
        problem.help(instead(path, &error).unwrap_or_else(|| wanted.to_owned()))
    })?;
    Given { path: path.display().to_string(), contents }.text()
}

/// The application of files of other tools, which together are one; an app.toml as it is.
///
/// # Errors
/// A file is wrong, and reports show its lines; an app.toml is not alone, or no text.
pub fn translated(files: &[Given]) -> Result<Source, Failure> {
    let own = files.iter().find(|file| Format::of(&file.path).is_none());
    if let Some(own) = own {
        if let Some(what) = own.other_kind() {
            let problem = Problem::new(format!("{} {what}, not an app.toml", own.path));
            let beside = Path::new(&own.path).with_file_name("app.toml");
            return Err(problem
                .help(match beside.exists() {
                    true => format!("write `{}`", beside.display()),
                    false => format!("name {APPLICATION}"),
                })
                .into());
        }
        if files.len() == 1 {
            return own.text();
        }
        let problem = Problem::new(format!("{} is an application by itself", own.path));
        return Err(problem.help("name it alone: only files of other tools may be several").into());
    }
    let toml = imported(files, &Options::default(), WARNINGS)?;
    let more = match files.len() {
        1 => String::new(),
        n => format!(" and {} more", n - 1),
    };
    // Lines that are shown of it are not those of the files.
    Ok(Source::new(format!("{}{more}, as app.toml", files[0].path), toml))
}

/// Warnings that are shown of a file that is run.
const WARNINGS: usize = 5;

/// The text of an application; warnings go to standard error, so many of each file.
///
/// # Errors
/// A file is wrong, and reports show its lines.
pub fn imported(files: &[Given], options: &Options, most: usize) -> Result<String, Failure> {
    let contents: Vec<(&str, &[u8])> =
        files.iter().map(|file| (file.path.as_str(), file.contents.as_slice())).collect();
    let (toml, warnings) = together(&contents, options).map_err(|problems| {
        let reports = of_each(problems).into_iter().flat_map(|(file, problems)| {
            match Failure::in_file(&files[file].source(), problems) {
                Failure::Reports(reports) => reports,
                Failure::Output(_) => Vec::new(),
            }
        });
        Failure::Reports(reports.collect())
    })?;
    for (file, warnings) in of_each(warnings) {
        let source = files[file].source();
        let more = warnings.len().saturating_sub(most);
        for warning in warnings.into_iter().take(most) {
            show(&source.report(warning));
        }
        if more > 0 {
            say(&format!("  ⚠ … and {more} more in {}: whimbrel import shows them", source.name()));
        }
    }
    Ok(toml)
}

/// What is told of each file that anything is told of.
fn of_each<T>(told: Vec<(usize, T)>) -> BTreeMap<usize, Vec<T>> {
    let mut files: BTreeMap<usize, Vec<T>> = BTreeMap::new();
    for (file, what) in told {
        files.entry(file).or_default().push(what);
    }
    files
}
