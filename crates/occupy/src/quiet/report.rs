// SPDX-License-Identifier: Apache-2.0
//! What disturbed a program, before and during its occupation, side by side.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::noise::Noise;
use crate::CpuSet;
use whimbrel_text::{lines_of, table, word};

/// Most other tasks that the table for people has.
const SHOWN: usize = 8;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// What the processors' time went to.
    Time,
    /// Context switches on the processors.
    Switches,
    /// The program's threads and children.
    Program,
    /// Another task that ran, and was on these processors when it did so last: where else it ran
    /// the kernel does not tell, so one that moves about may have too large a share.
    Others,
    /// Interrupts on the processors, by line.
    Interrupts,
    /// Soft interrupts on the processors, by kind.
    Softirqs,
}

/// Of what the numbers of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Of the processors' time.
    #[serde(rename = "%")]
    Percent,
    /// Times in a second, on all the processors together.
    #[serde(rename = "/s")]
    PerSecond,
}

/// One kind of event that was counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventCount {
    /// What it is about.
    pub group: Group,
    /// What was counted.
    pub name: String,
    /// The unit of `before` and `during`.
    pub unit: Unit,
    /// Before the occupation; none for the program, which was not watched then.
    pub before: Option<f64>,
    /// While it lasted.
    pub during: f64,
    /// How often while it lasted; none for times.
    pub count: Option<u64>,
}

/// What disturbed a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// On which processors.
    pub cpus: CpuSet,
    /// For how long the state before was counted.
    pub before_s: f64,
    /// For how long the occupation was watched.
    pub during_s: f64,
    /// What was counted; what was 0 before and during is left out of interrupts.
    pub rows: Vec<EventCount>,
    /// What could not be counted here, and why.
    pub missing: Vec<String>,
    /// What a spinning thread saw before, if one was asked for: for the caller to fill in.
    pub noise_before: Option<Noise>,
    /// What one saw during the occupation, likewise.
    pub noise_during: Option<Noise>,
}

impl Report {
    /// On what it is, and for how long each was counted.
    pub(super) fn title(&self) -> String {
        let many = if self.cpus.len() == 1 { "processor" } else { "processors" };
        let (before, during) = (self.before_s, self.during_s);
        format!("{many} {}: {before:.1} s before, {during:.1} s during", self.cpus)
    }

    /// The rows of one group, in their order.
    pub fn of(&self, group: Group) -> impl Iterator<Item = &EventCount> {
        self.rows.iter().filter(move |row| row.group == group)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title())?;
        let mut table = table(&["", "", ">before", ">during", "", ">times"]);
        for group in Group::ALL {
            let most = if group == Group::Others { SHOWN } else { usize::MAX };
            let more = self.of(group).skip(most).count();
            for (at, row) in self.of(group).take(most).enumerate() {
                table.add_row([
                    if at == 0 { group.title() } else { "" }.to_owned(),
                    word(&row.name).into_owned(),
                    row.before.map_or_else(|| "-".into(), number),
                    number(row.during),
                    row.unit.to_string(),
                    row.count.map_or_else(String::new, |count| count.to_string()),
                ]);
            }
            if more > 0 {
                table.add_row([String::new(), format!("and {more} that ran less")]);
            }
        }
        f.write_str(&lines_of(&table))?;
        for missing in &self.missing {
            writeln!(f, "not counted: {missing}")?;
        }
        for (when, noise) in [("before", &self.noise_before), ("during", &self.noise_during)] {
            if let Some(noise) = noise {
                write!(f, "\n{when}, {noise}")?;
            }
        }
        Ok(())
    }
}

impl Group {
    /// In the order of the table.
    const ALL: [Self; 6] =
        [Self::Time, Self::Switches, Self::Program, Self::Others, Self::Interrupts, Self::Softirqs];

    fn title(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Switches => "context switches",
            Self::Program => "program",
            Self::Others => "others, last here",
            Self::Interrupts => "interrupts",
            Self::Softirqs => "soft interrupts",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Percent => "%",
            Self::PerSecond => "/s",
        })
    }
}

/// Three digits, or all before the point; what is not nothing does not look like it.
pub(super) fn number(value: f64) -> String {
    match value {
        0.0 => "0".into(),
        ..0.001 => "<0.001".into(),
        ..0.1 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}
