// SPDX-License-Identifier: Apache-2.0
//! The process that keeps one occupation and undoes it, seen from whoever asked for it.
//!
//! It is this executable, started again under the name `occupy-guardian`: with its own name, in its
//! own session and with every signal blocked, so that what ends the tool (a terminal, a group, a
//! name) does not reach it. Only SIGKILL does, and then the tool, or the next command, undoes the
//! occupation from the journal.

mod serve;
mod spawn;
mod words;

use std::io::{self, BufReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::{Error, Machine, Occupation, Request, TaskId, Undone};
use words::{Answer, Order};

pub use serve::called;

/// How long a guardian may take to answer: it waits for the journal at most 5 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// An occupation that lasts as long as this, its program, and the process that has it.
#[derive(Debug)]
pub struct Guard {
    socket: BufReader<UnixStream>,
    occupation: Occupation,
    recovered: Vec<(Occupation, Undone)>,
}

impl Guard {
    /// Occupies processors for a program that is admitted later.
    ///
    /// # Errors
    /// Every refusal of [`crate::Held::begin`]; a guardian that cannot be started, or was killed.
    pub fn begin(request: &Request) -> Result<Self, Error> {
        Self::start(Order::Begin { request: request.clone(), program: None })
    }

    /// Occupies processors for a program that runs already, and for as long as it does; the
    /// occupation outlives the caller.
    ///
    /// # Errors
    /// As [`Guard::begin`]; the program has ended.
    pub fn begin_for(request: &Request, program: TaskId) -> Result<Self, Error> {
        Self::start(Order::Begin { request: request.clone(), program: Some(program) })
    }

    fn start(order: Order) -> Result<Self, Error> {
        let socket = spawn::spawn().map_err(|error| Error::Guardian(error.to_string()))?;
        let limit = socket.set_read_timeout(Some(PATIENCE));
        limit.map_err(|error| Error::Guardian(error.to_string()))?;
        let mut socket = BufReader::new(socket);
        match talk(&mut socket, &order)? {
            Answer::Begun { occupation, recovered } => {
                Ok(Self { socket, occupation: *occupation, recovered })
            }
            other => Err(unexpected(other)),
        }
    }

    /// What was occupied.
    pub fn occupation(&self) -> &Occupation {
        &self.occupation
    }

    /// What killed guardians had left and was undone on this occasion.
    pub fn recovered(&self) -> &[(Occupation, Undone)] {
        &self.recovered
    }

    /// Lets the program in, with its threads and children; the occupation ends when it does.
    ///
    /// # Errors
    /// It has ended, or may not be moved; the occupation is still to be ended.
    pub fn admit(&mut self, program: TaskId) -> Result<(), Error> {
        match talk(&mut self.socket, &Order::Admit(program))? {
            Answer::Admitted => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Becomes readable when the guardian has gone or has ended the occupation.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.get_ref().as_fd()
    }

    /// Ends the occupation, unless it has ended already, and says what was undone.
    ///
    /// # Errors
    /// Something could not be undone; the journal still has it.
    pub fn end(mut self) -> Result<Undone, Error> {
        match talk(&mut self.socket, &Order::End)? {
            Answer::Ended(undone) => Ok(undone),
            Answer::Released => Ok(Undone::default()),
            other => Err(unexpected(other)),
        }
    }
}

/// Says one thing and hears the answer; undoes everything if the guardian was killed meanwhile.
fn talk(socket: &mut BufReader<UnixStream>, order: &Order) -> Result<Answer, Error> {
    // A guardian that has gone may have said its last word before: that is read below.
    let _ = words::say(&mut socket.get_ref(), order);
    match words::hear(socket) {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => {
            Machine::here().lock()?.recover()?;
            Err(Error::Guardian("it was killed, and the occupation with it".to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(Error::Guardian("it does not answer".to_owned()))
        }
        Err(error) => Err(Error::Guardian(error.to_string())),
    }
}

fn unexpected(answer: Answer) -> Error {
    match answer {
        Answer::Refused(why) => Error::Told(why),
        other => Error::Guardian(format!("it said {other:?}")),
    }
}
