// SPDX-License-Identifier: Apache-2.0
//! The tool that is tested, with a journal of its own.

// Each test binary uses its own part of this module.
#![allow(dead_code)]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::private::{Running, open_folder, wait_until};

/// The tool, with a journal of its own.
pub struct Tool {
    folder: tempfile::TempDir,
}

impl Tool {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With a journal in a folder that other users may enter.
    pub fn for_others() -> Self {
        Self { folder: open_folder() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of the journal.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whimbrel-occupy"));
        command.args(args).env("WHIMBREL_OCCUPY_STATE", self.state()).stdin(Stdio::null());
        command
    }

    pub fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// The exit status and what was said.
    pub fn ends(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.output(args);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    pub fn spawn(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// What `status` says.
    pub fn status(&self) -> serde_json::Value {
        let output = self.output(&["status", "--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// What the journal knows.
    pub fn occupations(&self) -> Vec<serde_json::Value> {
        self.status()["occupations"].as_array().unwrap().clone()
    }

    /// Waits until this many programs run on processors of their own.
    pub fn wait_for(&self, programs: usize) -> Vec<serde_json::Value> {
        let mut found = Vec::new();
        let all = || {
            found = self.occupations();
            found.len() == programs && found.iter().all(|one| !one["program"].is_null())
        };
        wait_until("the programs run", all);
        found
    }
}
