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
    column("preempted", "preemptions", count),
    column("jobs", "jobs", count),
    column("misses", "misses", count, { mark: some }),
    column("latest", "worst_late_ns", duration),
    column("moved", "migrations", count),
    column("refused", "refused", count, { mark: some }),
    column("restarts", "restarts", count, { mark: some }),
    column("heap peak", "heap_peak_bytes", bytes),
  ];
  return card("Tasks", table(columns, run.tasks));
}

function waitCard(run) {
  if (!run.waits.length) return emptyCard("Waits", "No task was recorded to wait.");
  const longest = Math.max(...run.waits.map((wait) => wait.total_ns), 1);
  const columns = [
    {
      title: "task",
      of: (wait) => run.names[wait.number] ?? `task ${wait.number}`,
      left: true,
      shade: (wait) => colour(wait.number),
    },
    text("waits for", "awaited"),
    column("times", "n", count),
    column("in all", "total_ns", duration, { share: (wait) => wait.total_ns / longest }),
    { title: "mean", of: (wait) => wait.total_ns / wait.n, show: duration },
    column("longest", "longest_ns", duration),
  ];
  const some =
    run.waits.length < run.allWaits
      ? `The longest in all: ${count(run.waits.length)} of ${count(run.allWaits)}. `
      : "";
  return card("Waits", table(columns, run.waits), {
    about: `${some}From when a task blocked until it ran again; not those for a time`,
  });
}

function coreCard(run) {
  const columns = [
    column("core", "core"),
    { title: "processor", of: (core) => (core.guest ? `${core.guest}:${core.cpu}` : core.cpu) },
    column("load", "load", percent, { share: (core) => core.load }),
    column("in tasks", "busy_ns", duration),
    column("polling", "polling_ns", duration),
    column("switches", "switches", count),
    column("sleeps", "sleeps", count),
    column("mean frequency", "mean_hz", frequency),
    column("energy", "energy_uj", energy),
    column("temperature", "temperature_mc", degrees),
  ];
  return card("Cores", table(columns, run.cores));
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
  const about = "A channel that was once full is marked";
  return card("Channels", table(columns, run.channels), { about });
}

function migrationCards(run) {
  if (!run.allMigrations) return emptyCard("Migrations", "No task moved.");
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
    run.shownIn?.choose({ move });
    run.shownIn?.element.scrollIntoView({ block: "center" });
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
  const moves = table(columns, run.migrations, { first: away, onrow: open });
  return [
    card("Latency of migrations", phases, {
      about: "Each phase, over all migrations that went well; bars are logarithmic",
    }),
    card("Migrations", moves, {
      about: `${some}The time of one shows that part of the run in the plots`,
    }),
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
        column("lost", "lost", count, { mark: some }),
        column("again after", "back_after_ns", duration),
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
    .map(([title, all, columns]) => card(title, table(columns, all)));
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
    ["energy of cores", (run) => run.energy, energy],
    [
      "energy per frame",
      (run) => (run.energy != null && run.summary.frames ? run.energy / run.summary.frames : null),
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
    ["migrations", (run) => run.moved, count],
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
    const sign = part > 0 ? "+" : "−";
    return html`<span class="delta">${sign}${digits(Math.abs(part) * 100, 1)} %</span>`;
  };
  const cell = ([, of, show], run, n) => {
    const value = of(run);
    const shown = value == null ? "–" : show ? show(value) : value;
    return html`<td>${shown}${n > 0 && difference(value, of(runs[0]))}</td>`;
  };
  const lines = measures
    .filter(([, of]) => runs.some((run) => of(run) != null))
    .map(
      (measure) => html`
        <tr>
          <th class="left" scope="row">${measure[0]}</th>
          ${runs.map((run, n) => cell(measure, run, n))}
        </tr>
      `,
    );
  const names = runs.map((run) => html`<th scope="col">${run.folder}</th>`);
  const compared = html`
    <div class="scroll whole" tabindex="0">
      <table>
        <thead><tr><th class="left" scope="col" />${names}</tr></thead>
        <tbody>${lines}</tbody>
      </table>
    </div>
  `;
  return card("Side by side", compared, { about: "Differences are against the first" });
}
