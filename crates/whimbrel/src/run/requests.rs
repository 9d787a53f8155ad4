// SPDX-License-Identifier: Apache-2.0
//! What the helper has been asked and has not answered yet, and who waits for it.

use std::collections::HashMap;
use std::sync::mpsc::SyncSender;

use whimbrel_model::{Bell, Command, PolicyName};

use crate::control::Reply;
use crate::load::Due;
use crate::protocol::{Migrated, Set, Status};

/// Who waits for a migration.
#[derive(Debug)]
pub enum Waiter {
    /// Another terminal.
    Client(SyncSender<Reply>),
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
    totals: Vec<SyncSender<Reply>>,
    moves: HashMap<String, Waiter>,
    sets: HashMap<String, SyncSender<Reply>>,
    last_id: u64,
}

impl Requests {
    /// Somebody wants totals; gives the command that asks for them.
    pub fn totals(&mut self, reply: SyncSender<Reply>) -> Command {
        self.totals.push(reply);
        Command::Status {}
    }

    /// Somebody wants a migration; gives the command that asks for it.
    pub fn migrate(&mut self, request: Move, waiter: Waiter) -> Command {
        let id = self.new_id();
        self.moves.insert(id.clone(), waiter);
        let Move { task, index, core, timeout_ms } = request;
        Command::Migrate { id, task, index, core, timeout_ms }
    }

    /// Somebody wants another policy, or none; gives the command that asks for it.
    pub fn policy(&mut self, name: &str, settings: &[String], reply: SyncSender<Reply>) -> Command {
        let policy = PolicyName { name: name.to_owned(), settings: settings.to_vec() };
        let policy = (!name.is_empty()).then_some(policy);
        Command::Policy { id: self.set(reply), policy }
    }

    /// Somebody wants another frame rate; gives the command that asks for it.
    pub fn rate(&mut self, millihz: u64, reply: SyncSender<Reply>) -> Command {
        Command::Rate { id: self.set(reply), millihz }
    }

    /// Somebody wants another bell for a channel; gives the command that asks for it.
    pub fn channel(&mut self, channel: String, bell: Bell, reply: SyncSender<Reply>) -> Command {
        Command::Channel { id: self.set(reply), channel, bell }
    }

    fn set(&mut self, reply: SyncSender<Reply>) -> String {
        let id = self.new_id();
        self.sets.insert(id.clone(), reply);
        id
    }

    fn new_id(&mut self) -> String {
        self.last_id += 1;
        self.last_id.to_string()
    }

    /// Hands totals to everybody who wants them.
    pub fn answer_totals(&mut self, status: &Status) {
        for reply in self.totals.drain(..) {
            // Whoever asked may have gone.
            let _ = reply.try_send(Reply::Status(Box::new(status.clone())));
        }
    }

    /// Hands the answer to `policy` and `rate` to whoever waits for it.
    pub fn answer_set(&mut self, set: Set) {
        if let Some(reply) = self.sets.remove(&set.id) {
            // Whoever asked may have gone.
            let _ = reply.try_send(Reply::Set(set));
        }
    }

    /// Hands the outcome of a migration to whoever waits for it; gives what is to be said of a
    /// move of the run itself that did not happen.
    pub fn answer_move(&mut self, migrated: Migrated) -> Option<String> {
        match self.moves.remove(&migrated.id)? {
            Waiter::Client(reply) => {
                // Whoever asked may have gone.
                let _ = reply.try_send(Reply::Migrated(migrated));
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
        let (first, first_reply) = mpsc::sync_channel(1);
        let (second, second_reply) = mpsc::sync_channel(1);
        requests.migrate(request("bpf"), Waiter::Client(first));
        let line = requests.migrate(request("bpf"), Waiter::Client(second)).line();
        assert_eq!(
            line,
            "{\"migrate\":{\"id\":\"2\",\"task\":\"bpf\",\"index\":0,\"core\":1,\
             \"timeout_ms\":5}}\n"
        );

        assert_eq!(requests.answer_move(outcome("2", "busy")), None);
        assert!(matches!(second_reply.recv(), Ok(Reply::Migrated(m)) if m.status == "busy"));
        assert!(first_reply.try_recv().is_err());
        assert_eq!(requests.answer_move(outcome("9", "ok")), None);
    }

    #[test]
    fn a_name_from_another_terminal_stays_one_text_of_one_line() {
        let (reply, _keep) = mpsc::sync_channel(1);
        let request = request("a\nkill\"b");
        let line = Requests::default().migrate(request, Waiter::Client(reply)).line();
        assert!(
            line.contains("\"task\":\"a\\nkill\\\"b\"") && line.find('\n') == Some(line.len() - 1)
        );
    }

    #[test]
    fn a_policy_and_a_rate_are_answered_to_who_asked_for_them() {
        let mut requests = Requests::default();
        let (first, first_reply) = mpsc::sync_channel(1);
        let (second, second_reply) = mpsc::sync_channel(1);
        let settings = ["high=80".to_owned(), "a b=1".to_owned()];
        assert_eq!(
            requests.policy("balance", &settings, first.clone()).line(),
            "{\"policy\":{\"id\":\"1\",\"policy\":{\"name\":\"balance\",\
             \"params\":[\"high=80\",\"a b=1\"]}}}\n"
        );
        assert_eq!(
            requests.policy("", &[], first).line(),
            "{\"policy\":{\"id\":\"2\",\"policy\":null}}\n"
        );
        assert_eq!(
            requests.rate(50_000, second).line(),
            "{\"rate\":{\"id\":\"3\",\"millihz\":50000}}\n"
        );

        requests.answer_set(Set { id: "3".into(), ok: true, why: String::new() });
        requests.answer_set(Set { id: "2".into(), ok: false, why: "no".into() });
        requests.answer_set(Set { id: "9".into(), ok: true, why: String::new() });
        assert!(matches!(second_reply.try_recv(), Ok(Reply::Set(set)) if set.ok));
        assert!(matches!(first_reply.try_recv(), Ok(Reply::Set(set)) if set.why == "no"));
        assert!(first_reply.try_recv().is_err());
    }

    #[test]
    fn only_a_single_move_that_did_not_happen_is_worth_a_word() {
        let mut requests = Requests::default();
        let task: crate::cli::TaskName = "bpf.2".parse().unwrap();
        let mut answer = |single, status| {
            let due = Due { task: task.clone(), core: 1, single };
            requests.migrate(request("bpf"), Waiter::Schedule(due));
            let id = requests.last_id.to_string();
            requests.answer_move(outcome(&id, status))
        };
        assert_eq!(answer(true, "ok"), None);
        assert_eq!(answer(false, "gone"), None);
        let said = answer(true, "gone");
        assert_eq!(said.as_deref(), Some("bpf.2 did not move to core 1: gone"));
    }
}
