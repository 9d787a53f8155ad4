// SPDX-License-Identifier: Apache-2.0
//! The cores of a run on this machine: its processors, and cores of boards that are its guests.

use std::path::PathBuf;

use whimbrel_model::{Board, CoreName, Frequency, Guests, HOST_KIND, Problem};
use whimbrel_text::option::{COORDINATOR, CORES, PLATFORM};

use super::hardware::{Hardware, hardware};
use super::{Application, unusable, usable_cpus, utf8};
use crate::args::RunArgs;
use crate::board;
use crate::failure::Failure;

/// More cores than a system with guests has: `WB_GUEST_CORES` of `launcher/api/guest.h`.
const CORES_MOST: usize = 32;

/// The boards that are guests of a run.
#[derive(Debug, Default)]
pub struct GuestBoards {
    /// The boards, and which cores are theirs.
    pub guests: Guests,
    /// The folder of each one's file.
    pub folders: Vec<PathBuf>,
}

/// The cores of a run.
#[derive(Debug, Default)]
pub struct RunCores {
    /// What each is called.
    pub names: Vec<CoreName>,
    /// Whose each is.
    pub boards: GuestBoards,
    /// What names them, for errors.
    by: String,
}

/// The cores of a run, and what they are.
///
/// # Errors
/// A core or a platform that does not exist, or operating points for a core of a guest.
pub fn cores_and_hardware(
    args: &RunArgs,
    application: &Application,
) -> Result<(RunCores, Hardware), Failure> {
    let all = match &args.cores {
        Some(list) => {
            let mut all = RunCores { by: CORES.to_string(), ..RunCores::default() };
            list.0.iter().try_for_each(|core| all.add(core))?;
            all.check()?;
            all
        }
        None => of_application(application)?,
    };
    all.check_frequency(args)?;
    all.check_exclusive(args)?;
    let hardware = hardware(args, &all.numbers())?;
    all.check_platform(&hardware)?;
    Ok((all, hardware))
}

/// The cores that the application names; otherwise all processors that this process may use.
fn of_application(application: &Application) -> Result<RunCores, Failure> {
    let Application { app, source, folder, .. } = application;
    let mut all = RunCores { by: "`cores` of [app]".into(), ..RunCores::default() };
    let Some(first) = app.cores.first() else {
        all.names = usable_cpus()?.into_iter().map(CoreName::Cpu).collect();
        return Ok(all);
    };
    for core in &app.cores {
        let mut name = core.get_ref().clone();
        if let CoreName::Guest { board, .. } = &mut name {
            // Paths of the file are relative to its folder.
            if board::is_path(board) {
                *board = utf8(&folder.join(&board))?;
            }
        }
        all.add(&name).map_err(|failure| failure.at(source, &core.span(), "this core"))?;
    }
    all.check()
        .map_err(|problem| Failure::from(problem).at(source, &first.span(), "from here on"))?;
    Ok(all)
}

impl RunCores {
    /// Adds a core.
    ///
    /// # Errors
    /// A processor that this process may not use, a board that does not exist or cannot be a guest,
    /// or a core that it does not have or that is named twice.
    fn add(&mut self, core: &CoreName) -> Result<(), Failure> {
        let CoreName::Guest { board: wanted, core: number } = core else {
            return self.add_own(core.number());
        };
        let (board, folder) = board::read(wanted, &self.by)?;
        let name = CoreName::Guest { board: board.name.clone(), core: *number };
        let by = &self.by;
        let refuse = |message: String, help: &str| {
            Err(Problem::new(format!("{by} {core}: {message}")).help(help).into())
        };
        if board.guest.is_none() {
            return refuse(
                format!("the board {} cannot be a guest", board.name),
                &format!(
                    "its board.toml has no [guest], which docs/board-toml.md describes; --board \
                     {wanted} runs an application on it alone"
                ),
            );
        }
        if *number >= board.cores {
            return refuse(
                format!("the board {} has no core {number}", board.name),
                &format!("it has cores 0 to {}", board.cores - 1),
            );
        }
        if self.names.contains(&name) {
            return refuse(
                format!("the core {name} is named twice"),
                "name each core of a board once: it has one kernel",
            );
        }
        let guest = self.guest(board, folder)?;
        self.boards.guests.of_core.push(guest);
        self.names.push(name);
        Ok(())
    }

    /// The same of a processor of this machine.
    fn add_own(&mut self, cpu: u32) -> Result<(), Failure> {
        let usable = usable_cpus()?;
        if !usable.contains(&cpu) {
            return Err(unusable(&self.by, cpu, usable).into());
        }
        self.names.push(CoreName::Cpu(cpu));
        self.boards.guests.of_core.push(0);
        Ok(())
    }

    /// Whether they can be cores of one run.
    ///
    /// # Errors
    /// None of them is of this machine, or they are too many for a run with guests.
    fn check(&self) -> Result<(), Problem> {
        let by = &self.by;
        if self.boards.guests.boards.is_empty() {
            return Ok(());
        }
        if self.names.iter().all(|core| core.cpu().is_none()) {
            let problem = Problem::new(format!("{by}: all of these cores are of boards"));
            return Err(problem.help(
                "add a processor of this machine; --board runs an application on a board alone",
            ));
        }
        if self.names.len() > CORES_MOST {
            let message = format!("{by}: {} cores, some of them of boards", self.names.len());
            let help = format!("name at most {CORES_MOST}: a run with guests has no more");
            return Err(Problem::new(message).help(help));
        }
        Ok(())
    }

    /// The number of a guest, from 1; a new one if it is not there yet.
    fn guest(&mut self, board: Board, folder: PathBuf) -> Result<u32, Problem> {
        let known = self.boards.guests.boards.iter().position(|known| known.name == board.name);
        let place = known.unwrap_or(self.boards.folders.len());
        match known {
            Some(known) if self.boards.folders[known] != folder => {
                let message = format!("{}: two boards have the name {}", self.by, board.name);
                let help = "give one of them another `name` in its board.toml";
                return Err(Problem::new(message).help(help));
            }
            Some(_) => {}
            None => {
                self.boards.guests.boards.push(board);
                self.boards.folders.push(folder);
            }
        }
        Ok(place as u32 + 1)
    }

    /// The processor of each core; of a guest's, the core of its board.
    fn numbers(&self) -> Vec<u32> {
        self.names.iter().map(CoreName::number).collect()
    }

    /// Gives the cores of guests the kinds of their boards, but for the first ones, of which the
    /// command line says it.
    pub fn with_kinds(&self, mut kinds: Vec<String>, said: usize) -> Vec<String> {
        if self.boards.guests.boards.iter().all(|board| board.kind == HOST_KIND) {
            return kinds;
        }
        kinds.resize(self.names.len(), HOST_KIND.to_owned());
        for (core, kind) in (0..).zip(&mut kinds).skip(said) {
            let board = self.boards.guests.at(core).filter(|board| board.kind != HOST_KIND);
            if let Some(board) = board {
                kind.clone_from(&board.kind);
            }
        }
        kinds
    }

    /// Refuses operating points for cores of guests, as far as the command line asks for them.
    ///
    /// # Errors
    /// It does.
    fn check_frequency(&self, args: &RunArgs) -> Result<(), Problem> {
        let wanted = args.frequency.filter(|how| *how != Frequency::None);
        wanted.map_or(Ok(()), |how| self.refuse_points(&format!("--frequency {}", how.word())))
    }

    /// The same of a platform with operating points.
    ///
    /// # Errors
    /// It has some.
    fn check_platform(&self, hardware: &Hardware) -> Result<(), Problem> {
        if hardware.cores.is_empty() {
            return Ok(());
        }
        self.refuse_points(&format!("{PLATFORM} {}", hardware.platform))
    }

    fn refuse_points(&self, option: &str) -> Result<(), Problem> {
        let Some((core, name)) = self.first_of_guest() else { return Ok(()) };
        let message = format!("{option}: core {core} is {name}, which has no operating points");
        Err(Problem::new(message).help("leave it out, or name only processors of this machine"))
    }

    /// Refuses `--exclusive`: an emulator runs where its helper does, which is on the processors of
    /// the other kernels then.
    ///
    /// # Errors
    /// It was asked for.
    fn check_exclusive(&self, args: &RunArgs) -> Result<(), Problem> {
        let Some((core, name)) = self.first_of_guest().filter(|_| args.exclusive) else {
            return Ok(());
        };
        let message =
            format!("--exclusive: core {core} is {name}, whose emulator has no processor");
        Err(Problem::new(message).help("leave it out, or name only processors of this machine"))
    }

    fn first_of_guest(&self) -> Option<(usize, &CoreName)> {
        self.names.iter().enumerate().find(|(_, name)| name.board().is_some())
    }

    /// Refuses a coordinator on a core of a guest: the policy is in the program of this machine.
    ///
    /// # Errors
    /// It is on one.
    pub fn check_coordinator(&self, core: u32) -> Result<(), Problem> {
        let Some(name) = self.names.get(core as usize).filter(|name| name.board().is_some()) else {
            return Ok(());
        };
        let own = self.names.iter().position(|name| name.cpu().is_some()).unwrap_or_default();
        let message = format!("{COORDINATOR}: core {core} is {name}, a core of a guest");
        Err(Problem::new(message)
            .help(format!("name a core of this machine, as with {COORDINATOR} {own}")))
    }
}
