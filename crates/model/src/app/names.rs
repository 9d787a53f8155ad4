// SPDX-License-Identifier: Apache-2.0
//! Tasks by their name, found at once however many there are.

use std::collections::HashMap;
use std::ops::Range;

use super::Task;

/// Where the tasks of each name are. Those that share one follow each other, in the order of their
/// index.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(HashMap<String, Range<usize>>);

impl Names {
    /// The names of an application's tasks.
    pub fn new(tasks: &[Task]) -> Self {
        let mut names: HashMap<String, Range<usize>> = HashMap::new();
        for (position, task) in tasks.iter().enumerate() {
            match names.get_mut(&task.name) {
                Some(range) => range.end = position + 1,
                None => {
                    names.insert(task.name.clone(), position..position + 1);
                }
            }
        }
        Self(names)
    }

    /// The positions of the tasks of a name; none if no task has it.
    pub fn of(&self, name: &str) -> Range<usize> {
        self.0.get(name).cloned().unwrap_or_default()
    }
}
