// SPDX-License-Identifier: Apache-2.0
//! The guests of a run: their images, and the commands that start them.

use std::borrow::Cow;
use std::path::Path;
use std::process::{Command, Stdio};

use whimbrel_model::{Board, GuestStart, Plan, Problem, hash, tables};

use crate::board::image;
use crate::failure::{Failure, say};
use crate::fingerprint::fingerprint;
use crate::load::{GuestBoards, Loaded, utf8};
use crate::rundir::{GUEST_IMAGE, RunDir};

/// The plan with the commands of its guests, whose images are built.
///
/// # Errors
/// An emulator is missing or too old, or an image cannot be built.
pub fn completed<'p>(
    loaded: &Loaded,
    plan: &'p Plan,
    run: &RunDir,
    quiet: bool,
) -> Result<Cow<'p, Plan>, Failure> {
    let Loaded { app, guests: GuestBoards { guests, folders }, kinds, .. } = loaded;
    if guests.boards.is_empty() {
        return Ok(Cow::Borrowed(plan));
    }
    for (board, folder) in guests.boards.iter().zip(folders) {
        check_emulator(board, folder, &loaded.folder)?;
    }
    let hash = hash(plan, fingerprint);
    let moves = loaded.schedule.moves(app);
    let mut complete = plan.clone();
    for (number, (board, folder)) in (1..).zip(guests.boards.iter().zip(folders)) {
        let path = run.path().join(format!("{number}{GUEST_IMAGE}"));
        let of_guest = guests.plan_of(number, plan, app, kinds, &moves);
        let parts = image::Parts {
            app,
            source: &loaded.source,
            folder: &loaded.folder,
            tables: &(tables(&of_guest, &app.name, &hash) + &loaded.linked(board)?),
            is_guest: true,
        };
        let progress = |line: &str| {
            if !quiet {
                say(line);
            }
        };
        image::build((board, folder), &parts, &path, progress)?;
        let command = board.guest_command(&utf8(&path)?, &utf8(folder)?);
        complete.guests[number as usize - 1].command = command;
    }
    complete.hash = Some(hash);
    Ok(Cow::Owned(complete))
}

/// Asks an emulator for its version, where the board says the least that it may have.
fn check_emulator(board: &Board, folder: &Path, here: &Path) -> Result<(), Problem> {
    let Some(GuestStart { version_least, .. }) = &board.guest else { return Ok(()) };
    if version_least.is_empty() {
        return Ok(());
    }
    let words = board.guest_command("", &utf8(folder)?);
    let program = words.first().map_or("", String::as_str);
    let made_by = &board.made_by;
    let asked = Command::new(program)
        .arg("--version")
        .current_dir(here)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            let message = format!("the guest {} cannot be started: {program}: {error}", board.name);
            Problem::new(message).help(format!(
                "install it with `{made_by}`, or change `command` of [guest] of board.toml"
            ))
        })?;
    let said = String::from_utf8_lossy(&asked.stdout);
    let least = dotted(version_least);
    let help = format!("install {least} or later, or name another by `command` of [guest]");
    match version(&said) {
        Some(version) if version >= *version_least => Ok(()),
        Some(version) => {
            let version = dotted(&version);
            let message = format!(
                "the guest {} needs {program} {least}, and this one has version {version}",
                board.name
            );
            Err(Problem::new(message).help(help))
        }
        None => {
            let message = format!(
                "the guest {} needs {program} {least}, and `{program} --version` names none",
                board.name
            );
            Err(Problem::new(message).help(help))
        }
    }
}

/// The first version in what a program says of itself: `QEMU emulator version 7.2.15 (Debian …)`.
fn version(said: &str) -> Option<Vec<u32>> {
    let numbers = |word: &str| {
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let numbers: Vec<u32> = word[..end].split('.').map_while(|it| it.parse().ok()).collect();
        (numbers.len() > 1).then_some(numbers)
    };
    said.split_whitespace().find_map(numbers)
}

fn dotted(version: &[u32]) -> String {
    version.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn a_version_is_the_first_number_with_a_dot() {
        let said = "QEMU emulator version 7.2.15 (Debian 1:7.2+dfsg-7)\nCopyright (c) 2003-2022";
        assert_eq!(version(said), Some(vec![7, 2, 15]));
        assert_eq!(version("emulator 10.0-rc1"), Some(vec![10, 0]));
        assert_eq!(version("version 8 of 2003-2022 v7.2"), None);
        assert!(version("v 10.0").unwrap() >= vec![7, 2]);
    }
}
