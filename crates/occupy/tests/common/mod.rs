// SPDX-License-Identifier: Apache-2.0
//! What tests of the mechanics share: the private world, with a `/sys` of its own.

#[path = "../private/mod.rs"]
pub mod private;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

pub use private::Running;
use whimbrel_occupy::{Machine, Policy, Request, ShieldKind, TaskId};

/// Whether this is the private world, where there are no interrupts; outside of it, runs the test
/// there. Tasks begin on processors 0 and 1, however many there are.
pub fn inside(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root may hide interrupts");
        return false;
    }
    if !private::inside(test) {
        return false;
    }
    let hidden = Command::new("mount").args(["-t", "tmpfs", "none", "/proc/irq"]).status();
    assert!(hidden.unwrap().success(), "interrupts could not be hidden");
    pin(number(std::process::id()), "0-1");
    true
}

/// A machine with the real processes and a `/sys` that tells of the real processors.
pub fn machine(folder: &Path) -> Machine {
    let cpu = folder.join("sys/devices/system/cpu");
    if !cpu.exists() {
        fs::create_dir_all(&cpu).unwrap();
        for name in ["online", "possible"] {
            fs::copy(Path::new("/sys/devices/system/cpu").join(name), cpu.join(name)).unwrap();
        }
    }
    Machine { proc: "/proc".into(), sys: folder.join("sys"), state: folder.join("state") }
}

/// A wish for processor 1, kept by affinities.
pub fn request() -> Request {
    Request {
        cpus: Some("1".parse().unwrap()),
        soft: false,
        policy: Policy::Fair { nice: None },
        shield: Some(ShieldKind::Affinity),
        command: vec!["test".to_owned()],
    }
}

/// This process, as the guardian.
pub fn me(machine: &Machine) -> TaskId {
    machine.identify(number(std::process::id())).unwrap()
}

/// A child that runs a shell's words, and may be written to.
pub fn shell(words: &str) -> Running {
    let mut command = Command::new("sh");
    Running(
        command.args(["-c", words]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap(),
    )
}

/// The processors that a task may use, as the kernel lists them.
pub fn affinity(tid: i32) -> String {
    private::affinity(tid).unwrap()
}

/// Sets them, as a user does.
pub fn pin(tid: i32, cpus: &str) {
    let done = Command::new("taskset").args(["-a", "-p", "-c", cpus, &tid.to_string()]).output();
    assert!(done.unwrap().status.success());
}

fn number(pid: u32) -> i32 {
    pid.try_into().unwrap()
}
