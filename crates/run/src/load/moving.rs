// SPDX-License-Identifier: Apache-2.0
//! What a run was told about its moves: modes, the program of tasks that are recreated, and who
//! decides.

use std::path::{Path, PathBuf};

use serde::Serialize;
use whimbrel_model::{App, ContextTransport, Mode, Moving, PolicyName, Problem, Source, Table};
use whimbrel_model::{TableRow, from_word};
use whimbrel_text::option::{COORDINATOR, POLICY, TABLE};

use super::{nanoseconds, utf8};
use crate::args::MovingArgs;
use crate::failure::Failure;
use crate::files;

/// The policy that needs rows.
pub(super) const BY_TABLE: &str = "table";

/// The same as the summary keeps it.
#[derive(Debug, Clone, Serialize)]
pub struct MovingOptions {
    /// The mode that all migratable tasks had; `null`: each that of its `[[task]]`.
    pub mode: Option<String>,
    /// How replicated contexts were to travel.
    pub transport: String,
    /// The policy at the start with its parameters, as `--policy` takes them.
    pub policy: Option<String>,
    /// The file with the rows of the table policy.
    pub table: Option<PathBuf>,
    /// Where the coordinator started.
    pub coordinator: u32,
    /// The period of the agents.
    pub agents_ns: u64,
}

/// Gives the tasks the mode of the run, and checks everything else that was said about moves.
///
/// `points_hz` has the frequencies of each core's operating points, none where they are not known.
///
/// # Errors
/// Tasks that cannot be recreated, a program that does not exist, a core that does not, a table
/// that is missing or makes no sense.
pub fn load(
    args: &MovingArgs,
    app: &mut App,
    source: &Source,
    module: Option<&Path>,
    points_hz: &[Vec<u64>],
) -> Result<(Moving, MovingOptions), Failure> {
    let MovingArgs { mode, migration_points, transport, policy, table, coordinator, agent_period } =
        args;
    if let Some(mode) = *mode {
        app.set_mode(mode).map_err(|problems| Failure::in_file(source, problems))?;
    }
    if let Some(moves) = *migration_points {
        app.set_moves(moves);
    }
    let n_cores = points_hz.len();
    if *coordinator as usize >= n_cores {
        let problem = Problem::new(format!("{COORDINATOR}: core {coordinator} does not exist"));
        return Err(problem.help(format!("name one of cores 0 to {}", n_cores - 1)).into());
    }
    let policy = choice(policy.as_ref(), table.is_some())?;
    let agents = nanoseconds(*agent_period);
    let moving = Moving {
        program: program(app, source, module)?,
        transport: from_word(transport).filter(|how| *how != ContextTransport::Auto),
        agents_ns: agents,
        coordinator: *coordinator,
        rows: table.as_deref().map_or(Ok(Vec::new()), |path| rows(path, app, points_hz))?,
        policy,
    };
    let options = MovingOptions {
        mode: mode.map(|mode| mode.to_string()),
        transport: transport.clone(),
        policy: moving.policy.as_ref().map(ToString::to_string),
        table: table.clone(),
        coordinator: *coordinator,
        agents_ns: agents,
    };
    Ok((moving, options))
}

fn choice(policy: Option<&PolicyName>, table: bool) -> Result<Option<PolicyName>, Problem> {
    match policy {
        None if table => Ok(Some(PolicyName { name: BY_TABLE.into(), settings: Vec::new() })),
        Some(policy) if policy.name == BY_TABLE && !table => {
            let problem = Problem::new(format!("{POLICY} table: there is no table to decide by"));
            Err(problem
                .help(format!("name one with {TABLE} FILE.toml; docs/policies.md describes it")))
        }
        policy => Ok(policy.filter(|policy| !policy.name.is_empty()).cloned()),
    }
}

/// The static program beside the module, if a task needs it. A board's image has its own.
fn program(app: &App, source: &Source, module: Option<&Path>) -> Result<Option<String>, Failure> {
    let Some(module) = module.filter(|_| app.tasks.iter().any(|task| task.mode == Mode::Recreate))
    else {
        return Ok(None);
    };
    let path = module.with_extension("task");
    if path.is_file() {
        return Ok(Some(utf8(&path)?));
    }
    let message = format!("the program {} does not exist", path.display());
    let problem = Problem::new(message).at(app.module.span(), "next to this module").help(
        "build it with `make build`, or choose another mode: recreated tasks are loaded from it",
    );
    Err(Failure::Reports(vec![source.report(problem)]))
}

fn rows(path: &Path, app: &App, points_hz: &[Vec<u64>]) -> Result<Vec<TableRow>, Failure> {
    let source = files::toml(path, &format!("{TABLE}:"), "docs/policies.md describes it")?;
    let rows = Table::parse(source.text()).and_then(|table| table.rows(app, points_hz));
    rows.map_err(|problems| Failure::in_file(&source, problems))
}
