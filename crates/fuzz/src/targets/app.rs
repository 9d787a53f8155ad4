// SPDX-License-Identifier: Apache-2.0
//! An application: read, built, planned, drawn.

use std::str::from_utf8;

use crate::shared::{build, show};
use whimbrel_model::{Manifest, dot};

pub fn read(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    match Manifest::parse(text).and_then(|manifest| build(&manifest)) {
        Ok(app) => drop(dot(&app)),
        Err(problems) => show("app.toml", data, problems.iter().cloned().map(|one| (0, one))),
    }
}
