// SPDX-License-Identifier: Apache-2.0
//! A table of mappings, for the video player of this repository.

use std::path::Path;
use std::str::from_utf8;
use std::sync::LazyLock;

use crate::shared::show;
use whimbrel_model::{App, Manifest, Table};

static APP: LazyLock<App> = LazyLock::new(|| {
    let text = include_str!("../../../../apps/fm_radio/app.toml");
    let folder = Path::new("/apps/fm_radio");
    Manifest::parse(text).and_then(|manifest| App::build(&manifest, &[], folder, folder)).unwrap()
});

pub fn read(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let points_hz = [vec![100_000_000], vec![100_000_000, 500_000_000]];
    match Table::parse(text).and_then(|table| table.rows(&APP, &points_hz)) {
        Ok(rows) => {
            for row in rows {
                assert!(row.cores.len() == APP.tasks.len() && row.points.len() == 2);
                assert!(row.cores.iter().all(|core| *core < 2));
                assert!(
                    row.points.iter().zip(&points_hz).all(|(p, all)| (*p as usize) < all.len())
                );
            }
        }
        Err(problems) => show("table.toml", data, problems.iter().cloned().map(|one| (0, one))),
    }
}
