// SPDX-License-Identifier: Apache-2.0
//! What may be chosen: the options of an exploration, checked against the system.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use whimbrel_model::{Decides, Pin, PolicyName, Problem, Transport, channels_of};
use whimbrel_text::option::{CHANNELS, CORE_COUNTS, FRAME_RATES, Opt, PIN, POINTS, SLOTS};
use whimbrel_text::suggestion;

use crate::policy::decides;
use crate::system::{Core, Firing, System, Task};
use crate::text::megahertz;

/// The options of an exploration, as its user gave them.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Numbers of cores; empty: every number that the platform allows.
    pub cores: Vec<usize>,
    /// Thousandths of a frame per second; empty: the application's own rate.
    pub rates_millihz: Vec<u64>,
    /// Operating points.
    pub points: PointChoice,
    /// Slots of channels; empty: the application's own.
    pub slots: Vec<SlotChoice>,
    /// How messages go through channels; empty: as the application says.
    pub ways: Vec<WayChoice>,
    /// Policies; empty: `static`.
    pub policies: Vec<PolicyName>,
    /// Tasks that are not to be anywhere else.
    pub pins: Vec<Pin>,
}

/// Which operating points cores may begin at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PointChoice {
    /// Each of each core.
    #[default]
    All,
    /// The highest.
    High,
    /// The lowest without a missed deadline, found by halving the range.
    Auto,
    /// Those of these frequencies, in hertz.
    Hz(Vec<u64>),
}

/// Slots to be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotChoice {
    /// A channel, or the stem of several (`demodulator_bpf` of `demodulator_bpf_0` …); `None`:
    /// every channel that no other choice names. Mailboxes only by name.
    pub channel: Option<String>,
    /// The numbers of slots.
    pub slots: Vec<u32>,
}

/// Ways through a channel to be tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WayChoice {
    /// As [`SlotChoice::channel`].
    pub channel: Option<String>,
    /// The ways.
    pub ways: Vec<Transport>,
}

/// Channels that have the same number of slots, one of these.
pub type SlotGroup = (Vec<usize>, Vec<u32>);

/// Channels through which messages go in the same way, one of these.
pub type WayGroup = (Vec<usize>, Vec<Transport>);

/// Choices that fit a system, each with at least one value.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Numbers of cores, ascending.
    pub core_counts: Vec<usize>,
    /// Frame rates, ascending.
    pub rates_millihz: Vec<u64>,
    /// For each core the positions of the points it may begin at, ascending.
    pub points: Vec<Vec<u32>>,
    /// Whether points are to be found by halving.
    pub auto: bool,
    /// For each choice of slots its channels and the numbers.
    pub slots: Vec<SlotGroup>,
    /// For each choice of ways its channels and the ways.
    pub ways: Vec<WayGroup>,
    /// The policies, and what each decides.
    pub policies: Vec<(PolicyName, Decides)>,
    /// For each task whether it may be on each core.
    pub allowed: Vec<Vec<bool>>,
}

impl Choices {
    /// Checks them all.
    ///
    /// # Errors
    /// Everything that does not fit the system, and everything that leaves nothing to choose.
    pub fn check(&self, system: &System) -> Result<Checked, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut keep = |found: Result<_, Problem>| found.map_err(|p| problems.push(p)).ok();
        let core_counts = keep(self.core_counts(system));
        let rates = self.rates(system).map_err(|p| problems.push(p)).ok();
        let points = self.points(system).map_err(|p| problems.push(p)).ok();
        let slots = self.slots(system).map_err(|p| problems.push(p)).ok();
        let ways = self.ways(system).map_err(|p| problems.push(p)).ok();
        let policies = self.policies().map_err(|p| problems.push(p)).ok();
        let allowed = self.allowed(system).map_err(|p| problems.push(p)).ok();
        let checked = || {
            Some(Checked {
                core_counts: core_counts?,
                rates_millihz: rates?,
                points: points?,
                auto: self.points == PointChoice::Auto,
                slots: slots?,
                ways: ways?,
                policies: policies?,
                allowed: allowed?,
            })
        };
        checked().ok_or(problems)
    }

    fn core_counts(&self, system: &System) -> Result<Vec<usize>, Problem> {
        let most = system.cores.len();
        if let Some(bad) = self.cores.iter().find(|count| !(1..=most).contains(*count)) {
            let message = format!("{CORE_COUNTS}: {bad} cores cannot be used");
            let help = format!("name at most the {most} of the platform {}", system.platform);
            return Err(Problem::new(message).help(help));
        }
        let all = if self.cores.is_empty() { (1..=most).collect() } else { self.cores.clone() };
        Ok(sorted(all))
    }

    fn rates(&self, system: &System) -> Result<Vec<u64>, Problem> {
        let framed = system.tasks.iter().any(|t| matches!(t.firing, Firing::PerFrame(_)));
        match (self.rates_millihz.is_empty(), framed) {
            (true, true) if system.rate_millihz == 0 => {
                let help =
                    format!("name the rates with {FRAME_RATES}, or add `frame_rate` to [app]");
                Err(Problem::new("the application has no frame rate").help(help))
            }
            (true, _) => Ok(vec![system.rate_millihz]),
            (false, false) => {
                let message =
                    format!("{FRAME_RATES} has no effect: no task is released once per frame");
                Err(Problem::new(message)
                    .help("leave it out, or give a task `periodic = true` in the app.toml"))
            }
            (false, true) if self.rates_millihz.contains(&0) => {
                let problem =
                    Problem::new(format!("{FRAME_RATES}: a frame rate must be more than 0"));
                Err(problem.help("write 0.001 to 1e9 frames per second"))
            }
            (false, true) => Ok(sorted(self.rates_millihz.clone())),
        }
    }

    fn points(&self, system: &System) -> Result<Vec<Vec<u32>>, Problem> {
        let known: BTreeSet<u64> =
            system.cores.iter().flat_map(|core| &core.points).map(|point| point.hz).collect();
        if let PointChoice::Hz(wanted) = &self.points {
            if let Some(bad) = wanted.iter().find(|hz| !known.contains(hz)) {
                let problem = Problem::new(format!(
                    "{POINTS}: no core has a point of {} MHz",
                    megahertz(*bad)
                ));
                let all: Vec<String> = known.iter().map(|hz| megahertz(*hz)).collect();
                return Err(
                    problem.help(format!("name points that it has: {} MHz", all.join(", ")))
                );
            }
        }
        let of_core = |(number, core): (usize, &Core)| {
            let last = core.points.len().saturating_sub(1);
            let all = (0..).zip(&core.points);
            let chosen: Vec<u32> = match &self.points {
                PointChoice::All | PointChoice::Auto => all.map(|(at, _)| at).collect(),
                PointChoice::High => all.skip(last).map(|(at, _)| at).collect(),
                PointChoice::Hz(hz) => {
                    all.filter(|(_, point)| hz.contains(&point.hz)).map(|(at, _)| at).collect()
                }
            };
            if chosen.is_empty() {
                let message = format!("core {number} has no operating point to begin at");
                let help =
                    format!("give {POINTS} a frequency of each kind of core, or write `high`");
                return Err(Problem::new(message).help(help));
            }
            Ok(chosen)
        };
        system.cores.iter().enumerate().map(of_core).collect()
    }

    fn slots(&self, system: &System) -> Result<Vec<SlotGroup>, Problem> {
        let mut free: BTreeSet<usize> =
            (0..system.channels.len()).filter(|c| !system.channels[*c].mailbox).collect();
        let mut groups = Vec::new();
        // Those with a name first: the one without takes what is left.
        let named = self.slots.iter().filter(|choice| choice.channel.is_some());
        for choice in named.chain(self.slots.iter().filter(|choice| choice.channel.is_none())) {
            let channels: Vec<usize> = match &choice.channel {
                Some(name) => named_channels(system, name, SLOTS)?,
                None => free.iter().copied().collect(),
            };
            for channel in &channels {
                let of_mailbox = system.channels[*channel].mailbox;
                let known = &system.channels[*channel];
                if !free.remove(channel) && !of_mailbox {
                    let message = format!("{SLOTS}: the channel `{}` is named twice", known.name);
                    return Err(Problem::new(message).help("give it one list of slots"));
                }
                if let Some(few) = choice.slots.iter().find(|slots| **slots < known.least) {
                    let message = format!("{SLOTS}: {few} slots are too few for `{}`", known.name);
                    return Err(
                        Problem::new(message).help(format!("write at least {}", known.least))
                    );
                }
            }
            if choice.slots.is_empty() {
                return Err(Problem::new(format!("{SLOTS}: there is nothing to choose from"))
                    .help("write numbers of slots, for example a=4,8"));
            }
            if !channels.is_empty() {
                groups.push((channels, sorted(choice.slots.clone())));
            }
        }
        Ok(groups)
    }

    fn ways(&self, system: &System) -> Result<Vec<WayGroup>, Problem> {
        let all: Vec<usize> =
            (0..system.channels.len()).filter(|c| !system.channels[*c].mailbox).collect();
        let mut taken = BTreeSet::new();
        let mut groups = Vec::new();
        let named = self.ways.iter().filter(|choice| choice.channel.is_some());
        for choice in named.chain(self.ways.iter().filter(|choice| choice.channel.is_none())) {
            let mut channels = match &choice.channel {
                Some(name) => named_channels(system, name, CHANNELS)?,
                None => all.iter().filter(|channel| !taken.contains(*channel)).copied().collect(),
            };
            channels.retain(|channel| taken.insert(*channel));
            if system.internal_bytes == 0 && choice.ways.iter().any(|way| way.internal) {
                let message =
                    format!("{CHANNELS}: the platform {} has no internal memory", system.platform);
                return Err(Problem::new(message).help("leave out /internal"));
            }
            if channels.is_empty() {
                let message = format!("{CHANNELS}: a channel is named twice, or there is none");
                return Err(Problem::new(message).help("give each channel one list"));
            }
            groups.push((channels, sorted(choice.ways.clone())));
        }
        Ok(groups)
    }

    fn policies(&self) -> Result<Vec<(PolicyName, Decides)>, Problem> {
        let of_default = PolicyName { name: "static".into(), settings: Vec::new() };
        let wanted =
            if self.policies.is_empty() { vec![of_default] } else { self.policies.clone() };
        wanted.into_iter().map(|policy| decides(&policy).map(|what| (policy, what))).collect()
    }

    fn allowed(&self, system: &System) -> Result<Vec<Vec<bool>>, Problem> {
        let cores = system.cores.len();
        if let Some(task) = system.tasks.iter().find(|t| !t.migratable && t.start >= cores) {
            let message =
                format!("`{}` stays on core {}, which does not exist", task.label, task.start);
            return Err(Problem::new(message).help(have(system)));
        }
        let free = |task: usize| {
            let known = &system.tasks[task];
            let may = |core| system.runs(task, core) && (known.migratable || known.start == core);
            (0..cores).map(may).collect()
        };
        let mut allowed: Vec<Vec<bool>> = (0..system.tasks.len()).map(free).collect();
        for pin in &self.pins {
            self.pin(system, pin, &mut allowed)?;
        }
        match allowed.iter().position(|row| !row.contains(&true)) {
            Some(task) => {
                let message = format!("`{}` runs on no core", system.tasks[task].label);
                let help = "add `cycles` for a kind of cores of this platform";
                Err(Problem::new(message).help(help))
            }
            None => Ok(allowed),
        }
    }

    fn pin(&self, system: &System, pin: &Pin, all: &mut [Vec<bool>]) -> Result<(), Problem> {
        let fits = |task: &Task| {
            task.name == pin.task && pin.index.is_none_or(|index| index == task.index)
        };
        let pinned: Vec<usize> =
            (0..system.tasks.len()).filter(|task| fits(&system.tasks[*task])).collect();
        let label =
            pin.index.map_or_else(|| pin.task.clone(), |index| format!("{}.{index}", pin.task));
        if pinned.is_empty() {
            let names: BTreeSet<&str> =
                system.tasks.iter().map(|task| task.name.as_str()).collect();
            let help = suggestion(&pin.task, names.iter().copied(), || {
                let all = names.iter().copied().collect::<Vec<_>>().join(", ");
                format!("name a task of {}: {all}", system.app)
            });
            return Err(Problem::new(format!("{PIN}: there is no task `{label}`")).help(help));
        }
        if pin.core >= system.cores.len() {
            let message = format!("{PIN}: core {} does not exist", pin.core);
            return Err(Problem::new(message).help(have(system)));
        }
        for task in pinned {
            let known = &system.tasks[task];
            if !all[task][pin.core] {
                let message = format!("{PIN}: `{}` cannot be on core {}", known.label, pin.core);
                let help = if !system.runs(task, pin.core) {
                    "it does not run on cores of this kind: it has no `cycles` for them".to_owned()
                } else if known.migratable {
                    "it is pinned to another core already".to_owned()
                } else {
                    format!("it may not move, and starts on core {}", known.start)
                };
                return Err(Problem::new(message).help(help));
            }
            all[task] = (0..system.cores.len()).map(|core| core == pin.core).collect();
        }
        Ok(())
    }
}

fn have(system: &System) -> String {
    match system.cores.len() {
        1 => format!("the platform {} has only core 0", system.platform),
        n => format!("the platform {} has cores 0 to {}", system.platform, n - 1),
    }
}

fn named_channels(system: &System, name: &str, option: Opt) -> Result<Vec<usize>, Problem> {
    let names: Vec<&str> = system.channels.iter().map(|c| c.name.as_str()).collect();
    channels_of(&names, name, option)
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values.dedup();
    values
}
