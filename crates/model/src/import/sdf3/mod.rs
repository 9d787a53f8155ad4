// SPDX-License-Identifier: Apache-2.0
//! Application graphs of SDF3 (Stuijk, Geilen and Basten, *SDF3: SDF for free*, ACSD 2006; the
//! format's manual is at <http://www.es.ele.tue.nl/sdf3/manuals/xml/sdf/>).

mod bounds;
mod channels;
mod graph;
mod properties;
mod tasks;
mod unfold;

use super::draft::Draft;
use super::names::plain;
use super::notes::Notes;
use super::xml::{Element, parse};
use crate::problem::Problem;
use graph::Graph;
use tasks::Tasks;

/// Reads a whole file.
pub(super) fn read(stem: &str, text: &str, notes: &mut Notes) -> Option<Draft> {
    let document = parse(text).map_err(|problem| notes.refuse(problem)).ok()?;
    let root = Element::root(&document);
    let application = application(root, notes)?;
    let graph = graph::read(application.only("sdf", notes)?, notes);
    let properties = application.only("sdfProperties", notes);
    if properties.is_none() {
        let problem = Problem::new("<applicationGraph> has no <sdfProperties>");
        let help = "execution times are needed: one <actorProperties> for each actor";
        notes.refuse(problem.at(application.at(), "this one").help(help));
    }
    let mut graph = graph?;
    properties::read(properties?, &mut graph, notes);
    let name = application.text("name").map(|(name, _)| name).filter(|name| !name.is_empty());
    Some(draft(name.unwrap_or(stem), &graph, notes))
}

/// The element of the graph, if it is one of synchronous dataflow.
fn application<'a, 'x>(root: Element<'a, 'x>, notes: &mut Notes) -> Option<Element<'a, 'x>> {
    if root.name() != "sdf3" {
        let problem = Problem::new(format!("<{}> is no file of SDF3", root.name()));
        notes.refuse(problem.at(root.at(), "should be <sdf3>"));
        return None;
    }
    if let Some((kind, at)) = root.text("type").filter(|(kind, _)| *kind != "sdf") {
        let problem = Problem::new(format!("graphs of type `{kind}` are not supported"));
        notes.refuse(problem.at(at, "this type").help("only `sdf`, synchronous dataflow, is"));
        return None;
    }
    let others = [
        "architectureGraph",
        "mapping",
        "systemUsage",
        "storageThroughputTradeOffs",
        "messagesSet",
        "settings",
    ];
    root.takes(&["type", "version"], &["applicationGraph"], &others, notes);
    let application = root.only("applicationGraph", notes);
    let Some(application) = application else {
        let problem = Problem::new("<sdf3> has no <applicationGraph>");
        notes.refuse(problem.at(root.at(), "this one"));
        return None;
    };
    if let Some(cyclic) = application.only("csdf", notes) {
        let problem = Problem::new("cyclo-static graphs are not supported").at(cyclic.at(), "here");
        let help = "the rates of a task are the same in each firing: write it as <sdf>";
        notes.refuse(problem.help(help));
        return None;
    }
    application.takes(&["name"], &["sdf", "sdfProperties"], &[], notes);
    if application.each("sdf").next().is_none() {
        let problem = Problem::new("<applicationGraph> has no <sdf>");
        notes.refuse(problem.at(application.at(), "this one"));
    }
    Some(application)
}

fn draft(name: &str, graph: &Graph, notes: &mut Notes) -> Draft {
    let tasks = Tasks::of(graph, notes);
    let channels = channels::of(graph, &tasks, notes);
    let source = "Made from a graph of SDF3; a unit of its time is a cycle.".into();
    Draft { name: plain(name), source, tasks: tasks.drafts(graph), channels }
}
