// SPDX-License-Identifier: Apache-2.0
//! Models of APP4MC (`.amxmi`, <https://eclipse.dev/app4mc/>): tasks that stimuli activate and that
//! call runnables. A task computes the ticks of its runnables in each period; a label that one task
//! writes and another reads is a message between them, and so is an activation by another task.

mod model;
mod quantity;
mod work;

use std::collections::{BTreeMap, BTreeSet};

use num_integer::Integer;

use super::draft::{Channel, Draft, Task};
use super::names::Names;
use super::notes::Notes;
use super::xml;
use model::{Activation, Model};
use whimbrel_model::{Cycles, Problem, Span};
use work::{Work, Works};

/// The most cycles of a task in a period.
const CYCLES_MAX: f64 = (1_u64 << 48) as f64;
const SLOTS_MAX: u64 = 32768;
const SLOT_BYTES_MAX: u64 = 1 << 30;
/// Labels that are passed from one task to another, each for itself.
const EXCHANGES_MAX: usize = 1 << 22;
/// Activations that may wait.
const ACTIVATIONS: u32 = 14;

/// Reads the files of one model. Each has a text, and where its places are counted from.
pub(super) fn read(files: &[(&str, usize)], notes: &mut Notes) -> Option<Draft> {
    let before = notes.problems.len();
    let mut texts = Vec::new();
    for (text, base) in files {
        texts.extend(xml::document(text).map_err(|p| notes.refuse(moved(p, *base))).ok());
    }
    let mut documents = Vec::new();
    for (text, (_, base)) in texts.iter().zip(files) {
        documents.extend(xml::parse(text).map_err(|p| notes.refuse(moved(p, *base))).ok());
    }
    if notes.problems.len() > before {
        return None;
    }
    let mut model = Model::default();
    for (document, (_, base)) in documents.iter().zip(files) {
        model.add(xml::Element::root(document, *base), notes);
    }
    let mut works = Works::of(&model);
    let processes: Vec<Process> = model
        .processes
        .iter()
        .map(|(name, at)| Process {
            name: (*name).to_owned(),
            at: at.at(),
            work: works.of_process(*at, notes),
            activation: model.activation(*at, notes),
        })
        .collect();
    works.say_left_out(notes);
    model.say_left_out(notes);
    let draft = Maker::of(&processes, &works.names).draft(&model, notes);
    (notes.problems.len() == before).then_some(draft)
}

/// A problem of a file whose places are counted from there.
fn moved(problem: Problem, base: usize) -> Problem {
    let labels = problem.labels.iter().map(|label| {
        let words = label.label().map(str::to_owned);
        miette::LabeledSpan::new(words, label.offset() + base, label.len())
    });
    let labels = labels.collect();
    Problem { labels, ..problem }
}

/// A task, or an interrupt's routine, with all that it does when it is activated.
struct Process {
    name: String,
    at: Span,
    work: Work,
    activation: Option<Activation>,
}

/// A process that runs, and how.
struct Running<'a> {
    process: &'a Process,
    name: String,
    period_ns: u64,
    /// The process that activates it; none: its own period does.
    by: Option<usize>,
}

struct Maker<'a> {
    processes: &'a [Process],
    /// Of labels and stimuli.
    names: &'a [String],
    running: BTreeMap<usize, Running<'a>>,
}

impl<'a> Maker<'a> {
    /// Those that run, once it is known who activates whom.
    fn of(processes: &'a [Process], names: &'a [String]) -> Self {
        let mut by_stimulus: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, process) in processes.iter().enumerate() {
            for stimulus in &process.work.triggers {
                by_stimulus.entry(&names[*stimulus as usize]).or_insert(number);
            }
        }
        let mut maker = Self { processes, names, running: BTreeMap::new() };
        let mut free = Names::default();
        let mut waiting: BTreeSet<usize> = (0..processes.len()).collect();
        loop {
            let before = waiting.len();
            waiting.retain(|number| {
                let process = &processes[*number];
                let (period_ns, by) = match &process.activation {
                    Some(Activation::Every { period_ns, .. }) => (Some(*period_ns), None),
                    Some(Activation::By(stimulus)) => {
                        let by = by_stimulus.get(stimulus.as_str()).copied();
                        let of = by.and_then(|by| maker.running.get(&by));
                        (of.map(|running| running.period_ns), by)
                    }
                    None => (None, None),
                };
                let Some(period_ns) = period_ns else { return true };
                let name = free.unique(&process.name);
                maker.running.insert(*number, Running { process, name, period_ns, by });
                false
            });
            if waiting.len() == before {
                return maker;
            }
        }
    }

    fn draft(&self, model: &Model<'_>, notes: &mut Notes) -> Draft {
        for (number, process) in self.processes.iter().enumerate() {
            if !self.running.contains_key(&number) {
                let message = format!("nothing activates `{}` here: it is left out", process.name);
                notes.warn(Problem::new(message).at(process.at.clone(), "this one"));
            }
        }
        if self.running.is_empty() && notes.problems.is_empty() {
            let problem = Problem::new("the model has no task that is activated");
            let help = "add <tasks> of a <swModel> with a PeriodicStimulus, or name all files of \
                        the model";
            notes.refuse(problem.help(help));
        }
        let tasks = self.running.values().map(|running| task(running, notes)).collect();
        let mut channels: Vec<Channel> = self
            .running
            .values()
            .filter_map(|running| {
                let by = &self.running.get(&running.by?)?.name;
                Some(Channel {
                    from: (
                        by.clone(),
                        Names::default().unique(&format!("activates_{}", running.name)),
                    ),
                    to: (running.name.clone(), "activated".into()),
                    produce: 1,
                    consume: 1,
                    slots: ACTIVATIONS,
                    slot_bytes: 1,
                    ..Channel::default()
                })
            })
            .collect();
        for ((writer, reader), bytes) in self.labels(model, notes) {
            let (writer, reader) = (&self.running[&writer], &self.running[&reader]);
            channels.extend(channel(writer, reader, bytes, notes));
        }
        let source = "Made from a model of APP4MC; a tick is a cycle.".into();
        Draft { source, tasks, channels, ..Draft::default() }
    }

    /// The bytes of all labels that one process writes and another reads.
    fn labels(&self, model: &Model<'_>, notes: &mut Notes) -> BTreeMap<(usize, usize), u64> {
        let mut writers: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, running) in &self.running {
            for label in &running.process.work.writes {
                writers.entry(*label).or_default().push(*number);
            }
        }
        let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        let mut exchanges = 0;
        for (reader, running) in &self.running {
            for label in &running.process.work.reads {
                let of_label = writers.get(label).map_or(&[][..], Vec::as_slice);
                exchanges += of_label.len();
                if exchanges > EXCHANGES_MAX {
                    let problem = Problem::new("the tasks have too many labels in common");
                    let help = "take a model in which fewer tasks read and write the same labels";
                    notes.refuse(
                        problem.at(running.process.at.clone(), "up to this one").help(help),
                    );
                    return pairs;
                }
                let size = model.label_bytes(&self.names[*label as usize]);
                for writer in of_label.iter().filter(|writer| *writer != reader) {
                    let bytes = pairs.entry((*writer, *reader)).or_default();
                    *bytes = bytes.saturating_add(size);
                }
            }
        }
        pairs
    }
}

/// Messages of labels. A reader takes what was written in earlier periods of the writer: it
/// never waits for one that keeps its deadlines, and processes may read from each other.
fn channel(
    writer: &Running<'_>,
    reader: &Running<'_>,
    bytes: u64,
    notes: &mut Notes,
) -> Option<Channel> {
    let common = writer.period_ns.gcd(&reader.period_ns);
    let (produce, consume) = (writer.period_ns / common, reader.period_ns / common);
    let initial = produce.saturating_add(consume) - 1;
    let slots = produce.saturating_add(consume).saturating_mul(2).saturating_add(initial);
    if slots > SLOTS_MAX {
        let (from, to) = (&writer.process.name, &reader.process.name);
        let message = format!("the labels from `{from}` to `{to}` are left out");
        let warning = Problem::new(message).at(reader.process.at.clone(), "it reads them");
        notes.warn(warning.help("give them periods that have more in common"));
        return None;
    }
    let port = |way: &str, other: &str| Names::default().unique(&format!("{way}_{other}"));
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Some(Channel {
        from: (writer.name.clone(), port("to", &reader.name)),
        to: (reader.name.clone(), port("from", &writer.name)),
        produce: small(produce),
        consume: small(consume),
        initial: small(initial),
        slots: small(slots),
        slot_bytes: small(bytes.clamp(1, SLOT_BYTES_MAX)),
        claims_at_start: false,
    })
}

fn task(running: &Running<'_>, notes: &mut Notes) -> Task {
    let Running { process, name, .. } = running;
    let cycles = process.work.cycles.round();
    if cycles > CYCLES_MAX {
        let problem = Problem::new(format!("`{}` computes too long", process.name));
        let help = format!("lower its ticks: at most {CYCLES_MAX} are possible");
        notes.refuse(problem.at(process.at.clone(), "this one").help(help));
    }
    if cycles < 1.0 {
        let warning = Problem::new("a task without ticks takes one cycle");
        notes.warn(warning.at(process.at.clone(), "this one"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
    let cycles = cycles.clamp(1.0, CYCLES_MAX) as u64;
    let (period_ns, offset) = match process.activation {
        Some(Activation::Every { period_ns, offset_frames }) => {
            (Some(period_ns), Some(offset_frames).filter(|offset| *offset > 0.0))
        }
        _ => (None, None),
    };
    Task {
        name: name.clone(),
        count: 1,
        period_ns,
        offset_frames: offset,
        cycles: Cycles::Every(cycles),
        ..Task::default()
    }
}
