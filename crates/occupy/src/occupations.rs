// SPDX-License-Identifier: Apache-2.0
//! The machine's occupations, occupations alone: begun, kept and undone.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::journal::{Journal, Line};
use crate::linux::kernel::{Kernel, Linux, list};
use crate::linux::tasks;
use crate::lock::{Locked, PATIENCE};
use crate::occupation::token;
use crate::shield::sets;
use crate::work::Work;
use crate::{
    CpuSet, Error, Machine, Occupation, Policy, Request, ShieldKind, TaskId, Unmovable, begin,
    reconcile,
};

/// The journal under its lock: while one process has this, no other changes anything.
#[derive(Debug)]
pub struct Occupations {
    machine: Machine,
    kernel: Box<dyn Kernel>,
    journal: Journal,
    _lock: Locked,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many tasks were moved away, or to the program's processors.
    pub moved: usize,
    /// What could not be moved, and what moves itself back: all there is now.
    pub kept: Vec<Unmovable>,
}

/// What the end of an occupation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// How many settings were put back.
    pub restored: usize,
    /// What somebody else has changed meanwhile, and was therefore left alone, and what the kernel
    /// refused to put back.
    pub foreign: Vec<Unmovable>,
}

impl Machine {
    /// Waits for the journal's lock and reads the journal; one of another boot is dropped.
    ///
    /// # Errors
    /// The folder cannot be written, somebody holds the lock for more than 30 s, or the journal is
    /// not understood.
    pub fn lock(&self) -> Result<Occupations, Error> {
        self.lock_within(PATIENCE)
    }

    /// As [`Machine::lock`], for one who must not wait for so long.
    pub(crate) fn lock_within(&self, patience: Duration) -> Result<Occupations, Error> {
        let lock = Locked::within(&self.state, patience)?;
        let online = self.online()?;
        let possible = list(&Linux::default(), &self.sys.join("devices/system/cpu/possible"));
        let absent = possible.unwrap_or_default().minus(&online);
        Occupations::new(self, Box::new(Linux { online, absent }), lock)
    }
}

impl Occupations {
    pub(crate) fn new(
        machine: &Machine,
        kernel: Box<dyn Kernel>,
        lock: Locked,
    ) -> Result<Self, Error> {
        let boot = machine.proc.join("sys/kernel/random/boot_id");
        let boot = kernel.read(&boot).map_err(|error| Error::File { path: boot, error })?;
        let journal = Journal::load(&lock.folder, "journal", boot.trim())?;
        Ok(Self { machine: machine.clone(), kernel, journal, _lock: lock })
    }

    /// All there are, by number.
    pub fn occupations(&self) -> &[Occupation] {
        self.journal.occupations()
    }

    /// Whether the machine has been started anew since the last occupation began, which has undone
    /// it: its journal is dropped.
    pub fn outlived(&self) -> bool {
        self.journal.outlived()
    }

    /// The processors that [`Occupations::begin`] would take now, and why these.
    ///
    /// # Errors
    /// Those that are asked for cannot be occupied, or there is none left.
    pub fn choose(&mut self, asked: Option<&CpuSet>) -> Result<(CpuSet, String), Error> {
        begin::processors(&self.work()?, asked)
    }

    /// Begins an occupation: chooses the processors, writes the journal, moves the others away.
    ///
    /// # Errors
    /// Why it is refused or failed; everything has been undone.
    pub fn begin(&mut self, request: &Request, guardian: TaskId) -> Result<Occupation, Error> {
        if !self.kernel.may_move() {
            return Err(Error::Permission {
                what: "moving the tasks of others".to_owned(),
                capability: "CAP_SYS_NICE",
            });
        }
        let work = self.work()?;
        let (cpus, reason) = begin::processors(&work, request.cpus.as_ref())?;
        let shields = begin::shields(&work, request.soft, request.shield)?;
        let ids = 1..=u32::MAX;
        let mut free = ids.filter(|&id| self.journal.occupation(id).is_none());
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let occupation = Occupation {
            id: free.next().expect("there are fewer occupations than numbers"),
            cpus,
            shield: ShieldKind::Affinity,
            soft: request.soft,
            policy: request.policy,
            program: None,
            user: None,
            token: token().map_err(|error| Error::Refused {
                what: "a random number".to_owned(),
                why: error.to_string(),
            })?,
            guardian,
            command: request.command.clone(),
            since: since.map_or(0, |since| since.as_secs()),
            reason,
            kept: Vec::new(),
        };
        let id = occupation.id;
        match self.put(&occupation, &shields) {
            Ok(()) => Ok(self.occupation(id)?.clone()),
            Err(error) => {
                self.end(id)?;
                Err(error)
            }
        }
    }

    /// Takes the program in: all its threads and children go to its processors.
    ///
    /// # Errors
    /// It has gone, or may not be moved or scheduled so; it is as it was.
    pub fn admit(&mut self, id: u32, program: TaskId) -> Result<(), Error> {
        let before = self.occupation(id)?.clone();
        if !self.lives(program) {
            return Err(Error::NoProcess { pid: program.tid });
        }
        let user = tasks::user(&*self.kernel, &self.machine.proc, program.tid);
        let with = Occupation { program: Some(program), user, ..before.clone() };
        let shield = with.shield;
        let done = self.put(&with, &[shield]);
        // One that has ended meanwhile has nothing that could be undone.
        let gone = || Error::NoProcess { pid: program.tid };
        let done = done.and_then(|()| if self.lives(program) { Ok(()) } else { Err(gone()) });
        done.or_else(|error| {
            self.journal.append(vec![Line::Released(id)])?;
            self.put(&before, &[shield])?;
            Err(error)
        })
    }

    /// Moves away what has come since, and takes in the program's new threads and children.
    ///
    /// # Errors
    /// There is no such occupation, or the journal cannot be written.
    pub fn sweep(&mut self, id: u32) -> Result<Swept, Error> {
        self.occupation(id)?;
        let mut work = self.work()?;
        reconcile::once(&mut work)?;
        let moved = work.moved;
        reconcile::note(&mut work)?;
        Ok(Swept { moved, kept: self.occupation(id)?.kept.clone() })
    }

    /// Changes how the program is scheduled, and whether others may use its processors while it
    /// sleeps.
    ///
    /// # Errors
    /// There is no such occupation, or it may not be scheduled so; everything is as it was.
    pub fn adjust(&mut self, id: u32, policy: Policy, soft: bool) -> Result<(), Error> {
        let before = self.occupation(id)?.clone();
        let shields = if soft == before.soft {
            vec![before.shield]
        } else {
            let work = self.work()?;
            if !soft {
                begin::unclaimed(&work, &before.cpus)?;
            }
            begin::shields(&work, soft, None)?
        };
        let with = Occupation { policy, soft, ..before.clone() };
        self.put(&with, &shields).or_else(|error| {
            let shield = before.shield;
            self.put(&before, &[shield])?;
            Err(error)
        })
    }

    /// Ends an occupation; after the last, everything is as it was before the first.
    ///
    /// # Errors
    /// There is no such occupation, or the journal cannot be written.
    pub fn end(&mut self, id: u32) -> Result<Undone, Error> {
        let admitted = self.occupation(id)?.program.is_some();
        let mut work = self.work()?;
        if admitted {
            reconcile::last(&mut work, id);
        }
        work.journal.append(vec![Line::Ended(id)])?;
        undo(&mut work)
    }

    /// Ends every occupation whose guardian is gone, and what a killed one left half done.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn recover(&mut self) -> Result<Vec<(Occupation, Undone)>, Error> {
        let all = self.journal.occupations().to_vec();
        let dead = all.into_iter().filter(|occupation| !self.lives(occupation.guardian));
        let mut ended = Vec::new();
        for occupation in dead.collect::<Vec<_>>() {
            let undone = self.end(occupation.id)?;
            ended.push((occupation, undone));
        }
        // Killed after the last one's end was written, and before all was put back.
        if self.journal.occupations().is_empty() && !self.journal.is_empty() {
            undo(&mut self.work()?)?;
        }
        Ok(ended)
    }

    fn occupation(&self, id: u32) -> Result<&Occupation, Error> {
        let none = || Error::NoOccupation { what: id.to_string() };
        self.journal.occupation(id).ok_or_else(none)
    }

    fn lives(&self, task: TaskId) -> bool {
        tasks::identify(&*self.kernel, &self.machine.proc, task.tid) == Some(task)
    }

    fn work(&mut self) -> Result<Work<'_>, Error> {
        let usable = sets::usable(&*self.kernel, &self.machine)?;
        Ok(Work::new(&self.machine, &*self.kernel, &mut self.journal, usable))
    }

    /// Writes down an occupation, with the first of these shields that can be had, and makes the
    /// machine so.
    fn put(&mut self, occupation: &Occupation, shields: &[ShieldKind]) -> Result<(), Error> {
        let mut last = Err(Error::NoShield { shield: "shield", why: "none is left".to_owned() });
        for &shield in shields {
            let with = Occupation { shield, ..occupation.clone() };
            self.journal.append(vec![Line::Occupation(Box::new(with))])?;
            let mut work = self.work()?;
            last = reconcile::all(&mut work).and_then(|()| accepted(&mut work));
            if last.is_ok() {
                return reconcile::note(&mut work);
            }
        }
        last
    }
}

/// Puts everything back that no occupation needs any more.
fn undo(work: &mut Work) -> Result<Undone, Error> {
    reconcile::all(work)?;
    let mut undone = Undone { restored: work.restored, foreign: work.foreign.clone() };
    for setting in &work.stuck {
        let why = "could not be put back: the next command tries again".to_owned();
        undone.foreign.push(Unmovable { what: setting.name(), why });
    }
    reconcile::note(work)?;
    if work.journal.occupations().is_empty() {
        work.journal.forget(|setting| !work.stuck.contains(setting))?;
    }
    Ok(undone)
}

/// What of the program's the kernel refused, as an error.
fn accepted(work: &mut Work) -> Result<(), Error> {
    let Some((change, error)) = work.refused.drain(..).next() else { return Ok(()) };
    let what = format!("{} to `{}`", change.setting.name(), change.to);
    if work.kernel.may_move() {
        return Err(Error::Refused { what, why: error.to_string() });
    }
    Err(Error::Permission { what, capability: "CAP_SYS_NICE" })
}
