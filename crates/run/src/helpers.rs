// SPDX-License-Identifier: Apache-2.0
//! Where the helper executables and the applications' modules are.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use whimbrel_model::{App, Problem, Source};

use crate::failure::Failure;

/// The kernels' launcher.
pub const LAUNCHER: &str = "whimbrel-linux";
/// The simulator.
pub const SIMULATOR: &str = "whimbrel-sim";
/// The benchmarks.
pub const BENCH: &str = "whimbrel-bench";

/// Where the helpers are of a program that is not in their folder.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Names the folder of the helper executables, for a program that is not in it. What was named
/// first stays.
pub fn are_in(folder: PathBuf) {
    // That of a second call is the same.
    let _ = FOLDER.set(folder);
}

/// The folder of the helper executables: beside this one, unless `WHIMBREL_LIBEXEC` names another.
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
    Ok(here.parent().unwrap_or(Path::new("/")).to_owned())
}

/// The folder that has `boards`, `platforms` and what is built.
///
/// # Errors
/// As [`folder`].
pub fn root() -> Result<PathBuf, Failure> {
    let root = folder()?.join("..");
    Ok(root.canonicalize().unwrap_or(root))
}

/// The folder of the applications' modules that came with this command.
///
/// # Errors
/// As [`folder`].
pub fn modules() -> Result<PathBuf, Failure> {
    let modules = root()?.join("build/apps");
    Ok(modules.canonicalize().unwrap_or(modules))
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
    let help = "build it with `make build`, or set WHIMBREL_LIBEXEC to the folder it is in";
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
    let problem = Problem::new(format!("the module `{module}` does not exist"))
        .at(app.module.span(), "this file")
        .help(format!(
            "build it with `make build`; it was looked for at {} and at {}",
            beside.display(),
            built.display(),
        ));
    Err(Failure::Reports(vec![source.report(problem)]))
}
