// SPDX-License-Identifier: Apache-2.0
//! What tasks compute in each firing.

use std::fmt;

use super::App;
use crate::problem::{Problem, Problems, Span, none_or};
use crate::schema::words;

/// The kind of a core whose platform does not say it: that of the machine itself.
pub const HOST_KIND: &str = "host";
/// Cores that do nothing but signal processing: on this machine their kernels let each task run
/// until it waits.
pub const DSP_KIND: &str = "dsp";
const NORMAL_SPREAD_MOST: f64 = 0.333_333;

words! {
    /// Whether tasks compute, or only take the time of it.
    #[derive(Default)]
    pub enum Compute {
        /// They do.
        #[default]
        Real = "real";
        /// They take the time of their cycles, and messages have no content.
        Model = "model";
    }
}

words! {
    /// How the cycles of a firing vary around their mean.
    #[derive(Default)]
    pub enum Distribution {
        /// They do not.
        #[default]
        Constant = "constant", "WB_CONSTANT";
        /// Evenly, within a spread to both sides.
        Uniform = "uniform", "WB_UNIFORM";
        /// The spread is a standard deviation.
        Normal = "normal", "WB_NORMAL";
        /// As times between events that know nothing of each other.
        Exponential = "exponential", "WB_EXPONENTIAL";
    }
}

impl Distribution {
    /// The largest spread, relative to the mean; 0: it has none.
    pub(crate) fn spread_most(self) -> f64 {
        match self {
            Self::Constant | Self::Exponential => 0.0,
            Self::Uniform => 1.0,
            Self::Normal => NORMAL_SPREAD_MOST,
        }
    }
}

/// The mean cycles of a firing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cycles {
    /// On every kind of core.
    Every(u64),
    /// By kind, in the order of the file; the task runs on no other.
    ByKind(Vec<(String, u64)>),
}

impl Default for Cycles {
    /// Next to nothing: none would mean that it does not run.
    fn default() -> Self {
        Self::Every(1)
    }
}

/// As app.toml has them.
impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(cycles) => write!(f, "{cycles}"),
            Self::ByKind(kinds) => {
                let kinds: Vec<_> = kinds.iter().map(|(kind, n)| format!("{kind} = {n}")).collect();
                write!(f, "{{ {} }}", kinds.join(", "))
            }
        }
    }
}

impl Cycles {
    /// Those on one kind; `None`: it does not run there.
    pub fn on(&self, kind: &str) -> Option<u64> {
        match self {
            Self::Every(cycles) => Some(*cycles),
            Self::ByKind(all) => all.iter().find(|(name, _)| name == kind).map(|(_, n)| *n),
        }
    }
}

/// The work of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Mean cycles of a firing.
    pub cycles: Cycles,
    /// How they vary.
    pub distribution: Distribution,
    /// By how much, in millionths of the mean.
    pub spread_ppm: u32,
    /// Memory that it comes back to in each firing, in bytes.
    pub working_bytes: u64,
    /// Bytes over the interconnect in each firing.
    pub traffic_bytes: u64,
    /// A source ends after so many; 0: when the run stops.
    pub firings: u64,
}

impl Work {
    /// The same cycles in each firing, and nothing else.
    pub fn constant(cycles: Cycles) -> Self {
        Self {
            cycles,
            distribution: Distribution::Constant,
            spread_ppm: 0,
            working_bytes: 0,
            traffic_bytes: 0,
            firings: 0,
        }
    }
}

/// Notes each task without cycles of an application whose computing is modelled.
pub(crate) fn check_modelled(app: &App, because: &Span, problems: &mut Vec<Problem>) {
    let computes = |task: &&super::Task| task.index == 0 && !task.client && task.script.is_none();
    for task in app.tasks.iter().filter(computes).filter(|task| task.work.is_none()) {
        let problem = Problem::new(format!("`{}` has no cycles, but only takes time", task.name));
        problems.push(
            problem
                .at(task.span.clone(), "this task")
                .at(because.clone(), "computing is modelled")
                .help("add `cycles`: what a firing takes, as cycles = { host = 1000 }"),
        );
    }
}

impl App {
    /// Has tasks compute really or not, whatever the file says.
    ///
    /// # Errors
    /// One problem for each `[[task]]` without cycles, if computing is modelled; one if tasks
    /// without a module are to compute really.
    pub fn set_compute(&mut self, compute: Compute) -> Result<(), Problems> {
        let mut problems = Vec::new();
        match compute {
            Compute::Model => check_modelled(self, &self.module.span(), &mut problems),
            Compute::Real if self.synthetic => problems.push(nothing_real(self.module.span())),
            Compute::Real => {}
        }
        self.compute = compute;
        none_or(problems, || ())
    }
}

pub(crate) fn nothing_real(at: Span) -> Problem {
    let problem = Problem::new("without a module there is nothing to compute really");
    problem.at(at, "this application").help("name its `module`, or leave computing modelled")
}
