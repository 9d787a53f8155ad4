// SPDX-License-Identifier: Apache-2.0
//! Whether the ports of scripted tasks are there, and used.

use std::collections::{HashMap, HashSet};

use super::check::{every, steps_of};
use crate::app::{App, Direction, Verb};
use crate::problem::{Problem, Span, suggestion};
use crate::read::keys::TaskTable;
use crate::read::manifest::{LinkTable, Manifest};
use crate::read::steps::What;

/// Notes what is wrong with them.
pub(crate) fn check(app: &App, manifest: &Manifest, problems: &mut Vec<Problem>) {
    let scripted = || manifest.tasks.iter().filter(|table| table.script.is_some());
    let mut bound: HashMap<&str, Bound<'_>> = HashMap::new();
    for port in &app.ports {
        let task = &app.tasks[port.task];
        if task.script.is_some() && task.index == 0 {
            let span = || app.channels[port.channel].span.clone();
            let ports = bound.entry(&task.name).or_default();
            ports.entry(&port.name).or_insert_with(|| (port.direction, span()));
        }
    }
    for table in scripted() {
        let ports = bound.remove(table.name.get_ref().as_str()).unwrap_or_default();
        check_uses(table, &ports, problems);
        check_bound(table, &ports, problems);
    }
    let names: HashSet<&str> = scripted().map(|table| table.name.get_ref().as_str()).collect();
    problems.extend(manifest.links.iter().filter_map(|link| check_link(link, &names)));
}

type Bound<'a> = HashMap<&'a str, (Direction, Span)>;

fn check_uses(table: &TaskTable, bound: &Bound<'_>, problems: &mut Vec<Problem>) {
    let name = table.name.get_ref();
    every(steps_of(table), &mut |step| {
        let What::Pass(verb, port, _) = &step.what else { return };
        let wanted = if *verb == Verb::Send { Direction::Out } else { Direction::In };
        let text = port.get_ref();
        let problem = match bound.get(text.as_str()) {
            None => {
                let help = suggestion(text, bound.keys().copied(), || {
                    let key = if wanted == Direction::Out { "from" } else { "to" };
                    format!("add a [[channel]] with {key} = \"{name}.{text}\"")
                });
                Problem::new(format!("`{name}` has no port `{text}`")).help(help)
            }
            Some((direction, _)) if *direction != wanted => {
                let does = if wanted == Direction::Out { "receives" } else { "sends" };
                let problem = Problem::new(format!("`{name}` only {does} through `{text}`"));
                problem.help("use the other event, or turn the channel round")
            }
            Some(_) => return,
        };
        problems.push(problem.at(port.span(), "this port"));
    });
}

/// A channel that is not used fills up, or stays empty, for ever.
fn check_bound(table: &TaskTable, bound: &Bound<'_>, problems: &mut Vec<Problem>) {
    let mut unused = bound.clone();
    every(steps_of(table), &mut |step| {
        if let What::Pass(_, port, _) = &step.what {
            unused.remove(port.get_ref().as_str());
        }
    });
    for (port, (direction, span)) in unused {
        let (does, event) = match direction {
            Direction::In => ("receives from", "receive"),
            Direction::Out => ("sends to", "send"),
        };
        let message = format!("the script of `{}` never {does} `{port}`", table.name.get_ref());
        let problem = Problem::new(message).at(span, "this channel");
        problems.push(
            problem.help(format!("add {{ {event} = \"{port}\" }}, or leave the channel out")),
        );
    }
}

/// How many messages pass is said by the script.
fn check_link(link: &LinkTable, scripted: &HashSet<&str>) -> Option<Problem> {
    let is_scripted = |end: &toml::Spanned<String>| {
        end.get_ref().split('.').next().is_some_and(|name| scripted.contains(name))
    };
    let (from, to) = (is_scripted(link.from.first()?), is_scripted(&link.slots.to));
    let produce = link.flow.produce.as_ref().filter(|_| from).map(toml::Spanned::span);
    let consume = link.flow.consume.as_ref().filter(|_| to).map(toml::Spanned::span);
    let claim = link.flow.claim.as_ref().filter(|_| from || to).map(toml::Spanned::span);
    let span = produce.or(consume).or(claim)?;
    let problem = Problem::new("at the end of a script a channel has no rates and no rule");
    Some(
        problem
            .at(span, "this key")
            .help("write it into the script: { send = \"out\", count = 2 }"),
    )
}
