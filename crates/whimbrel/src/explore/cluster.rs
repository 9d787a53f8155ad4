// SPDX-License-Identifier: Apache-2.0
//! `--scheduler`: the Python package explores, for it is that which speaks with Dask.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use whimbrel_model::Problem;

use crate::cli::ExploreArgs;

/// The environment's name for the Python that has the package.
const PYTHON: &str = "WHIMBREL_PYTHON";

/// Ends with status 0 where the package is there, and with [`MISSING`] where it is not. A folder of
/// its name has no origin: to Python it is a package all the same, with nothing in it.
const LOOK: &str = "import importlib.util, sys; found = importlib.util.find_spec('whimbrel'); \
                    sys.exit(0 if found and found.origin else 3)";
const MISSING: i32 = 3;

/// Nothing is imported from the folder that the command is started in: a file of the package's name
/// there may be another user's.
const SAFE: &str = "-P";

/// Becomes the package's exploration, which gets the options as JSON. Comes back with what is wrong
/// only if they have no JSON, there is no such Python, it does not work, or there is no package in
/// it.
pub fn hand_over(args: &ExploreArgs) -> Problem {
    let options = match serde_json::to_string(args) {
        Ok(options) => options,
        Err(error) => {
            return Problem::new(format!("--scheduler: {error}")).help("report this as a bug");
        }
    };
    let python = env::var_os(PYTHON).unwrap_or_else(|| OsString::from("python3"));
    let why = match Command::new(&python).args([SAFE, "-c", LOOK]).output() {
        Ok(look) if look.status.code() == Some(MISSING) => "has no package `whimbrel`".to_owned(),
        Ok(look) if !look.status.success() => failed(&look),
        _ => {
            let mut command = Command::new(&python);
            let error = command.args([SAFE, "-m", "whimbrel.cluster", &options]).exec();
            format!("cannot be started: {error}")
        }
    };
    let message = format!("--scheduler: {} {why}", Path::new(&python).display());
    Problem::new(message).help(format!(
        "install the package with `pip install ./python`, or set {PYTHON} to a Python that has it"
    ))
}

/// How Python ended, and what it said.
fn failed(look: &Output) -> String {
    let said = String::from_utf8_lossy(&look.stderr);
    match said.trim() {
        "" => format!("failed ({})", look.status),
        said => format!("failed ({}): {said}", look.status),
    }
}
