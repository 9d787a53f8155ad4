// SPDX-License-Identifier: Apache-2.0
//! Applications without a module: tasks that exist only as TOML, and what only these may say.

use std::collections::HashMap;

use toml::Spanned;

use super::keys::{AppTable, TaskTable};
use super::manifest::{LinkTable, Manifest};
use super::{rates, script};
use crate::app::{App, CLIENT_ENTRY, check_modelled};
use crate::problem::Problem;
use crate::reader::given;

/// The module that runs them: see `apps/synthetic`.
const MODULE: &str = "synthetic.so";
/// Its tasks: actors, and those with a script.
const ENTRY: &str = "synthetic";
const SCRIPTED: &str = "scripted";

/// The module of an application, with or without one of its own.
pub(crate) fn module(app: &AppTable) -> Spanned<String> {
    app.module.clone().unwrap_or_else(|| Spanned::new(app.name.span(), MODULE.to_owned()))
}

/// The function of a task.
pub(crate) fn entry(manifest: &Manifest, table: &TaskTable) -> Spanned<String> {
    let named = |entry: &str| Spanned::new(table.name.span(), entry.to_owned());
    match (&manifest.app.module, &table.entry) {
        _ if given(&table.client) => named(CLIENT_ENTRY),
        (_, Some(entry)) => entry.clone(),
        (Some(_), None) => table.name.clone(),
        (None, None) if table.script.is_some() => named(SCRIPTED),
        (None, None) => named(ENTRY),
    }
}

/// Notes what the tables say that does not go with a module, or without one.
pub(crate) fn check_tables(manifest: &Manifest, problems: &mut Vec<Problem>) {
    let synthetic = manifest.app.module.is_none();
    let mut inputs: HashMap<&str, &LinkTable> = HashMap::new();

    for link in manifest.links.iter().filter(|link| !link.mailbox) {
        inputs.entry(receiver(link)).or_insert(link);
    }
    for task in &manifest.tasks {
        let name = task.name.get_ref();
        if let Some(entry) = task.entry.as_ref().filter(|_| synthetic) {
            let message = format!("`{name}` has a function, but the application no module");
            let problem = Problem::new(message).at(entry.span(), "this function");
            problems.push(problem.help("name the `module` that has it"));
        }
        let input = inputs.get(name.as_str());
        if let Some((firings, link)) = task.firings.as_ref().zip(input) {
            let message = format!("`{name}` receives messages, and ends after the last of them");
            let problem = Problem::new(message).at(firings.span(), "this number");
            let problem = problem.at(link.slots.to.span(), "it receives here");
            problems.push(problem.help("leave `firings` to the sources"));
        }
    }
    for link in &manifest.links {
        problems.extend(check_link(link, synthetic));
    }
    if let Some(service) = manifest.services.first().filter(|_| synthetic) {
        let problem = Problem::new("synthetic tasks have no services");
        let problem = problem.at(service.name.span(), "this one");
        problems.push(problem.help("name the `module` that has the tasks that call and serve"));
    }
}

fn check_link(link: &LinkTable, synthetic: bool) -> Option<Problem> {
    if synthetic && link.mailbox {
        let problem = Problem::new("synthetic tasks have no mailboxes");
        let help = "write one [[channel]] from each sender";
        return Some(problem.at(link.slots.to.span(), "this one").help(help));
    }
    if let Some(claim) = link.flow.claim.as_ref().filter(|_| !synthetic) {
        let problem = Problem::new("only synthetic tasks claim room by a rule");
        let help = "leave it out: when a slot is claimed and freed is said by the module's code";
        return Some(problem.at(claim.span(), "this rule").help(help));
    }
    let rate = link.flow.produce.as_ref().or(link.flow.consume.as_ref()).filter(|_| !synthetic)?;
    let problem = Problem::new("only synthetic tasks have rates").at(rate.span(), "this rate");
    Some(problem.help(
        "leave it out: how many messages a firing takes and gives is said by the module's code",
    ))
}

fn receiver(link: &LinkTable) -> &str {
    link.slots.to.get_ref().split_once('.').map_or("", |(task, _)| task)
}

/// Notes what is wrong with an application as a whole: loops that block, rates that cannot be kept
/// up, computing that cannot be modelled.
pub(crate) fn check(app: &App, manifest: &Manifest, problems: &mut Vec<Problem>) {
    if let Some(written) = manifest.app.compute.as_ref().filter(|_| app.models_compute()) {
        check_modelled(app, &written.span(), problems);
    } else if app.synthetic {
        check_modelled(app, &app.module.span(), problems);
    }
    script::check_ports(app, manifest, problems);
    rates::check(app, problems);
}
