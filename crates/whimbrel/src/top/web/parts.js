// SPDX-License-Identifier: Apache-2.0
// The parts of the page. Each has an element, and a function that shows in it what is known; what
// has not changed is left alone. Names become text, never markup.

/// Sets a text only if it is another one: the browser need not lay it out again then.
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/// A power to three digits, so that it does not flicker between units.
const watts = (uw) => power(Number(uw.toPrecision(3)));

/// A bar of parts of a whole, each from 0 to 1, one after the other.
function meter(...names) {
  const parts = names.map((name) => html`<i class=${name} />`);
  const show = (...values) =>
    parts.forEach((part, n) => {
      part.style.width = `${(100 * (values[n] || 0)).toFixed(1)}%`;
    });
  return { root: html`<span class="meter">${parts}</span>`, show };
}

/// The latest of many values, from 0 to 1, as a line.
function sparkline(height) {
  let values = [];
  const draw = () => {
    if (!sharp.width) return;
    const context = sharp.paint(height);
    const x = (n) => ((n + HISTORY - values.length) / (HISTORY - 1)) * sharp.width;
    const y = (value) => 1 + (1 - value) * (height - 2);
    context.beginPath();
    values.forEach((value, n) => context.lineTo(x(n), y(value)));
    context.strokeStyle = ink("accent");
    context.lineWidth = 1.5;
    context.stroke();
    context.lineTo(sharp.width, height);
    context.lineTo(x(0), height);
    context.globalAlpha = 0.12;
    context.fillStyle = ink("accent");
    context.fill();
  };
  const sharp = sharpCanvas({ class: "spark", "aria-hidden": "true" }, draw);
  sharp.box.className = "sparks";
  const show = (now) => {
    values = now;
    draw();
  };
  return { root: sharp.box, show };
}

// ---- the head -----------------------------------------------------------------------------------

/// Figures of the run as a whole: a number and what it is, each.
function tiles() {
  const root = html`<div class="tiles" />`;
  const show = (facts) => {
    while (root.children.length < facts.length)
      root.append(html`<div class="tile"><b></b><span></span></div>`);
    facts.forEach(([number, what, bad], n) => {
      const tile = root.children[n];
      say(tile.children[0], number);
      say(tile.children[1], what);
      tile.classList.toggle("bad", bad === true);
    });
  };
  return { root, show };
}

// ---- cores and tasks ----------------------------------------------------------------------------

/// A core: its load now and lately, its operating point, and the tasks on it. A task is moved here
/// by dropping it.
function corePart(number, { move, restart }) {
  const [processor, polls, point] = [0, 0, 0].map(() => html`<span class="soft" />`);
  const load = html`<span />`;
  const state = html`<span class="badge" hidden />`;
  const again = html`
    <button type="button" hidden onclick=${() => restart(number)}>Restart</button>
  `;
  const points = html`<span class="points" />`;
  const hardware = html`<div class="line">${points}${point}</div>`;
  const bar = meter("busy", "polling");
  const line = sparkline(36);
  const tasks = html`<div class="tasks" />`;
  let inside = 0;
  const root = html`
    <section
      class="core"
      aria-label=${`core ${number}`}
      ondragover=${(event) => event.preventDefault()}
      ondragenter=${() => root.classList.toggle("over", ++inside > 0)}
      ondragleave=${() => root.classList.toggle("over", --inside > 0)}
      ondrop=${(event) => {
        event.preventDefault();
        inside = 0;
        root.classList.remove("over");
        const task = event.dataTransfer.getData("text/plain");
        if (/^\d+$/.test(task)) move(Number(task), number);
      }}
    >
      <div class="line"><h3>core ${number}</h3>${processor} ${state}${again}</div>
      <div class="line">${bar.root}${load}${polls}</div>
      ${line.root}
      ${hardware}
      ${tasks}
    </section>
  `;
  const show = (core, kernel, history, power_uw, over) => {
    const { busy, polling } = history[history.length - 1] ?? { busy: 0, polling: 0 };
    const where = kernel?.guest ? `${kernel.guest}:` : "cpu ";
    say(processor, kernel ? where + kernel.cpu : "");
    const dead = core.state === "dead";
    state.hidden = core.state === "up" || (over && !dead);
    state.classList.toggle("bad", dead);
    again.hidden = !dead || over;
    say(state, core.state);
    bar.show(busy, polling);
    say(load, percent(busy));
    say(polls, `${percent(polling)} polling`);
    line.show(history.map((one) => one.busy));
    const facts = [
      core.hz && frequency(core.hz),
      core.temperature_mc != null && degrees(core.temperature_mc),
      power_uw > 0 && watts(power_uw),
    ];
    say(point, facts.filter(Boolean).join(" · "));
    showPoints(points, core);
    hardware.hidden = !point.textContent;
  };
  return { root, tasks, show };
}

/// The operating points of a core from the slowest, up to the present one filled.
function showPoints(root, core) {
  const all = core.points.map((point) => point.hz).sort((one, other) => one - other);
  while (root.children.length < all.length) root.append(html`<i />`);
  all.forEach((hz, n) => root.children[n].classList.toggle("on", hz <= core.hz));
  const total = (point) => point.active_ns + point.idle_ns;
  const times = core.points.map((point) => `${frequency(point.hz)} for ${duration(total(point))}`);
  root.title = times.join(", ");
}

/// A task on a core: to be dragged, or selected and moved by its number key.
function taskPart(position, name, movable, { select, move }) {
  const load = html`<small />`;
  const swatch = html`<i />`;
  swatch.style.background = colour(position);
  const root = html`
    <button
      type="button"
      class="task"
      draggable=${String(movable)}
      aria-pressed="false"
      title=${movable ? "Drag to another core, or press its number" : "This task cannot move"}
      onclick=${select}
      ondragstart=${(event) => event.dataTransfer.setData("text/plain", String(position))}
      onkeydown=${(event) => {
        if (movable && /^[0-9]$/.test(event.key)) move(position, Number(event.key));
      }}
    >
      ${swatch}<span>${name}</span>${load}
    </button>
  `;
  const show = (task, busy, selected) => {
    const seconds = Math.floor((task.stalled_ms ?? 0) / 1000);
    const stalled = seconds ? ` · busy ${seconds} s` : "";
    say(load, percent(busy) + stalled);
    root.classList.toggle("stalled", stalled !== "");
    root.setAttribute("aria-pressed", String(selected));
  };
  /// Goes to the tasks of a core, and shows from where.
  const enter = (tasks) => {
    if (root.parentElement === tasks) return;
    const before = root.parentElement && root.getBoundingClientRect();
    const focused = document.activeElement === root;
    const after = [...tasks.children].find((other) => Number(other.dataset.position) > position);
    tasks.insertBefore(root, after ?? null);
    if (focused) root.focus();
    if (!before || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const { left, top } = root.getBoundingClientRect();
    const start = `translate(${before.left - left}px, ${before.top - top}px)`;
    const way = [{ transform: start }, { transform: "none" }];
    root.animate(way, { duration: 350, easing: "ease-out" });
  };
  root.dataset.position = position;
  return { root, show, enter };
}

// ---- tables -------------------------------------------------------------------------------------

/// A table whose rows stay; `columns` are titles and what stands there, `start` makes the first
/// cell of a row.
function liveTable(first, columns, start) {
  const body = html`<tbody />`;
  const rows = [];
  const heads = columns.map(([title]) => html`<th>${title}</th>`);
  const root = html`
    <div class="scroll whole">
      <table>
        <thead><tr><th class="left">${first}</th>${heads}</tr></thead>
        ${body}
      </table>
    </div>
  `;
  const show = (items, order) => {
    while (rows.length < items.length) {
      const cells = columns.map(() => html`<td />`);
      const row = html`<tr><td class="left">${start(rows.length)}</td>${cells}</tr>`;
      rows.push({ row, cells });
    }
    items.forEach((item, n) =>
      columns.forEach(([, of, marked], column) => {
        const cell = rows[n].cells[column];
        const shown = of(item, n, cell);
        if (typeof shown === "string") say(cell, shown);
        cell.classList.toggle("bad", marked?.(item) === true);
      }),
    );
    order.forEach((n, place) => {
      const [{ row }, there] = [rows[n], body.children[place]];
      if (there !== row) body.insertBefore(row, there);
    });
  };
  return { root, show, rowOf: (n) => rows[n]?.row };
}

/// A column with a bar and a text; `of` gives the parts of the bar and the text.
function barColumn(title, names, of) {
  const bars = new WeakMap();
  const show = (item, n, cell) => {
    if (!bars.has(cell)) {
      const [bar, text] = [meter(...names), html`<span />`];
      cell.append(bar.root, text);
      cell.className = "withbar";
      bars.set(cell, { bar, text });
    }
    const [values, shown] = of(item, n);
    bars.get(cell).bar.show(...values);
    say(bars.get(cell).text, shown);
  };
  return [title, show];
}

/// How the receiver of a channel is told of messages, as `whimbrel channel` takes it.
function bell({ doorbell = "interrupt", batch = 0, within_us = 0 }) {
  const time = duration(within_us * 1000).replace(" ", "");
  if (batch) return `batch=${batch}:${time}`;
  return `doorbell=${doorbell}${doorbell === "interrupt" ? "" : `:${time}`}`;
}

// ---- the log ------------------------------------------------------------------------------------

/// What has happened, the latest first.
function logPart(most) {
  const list = html`<ol class="log" aria-label="Log" />`;
  const root = card("Log", html`<div class="scroll">${list}</div>`, {
    about: "Moves, deaths and ignored decisions",
  });
  /// Puts entries above the others: how they went, when and what.
  const add = (entries) => {
    const rows = entries.slice(-most).map(({ at_ns, kind, text, about, moved }) => {
      const row = html`
        <li class=${kind}>
          <time>${(at_ns / 1e9).toFixed(3)} s</time><span>${text}</span><small>${about}</small>
        </li>
      `;
      if (moved) row.dataset.running = moved;
      return row;
    });
    list.prepend(...rows.reverse());
    while (list.children.length > most) list.lastChild.remove();
  };
  return { root, add, clear: () => list.replaceChildren() };
}
