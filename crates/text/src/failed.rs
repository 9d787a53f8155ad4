// SPDX-License-Identifier: Apache-2.0
//! The shape of every error: what failed, and below it what to do.

use std::env;
use std::fmt;
use std::io;

use crate::plain;

/// What failed, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// What, in one sentence without a full stop.
    pub message: String,
    /// An imperative.
    pub help: Option<String>,
}

impl Failed {
    /// A failure that nothing is known against.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }

    /// By the words of a parser: `why` ends with what to write, or says it alone.
    pub fn by_reason(what: &str, why: &str) -> Self {
        match why.rsplit_once(": write ") {
            _ if why.starts_with("write ") => Self::new(what).help(why),
            Some((why, cure)) => Self::new(format!("{what}: {why}")).help(format!("write {cure}")),
            None => Self::new(format!("{what}: {why}")),
        }
    }
}

/// What to do where the system has no more of something, whatever it was wanted for.
pub fn lacks(error: &io::Error) -> Option<&'static str> {
    const EAGAIN: i32 = 11;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    Some(match (error.raw_os_error(), error.kind()) {
        (Some(EMFILE), _) => "raise the limit of open files of a process (`ulimit -n`)",
        (Some(ENFILE), _) => "end programs that keep files open, or raise fs.file-max by sysctl",
        (Some(EAGAIN), _) => {
            "end other processes, or raise their limit (`ulimit -u`, or pids.max of the container)"
        }
        (_, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
            "free space there, or use another place"
        }
        (_, io::ErrorKind::OutOfMemory) => "free memory, or raise `ulimit -v`",
        _ => return None,
    })
}

/// What to do where the system does not let a file be used.
pub fn cure(error: &io::Error) -> &'static str {
    use io::ErrorKind as Kind;
    if let Some(cure) = lacks(error) {
        return cure;
    }
    match error.kind() {
        Kind::NotFound => "correct the path, or make its folder first",
        Kind::PermissionDenied => "use a place that you have the right to, or change its rights",
        Kind::IsADirectory => "name a file: this is a folder",
        Kind::NotADirectory => "correct the path: a file stands where it has a folder",
        Kind::AlreadyExists => "remove what is there, or use another place",
        Kind::ReadOnlyFilesystem => "use a place that can be written to",
        Kind::InvalidFilename => "shorten the name",
        _ => "use another place, or see `whimbrel doctor`",
    }
}

/// As reports of problems look, which have a place in a file as well.
impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  {} {}", if has_signs() { '×' } else { 'x' }, plain(&self.message))?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {}", plain(help)))
    }
}

/// Whether what is written may have more than ASCII.
fn has_signs() -> bool {
    let of = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let locale = of("LC_ALL").or_else(|| of("LC_CTYPE")).or_else(|| of("LANG")).unwrap_or_default();
    let locale = locale.to_uppercase();
    of("TERM").is_none_or(|term| term != "linux")
        && (locale.ends_with("UTF-8") || locale.ends_with("UTF8"))
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{Failed, cure};

    #[test]
    fn what_to_write_is_told_apart_from_why() {
        let told = |why| Failed::by_reason("it is wrong", why);
        let wrong = Failed::new("it is wrong");
        assert_eq!(told("write 1 or 2"), wrong.clone().help("write 1 or 2"));
        let both = Failed::new("it is wrong: `3` is too much").help("write 1 or 2");
        assert_eq!(told("`3` is too much: write 1 or 2"), both);
        assert_eq!(told("too much"), Failed::new("it is wrong: too much"));
    }

    #[test]
    fn what_the_system_lacks_has_a_cure_of_its_own() {
        let of = |number| cure(&io::Error::from_raw_os_error(number));
        let (eagain, enomem, emfile, enospc) = (11, 12, 24, 28);
        assert!(of(emfile).contains("ulimit -n"));
        assert!(of(eagain).contains("ulimit -u"));
        assert!(of(enomem).contains("free memory"));
        assert!(of(enospc).contains("free space"));
    }

    #[test]
    fn a_failure_has_its_help_on_a_line_of_its_own() {
        let shown = Failed::new("the \u{1b}[8mfile").help("write it").to_string();
        assert!(shown.ends_with(" the ?[8mfile\n  help: write it"), "{shown}");
    }
}
