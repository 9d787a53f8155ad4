// SPDX-License-Identifier: Apache-2.0
//! The state of the view: folds what the run says and what the user types into what is to be drawn
//! and what is to be done. Pure: it knows neither a terminal nor a socket.

use super::picture::{Entry, Picture};
use whimbrel_model::millihz;
use whimbrel_run::control::{Reply, Request, RunDescription};
use whimbrel_run::load::MOVE_TIMEOUT_MS;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the run for something; and what that is in words.
    Ask(Request, String),
    /// Leave.
    Quit,
}

/// What the user is being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// Nothing: keys are commands.
    None,
    /// The core to move the selected task to.
    Core(String),
    /// The policy.
    Policy(String),
    /// The frame rate.
    Rate(String),
    /// The channel, and what it is to have.
    Channel(String),
    /// The keys are shown.
    Help,
}

/// How it stands with the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// It goes on.
    Live,
    /// It is over or out of reach, and how that came.
    Over {
        /// Nothing went wrong.
        ok: bool,
        /// In words.
        how: String,
    },
}

/// The state of the view.
#[derive(Debug)]
pub struct Model {
    /// The run's name.
    pub run: String,
    /// What does not change.
    pub portrait: RunDescription,
    /// The selected task, as its position in the totals.
    pub selected: usize,
    /// What the user is being asked.
    pub prompt: Prompt,
    /// The latest answer; empty if it has been read.
    pub note: String,
    /// How it stands with the run.
    pub link: Link,
    /// The frame rate that was asked for and is not in force yet.
    pub asked_millihz: Option<u64>,
    /// How often totals have come.
    pub totals: u64,
    live: Picture,
    frozen: Option<Picture>,
}

impl Model {
    /// A run of which nothing is known yet.
    pub fn new(run: &str) -> Self {
        Self {
            run: run.to_owned(),
            portrait: RunDescription::default(),
            selected: 0,
            prompt: Prompt::None,
            note: String::new(),
            link: Link::Live,
            asked_millihz: None,
            totals: 0,
            live: Picture::default(),
            frozen: None,
        }
    }

    /// What is shown: the present, unless the view pauses.
    pub fn picture(&self) -> &Picture {
        self.frozen.as_ref().unwrap_or(&self.live)
    }

    /// Whether the view pauses.
    pub fn pauses(&self) -> bool {
        self.frozen.is_some()
    }

    /// Stops the picture, or lets it go on.
    pub fn pause(&mut self) {
        self.frozen = if self.pauses() { None } else { Some(self.live.clone()) };
    }

    /// The run has said something.
    pub fn take(&mut self, reply: Reply) {
        match reply {
            Reply::Watching(portrait) => {
                self.live.now.time_ns = portrait.start_ns;
                self.portrait = *portrait;
            }
            Reply::Status(status) => {
                if self.asked_millihz == Some(status.rate_millihz) {
                    self.asked_millihz = None;
                }
                self.totals += 1;
                self.live.totals(*status);
            }
            Reply::Migration(migration) => self.live.happened(Entry::Migration(migration)),
            Reply::CoreDied(death) => self.live.happened(Entry::Death(death)),
            Reply::CoreRestarted(it) => self.live.happened(Entry::Restart(it)),
            Reply::Advice(advice) => self.live.happened(Entry::Advice(advice)),
            Reply::Ended(ended) => {
                if let Some(status) = ended.status {
                    self.live.totals(status);
                }
                self.over(ended.ok, ended.how);
            }
            Reply::Refused(why) => self.over(false, why),
            Reply::Migrated(_) | Reply::Set(_) => {}
        }
    }

    /// The run is over or out of reach. What was said last stays.
    pub fn over(&mut self, ok: bool, how: String) {
        if self.link == Link::Live {
            self.link = Link::Over { ok, how };
            self.frozen = None;
            self.prompt = Prompt::None;
        }
    }

    /// The answer to something that was asked for has come.
    pub fn answer(&mut self, ok: bool, text: String) {
        self.note = text;
        if !ok {
            self.asked_millihz = None;
        }
    }

    /// What people call a task.
    pub fn label(&self, position: usize) -> &str {
        let label = self.portrait.tasks.get(position).map(|(label, _)| label.as_str());
        let name = || self.live.now.tasks.get(position).map(|task| task.task.as_str());
        label.or_else(name).unwrap_or("no task")
    }

    /// What people call a task that has its name from the run.
    pub fn label_of(&self, task: &str, index: u32) -> String {
        let mut tasks = self.live.now.tasks.iter();
        let position = tasks.position(|known| known.task == task && known.index == index);
        position.map_or_else(|| task.to_owned(), |position| self.label(position).to_owned())
    }

    /// Selects the task that is shown so many places after the selected one.
    pub fn select(&mut self, places: isize) {
        let order = self.picture().order();
        let here = order.iter().position(|task| *task == self.selected).unwrap_or(0);
        let there = here.saturating_add_signed(places).min(order.len().saturating_sub(1));
        self.selected = order.get(there).copied().unwrap_or(0);
    }

    /// The frame rate in force or asked for, in thousandths per second; 0: none.
    pub fn millihz(&self) -> u64 {
        let own = || millihz(self.portrait.frame_rate.unwrap_or(0.0));
        let rate = Some(self.live.now.rate_millihz).filter(|rate| *rate > 0);
        self.asked_millihz.or(rate).unwrap_or_else(own)
    }

    /// Wants the selected task on a core.
    pub fn migrate(&mut self, core: u32) -> Option<Effect> {
        let task = self.live.now.tasks.get(self.selected)?;
        let (name, index) = (task.task.clone(), task.index);
        if core as usize >= self.live.now.cores.len() {
            self.note = format!("core {core} does not exist");
            return None;
        }
        let what = format!("{} to core {core}", self.label(self.selected));
        self.note = format!("{} is asked to move to core {core}", self.label(self.selected));
        let request = Request::Migrate { task: name, index, core, timeout_ms: MOVE_TIMEOUT_MS };
        Some(Effect::Ask(request, what))
    }
}
