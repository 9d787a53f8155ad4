// SPDX-License-Identifier: Apache-2.0
//! What is asked of the kernel, in one place: tests have a kernel of their own, which can be cut
//! off before any change.

use std::fmt::Debug;
use std::io::{self, Write};
use std::mem::size_of;
use std::path::Path;
use std::{fs, ptr};

use rustix::fs::{Access, access};
use rustix::thread::{CapabilitySet, capabilities, sched_getaffinity, sched_setaffinity};

use crate::linux::schedule::Schedule;
use crate::{CpuSet, Error};

/// The kernel's files, and what it knows of its tasks.
pub(crate) trait Kernel: Debug {
    /// The whole text of a file.
    fn read(&self, path: &Path) -> io::Result<String>;
    /// Writes a text to a file that exists, in one go: the kernel takes it as one command.
    fn write(&self, path: &Path, text: &str) -> io::Result<()>;
    /// The names of the folders in a folder.
    fn folders(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Whether a file or folder is there.
    fn exists(&self, path: &Path) -> bool;
    /// Whether this process may write the file.
    fn may_write(&self, path: &Path) -> bool;
    /// Whether anybody may: the kernel takes the right away where it would refuse.
    fn writable(&self, path: &Path) -> bool;
    /// Makes a folder.
    fn make(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder of the kernel's, which goes with its files.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// The processors that a task may use.
    fn affinity(&self, tid: i32) -> io::Result<CpuSet>;
    /// Sets them.
    fn set_affinity(&self, tid: i32, cpus: &CpuSet) -> io::Result<()>;
    /// How a task is scheduled.
    fn schedule(&self, tid: i32) -> io::Result<Schedule>;
    /// Sets it.
    fn set_schedule(&self, tid: i32, schedule: &Schedule) -> io::Result<()>;
    /// Whether this process has `CAP_SYS_NICE`.
    fn may_move(&self) -> bool;
}

/// The kernel that runs this process.
#[derive(Debug, Default)]
pub(crate) struct Linux {
    /// The processors that run, and those that may be put on-line later.
    pub online: CpuSet,
    pub absent: CpuSet,
}

impl Kernel for Linux {
    fn read(&self, path: &Path) -> io::Result<String> {
        // A task's name is any bytes.
        fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let file = fs::OpenOptions::new().write(true).truncate(true).open(path);
        file?.write_all(text.as_bytes())
    }

    fn folders(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        let folders = entries.iter().filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir()));
        Ok(folders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn may_write(&self, path: &Path) -> bool {
        access(path, Access::WRITE_OK).is_ok()
    }

    fn writable(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|data| !data.permissions().readonly())
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn affinity(&self, tid: i32) -> io::Result<CpuSet> {
        let mask = sched_getaffinity(Some(number(tid)?))?;
        let cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu));
        Ok(cpus.take(mask.count().try_into().unwrap_or(usize::MAX)).collect())
    }

    fn set_affinity(&self, tid: i32, cpus: &CpuSet) -> io::Result<()> {
        let mut mask = rustix::thread::CpuSet::new();
        // A task that may use every processor that runs may use also those that come later; the
        // kernel tells only of the former.
        let all = self.online.within(cpus) && !self.online.is_empty();
        let cpus = if all { &cpus.union(&self.absent) } else { cpus };
        cpus.iter().filter(|&cpu| cpu < rustix::thread::CpuSet::MAX_CPU).for_each(|c| mask.set(c));
        Ok(sched_setaffinity(Some(number(tid)?), &mask)?)
    }

    fn schedule(&self, tid: i32) -> io::Result<Schedule> {
        let size = size_of::<libc::sched_attr>();
        // SAFETY: all of its fields are numbers, for which zero is a value.
        let mut attr: libc::sched_attr = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes at most `size` bytes, which `attr` has.
        let done = unsafe {
            libc::syscall(libc::SYS_sched_getattr, tid, ptr::from_mut(&mut attr), size, 0)
        };
        if done == 0 { Ok(Schedule::from(&attr)) } else { Err(io::Error::last_os_error()) }
    }

    fn set_schedule(&self, tid: i32, schedule: &Schedule) -> io::Result<()> {
        let attr = libc::sched_attr::from(schedule);
        // SAFETY: the kernel reads as many bytes as `attr.size` says, which is its size.
        let done = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, ptr::from_ref(&attr), 0) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    fn may_move(&self) -> bool {
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_NICE))
    }
}

fn number(tid: i32) -> io::Result<rustix::process::Pid> {
    rustix::process::Pid::from_raw(tid).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// The file's list of processors.
pub(crate) fn list(kernel: &dyn Kernel, path: &Path) -> Result<CpuSet, Error> {
    let text = kernel.read(path).map_err(|error| Error::File { path: path.to_owned(), error })?;
    text.parse().map_err(|_| Error::Text { path: path.to_owned(), text })
}
