// SPDX-License-Identifier: Apache-2.0
//! What tasks compute in each firing, as `[[task]]` says it, and which combinations make sense.

use std::fmt;
use std::str::FromStr;

use toml::Spanned;

use crate::app::App;
use crate::build::amount;
use crate::manifest::{Amount, Manifest, TaskTable, amount_of, word};
use crate::param::Param;
use crate::problem::{Problem, Problems, Span, nearest};
use crate::reader::{Node, Reader, bytes, is_name, number, whole};

/// Whether tasks compute, or only take the time of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compute {
    /// They do.
    #[default]
    Real,
    /// They take the time of their cycles, and messages have no content.
    Model,
}

impl Compute {
    /// Both, by the words for them.
    pub const WORDS: [&str; 2] = ["real", "model"];
}

impl fmt::Display for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS[*self as usize])
    }
}

impl FromStr for Compute {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "real" => Ok(Self::Real),
            "model" => Ok(Self::Model),
            _ => Err(format!("`{word}` is neither real nor model")),
        }
    }
}

/// How the cycles of a firing vary around their mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Distribution {
    /// They do not.
    #[default]
    Constant,
    /// Evenly, within a spread to both sides.
    Uniform,
    /// The spread is a standard deviation.
    Normal,
    /// As times between events that know nothing of each other.
    Exponential,
}

impl Distribution {
    /// Every distribution, by the words for them.
    pub const WORDS: [&str; 4] = ["constant", "uniform", "normal", "exponential"];

    /// The largest spread, relative to the mean; 0: it has none.
    fn spread_most(self) -> f64 {
        match self {
            Self::Constant | Self::Exponential => 0.0,
            Self::Uniform => 1.0,
            Self::Normal => NORMAL_SPREAD_MOST,
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::WORDS[*self as usize])
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        const ALL: [Distribution; 4] = [
            Distribution::Constant,
            Distribution::Uniform,
            Distribution::Normal,
            Distribution::Exponential,
        ];
        let position = Self::WORDS.iter().position(|known| *known == word);
        position.map(|n| ALL[n]).ok_or_else(|| format!("`{word}` is no distribution"))
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

/// The same as it is written.
#[derive(Debug, Clone)]
pub(crate) struct WorkTable {
    cycles: Option<Spanned<Written>>,
    distribution: Option<Spanned<Distribution>>,
    spread: Option<Spanned<f64>>,
    working_set: Option<Spanned<u64>>,
    traffic: Option<Spanned<u64>>,
    pub firings: Option<Spanned<u64>>,
}

#[derive(Debug, Clone)]
enum Written {
    Every(Spanned<Amount>),
    ByKind(Vec<(String, Spanned<Amount>)>),
}

/// The kind of a core whose platform does not say it: that of the machine itself.
pub const HOST_KIND: &str = "host";
/// `WB_CYCLES_MAX` of the middleware.
const CYCLES_MOST: f64 = 281_474_976_710_656.0;
const NORMAL_SPREAD_MOST: f64 = 0.333_333;
const BYTES_MOST: u64 = 1 << 40;

const CYCLES: &str = "a number, an expression, or one of these for each kind of core: \
                      { arm9 = 1000, dsp = \"samples * 2\" }";
const DISTRIBUTION: &str = "\"constant\", \"uniform\", \"normal\" or \"exponential\"";
const BYTES: &str = "a size as \"64KiB\" or a number of bytes, at most \"1024GiB\"";
const FIRINGS: &str = "a whole number from 1 to 2^64 - 1";

pub(crate) fn read(reader: &mut Reader<'_, '_>) -> WorkTable {
    let size = |n: &Node<'_>| bytes(n).filter(|size| *size <= BYTES_MOST);
    WorkTable {
        cycles: reader.optional("cycles", CYCLES, cycles),
        distribution: reader.optional("distribution", DISTRIBUTION, word),
        spread: reader.optional("spread", "more than 0, at most 1", |n| {
            number(n).filter(|spread| *spread > 0.0 && *spread <= 1.0)
        }),
        working_set: reader.optional("working_set", BYTES, size),
        traffic: reader.optional("traffic", BYTES, size),
        firings: reader.optional("firings", FIRINGS, |n| whole(n).filter(|n| *n > 0)),
    }
}

fn cycles(node: &Node<'_>) -> Option<Written> {
    let Some(table) = node.get_ref().as_table() else {
        return Some(Written::Every(Spanned::new(node.span(), amount_of(node)?)));
    };
    let kind = |(key, node): (&Spanned<_>, &Node<'_>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        let amount = Spanned::new(node.span(), amount_of(node)?);
        is_name(name).then(|| (name.to_string(), amount))
    };
    let kinds = table.iter().map(kind).collect::<Option<Vec<_>>>()?;
    (!kinds.is_empty()).then_some(Written::ByKind(kinds))
}

/// The work of a `[[task]]`, `None` if it has none, and what is wrong with it.
pub(crate) fn build(
    table: &TaskTable,
    params: &[Param],
    problems: &mut Vec<Problem>,
) -> Option<Work> {
    let work = &table.work;
    let name = table.name.get_ref();
    let mut value = |written| match cycles_value(written, params, name) {
        Ok(cycles) => cycles,
        Err(problem) => {
            problems.push(problem);
            1
        }
    };
    let Some(written) = &work.cycles else {
        without_cycles(work, name, problems);
        return None;
    };
    let cycles = match written.get_ref() {
        Written::Every(amount) => Cycles::Every(value(amount)),
        Written::ByKind(all) => {
            Cycles::ByKind(all.iter().map(|(kind, n)| (kind.clone(), value(n))).collect())
        }
    };
    Some(Work {
        cycles,
        distribution: work.distribution.as_ref().map(|d| *d.get_ref()).unwrap_or_default(),
        spread_ppm: spread_ppm(work, name, problems),
        working_bytes: work.working_set.as_ref().map_or(0, |n| *n.get_ref()),
        traffic_bytes: work.traffic.as_ref().map_or(0, |n| *n.get_ref()),
        firings: work.firings.as_ref().map_or(0, |n| *n.get_ref()),
    })
}

fn without_cycles(work: &WorkTable, name: &str, problems: &mut Vec<Problem>) {
    let spans: [Option<Span>; 5] = [
        work.distribution.as_ref().map(Spanned::span),
        work.spread.as_ref().map(Spanned::span),
        work.working_set.as_ref().map(Spanned::span),
        work.traffic.as_ref().map(Spanned::span),
        work.firings.as_ref().map(Spanned::span),
    ];
    let Some(at) = spans.into_iter().flatten().next() else { return };
    let problem = Problem::new(format!("`{name}` has no cycles that this could be said of"));
    problems.push(problem.at(at, "this key").help("add `cycles`: what a firing takes"));
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn cycles_value(written: &Spanned<Amount>, params: &[Param], name: &str) -> Result<u64, Problem> {
    let value = amount(written, params, "cycles")?;
    if (1.0..=CYCLES_MOST).contains(&value) {
        return Ok(value.round() as u64);
    }
    let problem = Problem::new(format!("a firing of `{name}` cannot take {value} cycles"));
    let help = "from 1 to 2^48; a task does not run on a kind of core that is not listed";
    Err(problem.at(written.span(), "these cycles").help(help))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
fn spread_ppm(work: &WorkTable, name: &str, problems: &mut Vec<Problem>) -> u32 {
    let distribution = work.distribution.as_ref().map(|d| *d.get_ref()).unwrap_or_default();
    let most = distribution.spread_most();
    match (&work.spread, &work.distribution) {
        (Some(spread), _) if most == 0.0 => {
            let problem = Problem::new(format!("`{name}` has a spread, but is {distribution}"));
            problems.push(problem.at(spread.span(), "this key").help(
                "a spread belongs to distribution = \"uniform\" or \"normal\"; \"exponential\" \
                 has none of its own",
            ));
            0
        }
        (Some(spread), _) if *spread.get_ref() > most => {
            let problem = Problem::new(format!("`{name}` would take less than no cycles"));
            problems.push(
                problem
                    .at(spread.span(), "this spread")
                    .help(format!("a {distribution} distribution may have one of at most {most}")),
            );
            0
        }
        (Some(spread), _) => (spread.get_ref() * 1e6).round() as u32,
        (None, Some(written)) if most > 0.0 => {
            let problem = Problem::new(format!("`{name}` is {distribution}, but has no spread"));
            let help = "add `spread`: relative to the cycles, as 0.2";
            problems.push(problem.at(written.span(), "this distribution").help(help));
            0
        }
        (None, _) => 0,
    }
}

/// Notes each task without cycles of an application whose computing is modelled.
pub(crate) fn check_modelled(app: &App, because: &Span, problems: &mut Vec<Problem>) {
    for task in app.tasks.iter().filter(|task| task.work.is_none() && task.index == 0) {
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
        Problems::none_or(problems, || ())
    }
}

fn nothing_real(at: Span) -> Problem {
    let problem = Problem::new("without a module there is nothing to compute really");
    problem.at(at, "this application").help("name its `module`, or leave computing modelled")
}

/// What the manifest says of computing, and what is wrong with that.
pub(crate) fn compute(manifest: &Manifest, problems: &mut Vec<Problem>) -> Compute {
    let app = &manifest.app;
    match &app.compute {
        Some(written) if app.module.is_none() && *written.get_ref() == Compute::Real => {
            problems.push(nothing_real(written.span()));
            Compute::Model
        }
        Some(written) => *written.get_ref(),
        None if app.module.is_none() => Compute::Model,
        None => Compute::Real,
    }
}

/// Refuses tasks that start on a core of a kind that they do not run on; `kinds`: that of each
/// core, as [`crate::PlanOptions::kinds`].
///
/// # Errors
/// One problem for each place in the file that maps a task to such a core.
pub fn check_kinds(app: &App, kinds: &[String]) -> Result<(), Problems> {
    let mut problems: Vec<Problem> = Vec::new();
    for task in &app.tasks {
        let core = *task.core.get_ref();
        let kind = kinds.get(core as usize).map_or(HOST_KIND, String::as_str);
        let Some(Work { cycles: Cycles::ByKind(all), .. }) = &task.work else { continue };
        let last = problems.last().and_then(|problem| problem.labels.first());
        let seen = last.is_some_and(|label| label.offset() == task.core.span().start);
        if all.iter().any(|(name, _)| name == kind) || seen {
            continue;
        }
        let message = format!(
            "`{}` starts on core {core}, which is of kind `{kind}`, and does not run there",
            task.name
        );
        let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let help = match nearest(kind, names.iter().copied()) {
            Some(meant) => format!("its cycles are for `{meant}`: did you mean `{kind}`?"),
            None => format!("it has cycles for {}: add `{kind}`, or move it", names.join(", ")),
        };
        problems.push(Problem::new(message).at(task.core.span(), "this core").help(help));
    }
    Problems::none_or(problems, || ())
}
