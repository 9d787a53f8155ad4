// SPDX-License-Identifier: Apache-2.0
//! Where tasks start, whatever the file says.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use whimbrel_text::option::{MAP, Opt, PIN};

use crate::app::{App, HOST_KIND, Pacing, Task};
use crate::plan::period_ns;
use crate::problem::{Problem, suggestion};
use crate::reader::is_name;
use crate::sdf::{self, Graph};

/// The frequency of a core that is not known; where none is, they are all alike.
const HZ: u64 = 1_000_000_000;

/// Of the cores that share a task, a plan has a bit for each.
const SHARED_MOST: u32 = 32;

/// How a mapping is told.
const WRITE: &str = "write TASK=CORE,TASK=CORE, round-robin, load or any";

/// A mapping as it is told: `a=0,b.1=2`, `a=0 b=0/2`, `round-robin`, `load` or `any`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mapping {
    /// These tasks start there, all others where the file says.
    Named(Vec<Place>),
    /// One core after the other, in the order of the file.
    RoundRobin,
    /// So that every core has as little to do as possible.
    Load,
    /// Where the file says; and from then on each time on whichever core is free.
    Any,
}

/// Where a task starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Its name.
    pub task: String,
    /// Which of that name; `None`: all of them.
    pub index: Option<u32>,
    /// Its core.
    pub core: u32,
}

/// A task that stays on a core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Its name.
    pub task: String,
    /// Which of them; `None`: all.
    pub index: Option<u32>,
    /// The core.
    pub core: usize,
}

impl Pin {
    /// Whether it is of this task.
    pub fn is_of(&self, task: &Task) -> bool {
        self.task == task.name && self.index.is_none_or(|index| index == task.index)
    }
}

/// The cores that tasks are mapped to.
#[derive(Debug, Clone, Copy)]
pub struct Cores<'a> {
    /// How many there are.
    pub count: usize,
    /// The kind of each; those that are missing are this machine's.
    pub kinds: &'a [String],
    /// The frequency of each in hertz; those that are missing are not known.
    pub hz: &'a [u64],
}

impl FromStr for Mapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "round-robin" => Ok(Self::RoundRobin),
            "load" => Ok(Self::Load),
            "any" => Ok(Self::Any),
            _ => {
                let places = text.split([',', ' ']).map(Place::each).collect::<Result<Vec<_>, _>>();
                places.map(|places| Self::Named(places.concat()))
            }
        }
    }
}

impl Place {
    /// What a word of a mapping says: `a=0`, `a.1=2`, or of all tasks of a name `a=0/2/0`, as an
    /// exploration writes it.
    fn each(word: &str) -> Result<Vec<Self>, String> {
        match word.split_once('=').filter(|(_, cores)| cores.contains('/')) {
            Some((task, cores)) => {
                let of = |(index, core)| format!("{task}.{index}={core}").parse();
                cores.split('/').enumerate().map(of).collect()
            }
            None => word.parse().map(|place| vec![place]),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid mapping `{text}`: {WRITE}");
        let (task, core) = text.split_once('=').ok_or_else(wrong)?;
        let (name, index) = task.split_once('.').map_or((task, None), |(n, i)| (n, Some(i)));
        let index = index.map(str::parse).transpose().map_err(|_| wrong())?;
        if !is_name(name) {
            return Err(wrong());
        }
        let core = core.parse().map_err(|_| format!("invalid core `{core}`: {WRITE}"))?;
        Ok(Self { task: name.to_owned(), index, core })
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RoundRobin => f.write_str("round-robin"),
            Self::Load => f.write_str("load"),
            Self::Any => f.write_str("any"),
            Self::Named(places) => {
                let text: Vec<String> = places.iter().map(ToString::to_string).collect();
                f.write_str(&text.join(","))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(index) => write!(f, "{}.{index}={}", self.task, self.core),
            None => write!(f, "{}={}", self.task, self.core),
        }
    }
}

impl Cores<'_> {
    fn kind(&self, core: usize) -> &str {
        self.kinds.get(core).map_or(HOST_KIND, String::as_str)
    }

    fn runs(&self, task: &Task, core: usize) -> bool {
        task.runs_on(self.kind(core))
    }

    /// What a firing takes on a core, in picoseconds; `None`: it does not run there, or its cycles
    /// are not known.
    fn time_ps(&self, task: &Task, core: usize) -> Option<u64> {
        let cycles = task.work.as_ref()?.cycles.on(self.kind(core))?;
        let hz = self.hz.get(core).copied().filter(|hz| *hz != 0).unwrap_or(HZ);
        let ps = u128::from(cycles) * 1_000_000_000_000 / u128::from(hz);
        Some(u64::try_from(ps).unwrap_or(u64::MAX).max(1))
    }
}

impl App {
    /// Has tasks start where a mapping says. Those that may not move stay where they are.
    ///
    /// # Errors
    /// A task or a core that does not exist, a task that is mapped twice, is pinned elsewhere or
    /// does not run there; without cycles loads are not known. A problem with a place is of the
    /// application's file.
    pub fn map(
        &mut self,
        mapping: &Mapping,
        cores: &Cores<'_>,
        pacing: Pacing,
    ) -> Result<(), Problem> {
        let chosen = match mapping {
            Mapping::Named(places) => self.named(places, cores, MAP)?,
            Mapping::RoundRobin => self.round_robin(cores)?,
            Mapping::Load => self.balanced(cores, pacing)?,
            Mapping::Any => {
                self.share(cores);
                HashMap::new()
            }
        };
        for (task, core) in chosen {
            *self.tasks[task].core.get_mut() = u32::try_from(core).unwrap_or(u32::MAX);
        }
        Ok(())
    }

    /// Has tasks start on a core and stay there.
    ///
    /// # Errors
    /// As [`App::map`].
    pub fn pin(&mut self, pins: &[Pin], cores: &Cores<'_>) -> Result<(), Problem> {
        let place = |pin: &Pin| Place {
            task: pin.task.clone(),
            index: pin.index,
            core: u32::try_from(pin.core).unwrap_or(u32::MAX),
        };
        let places: Vec<Place> = pins.iter().map(place).collect();
        for (task, core) in self.named(&places, cores, PIN)? {
            *self.tasks[task].core.get_mut() = u32::try_from(core).unwrap_or(u32::MAX);
            self.tasks[task].migratable = false;
            self.tasks[task].shared_by.clear();
        }
        Ok(())
    }

    /// Every core that a task runs on may have it, if it may move.
    fn share(&mut self, cores: &Cores<'_>) {
        for task in self.tasks.iter_mut().filter(|task| task.migratable) {
            let count = u32::try_from(cores.count).unwrap_or(u32::MAX).min(SHARED_MOST);
            task.shared_by = (0..count).filter(|core| cores.runs(task, *core as usize)).collect();
        }
    }

    fn named(
        &self,
        places: &[Place],
        cores: &Cores<'_>,
        option: Opt,
    ) -> Result<HashMap<usize, usize>, Problem> {
        let mut chosen = HashMap::new();
        for place in places {
            let core = place.core as usize;
            if core >= cores.count {
                let problem = Problem::new(format!("{option}: core {core} does not exist"));
                return Err(problem.help(format!("name one of cores 0 to {}", cores.count - 1)));
            }
            let meant = |task: &&Task| {
                task.name == place.task && place.index.is_none_or(|index| index == task.index)
            };
            let positions: Vec<usize> =
                (0..self.tasks.len()).filter(|at| meant(&&self.tasks[*at])).collect();
            if positions.is_empty() {
                return Err(self.unknown(place, option));
            }
            for task in positions {
                self.check_place(&self.tasks[task], core, cores, option)?;
                if chosen.insert(task, core).is_some() {
                    let label = self.label(&self.tasks[task].name, self.tasks[task].index);
                    let problem = Problem::new(format!("{option}: `{label}` is mapped twice"));
                    return Err(problem.help("name each task once; a name alone is all of `count`"));
                }
            }
        }
        Ok(chosen)
    }

    fn unknown(&self, place: &Place, option: Opt) -> Problem {
        let (name, count) = (&place.task, self.count(&place.task));
        let Some(index) = place.index.filter(|_| count > 0) else {
            let known: Vec<&str> = self.tasks.iter().map(|task| task.name.as_str()).collect();
            let list = || {
                let first: Vec<&str> = known.iter().take(20).copied().collect();
                format!("name one of its tasks: {}", first.join(", "))
            };
            let help = suggestion(name, known.iter().copied(), list);
            let message = format!("{option}: the application has no task `{name}`");
            return Problem::new(message).help(help);
        };
        let message = format!("{option}: the application has no task `{name}.{index}`");
        Problem::new(message).help(format!("name one of {name}.0 to {name}.{}", count - 1))
    }

    fn check_place(
        &self,
        task: &Task,
        core: usize,
        cores: &Cores<'_>,
        option: Opt,
    ) -> Result<(), Problem> {
        let label = self.label(&task.name, task.index);
        let own = *task.core.get_ref();
        if !task.migratable && own as usize != core {
            let message = format!("{option}: `{label}` may not leave core {own}");
            return Err(Problem::new(message)
                .at(task.span.clone(), "its `[[task]]` says `migratable = false`")
                .help("leave it out of the mapping, or let it move"));
        }
        if !cores.runs(task, core) {
            let message = format!("{option}: `{label}` does not run on core {core}");
            return Err(Problem::new(message)
                .at(task.span.clone(), format!("it is not for the kind `{}`", cores.kind(core)))
                .help("map it to a core of a kind in its `kinds` or `cycles`, or add that"));
        }
        Ok(())
    }

    fn nowhere(&self, task: &Task) -> Problem {
        let label = self.label(&task.name, task.index);
        Problem::new(format!("{MAP}: `{label}` runs on no core of this run"))
            .at(task.span.clone(), "it is for none of their kinds")
            .help("add them, or take more cores")
    }

    fn round_robin(&self, cores: &Cores<'_>) -> Result<HashMap<usize, usize>, Problem> {
        let mut chosen = HashMap::new();
        let mut next = 0;
        for (number, task) in self.tasks.iter().enumerate().filter(|(_, task)| task.migratable) {
            let turns = (0..cores.count).map(|turn| (next + turn) % cores.count);
            let core = turns.into_iter().find(|core| cores.runs(task, *core));
            let core = core.ok_or_else(|| self.nowhere(task))?;
            chosen.insert(number, core);
            next = core + 1;
        }
        Ok(chosen)
    }

    /// The longest first, each to the core that is done with it first: R. L. Graham, *Bounds on
    /// multiprocessing timing anomalies*, 1969. What counts is the load, not a time.
    fn balanced(
        &self,
        cores: &Cores<'_>,
        pacing: Pacing,
    ) -> Result<HashMap<usize, usize>, Problem> {
        let firings = self.firings_per_ps(cores, pacing)?;
        let load = |task: usize, core: usize| {
            let time = cores.time_ps(&self.tasks[task], core);
            #[expect(clippy::cast_precision_loss, reason = "a weight")]
            time.map(|time| time as f64 * firings[task])
        };
        let least = |task: usize| {
            let loads = (0..cores.count).filter_map(|core| load(task, core));
            loads.fold(f64::INFINITY, f64::min)
        };
        let mut sums = vec![0.0; cores.count];
        for (number, task) in self.tasks.iter().enumerate().filter(|(_, task)| !task.migratable) {
            let core = *task.core.get_ref() as usize;
            if let (Some(sum), Some(load)) = (sums.get_mut(core), load(number, core)) {
                *sum += load;
            }
        }
        let mut order: Vec<usize> =
            (0..self.tasks.len()).filter(|task| self.tasks[*task].migratable).collect();
        order.sort_by(|a, b| least(*b).total_cmp(&least(*a)));
        let mut chosen = HashMap::new();
        for task in order {
            let sum = |core: usize| Some((sums[core] + load(task, core)?, core));
            let best = (0..cores.count).filter_map(sum).min_by(|(a, _), (b, _)| a.total_cmp(b));
            let (sum, core) = best.ok_or_else(|| self.nowhere(&self.tasks[task]))?;
            sums[core] = sum;
            chosen.insert(task, core);
        }
        Ok(chosen)
    }

    /// The part of its core that each task needs where it is; `None`: cycles are not known.
    #[expect(clippy::cast_precision_loss, reason = "a part")]
    pub fn loads(&self, cores: &Cores<'_>, pacing: Pacing) -> Option<Vec<f64>> {
        let firings = self.firings_per_ps(cores, pacing).ok()?;
        let load = |(task, firings): (&Task, f64)| {
            let time = cores.time_ps(task, *task.core.get_ref() as usize)?;
            Some(time as f64 * firings)
        };
        self.tasks.iter().zip(firings).map(load).collect()
    }

    /// Nanoseconds between two firings; 0: not known.
    #[expect(clippy::cast_precision_loss, reason = "days, in nanoseconds")]
    pub fn period_ns(&self, task: &Task, pacing: Pacing) -> f64 {
        let script = task.script.and_then(|script| self.scripts[script].period_ns());
        script.map_or_else(|| period_ns(self, task, pacing), |ns| ns as f64)
    }

    /// How often each task fires when every one has a core to itself: as its period and the graph
    /// that it is part of have it.
    fn firings_per_ps(&self, cores: &Cores<'_>, pacing: Pacing) -> Result<Vec<f64>, Problem> {
        let mut times = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            if task.work.is_none() {
                let label = self.label(&task.name, task.index);
                return Err(Problem::new(format!("{MAP} load: `{label}` has no cycles"))
                    .at(task.span.clone(), "its load is not known")
                    .help("add `cycles`, or map by names or round-robin"));
            }
            let fastest = (0..cores.count).filter_map(|core| cores.time_ps(task, core)).min();
            times.push(fastest.ok_or_else(|| self.nowhere(task))?);
        }
        let mut time = times.iter();
        let (graph, _) = Graph::of(self, |task| sdf::Task {
            time: time.next().copied().unwrap_or(1),
            period: rounded_ps(self.period_ns(task, pacing)),
        });
        #[expect(clippy::cast_precision_loss, reason = "a weight")]
        let rate = |period: &num_rational::Ratio<u128>| {
            *period.denom() as f64 / (*period.numer()).max(1) as f64
        };
        match graph.periods() {
            Ok(periods) => Ok(periods.iter().map(rate).collect()),
            Err(_) => Ok(bottlenecked(&graph)),
        }
    }
}

/// The same where it cannot be computed: the task with the most to do in an iteration of its part
/// never rests.
#[expect(clippy::cast_precision_loss, reason = "a weight")]
fn bottlenecked(graph: &Graph) -> Vec<f64> {
    let repetitions = graph.repetitions().unwrap_or_else(|_| vec![1; graph.tasks.len()]);
    let parts = graph.parts();
    let work = |task: usize| graph.tasks[task].time as f64 * repetitions[task] as f64;
    let mut most = vec![0.0_f64; graph.tasks.len()];
    for (task, part) in parts.iter().enumerate() {
        most[*part] = most[*part].max(work(task));
    }
    (0..graph.tasks.len()).map(|task| repetitions[task] as f64 / most[parts[task]]).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "periods are positive, and a cast saturates"
)]
fn rounded_ps(ns: f64) -> u64 {
    (ns * 1e3).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_told_as_it_was_written() {
        for text in ["round-robin", "load", "any", "a=0", "a=0,b.1=2,b.0=4094"] {
            assert_eq!(text.parse::<Mapping>().unwrap().to_string(), text);
        }
        let named = |index| Place { task: "b".into(), index, core: 2 };
        assert_eq!("b.0=2".parse(), Ok(Mapping::Named(vec![named(Some(0))])));
        assert_eq!("b=2".parse(), Ok(Mapping::Named(vec![named(None)])));
    }
}
