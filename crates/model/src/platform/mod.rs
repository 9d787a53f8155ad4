// SPDX-License-Identifier: Apache-2.0
//! Platforms as `platforms/*.toml` describe them. See `docs/platform-toml.md`.

mod core;
mod cost;
mod fabric;
mod floorplan;
mod units;

use toml::Spanned;
use toml::de::DeTable;
use whimbrel_hardware::{Description, Work};

use crate::in_c::members;
use crate::problem::{Problem, Problems, Span};
use crate::reader::{Node, Reader, bytes, name, text, unsigned};
use crate::reader::{document, each, subtable, tables};
use crate::schema::words;

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
    #[derive(Copy, PartialEq, Eq)]
    pub struct Point: "wb_point" {
        /// Its frequency.
        needed hz: u64;
        /// Its power in tasks, in microwatts.
        needed active_uw: u32;
        /// Its power without, in microwatts.
        needed idle_uw: u32;
    }
}

impl From<&whimbrel_hardware::Core> for Core {
    fn from(core: &whimbrel_hardware::Core) -> Self {
        let points = core.points.iter();
        let points = points.map(|p| Point { hz: p.hz, active_uw: p.active_uw, idle_uw: p.idle_uw });
        Self { points: points.collect(), start: core.start }
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

/// What tables say about where their numbers are from; asked for, and kept for the reader alone.
const SOURCE: &str =
    "where its numbers are from: a paper, a data sheet, a measurement, or \"ours: …\" and why";

impl Platform {
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
        let document = document(source)?;
        let mut problems = Vec::new();
        match read(&document, &mut problems) {
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
            let help = "`whimbrel calibrate` measures this machine and writes a platform with them";
            return Err(Problem::new(message).help(help));
        }
        Ok(self.hardware.clone())
    }
}

/// The tables of a platform, each as it stands in the file.
struct Tables<'t> {
    platform: Option<Spanned<DeTable<'t>>>,
    cores: Option<Spanned<Vec<Spanned<DeTable<'t>>>>>,
    costs: Option<Spanned<DeTable<'t>>>,
    memories: Option<Spanned<Vec<Spanned<DeTable<'t>>>>>,
    bus: Option<Spanned<DeTable<'t>>>,
    mesh: Option<Spanned<DeTable<'t>>>,
    doorbell: Option<Spanned<DeTable<'t>>>,
    thermal: Option<Spanned<DeTable<'t>>>,
    blocks: Option<Spanned<Vec<Spanned<DeTable<'t>>>>>,
    work: Option<Spanned<Vec<Spanned<DeTable<'t>>>>>,
}

fn split<'t>(document: &'t DeTable<'t>, problems: &mut Vec<Problem>) -> Tables<'t> {
    let mut top = Reader::new("the file", document, 0..0, problems);
    let found = Tables {
        platform: top.required("platform", "the table with the platform's name", subtable),
        cores: top.optional("core", "tables: [[core]]", tables),
        costs: top.optional("costs", "tables: [costs.send] and the like", subtable),
        memories: top.optional("memory", "tables: [[memory]]", tables),
        bus: top.optional("bus", "a table: [bus]", subtable),
        mesh: top.optional("mesh", "a table: [mesh]", subtable),
        doorbell: top.optional("doorbell", "a table: [doorbell]", subtable),
        thermal: top.optional("thermal", "a table: [thermal]", subtable),
        blocks: top.optional("block", "tables: [[block]]", tables),
        work: top.optional("work", "tables: [[work]]", tables),
    };
    top.finish(());
    found
}

fn read(document: &DeTable<'_>, problems: &mut Vec<Problem>) -> Option<Platform> {
    let found = split(document, problems);
    let head = found.platform.and_then(|t| read_head(t.get_ref(), t.span(), problems));
    let before = problems.len();
    let cores = each(found.cores, |table, place| core::read(table, place, problems));
    let interconnect = fabric::read(found.bus, found.mesh, problems);
    let memories = each(found.memories, |table, place| fabric::read_memory(table, place, problems));
    let known = problems.len() == before;
    let costs = found.costs.map(|t| cost::read_all(t.get_ref(), t.span(), problems));
    let doorbell = found.doorbell.map(|t| fabric::read_doorbell(t.get_ref(), t.span(), problems));
    let plan = floorplan::read(found.thermal, found.blocks, problems);
    let work = each(found.work, |table, place| read_work(table, place, problems));
    check_work(&work, problems);
    if !known {
        return None;
    }
    let mesh = fabric::mesh_of(interconnect.as_ref());
    let cores = core::place(cores, mesh, problems)?;
    let memories = fabric::place(memories, &cores, mesh, problems);
    if let Some(interconnect) = &interconnect {
        fabric::check_reach(interconnect, &memories, problems);
    }
    floorplan::check(&plan, cores.len(), problems);
    let name = head?;
    let mut hardware = Description {
        name: name.clone(),
        cores,
        costs: costs.unwrap_or_default(),
        memories,
        interconnect: interconnect.map(Spanned::into_inner),
        doorbell: doorbell.unwrap_or_default(),
        thermal: plan.thermal,
        work: work.into_iter().map(Spanned::into_inner).collect(),
    };
    hardware.keep_slots();
    let cores = hardware.cores.iter().map(Core::from).collect();
    Some(Platform { name, cores, hardware })
}

fn read_head(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<String> {
    let mut reader = Reader::new("[platform]", table, place, problems);
    let name = reader.must("name", "1 to 31 letters, digits and _", name).into_inner();
    reader.optional("description", "one line of text", text);
    reader.finish(name)
}

fn read_work(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<Spanned<Work>> {
    let mut reader = Reader::new("[[work]]", table, place.clone(), problems);
    let index = |n: &Node<'_>| unsigned(n).and_then(|index| u32::try_from(index).ok());
    let cycles = |n: &Node<'_>| unsigned(n).filter(|cycles| (1..=1 << 48).contains(cycles));
    let size = |n: &Node<'_>| bytes(n).filter(|size| *size <= 1 << 40);
    let work = Work {
        app: reader.must("app", "the name of an application", name).into_inner(),
        task: reader.must("task", "the name of one of its tasks", name).into_inner(),
        index: reader
            .optional("index", "a number from 0: which of the tasks of that name", index)
            .map(Spanned::into_inner),
        cycles: reader
            .must("cycles", "a whole number of cycles from 1 to 2^48", cycles)
            .into_inner(),
        working_bytes: reader
            .optional("working_set", "a size as \"16KiB\", at most \"1024GiB\"", size)
            .map(Spanned::into_inner),
    };
    units::source(&mut reader);
    reader.finish(Spanned::new(place, work))
}

fn check_work(work: &[Spanned<Work>], problems: &mut Vec<Problem>) {
    for (i, one) in work.iter().enumerate() {
        let same = |other: &&Spanned<Work>| {
            let (one, other) = (one.get_ref(), other.get_ref());
            (&one.app, &one.task, one.index) == (&other.app, &other.task, other.index)
        };
        if let Some(first) = work[..i].iter().find(same) {
            let message = format!("the work of `{}` stands twice", one.get_ref().task);
            let problem = Problem::new(message).at(one.span(), "here again");
            problems.push(problem.at(first.span(), "first here"));
        }
    }
}
