// SPDX-License-Identifier: Apache-2.0
//! What the documentation shows and what the applications say is what the loader takes.

use std::fs;

use crate::common::root;
use whimbrel_model::{App, Manifest, Table};

#[test]
fn the_table_in_the_documentation_suits_the_radio_that_it_is_written_for() {
    let page = fs::read_to_string(root().join("docs/policies.md")).unwrap();
    let (_, rest) = page.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let folder = root().join("apps/fm_radio");
    let text = fs::read_to_string(folder.join("app.toml")).unwrap();
    let app = App::build(&Manifest::parse(&text).unwrap(), &[], &folder, &folder).unwrap();
    let points_hz = vec![vec![133_000_000, 266_000_000]; 2];

    let rows = Table::parse(example).unwrap().rows(&app, &points_hz).unwrap();
    let demodulator = app.find_task("demodulator", 0).unwrap();
    let cores: Vec<u32> = rows.iter().map(|row| row.cores[demodulator]).collect();
    assert_eq!(cores, [0, 1]);
    assert_eq!((&rows[0].points, &rows[1].points), (&vec![1, 1], &vec![1, 0]));
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
