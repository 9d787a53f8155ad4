// SPDX-License-Identifier: Apache-2.0
//! Keys that only some kernels know: others refuse them, or pass over them, as declared.

use std::collections::BTreeMap;
use std::fs;

use crate::common::{build, root, shown};
use insta::assert_snapshot;
use whimbrel_model::{Board, Kernels, KeyTable, Manifest, Only, Platform, Shape};

/// An application with a line in a task, which has a channel.
fn with(line: &str) -> String {
    format!(
        "[app]\nname = \"a\"\n[[task]]\nname = \"one\"\n{line}\n[[task]]\nname = \"two\"\n\
         cycles = 1\n[[channel]]\nfrom = \"one.out\"\nto = \"two.in\"\nslots = 2\n\
         slot_bytes = 8\n"
    )
}

fn board(name: &str) -> Board {
    let text = fs::read_to_string(root().join("boards/rv32_soc/board.toml")).unwrap();
    let board = Board::parse(&text).unwrap();
    if name.is_empty() { board } else { board.variant(name).unwrap() }
}

/// The keys of a file that only some kernels know, by their names.
fn only(table: &'static KeyTable) -> BTreeMap<&'static str, Only> {
    let mut found = BTreeMap::new();
    for key in table.all() {
        found.extend(key.only.map(|only| (key.name, only)));
        if let Shape::Table(_, below) | Shape::Tables(_, below) = key.shape {
            found.extend(self::only(below));
        }
    }
    found
}

/// Which kernels take an application with this line in a task.
fn taken(line: &str) -> [bool; 4] {
    let (plain, sharing) = (board(""), board("hardware"));
    let app = build(&with(line), &[]).unwrap();
    [Kernels::Linux, Kernels::Simulator, Kernels::Board(&plain), Kernels::Board(&sharing)]
        .map(|kernels| app.check_only(kernels).is_ok())
}

#[test]
fn a_key_is_refused_where_its_kernels_are_not() {
    let lines = BTreeMap::from([
        ("client", ("client = true", [true, false, false, false])),
        ("cores", ("cores = [0, 1]\ncycles = 1", [false, false, false, true])),
    ]);
    static KEYS: KeyTable = Manifest::KEYS;
    let known: Vec<_> =
        only(&KEYS).into_iter().filter(|(_, only)| matches!(only, Only::Known(_))).collect();
    assert_eq!(known.len(), lines.len(), "each has a line here: {known:?}");
    for (key, _) in known {
        let (line, wanted) = lines[key];
        assert_eq!(taken(line), wanted, "{key}");
    }
    assert_eq!(taken("cycles = 1\nclient = false"), [true; 4], "its value without the key");
}

#[test]
fn a_key_that_is_refused_is_told_at_its_value() {
    let text = with("cores = [0, 1]\ncycles = 1");
    let problems = build(&text, &[]).unwrap().check_only(Kernels::Simulator).unwrap_err();
    assert_snapshot!(shown("app.toml", &text, problems));
}

#[test]
fn a_key_that_other_kernels_pass_over_is_taken_by_all() {
    assert_eq!(taken("cycles = 1\nnice = 5"), [true; 4]);
}

/// A platform is the same file for a run and for its simulation, and a board for all of them.
#[test]
fn keys_of_platforms_and_boards_are_passed_over_where_they_are_not_known() {
    static KEYS: [KeyTable; 2] = [Platform::KEYS, Board::KEYS];
    for keys in &KEYS {
        let refused = only(keys).into_iter().find(|(_, only)| matches!(only, Only::Known(_)));
        assert_eq!(refused, None);
    }
}
