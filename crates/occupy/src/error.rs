// SPDX-License-Identifier: Apache-2.0
//! Why an occupation is refused or fails; each says what to do.

use std::path::PathBuf;
use std::time::Duration;

use whimbrel_text::{Failed, cure};

use crate::CpuSet;

/// A refusal or a failure. Nothing has been changed, or all of it has been undone.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A processor that does not exist or is off-line.
    #[error("processor {cpu} is not on-line")]
    Offline {
        /// The one that was asked for.
        cpu: usize,
        /// Those that are.
        online: CpuSet,
    },
    /// A processor that this process may not run on.
    #[error("processor {cpu} is off-line, occupied, or not in this process's cpuset")]
    Unusable {
        /// The one that was asked for.
        cpu: usize,
        /// Those that it may use.
        usable: CpuSet,
    },
    /// No processor would be left for the system.
    #[error("occupying {wanted} would leave no processor for the system, which has {usable}")]
    NoneLeft {
        /// Those that were asked for.
        wanted: CpuSet,
        /// Those that may be used.
        usable: CpuSet,
    },
    /// Another occupation has the processor.
    #[error("processor {cpu} is occupied already, by {by}")]
    Occupied {
        /// The one that was asked for.
        cpu: usize,
        /// The other's program.
        by: String,
    },
    /// Another tool's cpuset claims the processor for itself.
    #[error("the cpuset {} has processor {cpu} for itself", path.display())]
    ForeignCpuset {
        /// The one that was asked for.
        cpu: usize,
        /// The cpuset's folder.
        path: PathBuf,
    },
    /// Another process keeps the journal's lock.
    #[error("another process has been changing the machine for {waited:?}")]
    Locked {
        /// The file that it has locked.
        lock: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// A capability is missing.
    #[error("{what} needs {capability}")]
    Permission {
        /// What was tried.
        what: String,
        /// As `CAP_SYS_NICE`.
        capability: &'static str,
    },
    /// The kernel refuses, for another reason than a missing capability.
    #[error("the kernel refuses {what}: {why}")]
    Refused {
        /// What was tried.
        what: String,
        /// The kernel's words.
        why: String,
    },
    /// A process that is not there, or no longer.
    #[error("process {pid} does not exist (any more)")]
    NoProcess {
        /// Its number.
        pid: i32,
    },
    /// The shield that was asked for is not to be had here.
    #[error("this machine has no {shield} for this user: {why}")]
    NoShield {
        /// Its name.
        shield: &'static str,
        /// What is missing.
        why: String,
    },
    /// An occupation that is not there.
    #[error("there is no occupation {what}")]
    NoOccupation {
        /// What was asked for.
        what: String,
    },
    /// A file of the kernel or the journal that could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A text of the kernel or the journal that was not understood.
    #[error("{}: `{text}` is not understood", path.display())]
    Text {
        /// Which file.
        path: PathBuf,
        /// What stands there.
        text: String,
    },
    /// Why the guardian was refused something, in its words.
    #[error("{message}")]
    Told {
        /// What failed.
        message: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// The guardian that cannot be started or does not answer.
    #[error("the guardian of the occupation: {0}")]
    Guardian(String),
}

impl Error {
    /// What to do about it, if something can be done.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Offline { online, .. } => format!("name one of {online}"),
            Self::Unusable { usable, .. } => format!("name one of {usable}"),
            Self::NoneLeft { .. } => "leave at least one".to_owned(),
            Self::Occupied { .. } => "name another, or see `whimbrel occupy status`".to_owned(),
            Self::ForeignCpuset { .. } => "end what uses it, or name another".to_owned(),
            Self::Locked { lock, .. } => {
                format!("wait for its end, or find it by `fuser {}`", lock.display())
            }
            Self::Permission { .. } => "run as root, for example by `sudo`".to_owned(),
            Self::NoProcess { .. } => "name a process that runs".to_owned(),
            Self::NoShield { .. } => "name another shield, or none".to_owned(),
            Self::NoOccupation { .. } => "see `whimbrel occupy status`".to_owned(),
            Self::Told { help, .. } => return help.clone(),
            Self::File { error, .. } => cure(error).to_owned(),
            Self::Refused { .. } => "try another shield: see `whimbrel occupy status`".to_owned(),
            Self::Text { path, .. } => format!("report what {} contains as a bug", path.display()),
            Self::Guardian(_) => "try again, and see `whimbrel occupy status`".to_owned(),
        })
    }
}

impl From<&Error> for Failed {
    fn from(error: &Error) -> Self {
        Self { message: error.to_string(), help: error.help() }
    }
}
