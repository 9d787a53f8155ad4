// SPDX-License-Identifier: Apache-2.0
//! Files that are made of the declarations of keys and members are as these say. `make keys` makes
//! them anew.

use std::fs;
use std::path::Path;

use whimbrel_model::{Board, Manifest, Plan, Platform, Table};
use whimbrel_model::{key_list, member_list, parse_rows, python};

use crate::common::root;

/// What a file is, from what it was.
fn made_of_keys(file: &Path, make: impl FnOnce(&str) -> String) {
    let old = fs::read_to_string(file).unwrap_or_default();
    let new = make(&old);
    if std::env::var_os("WHIMBREL_WRITE_KEYS").is_some() {
        fs::write(file, new).unwrap();
    } else {
        assert!(old == new, "{} is not as the keys are declared: `make keys`", file.display());
    }
}

/// A document with another first example.
fn with_example(document: &str, example: &str) -> String {
    let (before, rest) = document.split_once("```toml\n").unwrap();
    let (_, after) = rest.split_once("```").unwrap();
    format!("{before}```toml\n{example}```{after}")
}

#[test]
fn documents_list_the_keys() {
    let list = key_list(&Manifest::KEYS);
    Manifest::parse(&list).unwrap();
    made_of_keys(&root().join("docs/app-toml.md"), |old| with_example(old, &list));
}

#[test]
fn the_document_of_boards_lists_their_keys() {
    let list = key_list(&Board::KEYS);
    // A board has one line: [start] is before [guest], which has a command as well.
    for (without, other) in [("command =", "Device"), ("device =", "Command")] {
        let (before, rest) = list.split_once(&format!("\n{without}")).unwrap();
        let (_, after) = rest.split_once('\n').unwrap();
        let board = Board::parse(&format!("{before}\n{after}")).unwrap();
        assert!(format!("{:?}", board.start).starts_with(other));
    }
    made_of_keys(&root().join("docs/board-toml.md"), |old| with_example(old, &list));
}

#[test]
fn the_document_of_platforms_lists_their_keys() {
    let list = key_list(&Platform::KEYS);
    // Shared memory is of no core, and a platform has a bus or a mesh.
    let in_memory = |table: &str| table.starts_with("[[memory]]");
    let tables = list.split_inclusive("\n\n").filter(|table| !table.starts_with("[bus]"));
    let example: String = tables
        .flat_map(|table| table.lines().map(move |line| (in_memory(table), line)))
        .filter(|(in_memory, line)| !(*in_memory && line.starts_with("core = ")))
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    let platform = Platform::parse(&example).unwrap().description().unwrap();
    assert_eq!((platform.cores[1].node, platform.thermal.unwrap().blocks.len()), ((1, 0), 2));
    made_of_keys(&root().join("docs/platform-toml.md"), |old| with_example(old, &list));
}

#[test]
fn the_document_of_tables_has_every_key() {
    let page = fs::read_to_string(root().join("docs/policies.md")).unwrap();
    let list = key_list(&Table::KEYS);
    Table::parse(&list).unwrap();
    for line in list.lines().filter_map(|line| line.split_once(" = ")) {
        assert!(page.contains(&format!("\n{} = ", line.0)), "{}", line.0);
    }
}

#[test]
fn python_has_a_class_for_each_table() {
    const HEAD: &str = "# SPDX-License-Identifier: Apache-2.0\n\
        \"\"\"The tables of app.toml and platform.toml as dataclasses: `make keys`.\"\"\"\n\n\
        from __future__ import annotations\n\n\
        from dataclasses import dataclass\nfrom typing import Any, Literal\n\n\
        from ._shown import Shown\n\n\
        Number = int | float\n\
        Amount = int | float | str  # a number, or an expression of parameters\n\
        Param = str | int | float | bool | list[float]\n";
    let classes = python(&Manifest::KEYS, "docs/app-toml.md")
        + &python(&Platform::KEYS, "docs/platform-toml.md");
    made_of_keys(&root().join("python/whimbrel/_keys.py"), |_| format!("{HEAD}{classes}"));
}

#[test]
fn the_helper_takes_the_members_of_a_plan_by_rows() {
    const HEAD: &str = "// SPDX-License-Identifier: Apache-2.0\n\
        // The tables by which parse.c takes a plan. `make keys` makes this file.\n";
    let rows = parse_rows(Plan::MEMBERS);
    made_of_keys(&root().join("launcher/protocol/plan_rows.inc"), |_| format!("{HEAD}{rows}"));
}

#[test]
fn the_protocol_lists_the_members_of_a_plan() {
    const BEGIN: &str = "<!-- members: make keys -->\n";
    const END: &str = "<!-- end of members -->";
    let list = member_list(Plan::MEMBERS);
    made_of_keys(&root().join("docs/kernels-linux-protocol.md"), |old| {
        let (before, rest) = old.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        format!("{before}{BEGIN}| member | meaning |\n|---|---|\n{list}{END}{after}")
    });
}
