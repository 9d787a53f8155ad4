// SPDX-License-Identifier: Apache-2.0
//! Files that are made of the declarations of keys are as these say. `make keys` makes them anew.

use std::fs;
use std::path::Path;

use whimbrel_model::{Manifest, key_list, python};

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
fn python_has_a_class_for_each_table() {
    const HEAD: &str = "# SPDX-License-Identifier: Apache-2.0\n\
        \"\"\"The tables of app.toml as dataclasses. `make keys` makes this file.\"\"\"\n\n\
        from __future__ import annotations\n\n\
        from dataclasses import dataclass\nfrom typing import Any\n\n\
        Number = int | float\n\
        Amount = int | float | str  # a number, or an expression of parameters\n\
        Param = str | int | float | bool | list[float]\n";
    let classes = python(&Manifest::KEYS, "docs/app-toml.md");
    made_of_keys(&root().join("python/whimbrel/_keys.py"), |_| format!("{HEAD}{classes}"));
}
