// SPDX-License-Identifier: Apache-2.0
//! Which mutexes a script holds at each of its events: known before it runs, because loops give
//! back what they take.

use toml::Spanned;

use super::check::{never_goes_on, steps_of};
use crate::app::Verb;
use crate::problem::{Problem, Span};
use crate::read::keys::TaskTable;
use crate::read::manifest::Manifest;
use crate::read::steps::{Step, What};

/// A task locks one mutex while it holds others.
#[derive(Debug, Clone)]
pub(super) struct Edge<'m> {
    pub task: &'m str,
    /// How many tasks share its name.
    pub count: u32,
    pub held: &'m str,
    pub locked: &'m str,
    pub span: Span,
    /// What else it holds there.
    pub gates: Vec<&'m str>,
}

/// Notes what is wrong with the locks of all scripts, and tells the orders in which they lock.
pub(super) fn check<'m>(manifest: &'m Manifest, problems: &mut Vec<Problem>) -> Vec<Edge<'m>> {
    let mut edges = Vec::new();
    for table in &manifest.tasks {
        let mut walk = Walk { table, held: Vec::new(), edges: &mut edges, problems };
        walk.steps(steps_of(table));
        if !ends_within(steps_of(table)) {
            walk.end(None);
        }
    }
    edges
}

/// Whether what follows these steps never comes.
fn ends_within(steps: &[Step]) -> bool {
    steps.iter().any(never_goes_on)
}

struct Held<'m> {
    mutex: &'m str,
    span: Span,
}

struct Walk<'m, 'p> {
    table: &'m TaskTable,
    held: Vec<Held<'m>>,
    edges: &'p mut Vec<Edge<'m>>,
    problems: &'p mut Vec<Problem>,
}

impl<'m> Walk<'m, '_> {
    fn name(&self) -> &'m str {
        self.table.name.get_ref()
    }

    fn steps(&mut self, steps: &'m [Step]) {
        for step in steps {
            match &step.what {
                What::On(Verb::Lock, name) => self.lock(name, &step.span),
                What::On(Verb::Unlock, name) => self.unlock(name, &step.span),
                What::Wait { mutex, .. } => self.wait(mutex, &step.span),
                What::Plain(Verb::Exit) => self.end(Some(&step.span)),
                What::Loop { times, body, .. } => self.a_loop(step, *times, body),
                _ => {}
            }
        }
    }

    fn position(&self, mutex: &str) -> Option<usize> {
        self.held.iter().position(|held| held.mutex == mutex)
    }

    fn lock(&mut self, mutex: &'m Spanned<String>, span: &Span) {
        let name = mutex.get_ref();
        if let Some(at) = self.position(name) {
            let message = format!("`{}` locks `{name}`, which it holds", self.name());
            let problem = Problem::new(message).at(span.clone(), "here again");
            let problem = problem.at(self.held[at].span.clone(), "it has locked it here");
            self.problems.push(problem.help("unlock it in between, or leave one out"));
            return;
        }
        self.note_order(name, span);
        self.held.push(Held { mutex: name, span: span.clone() });
    }

    /// What is held now, and this one as well.
    fn note_order(&mut self, locked: &'m str, span: &Span) {
        let others = || self.held.iter().map(|held| held.mutex).filter(|mutex| *mutex != locked);
        for held in others() {
            self.edges.push(Edge {
                task: self.table.name.get_ref(),
                count: *self.table.count.get_ref(),
                held,
                locked,
                span: span.clone(),
                gates: others().filter(|gate| *gate != held).collect(),
            });
        }
    }

    fn unlock(&mut self, mutex: &'m Spanned<String>, span: &Span) {
        let name = mutex.get_ref();
        match self.position(name) {
            Some(at) => {
                self.held.remove(at);
            }
            None => {
                let message = format!("`{}` unlocks `{name}`, which it does not hold", self.name());
                let problem = Problem::new(message).at(span.clone(), "here");
                self.problems.push(problem.help("lock it before, or leave this out"));
            }
        }
    }

    /// Other mutexes stay held, and this one is locked again.
    fn wait(&mut self, mutex: &'m Spanned<String>, span: &Span) {
        let name = mutex.get_ref();
        if self.position(name).is_some() {
            self.note_order(name, span);
            return;
        }
        let message = format!("`{}` waits with `{name}`, which it does not hold", self.name());
        let problem = Problem::new(message).at(span.clone(), "here");
        self.problems
            .push(problem.help("lock it before: a wait gives it back, and takes it again"));
    }

    /// What a turn changes the next one finds changed, if there is one.
    fn a_loop(&mut self, step: &'m Step, times: u64, body: &'m [Step]) {
        let names = |held: &[Held<'m>]| held.iter().map(|held| held.mutex).collect::<Vec<_>>();
        let before = names(&self.held);
        self.steps(body);
        if times == 1 || ends_within(body) {
            return;
        }
        let after = names(&self.held);
        let not_in = |all: &[&'m str], mutex: &&&'m str| !all.contains(mutex);
        let taken = after.iter().find(|mutex| not_in(&before, mutex));
        let given = before.iter().find(|mutex| not_in(&after, mutex));
        let (mutex, does, help) = match (taken, given) {
            (Some(mutex), _) => (mutex, "keeps", "unlock it in the loop, or lock it before"),
            (None, Some(mutex)) => (mutex, "gives back", "lock it in the loop, or unlock it after"),
            (None, None) => return,
        };
        let message = format!("each turn of a loop of `{}` {does} `{mutex}`", self.name());
        self.problems.push(Problem::new(message).at(step.span.clone(), "this loop").help(help));
    }

    fn end(&mut self, at: Option<&Span>) {
        let Some(held) = self.held.first() else { return };
        let message = format!("`{}` ends holding `{}`", self.name(), held.mutex);
        let mut problem = Problem::new(message).at(held.span.clone(), "it locks it here");
        if let Some(at) = at {
            problem = problem.at(at.clone(), "and ends here");
        }
        self.problems.push(problem.help("unlock it before"));
    }
}
