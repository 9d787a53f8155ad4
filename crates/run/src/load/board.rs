// SPDX-License-Identifier: Apache-2.0
//! Everything that is decided before an application is laid out for a board.

use std::fs;
use std::path::{Path, PathBuf};

use whimbrel_model::{
    Board, BoardFiles, CoreName, Cores, Frequency, Kernels, Problem, check_cores, check_kinds,
    linked,
};

use super::{
    Application, GuestBoards, Hardware, Loaded, Options, Polling, Schedule, application_for_any,
    map, moving, nanoseconds, pacing,
};
use crate::args::{LayoutArgs, RunArgs};
use crate::board;
use crate::failure::Failure;

/// The frequencies of a board's cores are not known.
const PLATFORM: &str = "host";

/// A board that an application is to run on.
#[derive(Debug)]
pub struct Target {
    /// What it is.
    pub board: Board,
    /// The folder of its file.
    pub folder: PathBuf,
    /// Its image; `None`: it is to be built.
    pub image: Option<PathBuf>,
}

/// Reads and checks everything that `run --board` was given.
///
/// # Errors
/// Every kind of bad input but those that only the board can see.
pub fn load(args: &RunArgs, wanted: &str) -> Result<Loaded, Failure> {
    let mut loaded = fit(&args.common.layout, wanted)?;
    loaded.schedule = Schedule::new(&args.common, &loaded.app, loaded.options.cpus.len())?;
    loaded.options.duration_ns = args.common.duration.map(nanoseconds);
    if let Some(target) = &mut loaded.board {
        target.image.clone_from(&args.image);
    }
    check_memory(&loaded, args.common.record.is_some())?;
    Ok(loaded)
}

/// Lays an application out for a board, as `run --board` does without any other options.
///
/// # Errors
/// Every kind of bad input but those that only the board can see.
pub fn fit(layout: &LayoutArgs, wanted: &str) -> Result<Loaded, Failure> {
    let (board, folder) = board::read(wanted, "--board")?;
    let Application { mut app, source, path, folder: here } =
        application_for_any(&layout.app, &layout.set)?;
    let n_cores = board.cores as usize;
    let kinds = vec![board.kind.clone(); n_cores];
    let pacing = pacing(layout, &app)?;
    let cores = Cores { count: n_cores, kinds: &kinds, hz: &vec![0; n_cores] };
    map(layout.map.as_ref(), &mut app, &source, &cores, pacing)?;
    app.check_only(Kernels::Board(&board))
        .and_then(|()| check_cores(&app, n_cores))
        .and_then(|()| check_kinds(&app, &kinds))
        .map_err(|problems| Failure::in_file(&source, problems))?;
    let points = vec![Vec::new(); n_cores];
    let (moving, moving_options) = moving::load(&layout.moving, &mut app, &source, None, &points)?;
    board.check(&app).map_err(|problems| Failure::in_file(&source, problems))?;
    let options = Options {
        cpus: (0..board.cores).map(CoreName::Cpu).collect(),
        platform: PLATFORM.into(),
        frequency: Frequency::None.word(),
        frame_rate: pacing.frame_rate(&app),
        fast: layout.fast,
        map: layout.map.as_ref().map(ToString::to_string),
        duration_ns: None,
        polling: Polling::NONE,
        exclusive: false,
        restart: None,
        moving: moving_options,
        simulation: None,
        board: Some(board.name.clone()),
    };
    let hardware =
        Hardware { platform: PLATFORM.into(), cores: Vec::new(), frequency: Frequency::None };
    let loaded = Loaded {
        app,
        source,
        path,
        folder: here,
        module: String::new(),
        pacing,
        moving,
        kinds,
        hardware,
        options,
        schedule: Schedule::default(),
        board: Some(Target { board, folder, image: None }),
        guests: GuestBoards::default(),
        experiment: None,
    };
    check_memory(&loaded, false)?;
    Ok(loaded)
}

/// Whether the board has the memory for it, and for what is recorded.
fn check_memory(loaded: &Loaded, is_recorded: bool) -> Result<(), Failure> {
    let Some(target) = &loaded.board else { return Ok(()) };
    let plan = loaded.plan(is_recorded.then(String::new), String::new());
    let checked = target.board.check_memory(&loaded.app, &plan);
    checked.map_err(|problems| Failure::in_file(&loaded.source, problems))
}

impl Loaded {
    /// The files that parameters name, as C, where the board has them linked in. One that does not
    /// exist is left out: it may be an output, and the application says what it needs.
    ///
    /// # Errors
    /// A file that is there cannot be read.
    pub fn linked(&self, board: &Board) -> Result<String, Failure> {
        if board.files != BoardFiles::Linked {
            return Ok(String::new());
        }
        let is_path = |key: &String| self.app.paths.contains(key);
        let mut files = Vec::new();
        for param in self.app.params.iter().filter(|param| is_path(&param.key)) {
            if Path::new(&param.text).is_file() {
                let data = fs::read(&param.text).map_err(|error| {
                    Problem::new(format!(
                        "{} \"{}\" cannot be read: {error}",
                        param.key, param.text
                    ))
                    .help("make it readable: the board has its files linked in")
                })?;
                files.push((param.text.clone(), data));
            }
        }
        Ok(linked(&files))
    }
}
