// SPDX-License-Identifier: Apache-2.0
//! What is said of files while they are read.

use std::collections::BTreeMap;

use miette::{LabeledSpan, Severity};

use whimbrel_model::Problem;

/// What is said of a file while it is read.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub problems: Vec<Problem>,
    pub warnings: Vec<Problem>,
}

impl Notes {
    pub fn refuse(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub fn warn(&mut self, problem: Problem) {
        self.warnings.push(Problem { severity: Severity::Warning, ..problem });
    }
}

/// What is said of several files, each thing with the number of its file.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    pub problems: Vec<(usize, Problem)>,
    pub warnings: Vec<(usize, Problem)>,
}

impl Diagnostics {
    /// Adds what was said of one file.
    pub fn of_one(&mut self, file: usize, notes: Notes) {
        self.problems.extend(notes.problems.into_iter().map(|problem| (file, problem)));
        self.warnings.extend(notes.warnings.into_iter().map(|warning| (file, warning)));
    }

    /// Reads several of the files as one, whose places are counted through all of them.
    pub fn of_pieces<T>(
        &mut self,
        pieces: &[(usize, &str)],
        read: impl FnOnce(&[(&str, usize)], &mut Notes) -> T,
    ) -> T {
        let (mut texts, mut base) = (Vec::new(), 0);
        for (_, text) in pieces {
            texts.push((*text, base));
            base += text.len() + 1;
        }
        let mut notes = Notes::default();
        let read = read(&texts, &mut notes);
        // A place belongs to the last piece that begins before it.
        let piece_of = |label: &LabeledSpan| {
            texts.partition_point(|(_, base)| *base <= label.offset()).saturating_sub(1)
        };
        let own = |labels: &mut Vec<LabeledSpan>| {
            let piece = labels.first().map_or(0, piece_of);
            labels.retain(|label| piece_of(label) == piece);
            for label in labels {
                let (words, length) = (label.label().map(str::to_owned), label.len());
                *label = LabeledSpan::new(words, label.offset() - texts[piece].1, length);
            }
            pieces[piece].0
        };
        let problems = notes.problems.into_iter().map(|mut p| (own(&mut p.labels), p));
        self.problems.extend(problems);
        let warnings = notes.warnings.into_iter().map(|mut w| (own(&mut w.labels), w));
        self.warnings.extend(warnings);
        read
    }

    /// What is told in the order of the files is easier to follow, each warning once, with its
    /// first places.
    pub fn sort(&mut self) {
        self.problems.sort_by_key(|(file, problem)| (*file, first_place(&problem.labels)));
        self.warnings.sort_by_key(|(file, warning)| (*file, first_place(&warning.labels)));
        let mut first: BTreeMap<(usize, String), usize> = BTreeMap::new();
        let mut once: Vec<(usize, Problem)> = Vec::new();
        for (file, warning) in self.warnings.drain(..) {
            let number = *first.entry((file, warning.message.clone())).or_insert(once.len());
            match once.get_mut(number) {
                Some((_, told)) => {
                    let room = PLACES_MAX.saturating_sub(told.labels.len());
                    told.labels.extend(warning.labels.into_iter().take(room));
                }
                None => once.push((file, warning)),
            }
        }
        self.warnings = once;
    }
}

/// Of a warning.
const PLACES_MAX: usize = 3;

fn first_place(labels: &[LabeledSpan]) -> usize {
    labels.iter().map(LabeledSpan::offset).min().unwrap_or_default()
}
