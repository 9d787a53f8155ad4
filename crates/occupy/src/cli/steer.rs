// SPDX-License-Identifier: Apache-2.0
//! `occupy --pid`, `adjust` and `release`: what changes occupations of programs that run.

use std::fs;

use whimbrel_text::Failed;

use super::args::{AdjustArgs, OccupyArgs, ReleaseArgs, default_policy};
use super::run::{request, say_begun};
use super::{Failure, count, lock, print, say_foreign};
use crate::guardian::Guard;
use crate::{Error, Machine, Occupation, Policy};

/// Occupies for a program that runs.
pub fn take(machine: &Machine, args: &OccupyArgs, pid: i32) -> Result<u8, Failure> {
    let program = machine.identify(pid)?;
    let guard = Guard::begin_for(&request(args, command_of(machine, pid)), program)?;
    say_begun(&guard, args.quiet);
    Ok(0)
}

/// The words of a process; one that has none has a name.
fn command_of(machine: &Machine, pid: i32) -> Vec<String> {
    let folder = machine.proc.join(pid.to_string());
    let words = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words: Vec<String> = words
        .split(|&byte| byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    if !words.is_empty() {
        return words;
    }
    let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
    vec![name.trim_end().to_owned()]
}

/// Changes how a program is scheduled.
pub fn adjust(machine: &Machine, args: &AdjustArgs) -> Result<u8, Failure> {
    let mut occupations = lock(machine)?;
    let present = find(occupations.occupations(), args.id)?;
    let soft = args.soft || present.soft && !args.hard;
    let default = (args.fair || args.soft || args.hard).then(|| default_policy(args.soft));
    let policy = args.policy.policy().or(default).unwrap_or(present.policy);
    if soft && matches!(policy, Policy::Fair { .. }) {
        let message = format!("occupation {} is soft, which needs a priority", args.id);
        return Err(Failed::new(message).help("add --hard").into());
    }
    occupations.adjust(args.id, policy, soft)?;
    Ok(0)
}

fn find(all: &[Occupation], id: u32) -> Result<&Occupation, Error> {
    let found = all.iter().find(|occupation| occupation.id == id);
    found.ok_or_else(|| Error::NoOccupation { what: id.to_string() })
}

/// Ends occupations.
pub fn release(machine: &Machine, args: &ReleaseArgs) -> Result<u8, Failure> {
    let mut occupations = lock(machine)?;
    for id in chosen(occupations.occupations(), args)? {
        let undone = occupations.end(id)?;
        say_foreign(&undone);
        print(&format!("occupation {id} has ended: {}\n", count(&undone)))?;
    }
    Ok(0)
}

fn chosen(all: &[Occupation], args: &ReleaseArgs) -> Result<Vec<u32>, Failure> {
    if let Some(id) = args.id {
        return Ok(vec![find(all, id)?.id]);
    }
    if let Some(pid) = args.pid {
        let of =
            |occupation: &&Occupation| occupation.program.is_some_and(|program| program.tid == pid);
        let found = all.iter().find(of);
        let missing = || Error::NoOccupation { what: format!("of process {pid}") };
        return Ok(vec![found.ok_or_else(missing)?.id]);
    }
    if all.len() > 1 && !args.all {
        let ids: Vec<String> = all.iter().map(|occupation| occupation.id.to_string()).collect();
        let message = format!("there are occupations {}", ids.join(", "));
        return Err(Failed::new(message).help("name one, or --all").into());
    }
    Ok(all.iter().map(|occupation| occupation.id).collect())
}
