// SPDX-License-Identifier: Apache-2.0
//! What the helper has been asked and has not answered yet, and who waits for it.

use std::collections::HashMap;
use std::sync::mpsc::Sender;

use whimbrel_model::escape;

use super::schedule::Due;
use crate::control::Reply;
use crate::protocol::{Migrated, Status};

/// Who waits for a migration.
#[derive(Debug)]
pub enum Waiter {
    /// Another terminal.
    Client(Sender<Reply>),
    /// A move of the run itself.
    Schedule(Due),
}

/// A migration to ask for.
#[derive(Debug)]
pub struct Move {
    /// What moves.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// Where to.
    pub core: u32,
    /// How long it may take.
    pub timeout_ms: u64,
}

/// Requests under way.
#[derive(Debug, Default)]
pub struct Requests {
    totals: Vec<Sender<Reply>>,
    moves: HashMap<String, Waiter>,
    last_id: u64,
}

impl Requests {
    /// Somebody wants totals; gives the line that asks for them.
    pub fn totals(&mut self, reply: Sender<Reply>) -> &'static str {
        self.totals.push(reply);
        "status\n"
    }

    /// Somebody wants a migration; gives the line that asks for it.
    pub fn migrate(&mut self, request: &Move, waiter: Waiter) -> String {
        self.last_id += 1;
        let id = self.last_id.to_string();
        let Move { task, index, core, timeout_ms } = request;
        let line = format!("migrate {id} {} {index} {core} {timeout_ms}\n", escape(task));
        self.moves.insert(id, waiter);
        line
    }

    /// Hands totals to everybody who wants them.
    pub fn answer_totals(&mut self, status: &Status) {
        for reply in self.totals.drain(..) {
            // Whoever asked may have gone.
            let _ = reply.send(Reply::Status(Box::new(status.clone())));
        }
    }

    /// Hands the outcome of a migration to whoever waits for it; gives what is to be said of a
    /// move of the run itself that did not happen.
    pub fn answer_move(&mut self, migrated: Migrated) -> Option<String> {
        match self.moves.remove(&migrated.id)? {
            Waiter::Client(reply) => {
                // Whoever asked may have gone.
                let _ = reply.send(Reply::Migrated(migrated));
                None
            }
            Waiter::Schedule(Due { task, core, single }) => (single && migrated.status != "ok")
                .then(|| format!("{task} did not move to core {core}: {}", migrated.status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn outcome(id: &str, status: &str) -> Migrated {
        let (task, why) = ("bpf".into(), String::new());
        Migrated { id: id.into(), task, index: 0, core: 1, status: status.into(), why }
    }

    fn request(task: &str) -> Move {
        Move { task: task.into(), index: 0, core: 1, timeout_ms: 5 }
    }

    #[test]
    fn an_outcome_reaches_the_one_who_asked_for_it() {
        let mut requests = Requests::default();
        let (first, first_reply) = mpsc::channel();
        let (second, second_reply) = mpsc::channel();
        requests.migrate(&request("bpf"), Waiter::Client(first));
        let line = requests.migrate(&request("bpf"), Waiter::Client(second));
        assert_eq!(line, "migrate 2 bpf 0 1 5\n");

        assert_eq!(requests.answer_move(outcome("2", "busy")), None);
        assert!(matches!(second_reply.recv(), Ok(Reply::Migrated(m)) if m.status == "busy"));
        assert!(first_reply.try_recv().is_err());
        assert_eq!(requests.answer_move(outcome("9", "ok")), None);
    }

    #[test]
    fn a_name_from_another_terminal_stays_one_word_of_one_line() {
        let (reply, _keep) = mpsc::channel();
        let line = Requests::default().migrate(&request("a\nkill b"), Waiter::Client(reply));
        assert_eq!(line, "migrate 1 a%0Akill%20b 0 1 5\n");
    }

    #[test]
    fn only_a_single_move_that_did_not_happen_is_worth_a_word() {
        let mut requests = Requests::default();
        let task: crate::cli::TaskName = "bpf.2".parse().unwrap();
        let mut answer = |single, status| {
            let due = Due { task: task.clone(), core: 1, single };
            requests.migrate(&request("bpf"), Waiter::Schedule(due));
            let id = requests.last_id.to_string();
            requests.answer_move(outcome(&id, status))
        };
        assert_eq!(answer(true, "ok"), None);
        assert_eq!(answer(false, "gone"), None);
        let said = answer(true, "gone");
        assert_eq!(said.as_deref(), Some("bpf.2 did not move to core 1: gone"));
    }
}
