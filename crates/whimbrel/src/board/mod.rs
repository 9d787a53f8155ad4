// SPDX-License-Identifier: Apache-2.0
//! Boards: where their files are, how their images are built, and their serial lines.

pub mod image;
pub mod serial;

use std::fs;
use std::path::{Path, PathBuf};

use whimbrel_model::Problem;
use whimbrel_model::{Board, Source};

use crate::failure::Failure;
use crate::helpers;

/// The file that describes a board, in a folder of its name.
const FILE: &str = "board.toml";

/// Reads a board: the name of one that comes with Whimbrel, or the path of a file. Gives the folder
/// of the file as well.
///
/// # Errors
/// It does not exist, or makes no sense.
pub fn read(wanted: &str) -> Result<(Board, PathBuf), Failure> {
    let path = if wanted.contains('/') || wanted.ends_with(".toml") {
        PathBuf::from(wanted)
    } else {
        helpers::root()?.join("boards").join(wanted).join(FILE)
    };
    let text = fs::read_to_string(&path).map_err(|error| {
        Problem::new(format!("the board {} cannot be read: {error}", path.display()))
            .help("--board takes the name of a folder in boards, or the path of a board.toml")
    })?;
    let source = Source::new(path.display().to_string(), text);
    let board =
        Board::parse(source.text()).map_err(|problems| Failure::in_file(&source, problems))?;
    let path = path.canonicalize().unwrap_or(path);
    Ok((board, path.parent().unwrap_or(Path::new("/")).to_owned()))
}
