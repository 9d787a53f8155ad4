// SPDX-License-Identifier: Apache-2.0
//! What a guardian is told and what it answers: lines of JSON.

use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Occupation, Request, TaskId, Undone};

/// What a guardian is told. When nobody is left to tell it anything, that is [`Order::End`], unless
/// it began for a program that ran already.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// The first: occupy, at once for this program if it is there already.
    Begin {
        /// What is asked for.
        request: Request,
        /// Whom for.
        program: Option<TaskId>,
    },
    /// Let this program in.
    Admit(TaskId),
    /// Undo everything.
    End,
}

/// What a guardian answers.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The first word: who it is.
    Here(TaskId),
    /// To [`Order::Begin`].
    Begun {
        /// What was occupied.
        occupation: Box<Occupation>,
        /// What killed guardians had left.
        recovered: Vec<(Occupation, Undone)>,
    },
    /// To [`Order::Admit`].
    Admitted,
    /// To [`Order::End`], or because the program has ended.
    Ended(Undone),
    /// Somebody else has ended the occupation.
    Released,
    /// It could not be done: why, and what to do about it.
    Refused(String, Option<String>),
}

/// Writes one word.
pub fn send(to: &mut impl Write, word: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads one word; none if the other has gone.
pub fn receive<W: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<W>> {
    let mut line = String::new();
    match from.read_line(&mut line) {
        // A process that was killed before it had read everything is seen as a reset.
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(error) => Err(error),
        Ok(_) if !line.ends_with('\n') => Ok(None),
        Ok(_) => Ok(Some(serde_json::from_str(&line)?)),
    }
}
