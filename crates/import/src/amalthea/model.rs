// SPDX-License-Identifier: Apache-2.0
//! The parts of a model by their names, in however many files it is.

use std::collections::BTreeMap;

use super::quantity;
use crate::notes::Notes;
use crate::xml::Element;
use whimbrel_model::{Problem, Span, suggestion};

/// What a label without a size has.
const LABEL_BYTES: u64 = 1;

/// The parts of an `<am:Amalthea>`.
#[derive(Debug, Default)]
pub(super) struct Model<'a> {
    /// Tasks and routines of interrupts.
    pub processes: Vec<(&'a str, Element<'a, 'a>)>,
    pub runnables: BTreeMap<&'a str, Element<'a, 'a>>,
    stimuli: BTreeMap<&'a str, Element<'a, 'a>>,
    label_bytes: BTreeMap<&'a str, u64>,
    left_out: LeftOut,
}

/// What a model has without a meaning here, with the first place of each.
#[derive(Debug, Default)]
pub(super) struct LeftOut(BTreeMap<String, (Span, &'static str)>);

impl LeftOut {
    pub fn add(&mut self, what: &str, at: Span) {
        self.0.entry(format!("{what} has no meaning here")).or_insert((at, "left out"));
    }

    /// What is not as it is there.
    pub fn simplify(&mut self, how: &str, at: Span) {
        self.0.entry(how.to_owned()).or_insert((at, "this one"));
    }

    pub fn say(&self, notes: &mut Notes) {
        for (what, (at, words)) in &self.0 {
            notes.warn(Problem::new(what.clone()).at(at.clone(), *words));
        }
    }
}

/// How a process comes to run.
#[derive(Debug)]
pub(super) enum Activation {
    Every {
        period_ns: u64,
        /// When it does so first, in periods.
        offset_frames: f64,
    },
    /// A process that triggers this stimulus.
    By(String),
}

impl<'a> Model<'a> {
    /// Adds the parts of a file.
    pub fn add(&mut self, root: Element<'a, 'a>, notes: &mut Notes) {
        let whole = if root.name() == "XMI" {
            root.elements().find(|part| part.name() == "Amalthea")
        } else {
            Some(root)
        };
        let Some(whole) = whole.filter(|whole| whole.name() == "Amalthea") else {
            let problem =
                Problem::new(format!("not a model of APP4MC: its root is <{}>", root.name()));
            notes.refuse(
                problem.at(root.at(), "should be <am:Amalthea>").help("take an .amxmi file"),
            );
            return;
        };
        for part in whole.elements() {
            match part.name() {
                "swModel" => part.elements().for_each(|element| self.software(element)),
                "stimuliModel" => part.elements().for_each(|element| match element.name() {
                    "stimuli" => name(&mut self.stimuli, element, element),
                    other => self.left_out.add(&format!("<{other}>"), element.at()),
                }),
                other => self.left_out.add(&format!("<{other}>"), part.at()),
            }
        }
    }

    fn software(&mut self, element: Element<'a, 'a>) {
        let (own, known): (&[&str], &[&str]) = match element.name() {
            "tasks" | "isrs" => {
                let label = element.text("name").map_or("", |(name, _)| name);
                self.processes.push((label, element));
                (&["name", "stimuli"], &["activityGraph", "callGraph", "stimuli"])
            }
            "runnables" => {
                name(&mut self.runnables, element, element);
                (&["name"], &["activityGraph", "callGraph", "runnableItems"])
            }
            "labels" => {
                let size = element.each("size").next().and_then(quantity::bytes);
                name(&mut self.label_bytes, element, size.unwrap_or(LABEL_BYTES));
                (&["name"], &["size"])
            }
            other => return self.left_out.add(&format!("<{other}>"), element.at()),
        };
        let what = element.name();
        for (attribute, value, at) in element.attributes() {
            // EMF writes what is not so as well.
            if !own.contains(&attribute) && !["", "false", "_undefined_"].contains(&value) {
                self.left_out.add(&format!("`{attribute}` of <{what}>"), at);
            }
        }
        for child in element.elements().filter(|child| !known.contains(&child.name())) {
            self.left_out.add(&format!("<{}> of <{what}>", child.name()), child.at());
        }
    }

    pub fn say_left_out(&self, notes: &mut Notes) {
        self.left_out.say(notes);
    }

    pub fn label_bytes(&self, label: &str) -> u64 {
        self.label_bytes.get(label).copied().unwrap_or(LABEL_BYTES)
    }

    /// What activates a process: the first of its stimuli that can.
    pub fn activation(&self, process: Element<'_, '_>, notes: &mut Notes) -> Option<Activation> {
        let mut first = None;
        for (stimulus, at) in references(process, "stimuli") {
            let Some(element) = self.stimuli.get(stimulus.as_str()) else {
                let problem = Problem::new(format!("no stimulus is called `{stimulus}`"));
                let help = suggestion(&stimulus, self.stimuli.keys().copied(), || {
                    "name the file of its <stimuliModel> as well: several are one model".into()
                });
                notes.refuse(problem.at(at, "named here").help(help));
                continue;
            };
            if first.is_some() {
                let message = "only the first stimulus of a task activates it";
                notes.warn(Problem::new(message).at(at, "left out"));
                continue;
            }
            first = activation(&stimulus, *element, notes);
        }
        first
    }
}

/// Knows a part by its name, and by the number that older versions of the format give it.
fn name<'a, T: Copy>(known: &mut BTreeMap<&'a str, T>, element: Element<'a, 'a>, part: T) {
    for (key, _) in element.text("name").into_iter().chain(element.identity()) {
        known.entry(key).or_insert(part);
    }
}

fn activation(name: &str, stimulus: Element<'_, '_>, notes: &mut Notes) -> Option<Activation> {
    let ns = |of: &'static str| stimulus.each(of).next().and_then(quantity::nanoseconds);
    let mut say = |what: String, at: Span| notes.warn(Problem::new(what).at(at, "left out"));
    match stimulus.kind() {
        "PeriodicStimulus" | "Periodic" | "PeriodicSyntheticStimulus" => {
            let Some(period_ns) = ns("recurrence").filter(|ns| *ns > 0) else {
                let problem = Problem::new(format!("`{name}` has no period"));
                let help = "add <recurrence value=\"10\" unit=\"ms\"/>";
                notes.refuse(problem.at(stimulus.at(), "this stimulus").help(help));
                return None;
            };
            for child in stimulus.elements() {
                if !["recurrence", "offset"].contains(&child.name()) {
                    say(format!("<{}> of <stimuli> has no meaning here", child.name()), child.at());
                }
            }
            #[expect(clippy::cast_precision_loss, reason = "a part of a period is far above it")]
            let offset_frames = ns("offset").unwrap_or_default() as f64 / period_ns as f64;
            Some(Activation::Every { period_ns, offset_frames })
        }
        "InterProcessStimulus" | "InterProcess" | "InterProcessActivation" => {
            Some(Activation::By(name.to_owned()))
        }
        kind => {
            let kind = if kind.is_empty() { "stimulus without a type" } else { kind };
            say(format!("`{kind}` has no meaning here"), stimulus.at());
            None
        }
    }
}

/// The names that an element refers to by an attribute or by elements of a name.
pub(super) fn references(element: Element<'_, '_>, key: &'static str) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    if let Some((all, at)) = element.text(key) {
        names.extend(all.split_whitespace().map(|one| (plain_name(one), at.clone())));
    }
    for child in element.each(key) {
        names.extend(child.text("href").map(|(one, at)| (plain_name(one), at)));
    }
    names
}

/// The name in a reference such as `amlt:/#Task%201?type=Task`.
fn plain_name(reference: &str) -> String {
    let name = reference.rsplit('#').next().and_then(|name| name.split('?').next());
    let name = name.unwrap_or_default().replace('+', " ");
    let mut parts = name.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => bytes.extend([byte].iter().chain(&part.as_bytes()[2..])),
            None => bytes.extend([b'%'].iter().chain(part.as_bytes())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
