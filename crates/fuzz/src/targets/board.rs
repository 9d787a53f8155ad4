// SPDX-License-Identifier: Apache-2.0
//! A board, and each of its variants.

use std::str::from_utf8;

use crate::shared::show;
use whimbrel_model::Board;

pub fn read(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    match Board::parse(text) {
        Ok(board) => {
            let _ = board.command("image", "/boards/fuzz");
            for variant in &board.variants {
                let _ = board.variant(&variant.name);
            }
        }
        Err(problems) => show("board.toml", data, problems.iter().cloned().map(|one| (0, one))),
    }
}
