// SPDX-License-Identifier: Apache-2.0
//! A plan as constant tables in C, for an image that has no command: `launcher/plan/plan.h`.

use std::fmt::Write;

use crate::app::NotifyPolicy;
use crate::plan::{Plan, PlanEvent, PlanScript, PlanTask, PlanWork};
use crate::schema::Constant;

/// What names a plan: the same text for the same tables, on every machine.
///
/// What may differ from run to run of one image is not part of it: see `start` in
/// `docs/kernels-linux-protocol.md`.
pub fn hash(plan: &Plan, fingerprint: impl Fn(&str) -> String) -> String {
    let constant = Plan {
        module: String::new(),
        program: None,
        record: None,
        journal: None,
        policy: None,
        params: Vec::new(),
        rate_millihz: 0,
        ..plan.clone()
    };
    fingerprint(&constant.line())
}

/// One C file with `wb_board_plan` and all that it points to, and `wb_board_plan_hash`.
pub fn tables(plan: &Plan, app: &str, hash: &str) -> String {
    let mut c = C(String::new());
    c.line("// SPDX-License-Identifier: Apache-2.0");
    c.line(&format!(
        "// The plan of {app}, as `whimbrel export` lays it out. It is made again: do not edit it."
    ));
    c.line("#include \"plan.h\"");
    c.line("#include \"wb/policy.h\"\n");
    c.line("extern const struct plan wb_board_plan;");
    c.line("extern const char wb_board_plan_hash[];");
    c.line("extern const struct wb_policy *const wb_board_policy;\n");
    c.entries(plan);
    let lists = [
        c.cores(plan),
        c.params(plan),
        c.channels(plan),
        c.tasks(plan),
        c.ports(plan),
        c.rows(plan),
        c.objects(plan),
        c.scripts(plan),
    ];
    c.policy(plan);
    c.plan(plan, &lists);
    c.line(&format!("\nconst char wb_board_plan_hash[] = {};", text(hash)));
    c.0
}

/// A C file that grows.
struct C(String);

impl C {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// An array and what an initialiser says of it; C has no empty arrays.
    fn list(&mut self, kind: &str, name: &str, members: &[String]) -> String {
        if members.is_empty() {
            return "NULL".into();
        }
        self.line(&format!("static const {kind} {name}[] = {{"));
        for member in members {
            self.line(&format!("    {member},"));
        }
        self.line("};\n");
        name.to_owned()
    }

    fn entries(&mut self, plan: &Plan) {
        let mut names: Vec<&str> = plan.tasks.iter().map(|task| task.entry.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            self.line(&format!("wb_task_entry {name};"));
        }
        self.line("");
    }

    fn cores(&mut self, plan: &Plan) -> String {
        let mut cores = Vec::new();
        for (i, core) in plan.cores.iter().enumerate() {
            let points: Vec<String> = core
                .points
                .iter()
                .map(|p| format!("{{ {}, {}, {} }}", u64(p.hz), p.active_uw, p.idle_uw))
                .collect();
            let points_of = self.list("struct wb_point", &format!("points_{i}"), &points);
            cores.push(format!(
                "{{ .cpu = {}, .kind = {}, .points = {points_of}, .n_points = {}, .start = {} }}",
                core.cpu,
                core.kind,
                points.len(),
                core.start
            ));
        }
        self.list("struct plan_core", "cores", &cores)
    }

    fn params(&mut self, plan: &Plan) -> String {
        let mut params = Vec::new();
        for (i, param) in plan.params.iter().enumerate() {
            // What Rust prints of a finite number is a constant of C, and the same number.
            let numbers: Vec<String> = param.numbers.iter().map(|n| format!("{n:?}")).collect();
            let numbers_of = self.list("double", &format!("numbers_{i}"), &numbers);
            params.push(format!(
                "{{ {}, {}, {numbers_of}, {} }}",
                text(&param.key),
                text(&param.text),
                numbers.len()
            ));
        }
        self.list("struct plan_param", "params", &params)
    }

    fn channels(&mut self, plan: &Plan) -> String {
        let channels: Vec<String> = plan
            .channels
            .iter()
            .map(|channel| {
                let mut of = Fields::default();
                of.is("name", text(&channel.name)).is("slots", channel.slots);
                of.is("slot_bytes", channel.slot_bytes).set("initial", channel.initial);
                of.flag("mailbox", channel.mailbox)
                    .flag("answers", channel.answers)
                    .flag("claims_at_start", channel.claims_at_start);
                of.flag("internal", channel.internal);
                let notify = channel.notify;
                if notify != NotifyPolicy::default() {
                    of.is("notify.doorbell", notify.doorbell.constant());
                }
                of.set("notify.batch", notify.batch).set("notify.within_us", notify.within_us);
                of.end()
            })
            .collect();
        self.list("struct wb_channel_config", "channels", &channels)
    }

    fn tasks(&mut self, plan: &Plan) -> String {
        let mut tasks = Vec::new();
        for (i, task) in plan.tasks.iter().enumerate() {
            let work = task.work.as_ref().map(|work| self.work(i, work));
            let entry = text(&task.entry);
            let work = work.map_or_else(String::new, |work| format!(", .work = &{work}"));
            let script = match task.script {
                0 => String::new(),
                script => format!(", .script = {script}"),
            };
            tasks.push(format!("{{ .entry = {entry}, .config = {}{work}{script} }}", config(task)));
        }
        self.list("struct plan_task", "tasks", &tasks)
    }

    fn work(&mut self, task: usize, work: &PlanWork) -> String {
        let numbers: Vec<String> = work.cycles.iter().map(|cycles| u64(*cycles)).collect();
        let cycles = self.list("uint64_t", &format!("cycles_{task}"), &numbers);
        let mut of = Fields::default();
        of.is("distribution", work.distribution.constant()).set("spread_ppm", work.spread_ppm);
        of.set64("working_bytes", work.working_bytes).set64("traffic_bytes", work.traffic_bytes);
        of.set64("firings", work.firings).is("cycles", cycles).is("n_cycles", numbers.len());
        let name = format!("work_{task}");
        self.line(&format!("static const struct wb_work_config {name} = {};\n", of.end()));
        name
    }

    fn ports(&mut self, plan: &Plan) -> String {
        let ports: Vec<String> = plan
            .ports
            .iter()
            .map(|port| {
                let direction = port.direction.constant();
                let mut of = Fields::default();
                of.is("task", port.task).is("channel", port.channel).is("name", text(&port.name));
                of.set("index", port.index).is("direction", direction).is("rate", port.rate);
                of.end()
            })
            .collect();
        self.list("struct plan_port", "ports", &ports)
    }

    fn rows(&mut self, plan: &Plan) -> String {
        let mut rows = Vec::new();
        for (i, row) in plan.rows.iter().enumerate() {
            let numbers = |all: &[u32]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
            let points = self.list("uint32_t", &format!("row_points_{i}"), &numbers(&row.points));
            let cores = self.list("uint32_t", &format!("row_cores_{i}"), &numbers(&row.cores));
            rows.push(format!("{{ {}, {points}, {cores} }}", u64(row.rate_millihz)));
        }
        self.list("struct wb_table_row", "rows", &rows)
    }

    fn objects(&mut self, plan: &Plan) -> String {
        let object = |object: &crate::app::Object| {
            let mut of = Fields::default();
            of.is("name", text(&object.name)).is("kind", object.kind.constant());
            of.set("value", object.value).set("most", object.most).end()
        };
        let objects: Vec<String> = plan.objects.iter().map(object).collect();
        self.list("struct wb_object_config", "objects", &objects)
    }

    fn scripts(&mut self, plan: &Plan) -> String {
        let scripts = plan.scripts.iter().enumerate();
        let scripts: Vec<String> = scripts.map(|(i, script)| self.script(i, script)).collect();
        self.list("struct wb_script_config", "scripts", &scripts)
    }

    fn script(&mut self, number: usize, script: &PlanScript) -> String {
        let mut events = Vec::new();
        for (i, event) in script.events.iter().enumerate() {
            let numbers: Vec<String> = event.numbers.iter().map(|n| u64(*n)).collect();
            let numbers_of = self.list("uint64_t", &format!("numbers_{number}_{i}"), &numbers);
            events.push(script_event(event, &numbers_of));
        }
        let ports: Vec<String> = script.ports.iter().map(|port| text(port)).collect();
        let ports_of = self.list("char *const", &format!("script_ports_{number}"), &ports);
        let events_of = self.list("struct wb_script_event", &format!("events_{number}"), &events);
        let mut of = Fields::default();
        of.is("events", events_of).is("n_events", events.len()).is("ports", ports_of);
        of.is("n_ports", ports.len()).set("n_timers", script.timers).end()
    }

    /// The application may bring the policy along: the address of it, if it does.
    fn policy(&mut self, plan: &Plan) {
        let Some(policy) = &plan.policy else {
            return self.line("const struct wb_policy *const wb_board_policy = NULL;\n");
        };
        let name = format!("wb_policy_{}", policy.name);
        self.line(&format!("extern const struct wb_policy {name} __attribute__((weak));"));
        self.line(&format!("const struct wb_policy *const wb_board_policy = &{name};\n"));
        let settings: Vec<String> = policy.settings.iter().map(|setting| text(setting)).collect();
        self.list("char *const", "policy_params", &settings);
    }

    fn plan(&mut self, plan: &Plan, lists: &[String; 8]) {
        let [cores, params, channels, tasks, ports, rows, objects, scripts] = lists;
        let mut of = Fields::default();
        of.is("module", "\"\"").set64("memory_bytes", plan.memory_bytes);
        of.set64("shared_bytes", plan.shared_bytes);
        of.is("spin_ns", plan.spin_ns.map_or_else(|| "WB_FOREVER".to_owned(), u64));
        of.set64("offer_ns", plan.offer_ns).set64("seed", plan.seed);
        of.set64("agents_ns", plan.agents_ns);
        of.is("frequency", format!("FREQUENCY_{}", plan.frequency.to_uppercase()));
        let transport = plan.transport.as_deref().unwrap_or("auto").to_uppercase();
        of.is("transport", format!("WB_TRANSPORT_{transport}"));
        of.flag("models_compute", plan.models_compute).set("coordinator", plan.coordinator);
        of.is("rate_millihz", plan.rate_millihz);
        of.is("cores", cores).is("params", params).is("channels", channels);
        of.is("tasks", tasks).is("ports", ports).is("rows", rows);
        if !plan.scripts.is_empty() {
            of.is("objects", objects).is("n_objects", plan.objects.len());
            of.is("scripts", scripts).is("n_scripts", plan.scripts.len());
        }
        of.is("n_cores", plan.cores.len()).is("n_params", plan.params.len());
        of.is("n_channels", plan.channels.len()).is("n_tasks", plan.tasks.len());
        of.is("n_ports", plan.ports.len()).is("n_rows", plan.rows.len());
        if let Some(policy) = &plan.policy {
            let params = if policy.settings.is_empty() { "NULL" } else { "policy_params" };
            let n = policy.settings.len();
            of.is("policy", format!("{{ {}, {params}, {n} }}", text(&policy.name)));
        }
        self.line(&format!("const struct plan wb_board_plan = {{\n    {}\n}};", of.lines()));
    }
}

fn config(task: &PlanTask) -> String {
    let mut of = Fields::default();
    of.is("name", text(&task.name)).set("index", task.index).set("core", task.core);
    of.set("cores", task.cores);
    of.set("priority", task.priority).is("entry", &task.entry);
    of.flag("migratable", task.migratable).flag("restart", task.restart);
    of.flag("moves_at_waits", task.moves_at_waits);
    of.flag("replay", task.replay).is("mode", task.mode.constant());
    of.set("checkpoint_every", task.checkpoint_every).is("stack_bytes", task.stack_bytes);
    of.is("heap_bytes", task.heap_bytes).flag("follows_rate", task.follows_rate);
    of.set64("period_ns", task.period_ns).set64("deadline_ns", task.deadline_ns);
    of.set64("offset_ns", task.offset_ns).set64("rate_millihz", task.rate_millihz);
    of.set64("period_rest", task.period_rest).set64("offset_rest", task.offset_rest);
    of.set64("jitter_ns", task.jitter_ns).set64("gap_ns", task.gap_ns);
    of.end()
}

fn script_event(event: &PlanEvent, numbers: &str) -> String {
    let mut of = Fields::default();
    of.is("verb", event.verb.constant());
    of.set("object", event.object).set("other", event.other);
    of.flag("is_firing", event.is_firing).flag("is_absolute", event.is_absolute);
    of.flag("is_checkpoint", event.is_checkpoint).set64("amount", event.amount);
    if !event.numbers.is_empty() {
        of.is("numbers", numbers).is("n_numbers", event.numbers.len());
    }
    of.is("place", text(&event.place)).end()
}

/// The members of an initialiser.
#[derive(Default)]
struct Fields(Vec<String>);

impl Fields {
    fn is(&mut self, name: &str, value: impl std::fmt::Display) -> &mut Self {
        self.0.push(format!(".{name} = {value}"));
        self
    }

    /// Unless it is what C takes a member to be that is not there.
    fn set(&mut self, name: &str, value: u32) -> &mut Self {
        if value == 0 { self } else { self.is(name, value) }
    }

    fn set64(&mut self, name: &str, value: u64) -> &mut Self {
        if value == 0 { self } else { self.is(name, u64(value)) }
    }

    fn flag(&mut self, name: &str, value: bool) -> &mut Self {
        if value { self.is(name, value) } else { self }
    }

    fn end(&self) -> String {
        format!("{{ {} }}", self.0.join(", "))
    }

    fn lines(&self) -> String {
        self.0.join(",\n    ") + ","
    }
}

fn u64(value: u64) -> String {
    format!("UINT64_C({value})")
}

/// A text as a literal of C; what is not plain is in octal, three digits, so nothing joins it.
pub(super) fn text(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => literal.extend(['\\', char::from(byte)]),
            // A `?` would begin a trigraph with another one.
            b' '..=b'~' if byte != b'?' => literal.push(char::from(byte)),
            _ => {
                let _ = write!(literal, "\\{byte:03o}");
            }
        }
    }
    literal + "\""
}
