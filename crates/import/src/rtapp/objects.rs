// SPDX-License-Identifier: Apache-2.0
//! Mutexes, conditions and the like by their names in a file, each with its name here.

use std::collections::BTreeMap;

use crate::names::Names;

/// Those of one kind.
#[derive(Debug, Default)]
pub(super) struct Objects {
    names: Names,
    /// By their kind, if there are several, and their name in the file.
    known: BTreeMap<(&'static str, String), String>,
    order: Vec<String>,
}

impl Objects {
    /// Its name here.
    pub fn name(&mut self, name: &str) -> String {
        self.name_of("", name)
    }

    /// The name here of one of a kind, which is another for each kind.
    pub fn name_of(&mut self, kind: &'static str, name: &str) -> String {
        let Self { names, known, order } = self;
        let new = known.entry((kind, name.to_owned())).or_insert_with(|| {
            order.push(names.unique(name));
            order[order.len() - 1].clone()
        });
        new.clone()
    }

    /// The names here, in the order in which they were met.
    pub fn into_names(self) -> Vec<String> {
        self.order
    }
}
