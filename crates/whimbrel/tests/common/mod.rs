// SPDX-License-Identifier: Apache-2.0
//! What the tests of the command share: a place of their own, and applications made of the tasks
//! in `tests/apps/tasks.c`.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

pub mod screen;

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The longest that anything in these tests may take, also on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// A source at 500 messages per second, a worker and a sink that checks their order.
pub const STREAM: &str = r#"
[[task]]
name = "source"
periodic = true
restart = true

[[task]]
name = "worker"
restart = true

[[task]]
name = "sink"
restart = true

[[channel]]
from = "source.out"
to = "worker.in"
slot_bytes = 8

[[channel]]
from = "worker.out"
to = "sink.in"
slot_bytes = 8
"#;

/// The root of the source tree.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of the helpers that `make build` makes.
pub fn helpers() -> PathBuf {
    let folder =
        std::env::var_os("WHIMBREL_LIBEXEC").map_or_else(|| root().join("bin"), PathBuf::from);
    assert!(folder.join("whimbrel-linux").is_file(), "run `make build test-modules` first");
    folder
}

/// Has a child heed signals that whoever started the tests ignores, as `nohup` does: a child
/// inherits that.
fn heed_signals(command: &mut Command) {
    let heed = || {
        for number in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            // SAFETY: no handler is involved, and signal(2) may be called between fork and exec.
            unsafe { libc::signal(number, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: it makes system calls that may be made between fork and exec, and allocates nothing.
    unsafe { command.pre_exec(heed) };
}

/// The command, in a folder of its own, with a run directory of its own.
pub struct Place {
    folder: tempfile::TempDir,
    helpers: PathBuf,
}

/// A folder whose sockets have paths that are short enough, wherever TMPDIR is.
pub fn short_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/tmp").unwrap()
}

impl Place {
    pub fn new() -> Self {
        Self::with_helpers(helpers())
    }

    /// With other helpers than those of the source tree.
    pub fn with_helpers(helpers: PathBuf) -> Self {
        Self { folder: short_folder(), helpers }
    }

    /// A place whose helper is this shell script; its socket is descriptor 3.
    pub fn scripted(script: &str) -> (tempfile::TempDir, Self) {
        let folder = tempfile::tempdir().unwrap();
        write_script(&folder.path().join("whimbrel-linux"), script);
        let place = Self::with_helpers(folder.path().to_owned());
        (folder, place)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of the runs.
    pub fn runs(&self) -> PathBuf {
        self.path("whimbrel")
    }

    /// Writes an app.toml with the given tables after [app] and [params].
    pub fn app(&self, tables: &str) -> PathBuf {
        let module = root().join("build/test-apps/tasks.so");
        assert!(module.is_file(), "run `make build test-modules` first");
        let head = format!(
            "[app]\nname = \"test\"\nmodule = \"{}\"\nframe_rate = 500\n\n\
             [params]\nrefuse = \"\"\nmessages = 0\nstep_ms = 1\n",
            module.display()
        );
        let path = self.path("app.toml");
        fs::write(&path, head + tables).unwrap();
        path
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whimbrel"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("WHIMBREL_LIBEXEC", &self.helpers)
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .envs([("NO_COLOR", "1"), ("COLUMNS", "100"), ("LC_ALL", "C.UTF-8"), ("TERM", "xterm")])
            .env_remove("FORCE_COLOR")
            .stdin(Stdio::null());
        heed_signals(&mut command);
        command
    }

    pub fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs to the end and gives the JSON on standard output; the exit status must be `status`.
    pub fn json(&self, args: &[&str], status: i32) -> Value {
        let output = self.output(args);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Moves a task of the one run in this place; again where the target was late.
    pub fn migrate(&self, args: &[&str]) -> Output {
        let end = Instant::now() + PATIENCE;
        loop {
            let output = self.output(&[&["migrate", "test-1"], args].concat());
            if !was_late(&output) || Instant::now() > end {
                return output;
            }
        }
    }

    /// Waits until this holds of the totals of the one run in this place.
    pub fn wait_for_totals(&self, holds: impl Fn(&Value) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let totals = self.json(&["top", "test-1", "--json"], 0);
            if holds(&totals) {
                return;
            }
            assert!(Instant::now() < end, "it does not come to that: {totals}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Runs to an error, and gives what standard error says without this place's own paths.
    pub fn error(&self, args: &[&str]) -> String {
        let output = self.output(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        self.anonymous(&said)
    }

    /// The text without paths that differ from place to place.
    pub fn anonymous(&self, said: &str) -> String {
        let said = said.replace(self.folder.path().to_str().unwrap(), "HERE");
        let said = said.replace(self.helpers.to_str().unwrap(), "BIN");
        said.replace(root().to_str().unwrap(), "ROOT")
    }

    /// Starts a run in the background and waits until its kernels run.
    pub fn start(&self, args: &[&str]) -> Run<'_> {
        self.start_with(args, &[])
    }

    /// The same in another environment.
    pub fn start_with(&self, args: &[&str], environment: &[(&str, &str)]) -> Run<'_> {
        self.start_ignoring(args, environment, None)
    }

    /// The same with a signal that whoever starts it has it ignore.
    pub fn start_ignoring(
        &self,
        args: &[&str],
        environment: &[(&str, &str)],
        ignored: Option<i32>,
    ) -> Run<'_> {
        let mut command = self.command(&["run"]);
        command.envs(environment.iter().copied());
        if let Some(signal) = ignored {
            let ignore = move || {
                // SAFETY: no handler is involved, and signal(2) may be called here.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
                Ok(())
            };
            // SAFETY: it makes a system call that may be made between fork and exec, and allocates
            // nothing.
            unsafe { command.pre_exec(ignore) };
        }
        let child =
            command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut run = Run { place: self, child };
        let end = Instant::now() + PATIENCE;
        while run.record().is_none_or(|record| record["kernels"] == serde_json::json!([])) {
            if Instant::now() > end || run.child.try_wait().unwrap().is_some() {
                panic!("it does not start: {}", text(&run.finish().stderr));
            }
            thread::sleep(Duration::from_millis(5));
        }
        run
    }
}

/// A run in the background; killed when it is dropped.
pub struct Run<'a> {
    place: &'a Place,
    child: Child,
}

impl Run<'_> {
    /// What `run.json` of the one run in this place says.
    pub fn record(&self) -> Option<Value> {
        let entry = fs::read_dir(self.place.runs()).ok()?.next()?.ok()?;
        serde_json::from_slice(&fs::read(entry.path().join("run.json")).ok()?).ok()
    }

    /// The helper and the kernel of each core, as they are written in `run.json`; `null` for a
    /// kernel that is not there.
    pub fn processes(&self) -> Vec<Value> {
        let record = self.record().expect("the run has a run.json");
        let kernels = record["kernels"].as_array().unwrap().clone();
        std::iter::once(record["helper"].clone()).chain(kernels).collect()
    }

    /// Waits until a message has come through every channel.
    pub fn wait_until_frames_arrive(&self) {
        self.place.wait_for_totals(|totals| {
            let channels = totals["channels"].as_array().unwrap();
            channels.iter().all(|channel| channel["received"].as_u64() > Some(0))
        });
    }

    pub fn is_under_way(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub fn signal(&self, signal: i32) {
        kill(u64::from(self.child.id()), signal);
    }

    /// Waits for the end.
    pub fn finish(&mut self) -> Output {
        let end = Instant::now() + PATIENCE;
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                self.child.kill().unwrap();
                panic!("the run does not end");
            }
            thread::sleep(Duration::from_millis(2));
        }
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.child.stdout.as_mut().unwrap().read_to_end(&mut stdout).unwrap();
        self.child.stderr.as_mut().unwrap().read_to_end(&mut stderr).unwrap();
        Output { status: self.child.wait().unwrap(), stdout, stderr }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        // After an orderly end there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a migration failed because a processor was busy with something else: an offer to a core
/// lasts for a tenth of a second.
pub fn was_late(output: &Output) -> bool {
    text(&output.stderr).contains("did not take it, in time")
}

/// Writes an executable script. Another process does it: while this one has a file open to write
/// it, what another thread starts has it open as well, and nobody can execute it.
pub fn write_script(path: &Path, script: &str) {
    let draft = path.with_extension("draft");
    let interpreter = if script.starts_with("#!") { "" } else { "#!/bin/sh\n" };
    fs::write(&draft, format!("{interpreter}{script}\n")).unwrap();
    let installed = Command::new("install").arg("-m755").args([&draft, path]).status();
    assert!(installed.unwrap().success());
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sends a signal to a process that a test has started.
pub fn kill(pid: u64, signal: i32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// The same to one that may have ended meanwhile.
pub fn kill_if_there(pid: u64, signal: i32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

pub fn pid(process: &Value) -> u64 {
    process["pid"].as_u64().unwrap()
}

/// Whether a process of `run.json` is still there; `null` is none.
pub fn lives(process: &Value) -> bool {
    if process.is_null() {
        return false;
    }
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid(process))).unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().collect();
    let start = fields.get(19).and_then(|start| start.parse::<u64>().ok());
    start == process["start"].as_u64() && fields[0] != "Z"
}

/// Waits until none of these processes is there.
pub fn wait_until_gone(processes: &[Value]) {
    let end = Instant::now() + PATIENCE;
    while let Some(left) = processes.iter().find(|process| lives(process)) {
        assert!(Instant::now() < end, "process {left} is left behind");
        thread::sleep(Duration::from_millis(2));
    }
}
