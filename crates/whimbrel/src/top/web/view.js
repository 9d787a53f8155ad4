// SPDX-License-Identifier: Apache-2.0
// What the run says, folded into what is shown; and what the user wants of the run.

/// As many totals are remembered for the curves, and as many entries of the log are shown.
const HISTORY = 120;
const LOG = 200;

const run = {};
/// What is known of a run of which nothing is known yet.
const forget = () =>
  Object.assign(run, {
    name: "",
    portrait: { tasks: [], kernels: [], sinks: [] },
    before: null,
    now: null,
    history: [],
    fresh: [],
    over: null,
  });
forget();

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const nameOf = (position) => run.portrait.tasks[position]?.[0] ?? `task ${position}`;
const isOver = (task) => task.state === "ended" || task.state === "lost";
const at = (ns) => Math.max(0, ns - run.portrait.start_ns);

/// The growth of a total in the last interval, a nanosecond.
function rate(of) {
  const { before, now } = run;
  if (!before || now.time_ns <= before.time_ns) return 0;
  return Math.max(0, of(now) - of(before) || 0) / (now.time_ns - before.time_ns);
}
const part = (of) => Math.min(rate(of), 1);

function newTotals(status) {
  if (run.now && status.time_ns <= run.now.time_ns) return;
  run.before = run.now;
  run.now = status;
  status.cores.forEach((core, n) => {
    const busy = part((all) => all.cores[n]?.busy_ns ?? 0);
    const all = (core) => (core ? core.polling_ns + (core.idle_polling_ns ?? 0) : 0);
    const polling = Math.min(part((status) => all(status.cores[n])), 1 - busy);
    const line = (run.history[n] ??= []);
    if (run.before) line.push({ busy, polling });
    if (line.length > HISTORY) line.shift();
  });
}

// ---- what the run says --------------------------------------------------------------------------

function positionOf(task, index) {
  return run.now?.tasks.findIndex((one) => one.task === task && one.index === index) ?? -1;
}

function moved(move) {
  const position = positionOf(move.task, move.index);
  const given = move.index ? `${move.task}.${move.index}` : move.task;
  const name = position < 0 ? given : nameOf(position);
  const well = move.status === "ok";
  // The totals say so as well, but later; what they know already may be the past.
  if (well && position >= 0 && move.running_ns > run.now.time_ns)
    run.now.tasks[position].core = move.target;
  const away = duration(move.running_ns - move.parked_ns);
  const outcome = well
    ? `away ${away}, after ${duration(move.parked_ns - move.request_ns)}`
    : `did not move: ${move.status}`;
  run.fresh.push({
    at_ns: at(Math.max(move.request_ns, move.parked_ns, move.running_ns)),
    kind: well ? "good" : "warning",
    text: `${name} ${move.source} → ${move.target}`,
    about: move.by ? `${outcome}, by ${move.by}` : outcome,
    moved: well ? move.running_ns : null,
  });
}

function died(death) {
  const fate = ["lost", "restarted", "resumed", "moved"].filter((word) => death[word] > 0);
  run.fresh.push({
    at_ns: at(death.detected_ns),
    kind: "bad",
    text: `core ${death.core} was killed${death.signal ? ` by signal ${death.signal}` : ""}`,
    about: fate.map((word) => `${death[word]} ${word}`).join(", "),
  });
}

const HEARD = {
  hello: ({ run: name, policies }) => {
    forget();
    log.clear();
    run.name = name;
    document.title = `${name} · Whimbrel`;
    offered.replaceChildren(...["none", ...policies].map((one) => html`<option value=${one} />`));
  },
  watching: (portrait) => {
    run.portrait = portrait;
  },
  status: newTotals,
  migration: moved,
  core_died: died,
  core_restarted: ({ time_ns, core, took_ns }) =>
    run.fresh.push({
      at_ns: at(time_ns),
      kind: "good",
      text: `core ${core} runs again`,
      about: `after ${duration(took_ns)}`,
    }),
  advice: ({ time_ns, policy, core, text }) =>
    run.fresh.push({
      at_ns: at(time_ns),
      kind: "warning",
      text: `policy ${policy}: ${text}`,
      about: `core ${core}`,
    }),
  ended: ({ ok, how, status }) => {
    if (status) newTotals(status);
    end(ok, how);
  },
  refused: (why) => end(false, why),
  lost: (why) => end(false, why),
};

function end(ok, how) {
  run.over = { ok, how };
  source.close();
}

const token = new URLSearchParams(location.search).get("token");
const source = new EventSource(`/events?token=${token}`);
let waits = false;
let paused = false;
/// The connection in words, if it is not there.
let trouble = "";

/// Draws before the browser shows its next picture, however much is said until then.
function redraw() {
  if (waits || (paused && !run.over)) return;
  waits = true;
  requestAnimationFrame(() => {
    waits = false;
    draw();
  });
}

source.onmessage = ({ data }) => {
  trouble = "";
  for (const [kind, said] of Object.entries(JSON.parse(data))) HEARD[kind]?.(said);
  redraw();
};
source.onerror = () => {
  trouble = source.readyState === EventSource.CLOSED ? "not connected" : "connecting again";
  redraw();
};

// ---- what the user wants ------------------------------------------------------------------------

async function ask(wish, meanwhile) {
  tell(meanwhile);
  try {
    const body = JSON.stringify(wish);
    const reply = await fetch(`/ask?token=${token}`, { method: "POST", body });
    const { ok, text } = await reply.json();
    tell(text, ok);
  } catch {
    tell("`whimbrel top --web` does not answer", false);
  }
}

function tell(text, ok) {
  say(note, text);
  note.className = ok === undefined ? "" : ok ? "good" : "bad";
}

const move = (task, core) =>
  ask({ move: { task, core } }, `${nameOf(task)} is asked to move to core ${core}`);

const restart = (core) => ask({ restart: core }, `core ${core} is restarted`);

/// What is selected: `{ task }` or `{ channel }`, by their positions.
let selected = {};

function select(what) {
  const same = selected.task === what.task && selected.channel === what.channel;
  selected = same ? {} : what;
  setting.value = selected.channel === undefined ? "" : bell(run.now.channels[selected.channel]);
  tell("");
  draw();
}

// ---- the page -----------------------------------------------------------------------------------

const title = html`<h1>…</h1>`;
const badge = html`<span class="badge" role="status" />`;
const facts = tiles();
const cores = html`<div class="cores" />`;
const coreParts = [];
const taskParts = [];
const log = logPart(LOG);
const note = html`<output />`;
const offered = html`<datalist id="policies" />`;

/// A form of one line, which says what to do with what was typed.
const field = (label, input, does, button) => html`
  <form
    class="field"
    onsubmit=${(event) => {
      event.preventDefault();
      does(input.value.trim());
    }}
  >
    <label>${label} ${input}</label><button>${button}</button>
  </form>
`;
const policy = html`<input list="policies" size="14" placeholder="none" spellcheck="false" />`;
const wanted = html`<input size="6" inputmode="decimal" placeholder="none" />`;
const step = (sign, wish) => {
  const label = `A tenth ${wish}`;
  return html`
    <button type="button" aria-label=${label} onclick=${() => ask(wish, "")}>${sign}</button>
  `;
};
const pause = html`
  <button
    type="button"
    aria-pressed="false"
    onclick=${() => {
      paused = !paused;
      pause.setAttribute("aria-pressed", String(paused));
      say(badge, "paused");
      redraw();
    }}
  >
    Pause
  </button>
`;
const tools = html`
  <fieldset class="steering">
    ${field("policy", policy, (text) => ask({ policy: text || "none" }, ""), "Set")} ${offered}
    <div class="field">
      ${field("frames/s", wanted, (text) => ask({ rate: text }, ""), "Set")}
      ${step("−", "slower")} ${step("+", "faster")}
    </div>
    ${pause}
  </fieldset>
`;

const named = (what) => (position) => {
  const swatch = what === "task" && html`<i class="swatch" />`;
  if (swatch) swatch.style.background = colour(position);
  const name = what === "task" ? nameOf(position) : run.now.channels[position].channel;
  const choose = () => select({ [what]: position });
  return html`${swatch}<button type="button" onclick=${choose}>${name}</button>`;
};
const taskTable = liveTable(
  "task",
  [
    ["core", (task) => (isOver(task) ? "–" : String(task.core))],
    ["state", (task) => task.state, (task) => task.state === "lost"],
    barColumn("load", ["busy"], (task, n) => {
      const load = part((all) => all.tasks[n]?.busy_ns ?? 0);
      return [[load], percent(load)];
    }),
    ["jobs", (task) => count(task.jobs)],
    ["misses", (task) => count(task.misses), (task) => task.misses > 0],
    ["latest", (task) => (task.misses ? duration(task.worst_late_ns) : "–")],
    ["moved", (task) => count(task.migrations)],
    ["refused", (task) => count(task.refused)],
    ["mode", (task) => task.mode],
    ["heap", (task) => bytes(task.heap_bytes)],
    ["restarts", (task) => count(task.restarts)],
  ],
  named("task"),
);
const channelTable = liveTable(
  "channel",
  [
    barColumn("messages", ["busy", "high"], ({ depth, high, slots }) => [
      [depth / slots, Math.max(0, high - depth) / slots],
      `${depth}/${slots}`,
    ]),
    ["low", ({ low }) => (low == null ? "–" : count(low))],
    ["high", ({ high }) => count(high), ({ high, slots }) => high >= slots],
    ["received/s", (_, n) => count(Math.round(1e9 * rate((all) => all.channels[n]?.received)))],
    ["told by", (channel) => bell(channel)],
  ],
  named("channel"),
);

const about = html`<span />`;
const targets = html`<select aria-label="Core" />`;
const setting = html`<input size="22" spellcheck="false" aria-label="Doorbell or batch" />`;
const moving = field("to", targets, (core) => move(selected.task, Number(core)), "Move");
const changing = field("", setting, (text) => {
  ask({ channel: `${run.now.channels[selected.channel].channel} ${text}` }, "");
}, "Set");
const steering = html`<fieldset class="steering">${about}${moving}${changing}</fieldset>`;
const foot = html`<footer>${steering}${note}</footer>`;

document.getElementById("page").replaceChildren(
  html`<header>
    <p class="brand">Whimbrel</p>
    <div class="titled">${title}${badge}${tools}</div>
    ${facts.root}
  </header>`,
  html`<div class="beside">${cores}${log.root}</div>`,
  card("Tasks", taskTable.root, {
    about: "Drag one to another core, press the core's number on it, or select it",
  }),
  card("Channels", channelTable.root, {
    about: "Dark: messages in it now; pale: up to the most ever. Select one to change its doorbell",
  }),
  foot,
);
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && (selected.task ?? selected.channel) !== undefined) select({});
});

// ---- drawing ------------------------------------------------------------------------------------

function draw() {
  say(title, run.name || "…");
  const live = paused ? "paused" : run.now ? "running" : "connecting";
  say(badge, run.over?.how || trouble || live);
  badge.classList.toggle("bad", trouble !== "" || run.over?.ok === false);
  tools.disabled = steering.disabled = run.over !== null;
  if (run.fresh.length) log.add(run.fresh.splice(0));
  if (!run.now) return;
  drawFacts();
  drawCores();
  drawTasks();
  const { channels } = run.now;
  channelTable.show(channels, channels.map((_, n) => n));
  drawFoot();
}

function drawFacts() {
  const { now, before, portrait } = run;
  const received = (all, into) => Math.max(0, ...into.map((n) => all.channels[n]?.received ?? 0));
  const frames = portrait.sinks.length
    ? (all) => sum(portrait.sinks.map((into) => received(all, into)))
    : (all) => sum(all.tasks.map((task) => task.firings));
  const unit = portrait.sinks.length ? "frames/s" : "firings/s";
  const asked = now.rate_millihz && unit === "frames/s" ? ` of ${now.rate_millihz / 1000}` : "";
  const misses = (all) => sum(all.tasks.map((task) => task.misses));
  const more = before ? misses(now) - misses(before) : 0;
  const used = (all) => all.machine_energy_uj || sum(all.cores.map((core) => core.energy_uj));
  const decides = now.coordinator == null ? "policy" : `policy, on core ${now.coordinator}`;
  const metered = now.energy_source !== "";
  facts.show([
    [`${(at(now.time_ns) / 1e9).toFixed(1)} s`, "time"],
    [(1e9 * rate(frames)).toFixed(1), `${unit}${asked}`],
    [count(misses(now)), more ? `misses (+${count(more)})` : "misses", more > 0],
    [`${now.live} of ${now.tasks.length}`, "tasks"],
    [metered ? energy(used(now)) : "–", `energy (${now.energy_source || "no meter"})`],
    [metered ? watts(1e9 * rate(used)) : "–", "power"],
    [now.policy || "none", decides],
  ]);
  if (document.activeElement !== wanted)
    wanted.value = now.rate_millihz ? String(now.rate_millihz / 1000) : "";
}

function drawCores() {
  const { now, portrait, history } = run;
  now.cores.forEach((core, n) => {
    cores.classList.toggle("many", now.cores.length > 8);
    if (!coreParts[n]) cores.append((coreParts[n] = corePart(n, { move, restart })).root);
    const kernel = portrait.kernels.find((one) => one.core === core.core);
    const used = 1e9 * rate((all) => all.cores[n]?.energy_uj ?? 0);
    coreParts[n].show(core, kernel, history[n] ?? [], used, run.over !== null);
  });
}

function drawTasks() {
  const { tasks } = run.now;
  tasks.forEach((task, n) => {
    const [name, movable] = run.portrait.tasks[n] ?? [task.task, true];
    const wants = { select: () => select({ task: n }), move };
    const one = (taskParts[n] ??= taskPart(n, name, movable, wants));
    if (isOver(task) || !coreParts[task.core]) one.root.remove();
    else one.enter(coreParts[task.core].tasks);
    one.show(task, part((all) => all.tasks[n]?.busy_ns ?? 0), selected.task === n);
  });
  const key = (n) => [isOver(tasks[n]) ? 1 : 0, tasks[n].core, n];
  const order = tasks.map((_, n) => n).sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  });
  taskTable.show(tasks, order);
  tasks.forEach((_, n) => taskTable.rowOf(n).classList.toggle("selected", selected.task === n));
}

function drawFoot() {
  const { tasks, cores: all, channels } = run.now;
  const { task, channel } = selected;
  const movable = task !== undefined && run.portrait.tasks[task]?.[1] !== false;
  const others = movable ? all.map((_, n) => n).filter((n) => n !== tasks[task].core) : [];
  moving.hidden = !others.length;
  changing.hidden = channel === undefined;
  const before = targets.value;
  if (others.join() !== [...targets.options].map((one) => one.value).join()) {
    targets.replaceChildren(...others.map((n) => html`<option value=${n}>core ${n}</option>`));
    if (others.includes(Number(before))) targets.value = before;
  }
  if (task !== undefined) {
    const stays = movable ? "" : ", and cannot move";
    say(about, `${nameOf(task)} is on core ${tasks[task].core}${stays}`);
  } else say(about, channel === undefined ? "" : channels[channel].channel);
  steering.hidden = task === undefined && channel === undefined;
  foot.hidden = steering.hidden && !note.textContent;
}
