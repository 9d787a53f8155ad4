// SPDX-License-Identifier: Apache-2.0
//! Boards: where their files are, how their images are built, and their serial lines.

pub mod image;
pub mod link;
pub mod serial;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use whimbrel_model::Board;
use whimbrel_model::Problem;
use whimbrel_text::suggestion;

use crate::failure::Failure;
use crate::files;
use crate::helpers;

/// The file that describes a board, in a folder of its name.
const FILE: &str = "board.toml";

/// Reads a board: the name of one that comes with Whimbrel, or the path of a file, with the name of
/// one of its variants behind a colon. Gives the folder of the file as well.
///
/// `by`: the option that wants it.
///
/// # Errors
/// It does not exist, or makes no sense.
pub fn read(wanted: &str, by: impl Display) -> Result<(Board, PathBuf), Failure> {
    let (wanted, variant) = match wanted.rsplit_once(':') {
        Some((wanted, name)) if !name.contains('/') => (wanted, Some(name)),
        _ => (wanted, None),
    };
    let path = if is_path(wanted) { PathBuf::from(wanted) } else { file_of(wanted)? };
    let wanted = format!("give {by} the name of a folder in boards, or the path of a board.toml");
    let source = files::toml(&path, "the board", &wanted)?;
    let board =
        Board::parse(source.text()).map_err(|problems| Failure::in_file(&source, problems))?;
    let board = match variant {
        Some(name) => board.variant(name).ok_or_else(|| unknown(&board, name))?,
        None => board,
    };
    let path = path.canonicalize().unwrap_or(path);
    Ok((board, path.parent().unwrap_or(Path::new("/")).to_owned()))
}

/// The boards that came with this command.
pub fn boards() -> Vec<String> {
    let exists = |name: &String| place(name).is_ok_and(|path| path.exists());
    helpers::names_in("boards", |name| Some(name.to_owned()).filter(exists))
}

fn place(name: &str) -> Result<PathBuf, Failure> {
    Ok(helpers::root()?.join("boards").join(name).join(FILE))
}

fn file_of(wanted: &str) -> Result<PathBuf, Failure> {
    let path = place(wanted)?;
    if path.exists() {
        Ok(path)
    } else {
        Err(helpers::no_such("board", wanted, &boards(), "a board.toml").into())
    }
}

/// Whether a board, perhaps with a variant, is named by the path of its file.
pub fn is_path(wanted: &str) -> bool {
    wanted.contains('/') || wanted.split(':').any(|part| part.ends_with(".toml"))
}

fn unknown(board: &Board, name: &str) -> Problem {
    let known: Vec<_> = board.variants.iter().map(|variant| variant.name.as_str()).collect();
    let help = suggestion(name, known.iter().copied(), || match known.join(", ").as_str() {
        "" => "leave it out: it has none".to_owned(),
        all => format!("name one that it has: {all}"),
    });
    Problem::new(format!("the board {} has no variant `{name}`", board.name)).help(help)
}
