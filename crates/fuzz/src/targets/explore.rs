// SPDX-License-Identifier: Apache-2.0
//! What an exploration goes on from: a file in Parquet, or one with a line for each candidate.

use std::sync::LazyLock;

use crate::shared::MemoryFile;
use whimbrel_explore::{Store, restore};

/// Of the corpus.
const IDENTITY: &str = "793f3de5d8398c24";

static FILE: LazyLock<MemoryFile> = LazyLock::new(|| MemoryFile::new().unwrap());

pub fn read(data: &[u8]) {
    FILE.hold(data).unwrap();
    if data.starts_with(b"{") {
        let _ = Store::resume(&FILE.path(), IDENTITY);
    } else {
        let _ = restore(&FILE.path(), IDENTITY, &mut Store::default());
    }
}
