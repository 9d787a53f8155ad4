// SPDX-License-Identifier: Apache-2.0
//! The guardian itself: begins, keeps sweeping, and undoes.

use std::io::{self, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, getpid, pidfd_open};

use super::messages::{Answer, Order, receive, send};
use crate::{Error, Machine, Occupation, Occupations, Request, TaskId, Undone};

/// Under which name an executable is a guardian; also what `ps` shows.
pub const NAME: &str = "occupy-guardian";
/// Between two sweeps after one that found something.
const SHORTEST: Duration = Duration::from_millis(20);
/// Between two sweeps when nothing comes.
const LONGEST: Duration = Duration::from_millis(100);
/// Between two tries to undo, when the journal is busy or damaged; and how long a sweep waits for
/// the journal, as the guardian does not see meanwhile that the program has ended.
const PAUSE: Duration = Duration::from_secs(1);

/// Serves as a guardian if this process was started as one.
///
/// Every executable that has occupations calls it before anything else.
pub fn called() -> Option<ExitCode> {
    let name = std::env::args_os().next()?;
    (name == NAME).then(|| match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve() -> io::Result<()> {
    let _ = rustix::thread::set_name(c"occupy-guardian");
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let machine = Machine::here();
    let own = machine.identify(getpid().as_raw_nonzero().get()).map_err(io::Error::other)?;
    let mut guardian =
        Guardian { machine, own, socket: Some(BufReader::new(socket)), program: None, id: 0 };
    guardian.send(&Answer::Here(own));
    let Some(Order::Begin { request, program }) = guardian.receive() else { return Ok(()) };
    let occupations = match guardian.machine.lock() {
        Ok(occupations) => occupations,
        Err(error) => {
            // Nothing was begun, and a journal that is not trusted is not waited for.
            guardian.send(&Answer::Refused(error.to_string(), error.help()));
            return Ok(());
        }
    };
    match guardian.begin(occupations, &request, program) {
        Ok((occupation, recovered)) => {
            guardian.id = occupation.id;
            guardian.send(&Answer::Begun { occupation: Box::new(occupation), recovered });
        }
        Err(error) => {
            // What could not be begun may still be there in part, if the journal was not to be had.
            guardian.end_after(&Answer::Refused(error.to_string(), error.help()));
            return Ok(());
        }
    }
    if let Some(last) = guardian.keep(program.is_some()) {
        guardian.send(&last);
    }
    Ok(())
}

struct Guardian {
    machine: Machine,
    own: TaskId,
    /// To whoever asked for the occupation, as long as he is there.
    socket: Option<BufReader<UnixStream>>,
    program: Option<OwnedFd>,
    id: u32,
}

impl Guardian {
    fn begin(
        &mut self,
        mut occupations: Occupations,
        request: &Request,
        program: Option<TaskId>,
    ) -> Result<(Occupation, Vec<(Occupation, Undone)>), Error> {
        let recovered = occupations.recover()?;
        let mut occupation = occupations.begin(request, self.own)?;
        if let Some(program) = program {
            let admitted =
                self.watch(program).and_then(|()| occupations.admit(occupation.id, program));
            if let Err(error) = admitted {
                occupations.end(occupation.id)?;
                return Err(error);
            }
            occupation.program = Some(program);
        }
        Ok((occupation, recovered))
    }

    /// Holds on to the program: what has its number and its start now is it for ever.
    fn watch(&mut self, program: TaskId) -> Result<(), Error> {
        let gone = Error::NoProcess { pid: program.tid };
        let Some(pid) = Pid::from_raw(program.tid) else { return Err(gone) };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return Err(gone) };
        if !self.machine.lives(program) {
            return Err(gone);
        }
        self.program = Some(descriptor);
        Ok(())
    }

    /// Sweeps until the occupation is to end or has been ended, and gives the last word, if it was
    /// not said yet.
    fn keep(&mut self, alone: bool) -> Option<Answer> {
        let mut pause = SHORTEST;
        // Without memory to wait with there is still what was begun.
        while let Ok((program_ended, spoken)) = self.wait(pause) {
            if program_ended {
                break;
            }
            if spoken {
                match self.receive() {
                    Some(Order::Admit(program)) => self.admit(program),
                    None if alone => self.socket = None,
                    _ => break,
                }
            }
            let occupations = self.machine.lock_within(PAUSE);
            pause = match occupations.and_then(|mut occupations| occupations.sweep(self.id)) {
                Err(Error::NoOccupation { .. }) => return Some(Answer::Released),
                Ok(swept) if swept.moved > 0 => SHORTEST,
                // One that failed is no reason to leave the rest of them undone.
                _ => (pause + pause / 4).min(LONGEST),
            };
        }
        self.end()
    }

    fn admit(&mut self, program: TaskId) {
        let admitted = self
            .watch(program)
            .and_then(|()| self.machine.lock())
            .and_then(|mut occupations| occupations.admit(self.id, program));
        let answer = match admitted {
            Ok(()) => Answer::Admitted,
            Err(error) => Answer::Refused(error.to_string(), error.help()),
        };
        self.send(&answer);
    }

    /// Whether the program has ended, and whether something was said, after at most this time.
    fn wait(&self, limit: Duration) -> io::Result<(bool, bool)> {
        let socket = self.socket.as_ref().map(BufReader::get_ref);
        let program = self.program.as_ref();
        let descriptors = program.map(AsFd::as_fd).into_iter().chain(socket.map(AsFd::as_fd));
        let mut polled: Vec<_> =
            descriptors.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        poll(&mut polled, Some(&limit))?;
        let mut ready = polled.iter().map(|fd| !fd.revents().is_empty());
        let ended = program.is_some() && ready.next() == Some(true);
        Ok((ended, ready.next() == Some(true)))
    }

    /// Undoes the occupation and says what was undone, or first why it was not, and goes on trying
    /// then: nobody else does before the next command. `None`: the last word was said.
    fn end(&self) -> Option<Answer> {
        match self.try_end() {
            Ok(undone) => Some(Answer::Ended(undone)),
            Err(error) => {
                let why = format!("{error}: the guardian tries on");
                self.end_after(&Answer::Refused(why, error.help()));
                None
            }
        }
    }

    /// Says this, and does not return before there is nothing of this guardian's to be undone.
    fn end_after(&self, answer: &Answer) {
        self.send(answer);
        while self.try_end().is_err() {
            thread::sleep(PAUSE);
        }
    }

    /// Ends what is this guardian's, as the journal has it: also what was begun without an answer.
    fn try_end(&self) -> Result<Undone, Error> {
        let mut occupations = self.machine.lock()?;
        let own = occupations.occupations().iter().find(|found| found.guardian == self.own);
        let id = own.map(|found| found.id);
        id.map_or_else(|| Ok(Undone::default()), |id| occupations.end(id))
    }

    fn receive(&mut self) -> Option<Order> {
        receive(self.socket.as_mut()?).ok().flatten()
    }

    fn send(&self, answer: &Answer) {
        if let Some(socket) = &self.socket {
            // Whoever asked may have gone: the occupation is kept or undone all the same.
            let _ = send(&mut socket.get_ref(), answer);
        }
    }
}
