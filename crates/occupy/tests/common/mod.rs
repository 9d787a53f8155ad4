// SPDX-License-Identifier: Apache-2.0
//! A private world for each test: its own process numbers, so that what is moved is what the test
//! started, no interrupts, no cpusets, and a `/sys` of its own.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use whimbrel_occupy::{Machine, Policy, Request, ShieldKind, TaskId};

/// Set in the private world.
const INSIDE: &str = "WHIMBREL_TEST_INSIDE";

/// Runs the rest of this test in a private world, as its first process; false outside of it, after
/// the inside has passed.
pub fn inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        // What the kernel has for all of the machine is hidden: no test writes it.
        for folder in ["/proc/irq", "/sys/fs/cgroup"] {
            let hidden = Command::new("mount").args(["-t", "tmpfs", "none", folder]).status();
            assert!(hidden.unwrap().success(), "{folder} could not be hidden");
        }
        return true;
    }
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root may make a private world");
        return false;
    }
    let status = Command::new("timeout")
        .args(["60", "unshare", "--pid", "--fork", "--mount-proc", "--kill-child"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{test} failed inside");
    false
}

/// A machine with the real processes and a `/sys` that tells of the real processors.
pub fn machine(folder: &Path) -> Machine {
    let cpu = folder.join("sys/devices/system/cpu");
    fs::create_dir_all(&cpu).unwrap();
    for name in ["online", "possible"] {
        fs::copy(Path::new("/sys/devices/system/cpu").join(name), cpu.join(name)).unwrap();
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

/// A child that runs a shell's words, and is killed at the end.
pub struct Shell(pub Child);

impl Shell {
    pub fn new(words: &str) -> Self {
        let mut command = Command::new("sh");
        command.args(["-c", words]).stdin(Stdio::piped()).stdout(Stdio::null());
        Self(command.spawn().unwrap())
    }

    pub fn pid(&self) -> i32 {
        number(self.0.id())
    }

    /// Its only child, once it is there.
    pub fn child(&self) -> i32 {
        let path = format!("/proc/{0}/task/{0}/children", self.pid());
        until(|| fs::read_to_string(&path).unwrap().trim().parse().ok())
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until there is an answer, at most 10 s.
pub fn until<T>(answer: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(answer) = answer() {
            return answer;
        }
        assert!(Instant::now() < end, "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The processors that a task may use, as the kernel lists them.
pub fn affinity(tid: i32) -> String {
    let status = fs::read_to_string(format!("/proc/{tid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    line.unwrap().trim().to_owned()
}

/// Sets them, as a user does.
pub fn pin(tid: i32, cpus: &str) {
    let done = Command::new("taskset").args(["-a", "-p", "-c", cpus, &tid.to_string()]).output();
    assert!(done.unwrap().status.success());
}

fn number(pid: u32) -> i32 {
    pid.try_into().unwrap()
}
