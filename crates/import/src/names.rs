// SPDX-License-Identifier: Apache-2.0
//! Names of other tools as names of ours: letters, digits and `_`, 31 of them, each used once.

use std::collections::{BTreeMap, BTreeSet};

const MAX: usize = 31;

/// The names that are taken.
#[derive(Debug, Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// The least number that may be free behind a beginning: who has asked before has not to be
    /// asked again.
    next: BTreeMap<String, u64>,
}

impl Names {
    /// A name that nothing has yet, as like to the given one as can be.
    pub fn unique(&mut self, wanted: &str) -> String {
        self.unique_with(wanted, "")
    }

    /// The same with an end that is never cut.
    pub fn unique_with(&mut self, wanted: &str, end: &str) -> String {
        let plain = plain(wanted);
        let plain = format!("{}{end}", &plain[..plain.len().min(MAX - end.len())]);
        if self.taken.insert(plain.clone()) {
            return plain;
        }
        // Numbers of one, two and more digits leave different beginnings of a long name.
        let mut from = 2;
        for digits in 1..19 {
            let cut = &plain[..plain.len().min(MAX - 1 - digits as usize)];
            let next = self.next.entry(format!("{cut}_{digits}")).or_insert(from);
            from = 10_u64.pow(digits);
            while *next < from {
                let name = format!("{cut}_{next}");
                *next += 1;
                if self.taken.insert(name.clone()) {
                    return name;
                }
            }
        }
        plain
    }
}

/// A name in which every other character has become `_`, cut to its first 31.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let name: String = letters.take(MAX).collect();
    if name.is_empty() { "_".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_become_alike_are_numbered_and_never_too_long() {
        let mut names = Names::default();
        assert_eq!(names.unique("mp3.decoder"), "mp3_decoder");
        assert_eq!(names.unique("mp3 decoder"), "mp3_decoder_2");
        assert_eq!(names.unique(""), "_");
        let long = "x".repeat(40);
        assert_eq!(names.unique(&long), "x".repeat(31));
        assert_eq!(names.unique(&long), format!("{}_2", "x".repeat(29)));
    }
}
