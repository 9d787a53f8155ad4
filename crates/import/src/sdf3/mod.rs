// SPDX-License-Identifier: Apache-2.0
//! Application graphs of SDF3 (Stuijk, Geilen and Basten, *SDF3: SDF for free*, ACSD 2006; the
//! format's manual is at <http://www.es.ele.tue.nl/sdf3/manuals/xml/sdf/>).

mod graph;
mod properties;

use super::dataflow;
use super::draft::Draft;
use super::notes::Notes;
use super::xml::Element;
use whimbrel_model::Problem;

const KINDS: [&str; 2] = ["sdf", "csdf"];

/// Reads a document with that root.
pub(super) fn read(stem: &str, root: Element<'_, '_>, notes: &mut Notes) -> Option<Draft> {
    let application = application(root, notes)?;
    let element = one_of(application, ["sdf", "csdf"], notes);
    let is_type = root.text("type").is_some_and(|(kind, _)| kind == "csdf");
    let cyclic = is_type || element.is_some_and(|graph| graph.name() == "csdf");
    let graph = graph::read(element?, cyclic, notes);
    let properties = one_of(application, ["sdfProperties", "csdfProperties"], notes);
    let mut graph = graph?;
    properties::read(properties?, &mut graph, notes);
    let name = application.text("name").map(|(name, _)| name).filter(|name| !name.is_empty());
    let source = "Made from a graph of SDF3; a unit of its time is a cycle.";
    Some(dataflow::draft(name.unwrap_or(stem), source, graph, notes))
}

/// The element of the graph, if it is one of synchronous or cyclo-static dataflow.
fn application<'a, 'x>(root: Element<'a, 'x>, notes: &mut Notes) -> Option<Element<'a, 'x>> {
    if root.name() != "sdf3" {
        let problem = Problem::new(format!("not an SDF3 file: its root is <{}>", root.name()))
            .help("take a file whose root is <sdf3>");
        notes.refuse(problem.at(root.at(), "should be <sdf3>"));
        return None;
    }
    if let Some((kind, at)) = root.text("type").filter(|(kind, _)| !KINDS.contains(kind)) {
        let problem = Problem::new(format!("graphs of type `{kind}` are not supported"));
        notes.refuse(problem.at(at, "this type").help("take a graph of type `sdf` or `csdf`"));
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
        let problem = Problem::new("<sdf3> has no <applicationGraph>")
            .help("add <applicationGraph> with the graph");
        notes.refuse(problem.at(root.at(), "this one"));
        return None;
    };
    let parts = ["sdf", "csdf", "sdfProperties", "csdfProperties"];
    application.takes(&["name"], &parts, &[], notes);
    Some(application)
}

/// The one child that has one of two names.
fn one_of<'a, 'x>(
    application: Element<'a, 'x>,
    [plain, cyclic]: [&'static str; 2],
    notes: &mut Notes,
) -> Option<Element<'a, 'x>> {
    let first = application.only(plain, notes);
    let second = application.only(cyclic, notes);
    match (first, second) {
        (Some(_), Some(second)) => {
            let problem = Problem::new(format!("<{plain}> and <{cyclic}> stand side by side"));
            notes.refuse(problem.at(second.at(), "this one").help("keep one"));
        }
        (None, None) => {
            let problem = Problem::new(format!("<applicationGraph> has no <{plain}>"));
            let problem = problem.at(application.at(), "this one");
            notes
                .refuse(problem.help(format!("add it, or <{cyclic}>, if firings differ by phase")));
        }
        _ => {}
    }
    first.or(second)
}
