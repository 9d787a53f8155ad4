// SPDX-License-Identifier: Apache-2.0
// The tables of a run, and runs side by side.

function taskCard(run) {
  const busiest = Math.max(...run.tasks.map((task) => task.busy_ns), 1);
  const columns = [
    {
      title: "task",
      of: (task) => run.nameOf(task.task, task.index),
      left: true,
      shade: (task) => colour(run.numbers.get(run.nameOf(task.task, task.index))),
    },
    column("core", "core"),
    text("state", "state"),
    text("mode", "mode"),
    column("busy", "busy_ns", duration, { share: (task) => task.busy_ns / busiest }),
    column("runs", "runs", count),
    column("jobs", "jobs", count),
    column("misses", "misses", count, { mark: some }),
    column("latest", "worst_late_ns", duration),
    column("moved", "migrations", count),
    column("refused", "refused", count, { mark: some }),
    column("restarts", "restarts", count, { mark: some }),
    column("heap peak", "heap_peak_bytes", bytes),
  ];
  return card("Tasks", null, null, table(columns, run.tasks));
}

function coreCard(run) {
  const columns = [
    column("core", "core"),
    column("processor", "cpu"),
    column("load", "load", percent, { share: (core) => core.load }),
    column("in tasks", "busy_ns", duration),
    column("polling", "polling_ns", duration),
    column("switches", "switches", count),
    column("sleeps", "sleeps", count),
    column("mean frequency", "mean_hz", frequency),
    column("energy", "energy_uj", energy),
    column("temperature", "temperature_mc", degrees),
  ];
  return card("Cores", null, null, table(columns, run.cores));
}

function channelCard(run) {
  const columns = [
    { title: "channel", of: (one) => one.channel, left: true, shade: (one) => colour(one.number) },
    column("slots", "slots", count),
    column("highest", "high", count, {
      share: (one) => one.high / one.slots,
      mark: (high, one) => high >= one.slots,
    }),
    column("lowest", "low", count),
    column("left", "depth", count),
    column("sent", "sent", count),
    column("received", "received", count),
    column("bytes", "bytes", bytes),
  ];
  run.channels.forEach((one, number) => {
    one.number = number;
  });
  return card(
    "Channels",
    "A channel that was once full is marked",
    null,
    table(columns, run.channels),
  );
}

function migrationCards(run) {
  if (!run.allMigrations)
    return card("Migrations", null, null, el("div", { class: "none" }, "No task moved."));
  const longest = Math.max(...run.phases.map((phase) => phase.max_ns), 2);
  const logarithm = (ns) => Math.log10(Math.max(ns, 1)) / Math.log10(longest);
  const phases = table(
    [
      text("phase", "phase"),
      text("mode", "mode"),
      column("median", "p50_ns", duration, { share: (phase) => logarithm(phase.p50_ns) }),
      column("90 %", "p90_ns", duration),
      column("longest", "max_ns", duration, { share: (phase) => logarithm(phase.max_ns) }),
      column("n", "n", count),
    ],
    run.phases,
  );
  const open = (move) => {
    const around = Math.max((move.arrives ?? move.leaves) - move.leaves, 1000) * 20;
    run.view.show(move.leaves - around, (move.arrives ?? move.leaves) + around);
    document.querySelector(".uplot")?.scrollIntoView({ block: "center" });
  };
  const away = column("parked to running", "away", duration);
  const columns = [
    column("at", "at", (ns) => instant(ns, 1e5), { opens: true }),
    {
      title: "task",
      of: (move) => run.nameOf(move.task, move.index),
      left: true,
      shade: (move) => colour(move.number),
    },
    { title: "cores", of: (move) => `${move.source} → ${move.target}`, left: true },
    text("by", "by"),
    text("mode", "mode"),
    text("status", "status", { mark: (status) => status !== "ok" }),
    column("to parked", "to_parked", duration),
    column("to attached", "to_attached", duration),
    column("to running", "to_running", duration),
    column("to first output", "to_output", duration),
    away,
    column("copied", "bytes", bytes),
  ];
  const some =
    run.migrations.length < run.allMigrations
      ? `Failed or slowest: ${count(run.migrations.length)} of ${count(run.allMigrations)}. `
      : "";
  return [
    card(
      "Latency of migrations",
      "Each phase, over all migrations that went well; bars are logarithmic",
      null,
      phases,
    ),
    card(
      "Migrations",
      `${some}The time of one shows that part of the run in the plots`,
      null,
      table(columns, run.migrations, { first: away, onrow: open }),
    ),
  ];
}

function troubleCards(run) {
  const at = (key) => ({
    title: "at",
    of: (row) => row[key] - run.start,
    show: (ns) => instant(ns, 1e5),
  });
  const cards = [
    [
      "Errors",
      run.errors,
      [
        text("kind", "kind"),
        text("task", "task"),
        column("core", "core"),
        text("what happened", "text"),
      ],
    ],
    [
      "Kernels that died",
      run.deaths,
      [
        at("detected_ns"),
        column("core", "core"),
        text("found by", "by"),
        text("in task", "running"),
        column("tasks moved", "moved"),
      ],
    ],
    [
      "Decisions that were ignored",
      run.advice,
      [at("time_ns"), text("policy", "policy"), column("core", "core"), text("why", "text")],
    ],
  ];
  return cards
    .filter(([, all]) => all.length)
    .map(([title, all, columns]) => card(title, null, null, table(columns, all)));
}

// ---- runs side by side --------------------------------------------------------------------------

function comparison(runs) {
  const phase = (run, name, key) => run.phases.find((one) => one.phase === name)?.[key];
  const total = (list, key) => list.reduce((sum, one) => sum + (one[key] ?? 0), 0);
  const measures = [
    ["platform", (run) => run.summary.platform],
    ["policy", (run) => run.summary.options?.policy || "none"],
    ["clock", (run) => run.summary.clock],
    ["ended", (run) => (run.killed ? "killed" : run.summary.ended)],
    ["took", (run) => run.end, duration],
    ["frames", (run) => run.summary.frames, count],
    ["frames per second", (run) => run.summary.frames_per_s, digits],
    ["deadline misses", (run) => run.summary.deadline_misses, count],
    [
      "energy of cores",
      (run) => (run.summary.energy?.source === "platform" ? run.summary.energy.cores_uj : null),
      energy,
    ],
    [
      "energy per frame",
      (run) =>
        run.summary.energy?.source === "platform" && run.summary.frames
          ? run.summary.energy.cores_uj / run.summary.frames
          : null,
      energy,
    ],
    ["cores", (run) => run.frequency.length, count],
    [
      "highest load",
      (run) => (run.cores.length ? Math.max(...run.cores.map((core) => core.load)) : null),
      percent,
    ],
    ["time in tasks", (run) => total(run.tasks, "busy_ns"), duration],
    ["switches", (run) => total(run.cores, "switches"), count],
    ["migrations", (run) => run.allMigrations, count],
    ["parked to running, median", (run) => phase(run, "parked to running", "p50_ns"), duration],
    ["parked to running, longest", (run) => phase(run, "parked to running", "max_ns"), duration],
    [
      "fullest channel",
      (run) =>
        run.channels.length ? Math.max(...run.channels.map((one) => one.high / one.slots)) : null,
      percent,
    ],
  ];
  const difference = (value, first) => {
    if (typeof value !== "number" || typeof first !== "number" || !first || value === first)
      return null;
    const part = value / first - 1;
    return el(
      "span",
      { class: "delta" },
      `${part > 0 ? "+" : "−"}${digits(Math.abs(part) * 100, 1)} %`,
    );
  };
  const lines = measures
    .filter(([, of]) => runs.some((run) => of(run) != null))
    .map(([title, of, show]) =>
      el(
        "tr",
        {},
        el("th", { class: "left", scope: "row" }, title),
        runs.map((run, n) => {
          const value = of(run);
          return el(
            "td",
            {},
            value == null ? "–" : show ? show(value) : value,
            n > 0 && difference(value, of(runs[0])),
          );
        }),
      ),
    );
  const head = el(
    "tr",
    {},
    el("th", { class: "left", scope: "col" }, ""),
    runs.map((run) => el("th", { scope: "col" }, run.folder)),
  );
  return card(
    "Side by side",
    "Differences are against the first",
    null,
    el(
      "div",
      { class: "scroll whole", tabindex: 0 },
      el("table", {}, el("thead", {}, head), el("tbody", {}, lines)),
    ),
  );
}
