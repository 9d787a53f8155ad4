// SPDX-License-Identifier: Apache-2.0
//! What the documentation shows and what the applications say is what the loader takes.

use std::fs;
use std::path::{Path, PathBuf};

use whimbrel_model::{App, Manifest};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_example_in_the_documentation_has_only_keys_that_exist() {
    let page = fs::read_to_string(root().join("docs/app-toml.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert!(example.contains("[[mailbox]]"));
    Manifest::parse(example).unwrap();
}

#[test]
fn every_application_of_the_project_can_be_built() {
    let mut built = 0;
    for folder in fs::read_dir(root().join("apps")).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(text) = fs::read_to_string(folder.join("app.toml")) else { continue };
        let manifest = Manifest::parse(&text).unwrap();
        App::build(&manifest, &[], &folder, &folder).unwrap();
        built += 1;
    }
    assert!(built > 0);
}
