// SPDX-License-Identifier: Apache-2.0
//! `occupy status`: who occupies what, what stayed there, and how quiet it is.

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use whimbrel_text::word;

use super::args::StatusArgs;
use super::{Failure, json, lock, print};
use crate::quiet::{Group, Report, watch};
use crate::{Machine, Occupation, ShieldKind, Unmovable};

/// For how long it looks how quiet it is.
const LOOK: Duration = Duration::from_millis(200);

/// All that is shown.
#[derive(Debug, Serialize)]
struct Status {
    occupations: Vec<Shown>,
    /// Best first.
    shields: Vec<Shield>,
    /// What the kernel takes from programs with a priority.
    taken_from_fifo: Vec<String>,
}

/// An occupation, and how quiet it is now.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    occupation: Occupation,
    /// None if it ended meanwhile.
    quiet: Option<Quiet>,
}

/// What disturbed a program while we looked.
#[derive(Debug, Serialize)]
struct Quiet {
    seconds: f64,
    /// Of the processors' time, that of tasks which are not the program's.
    others_percent: f64,
    /// How often the program lost its processor to another task.
    lost_per_s: f64,
    interrupts_per_s: f64,
    /// None where they cannot be counted.
    switches_per_s: Option<f64>,
    /// Of the processors' time, what the hypervisor's host took.
    steal_percent: f64,
}

/// A shield, and why it is not to be had.
#[derive(Debug, Serialize)]
struct Shield {
    kind: ShieldKind,
    missing: Option<String>,
}

/// Shows everything.
pub fn status(machine: &Machine, args: &StatusArgs) -> Result<u8, Failure> {
    // The lock is given back before we look: guardians need it.
    let occupations = lock(machine)?.occupations().to_vec();
    let shown = |occupation: Occupation| Shown {
        quiet: look(machine, &occupation),
        // Whoever reads what is printed may be no program of it.
        occupation: Occupation { token: String::new(), ..occupation },
    };
    let shield = |(kind, available): (ShieldKind, Result<(), String>)| Shield {
        kind,
        missing: available.err(),
    };
    let status = Status {
        occupations: occupations.into_iter().map(shown).collect(),
        shields: machine.shields().into_iter().map(shield).collect(),
        taken_from_fifo: machine.taken_from_fifo(),
    };
    print(&if args.json { json(&status)? } else { status.text() })?;
    Ok(0)
}

fn look(machine: &Machine, occupation: &Occupation) -> Option<Quiet> {
    let report = watch(machine, &occupation.cpus, occupation.program, LOOK).ok()?;
    Some(Quiet::from(&report))
}

impl From<&Report> for Quiet {
    fn from(report: &Report) -> Self {
        // From 0, since nothing at all sums up to -0.
        let sum = |group| report.of(group).fold(0.0, |sum, row| sum + row.during);
        let named = |group, name: &str| {
            report.of(group).find(|row| row.name == name).map_or(0.0, |row| row.during)
        };
        Self {
            seconds: report.during_s,
            others_percent: sum(Group::Others),
            lost_per_s: named(Group::Program, "lost the processor"),
            interrupts_per_s: sum(Group::Interrupts),
            switches_per_s: report.of(Group::Switches).map(|row| row.during).next(),
            steal_percent: named(Group::Time, "steal"),
        }
    }
}

impl Status {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.occupations.is_empty() {
            text.push_str("nothing is occupied\n");
        }
        for shown in &self.occupations {
            text.push_str(&shown.text());
        }
        text.push_str("\nways to keep others away, best first:\n");
        for Shield { kind, missing } in &self.shields {
            let missing = missing.as_deref().unwrap_or("available");
            let _ = writeln!(text, "  {}: {missing}", kind.name());
        }
        text.push_str("what the kernel takes from a program with --fifo:\n");
        for line in &self.taken_from_fifo {
            let _ = writeln!(text, "  {line}");
        }
        text
    }
}

impl Shown {
    fn text(&self) -> String {
        let Occupation { id, cpus, shield, soft, policy, command, since, reason, kept, .. } =
            &self.occupation;
        let soft = if *soft { ", soft" } else { "" };
        let pid = self.occupation.program.map(|program| format!(", process {}", program.tid));
        let mut text = format!(
            "occupation {id}: processor {cpus} for `{}`{}\n  for {}, by {}, {policy}{soft}\n  \
             {reason}\n",
            word(&command.join(" ")),
            pid.unwrap_or_default(),
            age(*since),
            shield.name(),
        );
        if let Some(quiet) = &self.quiet {
            let _ = writeln!(text, "  {}", quiet.text());
        }
        if !kept.is_empty() {
            text.push_str("  what stays there:\n");
        }
        for Unmovable { what, why } in kept {
            let _ = writeln!(text, "    {}: {}", word(what), word(why));
        }
        text
    }
}

impl Quiet {
    fn text(&self) -> String {
        let switches = self.switches_per_s.map(|rate| format!(", {rate:.0} switches"));
        format!(
            "quiet: in the last {:.1} s other tasks had {:.2} % of it and the host {:.2} %; in a \
             second it was taken {:.0} times by another task, and there were {:.0} interrupts{}",
            self.seconds,
            self.others_percent,
            self.steal_percent,
            self.lost_per_s,
            self.interrupts_per_s,
            switches.unwrap_or_default(),
        )
    }
}

/// How long ago, in whole seconds.
fn age(since: u64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age = Duration::from_secs(now.as_secs().saturating_sub(since));
    humantime::format_duration(age).to_string()
}
