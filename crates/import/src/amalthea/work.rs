// SPDX-License-Identifier: Apache-2.0
//! What processes do when they are activated: ticks, labels and triggers of all that they call.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::model::{LeftOut, Model, references};
use super::quantity;
use crate::notes::Notes;
use crate::xml::Element;
use whimbrel_model::{Problem, Span, suggestion};

/// Items in each other, and runnables that call each other.
const DEPTH_MAX: u32 = 100;
/// Labels that calls read and write, each call for itself.
const LABELS_MAX: usize = 1 << 19;

/// What is done in one activation.
#[derive(Debug, Default, Clone)]
pub(super) struct Work {
    pub cycles: f64,
    /// Labels, by their numbers in [`Works::names`].
    pub reads: BTreeSet<u32>,
    pub writes: BTreeSet<u32>,
    /// Stimuli of other processes, likewise.
    pub triggers: BTreeSet<u32>,
}

impl Work {
    fn add(&mut self, more: &Self) {
        self.cycles += more.cycles;
        self.touch(more);
    }

    /// What it reads, writes and triggers as well, in no time.
    fn touch(&mut self, more: &Self) {
        self.reads.extend(&more.reads);
        self.writes.extend(&more.writes);
        self.triggers.extend(&more.triggers);
    }
}

/// The work of all that is called, each once.
pub(super) struct Works<'m, 'a> {
    model: &'m Model<'a>,
    /// Of labels and stimuli.
    pub names: Vec<String>,
    numbers: BTreeMap<String, u32>,
    runnables: BTreeMap<String, Rc<Work>>,
    /// Those that are being looked at, each called by the one before.
    open: Vec<String>,
    /// Labels of all calls.
    labels: usize,
    left_out: LeftOut,
}

impl<'m, 'a> Works<'m, 'a> {
    pub fn of(model: &'m Model<'a>) -> Self {
        Self {
            model,
            names: Vec::new(),
            numbers: BTreeMap::new(),
            runnables: BTreeMap::new(),
            open: Vec::new(),
            labels: 0,
            left_out: LeftOut::default(),
        }
    }

    pub fn say_left_out(&self, notes: &mut Notes) {
        self.left_out.say(notes);
    }

    fn number(&mut self, name: String) -> u32 {
        let next = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }

    /// The work of a task or a routine.
    pub fn of_process(&mut self, process: Element<'_, '_>, notes: &mut Notes) -> Work {
        let graphs = process.elements().filter(|child| is_graph(*child));
        let mut work = Work::default();
        graphs.for_each(|graph| self.items(graph, &mut work, 0, notes));
        work
    }

    /// Adds what the items of a graph or a group do.
    fn items(&mut self, group: Element<'_, '_>, work: &mut Work, depth: u32, notes: &mut Notes) {
        if depth > DEPTH_MAX {
            let problem = Problem::new("this is nested too deep").at(group.at(), "here");
            notes.refuse(problem.help("nest items and calls less deeply"));
            return;
        }
        for item in group.elements() {
            self.item(item, work, depth, notes);
        }
    }

    fn item(&mut self, item: Element<'_, '_>, work: &mut Work, depth: u32, notes: &mut Notes) {
        match item.kind() {
            "Group" | "CallSequence" => self.items(item, work, depth + 1, notes),
            "RunnableCall" | "TaskRunnableCall" => self.calls(item, work, depth, notes),
            "Ticks" | "RunnableInstructions" | "ExecutionNeed" => self.ticks(item, work, notes),
            "LabelAccess" => {
                let access = item.text("access").map_or("", |(access, _)| access);
                for (label, _) in references(item, "data") {
                    let label = self.number(label);
                    work.reads.extend((access != "write").then_some(label));
                    work.writes.extend((access != "read").then_some(label));
                }
            }
            "InterProcessTrigger" => {
                for (stimulus, _) in references(item, "stimulus") {
                    work.triggers.insert(self.number(stimulus));
                }
            }
            "ModeSwitch"
            | "ProbabilitySwitch"
            | "Switch"
            | "RunnableModeSwitch"
            | "RunnableProbabilitySwitch" => self.longest(item, work, depth, notes),
            "" => self.left_out.add(&format!("<{}>", item.name()), item.at()),
            kind => self.left_out.add(&format!("`{kind}`"), item.at()),
        }
    }

    /// Of the branches of a switch the longest counts, and all that any of them touches.
    fn longest(&mut self, switch: Element<'_, '_>, work: &mut Work, depth: u32, notes: &mut Notes) {
        let mut longest = 0.0;
        for branch in switch.elements().filter(|branch| branch.name() != "condition") {
            let mut own = Work::default();
            self.items(branch, &mut own, depth + 1, notes);
            longest = own.cycles.max(longest);
            work.touch(&own);
        }
        work.cycles += longest;
        self.left_out.simplify("a switch always takes its longest branch", switch.at());
    }

    fn ticks(&mut self, item: Element<'_, '_>, work: &mut Work, notes: &mut Notes) {
        let own = item.each("default").next();
        let Some((mean, is_constant)) = own.or(Some(item)).and_then(quantity::mean) else {
            let problem = Problem::new("these ticks have no number").at(item.at(), "here");
            let help = "add <default xsi:type=\"am:DiscreteValueConstant\" value=\"1000\"/>";
            notes.refuse(problem.help(help));
            return;
        };
        work.cycles += mean;
        if !is_constant {
            self.left_out.simplify("ticks that vary are always their mean", item.at());
        }
        if let Some(extended) = item.each("extended").next().filter(|_| own.is_some()) {
            self.left_out.add("<extended> of ticks", extended.at());
        }
    }

    fn calls(&mut self, call: Element<'_, '_>, work: &mut Work, depth: u32, notes: &mut Notes) {
        for (name, at) in references(call, "runnable") {
            let called = self.runnable(&name, &at, depth, notes);
            self.labels += called.reads.len() + called.writes.len();
            if self.labels > LABELS_MAX {
                let problem = Problem::new("the calls read and write too many labels");
                let help = format!("take a smaller model: at most {LABELS_MAX} are possible");
                notes.refuse(problem.at(at, "up to this one").help(help));
                return;
            }
            work.add(&called);
        }
        for child in call.elements().filter(|child| child.name() != "runnable") {
            self.left_out.add(&format!("<{}> of calls", child.name()), child.at());
        }
    }

    fn runnable(&mut self, name: &str, at: &Span, depth: u32, notes: &mut Notes) -> Rc<Work> {
        if let Some(known) = self.runnables.get(name) {
            return Rc::clone(known);
        }
        let model = self.model;
        let unqualified = name.rsplit('.').next().unwrap_or(name);
        let known = model.runnables.get(name).or_else(|| model.runnables.get(unqualified));
        let Some(runnable) = known.copied() else {
            let problem = Problem::new(format!("no runnable is called `{name}`"));
            let help = suggestion(name, model.runnables.keys().copied(), || {
                "name the file of the runnable as well: several are one model".into()
            });
            notes.refuse(problem.at(at.clone(), "called here").help(help));
            return Rc::default();
        };
        if self.open.iter().any(|open| open == name) {
            let problem =
                Problem::new(format!("`{name}` calls itself")).at(at.clone(), "called here");
            notes.refuse(problem.help("remove this call"));
            return Rc::default();
        }
        self.open.push(name.to_owned());
        let mut work = Work::default();
        // Older versions have the items in it, without a graph.
        let graphs: Vec<_> = runnable.elements().filter(|child| is_graph(*child)).collect();
        for graph in graphs {
            self.items(graph, &mut work, depth + 1, notes);
        }
        for item in runnable.each("runnableItems") {
            self.item(item, &mut work, depth + 1, notes);
        }
        self.open.pop();
        let work = Rc::new(work);
        self.runnables.insert(name.to_owned(), Rc::clone(&work));
        work
    }
}

fn is_graph(child: Element<'_, '_>) -> bool {
    ["activityGraph", "callGraph"].contains(&child.name())
}
