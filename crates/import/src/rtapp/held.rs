// SPDX-License-Identifier: Apache-2.0
//! Which mutexes a thread holds, event by event: what would make it wait for itself, or is
//! undefined for threads of POSIX, is told before anything runs.

use crate::notes::Notes;
use whimbrel_model::{Problem, Span};

/// The mutexes that a thread holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Held(Vec<String>);

impl Held {
    pub fn has(&self, mutex: &str) -> bool {
        self.0.iter().any(|held| held == mutex)
    }

    pub fn lock(&mut self, mutex: &str, at: &Span, notes: &mut Notes) {
        if self.has(mutex) {
            let problem = Problem::new(format!("`{mutex}` is locked by a task that holds it"));
            let help = "unlock it first: it would wait for itself";
            notes.refuse(problem.at(at.clone(), "it is held here").help(help));
        } else {
            self.0.push(mutex.to_owned());
        }
    }

    pub fn unlock(&mut self, mutex: &str, at: &Span, notes: &mut Notes) {
        let before = self.0.len();
        self.0.retain(|held| held != mutex);
        if self.0.len() == before {
            let problem = Problem::new(format!("`{mutex}` is unlocked by a task without it"));
            notes.refuse(problem.at(at.clone(), "it is not held here").help("lock it first"));
        }
    }

    /// Notes what is held after something that is to begin with what was held `before`, as it is
    /// after each loop and at the end.
    pub fn check(&self, before: &Self, what: &str, at: &Span, notes: &mut Notes) {
        if self != before {
            let other = self.0.iter().chain(&before.0).find(|m| self.has(m) != before.has(m));
            let mutex = other.map_or("a mutex", |mutex| mutex.as_str());
            let problem = Problem::new(format!("{what} does not leave `{mutex}` as it was"));
            let help = "unlock each lock in the same loop";
            notes.refuse(problem.at(at.clone(), "here").help(help));
        }
    }
}
