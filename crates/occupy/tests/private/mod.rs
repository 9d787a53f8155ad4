// SPDX-License-Identifier: Apache-2.0
//! What tests of occupations share: a machine of their own, as far as there can be one.
//!
//! Each test starts itself again in a PID namespace of its own, where it sees only processes that
//! it has started, without cgroups, and with all else that an occupation changes (interrupts,
//! kernel workers, sysctls) readable only. So nothing of this machine is ever touched.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest that anything in these tests may take, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Set for the test that was started again.
const INSIDE: &str = "WHIMBREL_OCCUPY_TEST_INSIDE";

/// What makes the namespace harmless; then the test, under a first process that reaps.
const PREPARE: &str = r#"
    umount -lR /sys/fs/cgroup 2>/dev/null
    for folder in /sys /proc/irq /proc/sys; do
        mount --bind $folder $folder && mount -o remount,bind,ro $folder || exit 99
    done
    "$@"
    exit $?
"#;

/// Defines tests that run in a machine of their own. They need two processors.
#[macro_export]
macro_rules! private_tests {
    ($(fn $name:ident() $body:block)*) => {
        $(#[test] fn $name() {
            if private::inside(stringify!($name)) { $body }
        })*
    };
}

/// Whether this is the test's own machine; outside of it, runs the test there.
pub fn inside(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    let processors = thread::available_parallelism().unwrap().get();
    assert!(processors >= 2, "nothing can be occupied on a machine with one processor");
    // A soak of kills takes what it takes.
    let limit_s = if env::var_os("WHIMBREL_OCCUPY_KILLS").is_some() { "3600" } else { "600" };
    let mut command = Command::new("timeout");
    command.args([limit_s, "unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["sh", "-c", PREPARE, "sh"]).arg(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    let output = command.output().expect("timeout is part of coreutils");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "inside, {}:\n{out}\n{err}", output.status);
    assert!(out.contains("1 passed"), "the test did not run inside:\n{out}\n{err}");
    print!("{out}");
    false
}

/// A folder that other users may enter: `TMPDIR` may be the caller's alone.
pub fn open_folder() -> tempfile::TempDir {
    let open = fs::Permissions::from_mode(0o755);
    tempfile::Builder::new().permissions(open).tempdir_in("/tmp").unwrap()
}

/// Lets other users read all of a folder, and write nothing, whatever the caller's umask is.
pub fn let_others_read(folder: &Path) {
    let changed = Command::new("chmod").args(["-R", "a+rX,go-w"]).arg(folder).status();
    assert!(changed.unwrap().success(), "{} is not opened", folder.display());
}

/// A process that is killed when the test is over.
pub struct Running(pub Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// A shell that does this.
    pub fn shell(script: &str) -> Self {
        Self::start(Command::new("sh").args(["-c", script]))
    }

    /// One that does nothing, and has its name from the start.
    pub fn sleep() -> Self {
        Self::start(Command::new("sleep").arg("600"))
    }

    pub fn pid(&self) -> i32 {
        self.0.id().try_into().unwrap()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "this did not come: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A line of `/proc/PID/status`; none if the process has ended.
pub fn field(pid: i32, name: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// The processors that a task may use.
pub fn affinity(pid: i32) -> Option<String> {
    field(pid, "Cpus_allowed_list")
}

/// Every thread that there is, by number and name, with its affinity, policy and niceness.
pub fn everything() -> BTreeMap<i32, String> {
    let numbers = |folder: &Path| -> Vec<i32> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    };
    let mut all = BTreeMap::new();
    for process in numbers(Path::new("/proc")) {
        for task in numbers(&Path::new("/proc").join(process.to_string()).join("task")) {
            all.extend(one(task).map(|text| (task, text)));
        }
    }
    all
}

fn one(task: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{task}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // Numbered from the state, which is the third: niceness is 19, the priority 40, the policy 41.
    let (nice, priority, policy) = (fields.get(16)?, fields.get(37)?, fields.get(38)?);
    let (name, cpus) = (field(task, "Name")?, affinity(task)?);
    Some(format!("{name}: processors {cpus}, policy {policy} {priority}, nice {nice}"))
}

/// The guardians that live.
pub fn guardians() -> Vec<i32> {
    let lives = |pid: &i32| !field(*pid, "State").is_none_or(|state| state.starts_with('Z'));
    let named = |pid: &i32| field(*pid, "Name").as_deref() == Some("occupy-guardian");
    everything().into_keys().filter(named).filter(lives).collect()
}
