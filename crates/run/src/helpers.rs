// SPDX-License-Identifier: Apache-2.0
//! Where the parts of Whimbrel are: in a source tree, or where `make install` puts them.
//!
//! | part | source tree | installed |
//! |---|---|---|
//! | the command | `bin/whimbrel` | `PREFIX/bin/whimbrel` |
//! | its helpers ([`folder`]) | `bin` | `PREFIX/libexec/whimbrel` |
//! | modules ([`modules`]) | `build/apps` | `PREFIX/libexec/whimbrel/build/apps` |
//! | `boards`, `platforms`, sources ([`root`]) | `.` | `PREFIX/share/whimbrel` |
//! | images being built ([`images`]) | `build/boards` | in the user's cache |
//!
//! The prefix is found from the command's own place, and may be moved.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use whimbrel_model::{App, Problem, Source, suggestion};

use crate::failure::Failure;
use crate::fingerprint;

/// The kernels' launcher.
pub const LAUNCHER: &str = "whimbrel-linux";
/// The simulator.
pub const SIMULATOR: &str = "whimbrel-sim";
/// The benchmarks.
pub const BENCH: &str = "whimbrel-bench";

/// The folder of the helpers below a prefix, and that of all that is the same on each machine.
const LIBEXEC: &str = "libexec/whimbrel";
const SHARE: &str = "share/whimbrel";

/// Where the helpers are of a program that is not in their folder.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Names the folder of the helper executables, for a program that is not in it. What was named
/// first stays.
pub fn are_in(folder: PathBuf) {
    // That of a second call is the same.
    let _ = FOLDER.set(folder);
}

/// The folder of the helper executables: that of the prefix in whose `bin` this one is, else beside
/// this one, unless `WHIMBREL_LIBEXEC` names another.
///
/// # Errors
/// The place of this executable is not known.
pub fn folder() -> Result<PathBuf, Failure> {
    if let Some(folder) = env::var_os("WHIMBREL_LIBEXEC") {
        return Ok(folder.into());
    }
    if let Some(folder) = FOLDER.get() {
        return Ok(folder.clone());
    }
    let here = env::current_exe().and_then(|exe| exe.canonicalize()).map_err(|error| {
        Problem::new(format!("the place of this command is not known: {error}"))
            .help("set WHIMBREL_LIBEXEC to the folder of whimbrel-linux")
    })?;
    let beside = here.parent().unwrap_or(Path::new("/"));
    let installed = beside.join("..").join(LIBEXEC).canonicalize();
    Ok(installed.unwrap_or_else(|_| beside.to_owned()))
}

/// The prefix that these helpers were installed below; those of a source tree have none.
fn prefix(helpers: &Path) -> Option<PathBuf> {
    let helpers = helpers.canonicalize().ok()?;
    let prefix = helpers.ends_with(LIBEXEC).then(|| helpers.ancestors().nth(2))?;
    prefix.map(Path::to_owned)
}

/// The folder that has `boards`, `platforms` and the sources that images are built of.
///
/// # Errors
/// As [`folder`].
pub fn root() -> Result<PathBuf, Failure> {
    let helpers = folder()?;
    let root = prefix(&helpers).map_or_else(|| helpers.join(".."), |prefix| prefix.join(SHARE));
    Ok(root.canonicalize().unwrap_or(root))
}

/// The folder of the applications' modules that came with this command.
///
/// # Errors
/// As [`folder`].
pub fn modules() -> Result<PathBuf, Failure> {
    let helpers = folder()?;
    let of = if prefix(&helpers).is_some() { helpers } else { root()? };
    let modules = of.join("build/apps");
    Ok(modules.canonicalize().unwrap_or(modules))
}

/// The folder that images of boards are built in. What is installed is not written to: each version
/// at each place has a folder of its own in the user's cache.
///
/// # Errors
/// As [`folder`], or the user has no cache.
pub fn images() -> Result<PathBuf, Failure> {
    let root = root()?;
    if prefix(&folder()?).is_none() {
        return Ok(root.join("build/boards"));
    }
    let cache = user_folder("XDG_CACHE_HOME", ".cache").ok_or_else(|| {
        Problem::new("this user has no folder for caches").help("set XDG_CACHE_HOME or HOME")
    })?;
    let place = fingerprint(&root.display().to_string());
    Ok(cache.join(format!("whimbrel/{}-{place}", env!("CARGO_PKG_VERSION"))))
}

/// The names of what is in a folder that came with this command, as `name` makes them of the
/// names of its files.
pub fn names_in(folder: &str, name: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let entries = root().ok().and_then(|root| fs::read_dir(root.join(folder)).ok());
    let names = entries.into_iter().flatten().filter_map(|entry| {
        let file = entry.ok()?.file_name();
        name(file.to_str()?)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A platform or a board that is not among those that came with this command.
pub fn no_such(what: &str, wanted: &str, known: &[String], file: &str) -> Problem {
    let problem = Problem::new(format!("no {what} is called `{wanted}`"));
    if known.is_empty() {
        let help = "correct WHIMBREL_LIBEXEC, or install Whimbrel again";
        return problem.help(format!("{help}: this command finds no {what}"));
    }
    let all = format!("name one of {}, or the path of {file}", known.join(", "));
    problem.help(suggestion(wanted, known.iter().map(String::as_str), || all))
}

/// A folder of this user: the one that the environment names, else the one below the home folder.
pub fn user_folder(key: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |key| env::var_os(key).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(key).or_else(|| absolute("HOME").map(|home| home.join(below_home)))
}

/// The path of a helper.
///
/// # Errors
/// It is not there.
pub fn find(name: &str) -> Result<PathBuf, Failure> {
    let path = folder()?.join(name);
    // Whole, for it is started in another folder.
    if let Some(path) = path.canonicalize().ok().filter(|path| path.is_file()) {
        return Ok(path);
    }
    let message = format!("the helper {} does not exist", path.display());
    let make = if prefix(&folder()?).is_some() {
        "install Whimbrel again"
    } else {
        "build it with `make build`"
    };
    let help = format!("{make}, or set WHIMBREL_LIBEXEC to the folder it is in");
    Err(Problem::new(message).help(help).into())
}

/// Finds the module of an application: beside its app.toml, else where `make build` puts modules.
///
/// # Errors
/// It is in neither place; the report shows the line that names it.
pub fn find_module(app: &App, app_folder: &Path, source: &Source) -> Result<PathBuf, Failure> {
    let module = app.module.get_ref();
    let beside = app_folder.join(module);
    let built = modules()?.join(module);

    for place in [&beside, &built] {
        if let Some(path) = place.canonicalize().ok().filter(|path| path.is_file()) {
            return Ok(path);
        }
    }
    let make = if app_folder.join("Makefile").is_file() {
        format!("make -C {}", app_folder.display())
    } else {
        "make build".to_owned()
    };
    let problem = Problem::new(format!("the module `{module}` does not exist"))
        .at(app.module.span(), "this file")
        .help(format!(
            "build it with `{make}`; it was looked for at {} and at {}",
            beside.display(),
            built.display(),
        ));
    Err(Failure::Reports(vec![source.report(problem)]))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{LIBEXEC, prefix};

    #[test]
    fn what_lies_in_libexec_was_installed_below_a_prefix() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().canonicalize().unwrap();
        for helpers in [LIBEXEC, "bin", "opt/bin"] {
            fs::create_dir_all(place.join(helpers)).unwrap();
        }
        assert_eq!(prefix(&place.join("opt/bin/../..").join(LIBEXEC)), Some(place.clone()));
        assert_eq!(prefix(&place.join("bin")), None);
        assert_eq!(prefix(&place.join("nowhere").join(LIBEXEC)), None);
    }
}
