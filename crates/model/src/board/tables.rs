// SPDX-License-Identifier: Apache-2.0
//! A plan as constant tables in C, for an image that has no command: `launcher/plan/plan.h`.

use std::collections::BTreeSet;

use crate::in_c::{InC, Tables, text};
use crate::plan::{Entry, InImage, Plan, PlanGuest};

/// What names a plan: the same text for the same tables, on every machine.
///
/// What may differ from run to run of one image is not part of it: see `start` in
/// `docs/kernels-linux-protocol.md`.
pub fn hash(plan: &Plan, fingerprint: impl Fn(&str) -> String) -> String {
    let constant = Plan { policy: None, params: Vec::new(), rate_millihz: 0, ..anywhere(plan) };
    fingerprint(&constant.line())
}

/// A plan without what is of one run on this machine alone.
fn anywhere(plan: &Plan) -> Plan {
    let guests = plan.guests.iter().cloned();
    let guests = guests.map(|guest| PlanGuest { command: Vec::new(), ..guest });
    Plan {
        module: String::new(),
        program: None,
        record: None,
        journal: None,
        clients: None,
        restarts: 0,
        hash: None,
        guests: guests.collect(),
        ..plan.clone()
    }
}

/// One C file with `wb_board_plan` and all that it points to, and `wb_board_plan_hash`.
pub fn tables(plan: &Plan, app: &str, hash: &str) -> String {
    let mut c = Tables::default();
    c.line("// SPDX-License-Identifier: Apache-2.0");
    c.line(&format!(
        "// The plan of {app}, as `whimbrel plan` lays it out. It is made again: do not edit it."
    ));
    c.line("#include \"plan.h\"");
    c.line("#include \"wb/policy.h\"\n");
    c.line("extern const struct plan wb_board_plan;");
    c.line("extern const char wb_board_plan_hash[];");
    c.line("extern const struct wb_policy *const wb_board_policy;\n");
    entries(&mut c, plan);
    let mut fields = Vec::new();
    anywhere(plan).fields(&mut c, "plan", "", &mut fields);
    if plan.spin_ns.is_none() {
        fields.push(".spin_ns = WB_FOREVER".into());
    }
    let rows = rows(&mut c, plan);
    fields.extend([format!(".rows = {rows}"), format!(".n_rows = {}", plan.rows.len())]);
    policy(&mut c, plan);
    c.line(&format!("const struct plan wb_board_plan = {{\n    {},\n}};", fields.join(",\n    ")));
    c.line(&format!("\nconst char wb_board_plan_hash[] = {};", text(hash)));
    c.0
}

fn entries(c: &mut Tables, plan: &Plan) {
    let named = |which: InImage| {
        let entries = plan.tasks.iter().map(|task| &task.entry);
        let entries = entries.filter(move |entry| entry.in_image == which);
        entries.filter_map(Entry::symbol).collect::<BTreeSet<_>>()
    };
    for name in named(InImage::Always) {
        c.line(&format!("wb_task_entry {name};"));
    }
    for name in named(InImage::IfDefined) {
        c.line(&format!("wb_task_entry {name} __attribute__((weak));"));
    }
    c.line("");
}

/// Their lists are as long as there are cores and tasks.
fn rows(c: &mut Tables, plan: &Plan) -> &'static str {
    let mut rows = String::new();
    for (i, row) in plan.rows.iter().enumerate() {
        let points = row.points.initialiser(c, &format!("row_points_{i}")).unwrap_or_default();
        let cores = row.cores.initialiser(c, &format!("row_cores_{i}")).unwrap_or_default();
        let rate = row.rate_millihz;
        rows.push_str(&format!("    {{ UINT64_C({rate}), {points}, {cores} }},\n"));
    }
    if rows.is_empty() {
        return "NULL";
    }
    c.line(&format!("static const struct wb_table_row rows[] = {{\n{rows}}};\n"));
    "rows"
}

/// The application may bring the policy along: the address of it, if it does.
fn policy(c: &mut Tables, plan: &Plan) {
    let Some(policy) = &plan.policy else {
        return c.line("const struct wb_policy *const wb_board_policy = NULL;\n");
    };
    let name = format!("wb_policy_{}", policy.name);
    c.line(&format!("extern const struct wb_policy {name} __attribute__((weak));"));
    c.line(&format!("const struct wb_policy *const wb_board_policy = &{name};\n"));
}
