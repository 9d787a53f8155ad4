// SPDX-License-Identifier: Apache-2.0
//! Task graphs in TGFF (Dick, Rhodes and Wolf, *TGFF: task graphs for free*, CODES 1998): graphs
//! with a period, whose tasks and arcs have types, and tables that say what a type takes.

mod parser;
mod tables;

use std::collections::{BTreeMap, BTreeSet};

use super::draft::Draft;
use super::graph::{self, Arrow, Attribute, Attributes, Drawn, Node, Of};
use super::notes::Notes;
use parser::{Number, Word};
use tables::{Tables, Times};
use whimbrel_model::{Problem, Span, nearest};

/// Below this, the shortest time of a file is in seconds, and else in microseconds: its tool has no
/// unit. Benchmarks of real processors have seconds, random graphs numbers around a hundred.
const SECONDS_BELOW: f64 = 0.5;

/// Reads a whole file.
pub(super) fn read(stem: &str, text: &str, hz: u64, notes: &mut Notes) -> Option<Draft> {
    let before = notes.problems.len();
    let file = parser::parse(text, notes);
    let tables = Tables::of(&file.tables);
    let types: BTreeSet<u64> = file.graphs.iter().flat_map(|g| &g.tasks).map(|t| t.kind).collect();
    let times = tables.times(&types);
    let shortest = times.iter().flat_map(|times| times.of.values()).copied();
    let shortest = shortest.filter(|time| *time > 0.0).fold(f64::INFINITY, f64::min);
    let (unit, us) = if shortest < SECONDS_BELOW { ("second", 1e6) } else { ("microsecond", 1.0) };
    let mut maker = Maker { tables: &tables, times, us, hz, drawn: Drawn::default() };
    for graph in &file.graphs {
        maker.graph(graph, notes);
    }
    tables.say_left_out(maker.times.as_ref(), notes);
    let drawn = maker.drawn;
    let source = format!("Made from graphs of TGFF; a unit of their time is a {unit}.");
    (notes.problems.len() == before).then(|| graph::draft(stem, &drawn, &source, notes))?
}

struct Maker<'a> {
    tables: &'a Tables<'a>,
    /// None, if no table has any.
    times: Option<Times<'a>>,
    /// Microseconds of a unit of time.
    us: f64,
    hz: u64,
    drawn: Drawn,
}

impl Maker<'_> {
    fn graph(&mut self, graph: &parser::Graph<'_>, notes: &mut Notes) {
        let first = self.drawn.nodes.len();
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let receives: BTreeSet<&str> = graph.arcs.iter().map(|arc| arc.to.text).collect();
        for task in &graph.tasks {
            let name = &task.name;
            if let Some(other) = numbers.insert(name.text, self.drawn.nodes.len()) {
                let problem = Problem::new(format!("two tasks are called `{}`", name.text));
                let first = self.drawn.nodes[other].at.clone();
                let problem = problem.at(name.at.clone(), "the second").at(first, "the first");
                notes.refuse(problem.help("give each task of a graph a different name"));
            }
            let mut all = vec![self.cycles(task, notes)];
            let period = graph.period.as_ref().filter(|_| !receives.contains(name.text));
            all.extend(period.map(|period| attribute("period_us", period.value * self.us, period)));
            let attributes = self.drawn.known(Of::Node, all);
            self.drawn.nodes.push(Node { name: name.text.into(), at: name.at.clone(), attributes });
        }
        if graph.period.is_none() {
            let warning = Problem::new("a graph without PERIOD begins again as soon as it can");
            notes.warn(warning.at(graph.at.clone(), "this graph"));
        }
        for arc in &graph.arcs {
            let mut end = |word: &Word<'_>| {
                let found = numbers.get(word.text).copied();
                found.or_else(|| missing(word, numbers.keys().copied(), notes))
            };
            let (from, to) = (end(&arc.from), end(&arc.to));
            let attributes = self.bytes(arc, notes);
            if let (Some(from), Some(to)) = (from, to) {
                self.drawn.arrows.push(Arrow { from, to, at: arc.name.at.clone(), attributes });
            }
        }
        if self.drawn.nodes.len() == first && notes.problems.is_empty() {
            let warning = Problem::new("a graph without tasks is left out");
            notes.warn(warning.at(graph.at.clone(), "this graph"));
        }
    }

    fn cycles(&self, task: &parser::Task<'_>, notes: &mut Notes) -> Attribute {
        let time = self.times.as_ref().and_then(|times| times.of.get(&task.kind).copied());
        if time.is_none() {
            let problem = Problem::new(format!("no table has the time of type {}", task.kind));
            let help = match &self.times {
                Some(times) => format!("add a row of the type to `{}`", times.table.label),
                None => {
                    "add a table, for example @PE 0 { after a line `# type version exec_time` }"
                        .into()
                }
            };
            notes.refuse(problem.at(task.name.at.clone(), "this task").help(help));
        }
        #[expect(clippy::cast_precision_loss, reason = "a frequency is far below 2^53")]
        let cycles = (time.unwrap_or_default() * self.us * self.hz as f64 / 1e6).round();
        let place = Number { value: cycles, at: task.name.at.clone() };
        attribute("cycles", cycles, &place)
    }

    fn bytes(&mut self, arc: &parser::Arc<'_>, notes: &mut Notes) -> Attributes {
        let bytes = self.tables.bytes(arc.kind);
        if bytes.is_none() && self.tables.have_bytes() {
            let message = format!("no table has the size of arcs of type {}", arc.kind);
            notes.warn(Problem::new(message).at(arc.name.at.clone(), "64 bytes"));
        }
        let bytes = bytes.map(f64::ceil).filter(|bytes| *bytes >= 1.0);
        let place = |value| Number { value, at: arc.name.at.clone() };
        self.drawn.known(Of::Edge, bytes.map(|bytes| attribute("bytes", bytes, &place(bytes))))
    }
}

fn attribute(key: &str, value: f64, place: &Number) -> Attribute {
    let (key_at, at): (Span, Span) = (place.at.clone(), place.at.clone());
    Attribute { key: key.into(), key_at, value: value.to_string(), at }
}

fn missing<'a>(
    word: &Word<'_>,
    known: impl Iterator<Item = &'a str>,
    notes: &mut Notes,
) -> Option<usize> {
    let problem = Problem::new(format!("no task of this graph is called `{}`", word.text));
    let help = nearest(word.text, known).map(|meant| format!("write `{meant}`"));
    let help = help.unwrap_or_else(|| "name one of its TASK lines".into());
    notes.refuse(problem.at(word.at.clone(), "this one").help(help));
    None
}
