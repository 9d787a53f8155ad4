// SPDX-License-Identifier: Apache-2.0
//! Groups of cores that share a scheduler (`migration` of `[[core]]`): what does not go with them.

use whimbrel_hardware::{Description, Migration};
use whimbrel_model::{App, Event, Mode, Moving, Problem, Task, Verb};

use super::Schedule;

const CODE: &str = "take `module` away: only synthetic tasks migrate in the middle of a job";
const SCHEDULER: &str = "leave it out: the scheduler of the cores moves the tasks";

/// Refuses what does not go with cores that share a scheduler: tasks that have code or leave memory
/// behind, and moves by anything else. From here on no task of such a platform is migratable.
///
/// # Errors
/// The first of these.
pub fn check(
    description: &Description,
    app: &mut App,
    moving: &Moving,
    schedule: &Schedule,
) -> Result<(), Problem> {
    if description.cores.iter().all(|core| core.migration == Migration::None) {
        return Ok(());
    }
    let migrates = |event: &Event| event.verb == Verb::Migrate;
    let in_place = |task: &&Task| task.mode != Mode::Handoff || task.checkpoint_every != 0;
    let (what, help) = if !app.synthetic {
        (format!("the tasks of `{}` have code", app.name), CODE)
    } else if let Some(task) = app.tasks.iter().find(in_place) {
        let help = "take `mode` and `checkpoint_every` away from its [[task]], and `--mode`";
        (format!("`{}` is copied when it moves", task.name), help)
    } else if let Some(policy) = &moving.policy {
        (format!("the policy {} moves tasks as well", policy.name), SCHEDULER)
    } else if !schedule.commands().is_empty() {
        ("`--move` and `--shuttle` move tasks as well".into(), SCHEDULER)
    } else if app.scripts.iter().flat_map(|script| &script.events).any(migrates) {
        ("a `migrate` of a script moves tasks as well".into(), SCHEDULER)
    } else {
        app.tasks.iter_mut().for_each(|task| task.migratable = false);
        return Ok(());
    };
    let message = format!("cores of the platform share a scheduler (`migration`), and {what}");
    Err(Problem::new(message).help(help))
}
