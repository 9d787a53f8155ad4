// SPDX-License-Identifier: Apache-2.0
//! Mutexes, conditions and the like by their names in a file, each with its name here.

use std::collections::BTreeMap;

use crate::names::Names;

/// Those of one kind.
#[derive(Debug, Default)]
pub(super) struct Objects {
    names: Names,
    known: BTreeMap<String, String>,
    order: Vec<String>,
}

impl Objects {
    /// Its name here.
    pub fn name(&mut self, name: &str) -> String {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let unique = self.names.unique(name);
        self.known.insert(name.to_owned(), unique.clone());
        self.order.push(unique.clone());
        unique
    }

    /// The names here, in the order in which they were met.
    pub fn into_names(self) -> Vec<String> {
        self.order
    }
}
