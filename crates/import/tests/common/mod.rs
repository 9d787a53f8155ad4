// SPDX-License-Identifier: Apache-2.0
//! What the tests of this crate share: files of other tools as applications.

#[path = "../../../model/tests/common/mod.rs"]
mod model;

use std::path::{Path, PathBuf};

use whimbrel_import::{Options, together};
use whimbrel_model::{Problem, Problems};

pub use model::{build, plan_of, shown, told};

/// Where a file of another tool is.
pub fn sample_path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(file)
}

/// An application that was made of a file of another tool.
#[derive(Debug)]
pub struct Imported {
    pub toml: String,
    pub warnings: Vec<Problem>,
}

/// Makes one of a single file.
pub fn import(
    path: &str,
    contents: impl AsRef<[u8]>,
    options: &Options,
) -> Result<Imported, Problems> {
    let (toml, warnings) = together(&[(path, contents.as_ref())], options)
        .map_err(|all| all.into_iter().map(|(_, problem)| problem).collect::<Problems>())?;
    let warnings = warnings.into_iter().map(|(_, warning)| warning).collect();
    Ok(Imported { toml, warnings })
}
