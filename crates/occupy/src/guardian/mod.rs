// SPDX-License-Identifier: Apache-2.0
//! The process that keeps one occupation and undoes it, seen from whoever asked for it.
//!
//! It is this executable, started again under the name `occupy-guardian`: with its own name, in its
//! own session and with every signal blocked, so that what ends the tool (a terminal, a group, a
//! name) does not reach it. Only SIGKILL does, and then the tool, or the next command, undoes the
//! occupation from the journal.

mod messages;
mod serve;
mod spawn;

use std::io::{self, BufReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::{Error, Machine, Occupation, Request, TaskId, Undone};
use messages::{Answer, Order};

pub use serve::called;

/// How long a guardian may take to answer: it waits for the journal for 30 s at most, and for 1 s
/// more if it was sweeping.
const PATIENCE: Duration = Duration::from_secs(45);

/// An occupation that lasts as long as this, its program, and the process that has it.
#[derive(Debug)]
pub struct Guard {
    line: Line,
    occupation: Occupation,
    recovered: Vec<(Occupation, Undone)>,
}

impl Guard {
    /// Occupies processors for a program that is admitted later.
    ///
    /// # Errors
    /// Every refusal of [`crate::Occupations::begin`]; a guardian that cannot be started, or was
    /// killed.
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
        let mut line = Line::open()?;
        match line.talk(&order)? {
            Answer::Begun { occupation, recovered } => {
                Ok(Self { line, occupation: *occupation, recovered })
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
        match self.line.talk(&Order::Admit(program))? {
            Answer::Admitted => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    /// Becomes readable when the guardian has gone or has ended the occupation.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.line.socket.get_ref().as_fd()
    }

    /// Ends the occupation, unless it has ended already, and says what was undone.
    ///
    /// # Errors
    /// Something could not be undone; the journal still has it.
    pub fn end(mut self) -> Result<Undone, Error> {
        match self.line.talk(&Order::End)? {
            Answer::Ended(undone) => Ok(undone),
            Answer::Released => Ok(Undone::default()),
            other => Err(unexpected(other)),
        }
    }
}

/// What connects us with a guardian.
#[derive(Debug)]
struct Line {
    socket: BufReader<UnixStream>,
    guardian: TaskId,
}

impl Line {
    fn open() -> Result<Self, Error> {
        let socket = spawn::spawn().map_err(|error| Error::Guardian(error.to_string()))?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        let mut socket = BufReader::new(socket);
        match messages::receive(&mut socket).map_err(failed)? {
            Some(Answer::Here(guardian)) => Ok(Self { socket, guardian }),
            Some(other) => Err(unexpected(other)),
            None => Err(Error::Guardian("it was killed before it did anything".to_owned())),
        }
    }

    /// Sends an order and waits for the answer; undoes everything if the guardian was killed.
    fn talk(&mut self, order: &Order) -> Result<Answer, Error> {
        // A guardian that has gone may have said its last word before: that is read below.
        let _ = messages::send(&mut self.socket.get_ref(), order);
        match messages::receive(&mut self.socket) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => {
                self.stand_in()?;
                Err(Error::Guardian("it was killed, and the occupation with it".to_owned()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Does what the guardian would have done. Its socket is closed some time before it is gone.
    fn stand_in(&self) -> Result<(), Error> {
        let machine = Machine::here();
        let end = Instant::now() + PATIENCE;
        while machine.lives(self.guardian) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        machine.lock()?.recover()?;
        Ok(())
    }
}

/// What a word that did not come means.
fn failed(error: io::Error) -> Error {
    Error::Guardian(match error.kind() {
        io::ErrorKind::WouldBlock => "it does not answer".to_owned(), // within the patience
        _ => error.to_string(),
    })
}

fn unexpected(answer: Answer) -> Error {
    match answer {
        Answer::Refused(message, help) => Error::Told { message, help },
        other => Error::Guardian(format!("it said {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guardian_that_is_silent_does_not_answer() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let error =
            messages::receive::<Answer>(&mut BufReader::new(ours)).map_err(failed).unwrap_err();
        assert_eq!(error.to_string(), "the guardian of the occupation: it does not answer");
    }
}
