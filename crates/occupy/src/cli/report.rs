// SPDX-License-Identifier: Apache-2.0
//! `--report`: what disturbed the program, before and during.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use whimbrel_text::{Failed, cure, plain};

use super::Failure;
use crate::place::{Place, There};
use crate::quiet::{Before, Report};
use crate::{CpuSet, Error, Machine, TaskId};

/// Between two looks at threads that may end meanwhile: a look takes some milliseconds.
pub const BETWEEN: Duration = Duration::from_millis(500);

/// Counts while a program runs.
#[derive(Debug)]
pub struct Watch {
    counted: Before,
    program: Option<TaskId>,
    file: PathBuf,
}

impl Watch {
    /// Counts for a second what is before; the report goes to this file at the end.
    pub fn before(machine: &Machine, cpus: &CpuSet, file: &Path) -> Result<Self, Error> {
        let counted = Before::take(machine, cpus)?;
        Ok(Self { counted, program: None, file: file.to_owned() })
    }

    /// Counts from now on for this program.
    pub fn begin(&mut self, program: TaskId) -> Result<(), Error> {
        self.program = Some(program);
        self.counted.begin(None)
    }

    /// Takes what threads have counted that may have ended at the next look.
    pub fn look(&mut self) {
        if let Some(program) = self.program {
            // What it misses is counted at the end, unless its thread has ended then.
            let _ = self.counted.look(program);
        }
    }

    /// Writes the report. The program has ended, and nobody has waited for it yet.
    pub fn finish(self) -> Result<(), Failure> {
        let report = self.counted.during(self.program)?;
        if self.file.as_os_str() == "-" {
            // Where the program's own messages go: its output stays its own.
            whimbrel_text::say(plain(&report.to_string()).trim_end());
            return Ok(());
        }
        write(&report, &self.file)
    }
}

/// Writes a report into a file.
pub fn write(report: &Report, file: &Path) -> Result<(), Failure> {
    let text = text(report, file)?;
    let wrong =
        |error| Failed::new(format!("the report {}: {error}", file.display())).help(cure(&error));
    put(file, &text).map_err(|error| wrong(error).into())
}

/// Often as root: what somebody else has put in its place is not written.
fn put(file: &Path, text: &str) -> io::Result<()> {
    let place = Place::find(file)?;
    match place.there()? {
        There::Other(mut there) => there.write_all(text.as_bytes()),
        There::File(_) => {
            let mut options = File::options();
            options.write(true).truncate(true).custom_flags(libc::O_NOFOLLOW);
            options.open(place.path())?.write_all(text.as_bytes())
        }
        There::Nothing => File::create_new(place.path())?.write_all(text.as_bytes()),
    }
}

/// In the form that the file's name asks for.
fn text(report: &Report, file: &Path) -> Result<String, Failure> {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json") => super::json(report),
        _ => Ok(report.to_string()),
    }
}
