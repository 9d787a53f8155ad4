// SPDX-License-Identifier: Apache-2.0
//! The machine's occupations, held alone: begun, kept and undone.

use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};

use crate::{Error, Kept, Machine, Occupation, Policy, Request, TaskId};

/// The journal under its lock: while one process has this, no other changes anything.
#[derive(Debug)]
pub struct Held {
    machine: Machine,
    occupations: Vec<Occupation>,
    _lock: OwnedFd,
}

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// How many tasks were moved away, or to the program's processors.
    pub moved: usize,
    /// What could not be moved, and what moves itself back: all there is now.
    pub kept: Vec<Kept>,
}

/// What the end of an occupation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undone {
    /// How many things were put back.
    pub restored: usize,
    /// What somebody else has changed meanwhile, and was therefore left alone.
    pub foreign: Vec<Kept>,
}

impl Held {
    pub(crate) fn new(machine: &Machine, lock: OwnedFd) -> Result<Self, Error> {
        Ok(Self { machine: machine.clone(), occupations: Vec::new(), _lock: lock })
    }

    /// All there are, by number.
    pub fn occupations(&self) -> &[Occupation] {
        &self.occupations
    }

    /// Begins an occupation: chooses the processors, writes the journal, moves the others away.
    ///
    /// # Errors
    /// Why it is refused or failed; everything has been undone.
    pub fn begin(&mut self, request: &Request, guardian: TaskId) -> Result<Occupation, Error> {
        let _ = (request, guardian, &self.machine);
        Err(Error::NoShield { shield: "none", why: "not there yet".to_owned() })
    }

    /// Takes the program in: all its threads and children go to its processors.
    ///
    /// # Errors
    /// It has gone, or may not be moved or scheduled so.
    pub fn admit(&mut self, id: u32, program: TaskId) -> Result<(), Error> {
        let _ = program;
        Err(Error::NoOccupation { what: id.to_string() })
    }

    /// Moves away what has come since, and takes in the program's new threads and children.
    ///
    /// # Errors
    /// There is no such occupation, or the journal cannot be written.
    pub fn sweep(&mut self, id: u32) -> Result<Swept, Error> {
        Err(Error::NoOccupation { what: id.to_string() })
    }

    /// Changes how the program is scheduled, and whether others may use its processors while it
    /// sleeps.
    ///
    /// # Errors
    /// There is no such occupation, or it may not be scheduled so; everything is as it was.
    pub fn adjust(&mut self, id: u32, policy: Policy, soft: bool) -> Result<(), Error> {
        let _ = (policy, soft);
        Err(Error::NoOccupation { what: id.to_string() })
    }

    /// Ends an occupation; after the last, everything is as it was before the first.
    ///
    /// # Errors
    /// There is no such occupation, or the journal cannot be written.
    pub fn end(&mut self, id: u32) -> Result<Undone, Error> {
        Err(Error::NoOccupation { what: id.to_string() })
    }

    /// Ends every occupation whose guardian is gone, and what a killed one left half done.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn recover(&mut self) -> Result<Vec<(Occupation, Undone)>, Error> {
        Ok(Vec::new())
    }
}
