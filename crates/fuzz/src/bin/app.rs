// SPDX-License-Identifier: Apache-2.0
//! An application: read, built, planned, drawn.

#![no_main]

use std::str::from_utf8;

use whimbrel_fuzz::{build, show};
use whimbrel_model::{Manifest, dot};

whimbrel_fuzz::target!(read);

fn read(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    match Manifest::parse(text).and_then(|manifest| build(&manifest)) {
        Ok(app) => drop(dot(&app)),
        Err(problems) => show("app.toml", data, problems.iter().cloned().map(|one| (0, one))),
    }
}
