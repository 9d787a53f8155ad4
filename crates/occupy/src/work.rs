// SPDX-License-Identifier: Apache-2.0
//! Making settings what the journal's occupations ask for: journal first, then change.

use std::collections::BTreeSet;
use std::io;

use crate::journal::{Change, Journal, Line};
use crate::linux::kernel::Kernel;
use crate::linux::tasks::{self, Seen};
use crate::settings::Setting;
use crate::{CpuSet, Error, Machine, TaskId, Unmovable};

/// One pass over the machine, and what it found.
#[derive(Debug)]
pub(crate) struct Work<'a> {
    pub machine: &'a Machine,
    pub kernel: &'a dyn Kernel,
    pub journal: &'a mut Journal,
    /// All processors that may be used.
    pub usable: CpuSet,
    /// Affinities that the kernel may have given a task when it changed cpuset: before Linux 6.2 it
    /// forgets what a task had asked for.
    pub resets: BTreeSet<String>,
    /// Every task there was when the pass began.
    pub seen: Vec<Seen>,
    /// How many tasks were moved.
    pub moved: usize,
    /// How many settings are again what they were before.
    pub restored: usize,
    /// What cannot be moved, with the processors that it is on.
    pub kept: Vec<(CpuSet, Unmovable)>,
    /// What somebody else has changed.
    pub foreign: Vec<Unmovable>,
    /// What of the program's the kernel refused.
    pub refused: Vec<(Change, io::Error)>,
    /// What could not be put back.
    pub stuck: BTreeSet<Setting>,
    /// The occupation that ends now.
    pub ending: Option<u32>,
}

impl<'a> Work<'a> {
    pub fn new(
        machine: &'a Machine,
        kernel: &'a dyn Kernel,
        journal: &'a mut Journal,
        usable: CpuSet,
    ) -> Self {
        Self {
            machine,
            kernel,
            journal,
            usable,
            resets: BTreeSet::new(),
            seen: Vec::new(),
            moved: 0,
            restored: 0,
            kept: Vec::new(),
            foreign: Vec::new(),
            refused: Vec::new(),
            stuck: BTreeSet::new(),
            ending: None,
        }
    }

    /// The processors that others may not use: those of all occupations but soft ones.
    pub fn closed(&self) -> CpuSet {
        self.union(|soft| !soft)
    }

    /// The processors that interrupts and work queues keep away from: those of all occupations.
    pub fn occupied(&self) -> CpuSet {
        self.union(|_| true)
    }

    fn union(&self, applies: impl Fn(bool) -> bool) -> CpuSet {
        let occupations = self.journal.occupations().iter();
        occupations
            .filter(|occupation| applies(occupation.soft))
            .flat_map(|occupation| occupation.cpus.iter())
            .collect()
    }

    /// The change that gives a setting its due; none if it has it.
    ///
    /// `due` says what it is to be, from what it would be without occupations. A value that is not
    /// from us is somebody else's will: that is what it would be, from then on.
    pub fn plan(
        &self,
        setting: &Setting,
        current: &str,
        due: impl Fn(&str) -> String,
    ) -> Option<Change> {
        let known = self.journal.change(setting);
        let ours = |change: &Change| {
            let reset = || matches!(setting, Setting::Task(_)) && self.resets.contains(current);
            change.explains(current) || due(&change.before) == current || reset()
        };
        let foreign = known.is_some_and(|change| !ours(change));
        let before = match known {
            Some(change) if !foreign => change.before.clone(),
            _ => current.to_owned(),
        };
        let to = due(&before);
        if to == current && !foreign {
            return None;
        }
        let of = known.and_then(|change| change.of);
        let back = known.map_or(0, |change| change.back);
        let past = known.map(|change| {
            let last = [change.from.clone(), change.to.clone()];
            change.past.iter().cloned().chain(last).collect()
        });
        let past = past.unwrap_or_default();
        Some(Change {
            setting: setting.clone(),
            of,
            before,
            from: current.to_owned(),
            to,
            past,
            back,
            foreign,
        })
    }

    /// Writes the changes into the journal and then does them; those that fail come back.
    ///
    /// # Errors
    /// The journal cannot be written; nothing has been changed.
    pub fn carry_out(&mut self, changes: Vec<Change>) -> Result<Vec<(Change, io::Error)>, Error> {
        self.journal.append(changes.iter().cloned().map(Line::Change).collect())?;
        let mut failed = Vec::new();
        for change in changes {
            self.tell(&change);
            if change.from == change.to {
                continue;
            }
            match self.give(&change.setting, &change.to) {
                Ok(()) => self.restored += usize::from(change.to == change.before),
                Err(error) => failed.push((change, error)),
            }
        }
        Ok(failed)
    }

    /// Makes a setting something, and of a task only if it is still the one that was seen.
    ///
    /// The kernel takes the number of a task alone. If the task ends between a look and the change,
    /// and all other numbers have been used meanwhile, another user's may have its number. So it is
    /// looked at on both sides of the change: if it is the same after it, it was the same at it.
    /// Who got what was not meant for him has it taken back: he gets what his parent has, from
    /// which he had it.
    ///
    /// # Errors
    /// The kernel refuses, or the task has ended.
    pub fn give(&self, setting: &Setting, value: &str) -> io::Result<()> {
        let (Setting::Task(task) | Setting::Schedule(task) | Setting::Home(task)) = setting else {
            return setting.write(self.kernel, value);
        };
        let ended = || io::Error::from_raw_os_error(libc::ESRCH);
        let holder = || tasks::holder(self.kernel, &self.machine.proc, task.tid);
        if holder().is_none_or(|now| now.task != *task) {
            return Err(ended());
        }
        setting.write(self.kernel, value)?;
        match holder() {
            Some(now) if now.task == *task => Ok(()),
            Some(now) => {
                self.take_back(setting, &now, value);
                Err(ended())
            }
            None => Err(ended()),
        }
    }

    /// Takes what a task that has ended was to have from who has its number now.
    fn take_back(&self, setting: &Setting, stranger: &Seen, value: &str) {
        let parent = TaskId { tid: stranger.parent, ..stranger.task };
        let (own, of_parent) = match setting {
            Setting::Schedule(_) => (Setting::Schedule(stranger.task), Setting::Schedule(parent)),
            Setting::Task(_) => (Setting::Task(stranger.task), Setting::Task(parent)),
            // Who moves a task into a cpuset knows where its parent is.
            _ => return,
        };
        // He may have ended, or have something else already.
        if own.read(self.kernel).is_ok_and(|now| now == value) {
            let inherited = of_parent.read(self.kernel);
            let _ = inherited.and_then(|inherited| own.write(self.kernel, &inherited));
        }
    }

    /// Reports a setting that another program has changed.
    pub fn tell(&mut self, change: &Change) {
        if change.foreign {
            let why = format!("another program changed it to `{}`: kept", change.from);
            let kept = Unmovable { what: change.setting.name(), why };
            if !self.foreign.contains(&kept) {
                self.foreign.push(kept);
            }
        }
    }

    /// Notes what the kernel refused: of the program's, or in putting back. A task that has ended
    /// refuses nothing.
    pub fn fail(&mut self, change: Change, error: io::Error) {
        if error.raw_os_error() == Some(libc::ESRCH) {
            return;
        }
        if change.of.is_some() {
            self.refused.push((change, error));
        } else if change.to == change.before {
            self.stuck.insert(change.setting);
        }
    }

    /// Gives one setting its due; what cannot be put back is noted.
    ///
    /// # Errors
    /// It cannot be read or changed, or the journal cannot be written.
    pub fn settle(&mut self, setting: Setting, due: impl Fn(&str) -> String) -> Result<(), Error> {
        let fails = |setting: &Setting, error| Error::File { path: setting.name().into(), error };
        let current = setting.read(self.kernel).map_err(|error| fails(&setting, error))?;
        let Some(change) = self.plan(&setting, &current, due) else { return Ok(()) };
        match self.carry_out(vec![change])?.pop() {
            Some((change, error)) if change.to != change.before => Err(fails(&setting, error)),
            Some((change, error)) => {
                self.fail(change, error);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Notes something that stays on these processors.
    pub fn keep(&mut self, cpus: CpuSet, what: impl Into<String>, why: impl Into<String>) {
        self.kept.push((cpus, Unmovable { what: what.into(), why: why.into() }));
    }

    /// A list or mask without the closed processors; the whole rest if nothing would remain.
    pub fn less(&self, before: &str, away: &CpuSet) -> String {
        let before: CpuSet = before.parse().unwrap_or_default();
        let rest = before.minus(away);
        if rest.is_empty() && before.meets(away) {
            self.usable.minus(away).to_string()
        } else {
            rest.to_string()
        }
    }
}

/// Why the kernel refused, for people.
pub(crate) fn refusal(error: &io::Error, kernel: &dyn Kernel) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM) if !kernel.may_move() => "needs CAP_SYS_NICE".to_owned(),
        Some(libc::EACCES | libc::EPERM | libc::EROFS) => "needs root".to_owned(),
        _ => format!("the kernel refuses it: {error}"),
    }
}
