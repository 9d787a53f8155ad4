// SPDX-License-Identifier: Apache-2.0
//! Which combinations of migration modes and checkpoint images make sense.

use std::collections::HashMap;

use super::keys::TaskTable;
use crate::app::{
    ADD_RESTART, App, Channel, Direction, Mode, Moves, NO_IMAGES, NOT_AT_WAITS, Port,
};
use crate::problem::Problem;
use crate::reader::given;

/// Notes what is wrong with one `[[task]]` by itself.
pub(crate) fn check_task(table: &TaskTable, problems: &mut Vec<Problem>) {
    let name = table.name.get_ref();
    let mode = table.mode.as_ref().filter(|mode| *mode.get_ref() != Mode::Handoff);

    if let Some(mode) = mode.filter(|_| !table.migratable) {
        let message = format!("`{name}` has a mode to move in, but may not move");
        let problem = Problem::new(message).at(mode.span(), "this mode");
        problems.push(problem.help("leave it out, or take `migratable = false` away"));
    } else if let Some(mode) = mode.filter(|_| !table.restart) {
        let message = mode.get_ref().needs_restart(name);
        let problem = message.map(|message| Problem::new(message).at(mode.span(), "this mode"));
        problems.extend(problem.map(|problem| problem.help(ADD_RESTART)));
    }
    let images = table.checkpoint_every.as_ref().filter(|every| *every.get_ref() != 0);
    if let Some(at) = images.filter(|_| given(&table.mode) == Mode::Reenter) {
        let problem = Problem::new(format!("`{name}` is re-entered, and keeps images"));
        problems.push(problem.at(at.span(), "this key").help(NO_IMAGES));
    }
    check_shared(table, problems);
    check_waits(table, problems);
    if let Some(at) = table.on_crash.as_ref().filter(|_| given(&table.checkpoint_every) == 0) {
        let problem =
            Problem::new(format!("`{name}` has `on_crash`, but no images to restart from"));
        let help = "add `checkpoint_every`: the checkpoints from one image to the next";
        problems.push(problem.at(at.span(), "this key").help(help));
    }
}

/// Notes each channel that cannot hold what has come since the image of its receiver. Mailboxes
/// keep nothing: what came from one is left out, whatever the task says.
pub(crate) fn check_images(tables: &[TaskTable], app: &App, problems: &mut Vec<Problem>) {
    let images = tables.iter().any(|table| table.checkpoint_every.is_some());
    let mut inputs: HashMap<&str, Vec<&Port>> = HashMap::new();

    for port in app.ports.iter().filter(|port| images && port.direction == Direction::In) {
        inputs.entry(&app.tasks[port.task].name).or_default().push(port);
    }
    for table in tables {
        let Some(at) = table.checkpoint_every.as_ref() else { continue };
        let name = table.name.get_ref();
        let short = |port: &&&Port| {
            let kept = app.kept_messages(port);
            kept > 0 && u64::from(app.channels[port.channel].slots) <= kept
        };
        let mut of_name = inputs.get(name.as_str()).into_iter().flatten();
        let Some(port) = of_name.find(short) else { continue };
        let Channel { name: channel, slots, .. } = &app.channels[port.channel];
        let (every, kept) = (at.get_ref(), app.kept_messages(port));
        let message = format!("`{channel}` cannot keep the messages of {every} checkpoints");
        let room = match kept {
            u64::MAX => "add { checkpoint = true } to the loop that receives them".to_owned(),
            _ => format!(
                "give the channel more than {kept} slots (it has {slots}), take images more often"
            ),
        };
        problems.push(Problem::new(message).at(at.span(), "this many").help(format!(
            "{room}, or write on_crash = \"skip\": messages are kept until the next image, to be \
             processed again after a death"
        )));
    }
}

/// Notes what is wrong with the cores that share the tasks of one `[[task]]`.
fn check_shared(table: &TaskTable, problems: &mut Vec<Problem>) {
    let Some(shared) = table.shared_by.as_ref() else { return };
    let name = table.name.get_ref();
    let mut refuse = |message: String, help: &str| {
        problems.push(Problem::new(message).at(shared.span(), "these cores").help(help));
    };

    if !table.migratable {
        refuse(
            format!("`{name}` has several cores, but may not move"),
            "leave `cores` out, or take `migratable = false` away",
        );
    } else if given(&table.mode) != Mode::Handoff {
        refuse(
            format!("`{name}` has several cores, and a mode to move in"),
            "leave `cores` out, or take its `mode` away: it moves by hand-off",
        );
    }
    let others = shared_by(table);
    for core in table.cores.get_ref().iter().filter(|core| !others.contains(core.get_ref())) {
        let message =
            format!("`{name}` starts on core {}, which is none of its cores", core.get_ref());
        let problem = Problem::new(message).at(core.span(), "this core");
        problems.push(problem.help("start it on one of its `cores`, or leave `core` out"));
    }
}

/// Notes what is wrong with a task whose waits are checkpoints.
fn check_waits(table: &TaskTable, problems: &mut Vec<Problem>) {
    let Some(moves) = table.moves.as_ref().filter(|moves| *moves.get_ref() == Moves::Waits) else {
        return;
    };
    let name = table.name.get_ref();
    let mut refuse = |message: String, help: &str| {
        problems.push(Problem::new(message).at(moves.span(), "this key").help(help));
    };

    if !table.migratable {
        refuse(
            format!("`{name}` moves where it waits, but may not move"),
            "leave `move` out, or take `migratable = false` away",
        );
    } else if let Some(message) = given(&table.mode).needs_restart(name) {
        refuse(format!("{message} where it waits"), NOT_AT_WAITS);
    }
}

/// The cores that choose among themselves which of them runs a task; empty: it stays.
pub(crate) fn shared_by(table: &TaskTable) -> Vec<u32> {
    let cores = table.shared_by.as_ref().map(|cores| cores.get_ref().as_slice());
    cores.unwrap_or_default().iter().map(|core| *core.get_ref()).collect()
}
