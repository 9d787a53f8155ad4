// SPDX-License-Identifier: Apache-2.0
//! Platforms as `platforms/*.toml` describe them. See `docs/platform-toml.md`.

mod core;
mod cost;
mod fabric;
mod floorplan;
mod keys;

use toml::Spanned;
use whimbrel_hardware::{Description, Leakage, Work};

use crate::in_c::members;
use crate::problem::{Problem, Problems};
use crate::schema::{self, words};
use keys::{PlatformFile, WorkTable};

/// The hardware that an application runs on, or that is emulated or simulated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// Every core; empty: those of the machine it runs on, as they are.
    pub cores: Vec<Core>,
    /// Everything that the simulator wants to know, the cores once more.
    hardware: Description,
}

/// One core, as far as a run on a real machine goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// Its operating points, from the lowest frequency to the highest.
    pub points: Vec<Point>,
    /// The position of the one it begins at.
    pub start: usize,
}

members! {
    /// An operating point of a core.
    #[derive(Copy, Default, PartialEq, Eq)]
    pub struct Point: "wb_point" {
        /// Its frequency.
        needed hz: u64;
        /// Its power in tasks, in microwatts.
        needed active_uw: u32;
        /// Its power without, in microwatts.
        needed idle_uw: u32;
        /// The part of both that follows temperature, in microwatts.
        maybe static_uw: u32;
        /// The temperature of that, in thousandths of a kelvin.
        maybe reference_mk: u32;
        /// The thousandths of a kelvin for a factor of e; 0: it does not follow temperature.
        maybe slope_mk: u32;
    }
}

impl From<&whimbrel_hardware::Core> for Core {
    fn from(core: &whimbrel_hardware::Core) -> Self {
        let points = core.points.iter().map(|point| Point::new(point, core.leakage.as_ref()));
        Self { points: points.collect(), start: core.start }
    }
}

impl Point {
    fn new(point: &whimbrel_hardware::Point, leakage: Option<&Leakage>) -> Self {
        const ZERO_C_MK: i64 = 273_150;
        let whole = |mk: i64| u32::try_from(mk).unwrap_or(u32::MAX);
        #[expect(clippy::cast_possible_truncation, reason = "at most a thousand degrees")]
        let slope = |leakage: &Leakage| (leakage.slope_c * 1e3).round() as i64;
        let reference = |leakage: &Leakage| i64::from(leakage.reference_mc) + ZERO_C_MK;
        let leakage = leakage.filter(|_| point.static_uw > 0);
        Self {
            hz: point.hz,
            active_uw: point.active_uw,
            idle_uw: point.idle_uw,
            static_uw: leakage.map_or(0, |_| point.static_uw),
            reference_mk: leakage.map_or(0, |leakage| whole(reference(leakage))),
            slope_mk: leakage.map_or(0, |leakage| whole(slope(leakage))),
        }
    }
}

words! {
    /// How operating points are set.
    #[derive(Default)]
    pub enum Frequency {
        /// They are not.
        #[default]
        None = "none", "FREQUENCY_NONE";
        /// Tasks run for their part of the time.
        Emulate = "emulate", "FREQUENCY_EMULATE";
        /// By Linux.
        Cpufreq = "cpufreq", "FREQUENCY_CPUFREQ";
    }
}

impl Platform {
    /// The keys of a platform's file.
    pub const KEYS: schema::Table = PlatformFile::TABLE;

    /// The machine that runs it: no core is described.
    pub fn machine(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Reads the text of a platform.
    ///
    /// # Errors
    /// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong
    /// type or out of range, parts that do not fit each other: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        match build(schema::parse(source)?, &mut problems) {
            Some(platform) if problems.is_empty() => Ok(platform),
            _ => Err(problems),
        }
    }

    /// The hardware as the simulator takes it.
    ///
    /// # Errors
    /// A platform without cores: the machine it runs on is not known to the simulator.
    pub fn description(&self) -> Result<Description, Problem> {
        if self.cores.is_empty() {
            let message = format!(
                "the platform {} has no [[core]]: the simulator needs a frequency for each core",
                self.name
            );
            let help =
                "run `whimbrel calibrate`, which writes a platform of this machine with them";
            return Err(Problem::new(message).help(help));
        }
        Ok(self.hardware.clone())
    }
}

fn build(file: PlatformFile, problems: &mut Vec<Problem>) -> Option<Platform> {
    let interconnect = fabric::interconnect(file.bus, file.mesh, problems);
    let plan = floorplan::build(file.thermal, file.blocks, problems);
    let work: Vec<_> = file.work.into_iter().map(work_of).collect();
    check_work(&work, problems);
    let mesh = fabric::mesh_of(interconnect.as_ref());
    let cores = core::place(file.cores, mesh, problems)?;
    let memories = fabric::place(file.memories, &cores, mesh, problems);
    if let Some(interconnect) = &interconnect {
        fabric::check_reach(interconnect, &memories, problems);
    }
    floorplan::check(&plan, cores.len(), problems);
    let name = file.platform.into_inner().name.into_inner();
    let mut hardware = Description {
        name: name.clone(),
        cores,
        costs: file.costs.map(|it| cost::all(it.into_inner())).unwrap_or_default(),
        memories,
        interconnect: interconnect.map(Spanned::into_inner),
        doorbell: file.doorbell.map(|it| it.into_inner().into()).unwrap_or_default(),
        thermal: plan.thermal,
        work: work.into_iter().map(Spanned::into_inner).collect(),
    };
    hardware.keep_slots();
    let cores = hardware.cores.iter().map(Core::from).collect();
    Some(Platform { name, cores, hardware })
}

fn work_of(table: Spanned<WorkTable>) -> Spanned<Work> {
    let place = table.span();
    let WorkTable { app, task, index, kind, cycles, working_bytes, .. } = table.into_inner();
    let work = Work {
        app: app.into_inner(),
        task: task.into_inner(),
        index: index.map(Spanned::into_inner),
        kind: kind.map(Spanned::into_inner),
        cycles: cycles.into_inner(),
        working_bytes: working_bytes.map(Spanned::into_inner),
    };
    Spanned::new(place, work)
}

fn check_work(work: &[Spanned<Work>], problems: &mut Vec<Problem>) {
    for (i, one) in work.iter().enumerate() {
        let same = |other: &&Spanned<Work>| {
            let (one, other) = (one.get_ref(), other.get_ref());
            (&one.app, &one.task, one.index, &one.kind)
                == (&other.app, &other.task, other.index, &other.kind)
        };
        if let Some(first) = work[..i].iter().find(same) {
            let message = format!("the work of `{}` stands twice", one.get_ref().task);
            let problem =
                Problem::new(message).help("remove one of them").at(one.span(), "here again");
            problems.push(problem.at(first.span(), "first here"));
        }
    }
}
