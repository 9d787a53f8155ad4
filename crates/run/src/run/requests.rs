// SPDX-License-Identifier: Apache-2.0
//! What the helper has been asked and has not answered yet, and who waits for it.

use std::collections::HashMap;
use std::sync::mpsc::SyncSender;

use whimbrel_model::{Command, PolicyName};

use crate::args::values::TaskName;
use crate::control::{Reply, Request};
use crate::load::Due;
use crate::protocol::{Migrated, Set, Status};
use crate::run::reason;

/// Who waits for a migration.
#[derive(Debug)]
pub enum Waiter {
    /// Another terminal.
    Client(SyncSender<Reply>),
    /// A move of the run itself.
    Schedule(Due),
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
    /// Somebody wants something, and does not watch; gives the command that asks for it.
    pub fn ask(&mut self, request: Request, reply: SyncSender<Reply>) -> Command {
        match request {
            Request::Watch { .. } => unreachable!("the session has taken it to its watchers"),
            Request::Status => {
                self.totals.push(reply);
                Command::Status {}
            }
            Request::Migrate { task, index, core, timeout_ms } => self.migrate(
                TaskName { name: task, index },
                core,
                timeout_ms,
                Waiter::Client(reply),
            ),
            Request::Policy { name, settings } => {
                let policy = (!name.is_empty()).then_some(PolicyName { name, settings });
                Command::Policy { id: self.set(reply), policy }
            }
            Request::Rate { millihz } => Command::Rate { id: self.set(reply), millihz },
            Request::Restart { core } => Command::Restart { id: self.set(reply), core },
            Request::Channel { channel, notify } => {
                Command::Channel { id: self.set(reply), channel, notify }
            }
        }
    }

    /// Somebody wants a migration; gives the command that asks for it.
    pub fn migrate(
        &mut self,
        TaskName { name, index }: TaskName,
        core: u32,
        timeout_ms: u64,
        waiter: Waiter,
    ) -> Command {
        let id = self.new_id();
        self.moves.insert(id.clone(), waiter);
        Command::Migrate { id, task: name, index, core, timeout_ms }
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

    /// The entry of the schedule that a request is a move of; `None` for any other request.
    pub fn scheduled(&self, id: &str) -> Option<usize> {
        match self.moves.get(id)? {
            Waiter::Schedule(due) => Some(due.entry),
            Waiter::Client(_) => None,
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
            Waiter::Schedule(Due { task, core, single, .. }) => {
                let (why, _) = reason(&migrated.status);
                (single && migrated.status != "ok")
                    .then(|| format!("{task} did not move to core {core}: {why}"))
            }
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

    fn migrate(requests: &mut Requests, task: &str, waiter: Waiter) -> Command {
        requests.migrate(TaskName { name: task.into(), index: 0 }, 1, 5, waiter)
    }

    #[test]
    fn an_outcome_reaches_the_one_who_asked_for_it() {
        let mut requests = Requests::default();
        let (first, first_reply) = mpsc::sync_channel(1);
        let (second, second_reply) = mpsc::sync_channel(1);
        migrate(&mut requests, "bpf", Waiter::Client(first));
        let line = migrate(&mut requests, "bpf", Waiter::Client(second)).line();
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
        let mut requests = Requests::default();
        let line = migrate(&mut requests, "a\nkill\"b", Waiter::Client(reply)).line();
        assert!(
            line.contains("\"task\":\"a\\nkill\\\"b\"") && line.find('\n') == Some(line.len() - 1)
        );
    }

    #[test]
    fn a_policy_and_a_rate_are_answered_to_who_asked_for_them() {
        let mut requests = Requests::default();
        let (first, first_reply) = mpsc::sync_channel(1);
        let (second, second_reply) = mpsc::sync_channel(1);
        let settings = vec!["high=80".to_owned(), "a b=1".to_owned()];
        assert_eq!(
            requests
                .ask(Request::Policy { name: "balance".into(), settings }, first.clone())
                .line(),
            "{\"policy\":{\"id\":\"1\",\"policy\":{\"name\":\"balance\",\
             \"params\":[\"high=80\",\"a b=1\"]}}}\n"
        );
        assert_eq!(
            requests
                .ask(Request::Policy { name: String::new(), settings: Vec::new() }, first)
                .line(),
            "{\"policy\":{\"id\":\"2\",\"policy\":null}}\n"
        );
        assert_eq!(
            requests.ask(Request::Rate { millihz: 50_000 }, second).line(),
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
        let task: crate::args::values::TaskName = "bpf.2".parse().unwrap();
        let mut answer = |single, status| {
            let due = Due { entry: 0, task: task.clone(), core: 1, single };
            migrate(&mut requests, "bpf", Waiter::Schedule(due));
            let id = requests.last_id.to_string();
            requests.answer_move(outcome(&id, status))
        };
        assert_eq!(answer(true, "ok"), None);
        assert_eq!(answer(false, "gone"), None);
        let said = answer(true, "gone");
        assert_eq!(
            said.as_deref(),
            Some("bpf.2 did not move to core 1: the task has ended or the core's kernel is dead")
        );
    }
}
