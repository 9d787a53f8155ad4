// SPDX-License-Identifier: Apache-2.0
// The timeline of a run: cores by time, queues below them, and what was chosen in it.

const LANE = { left: 124, axis: 22, gap: 5, queue: 30, cores: 40, queues: 8 };

/// How many migrations are drawn as arrows.
const ARROWS = 400;

const HELP =
  "Drag to zoom in, double-click for the whole run. Keys: ← → move, + − zoom, Home the whole run, " +
  "N and P the next and previous migration or death, Enter zooms to it; ↑ ↓ other cores. " +
  "Ctrl and the wheel zoom, Shift and the wheel move.";

class Timeline {
  constructor(run) {
    this.run = run;
    this.events = run.timeline;
    this.top = 0;
    this.lit = null;
    this.chosen = null;
    this.queues = fullest(run).slice(0, LANE.queues);
    this.marks = [
      ...run.migrations.map((move) => ({ at: move.leaves, move })),
      ...run.deaths.map((death) => ({ at: death.detected_ns - run.start, death })),
    ].sort((a, b) => a.at - b.at);
    const keyboard = {
      tabindex: 0,
      role: "application",
      "aria-label": `Timeline of ${plural(this.events.cores.length, "core")}. ${HELP}`,
    };
    this.sharp = sharpCanvas(keyboard, () => this.draw());
    this.state = html`<p class="hint" aria-live="polite" />`;
    this.detail = html`<div class="detail" aria-live="polite" />`;
    this.element = html`
      <div>
        ${this.legend()}${this.sharp.box}${this.state}${this.detail}
        <p class="hint">${HELP}</p>
      </div>
    `;
    run.view.drawers.add(() => this.draw());
    this.listen();
  }

  get tools() {
    const button = (name, label, does) =>
      html`<button type="button" aria-label=${label} title=${label} onclick=${does}>${name}</button>`;
    return [
      button("◀", "Earlier", () => this.move(-0.25)),
      button("▶", "Later", () => this.move(0.25)),
      button("+", "Zoom in", () => this.zoom(0.5)),
      button("−", "Zoom out", () => this.zoom(2)),
      button("Whole run", "Show the whole run", () => this.run.view.whole()),
    ];
  }

  legend() {
    const busy = (number) => this.run.tasks[number]?.busy_ns ?? 0;
    const order = this.run.names.map((_, n) => n).sort((a, b) => busy(b) - busy(a) || a - b);
    const chip = (number) => {
      const light = () => {
        this.lit = this.lit === number ? null : number;
        for (const [n, one] of chips) one.setAttribute("aria-pressed", n === this.lit);
        this.draw();
      };
      return html`
        <button type="button" aria-pressed="false" onclick=${light}>
          <i style="background: ${colour(number)}" />${this.run.names[number]}
        </button>
      `;
    };
    const chips = order.slice(0, 60).map((number) => [number, chip(number)]);
    const signs = [
      ["sign move", "migration"],
      ["sign miss", "missed deadline"],
      ["sign death", "kernel died"],
      ["sign wait", "task waits (below its core)"],
    ];
    const keys = signs.map(
      ([sign, name]) => html`<span class="key"><i class=${sign} aria-hidden="true" />${name}</span>`,
    );
    return html`<div class="chips lit">${chips.map(([, one]) => one)}</div>
      <div class="chips">${keys}</div>`;
  }

  // ---- what is shown ------------------------------------------------------------------------------

  /// Where lanes are: `rows` of cores from `top` on, then queues.
  layout() {
    const rows = Math.min(this.events.cores.length, LANE.cores);
    const lane = Math.max(12, Math.min(30, Math.floor(460 / Math.max(rows, 1))));
    const waits = lane >= 20 ? 6 : 0;
    const queues = LANE.axis + rows * (lane + waits + LANE.gap) + 8;
    const height = queues + this.queues.length * (LANE.queue + LANE.gap) + 2;
    return { rows, lane, waits, queues, height };
  }

  rowOf(core) {
    return this.events.cores.indexOf(core);
  }

  laneOf(row) {
    const { rows, lane, waits } = this.layout();
    const at = row - this.top;
    const y = LANE.axis + 4 + at * (lane + waits + LANE.gap);
    return at >= 0 && at < rows ? { y, height: lane } : null;
  }

  get place() {
    const { from, to } = this.run.view;
    return { left: LANE.left, width: Math.max(this.sharp.width - LANE.left - 2, 1), from, to };
  }

  fill = (task) => (this.lit === null || this.lit === task ? colour(task) : ink("dim"));

  draw() {
    if (!this.sharp.width) return;
    const { rows, height } = this.layout();
    const context = this.sharp.paint(height);
    const { place } = this;
    const again = () => {
      this.waiting ??= requestAnimationFrame(() => {
        this.waiting = null;
        this.draw();
      });
    };
    const { chunks, whole } = this.events.exact(place.from, place.to, again);
    const sums = this.events.sums(((place.to - place.from) / place.width) * 3, again);
    for (let row = this.top; row < this.top + rows; row++) {
      const { y, height } = this.laneOf(row);
      drawLane(context, place, y, height, `core ${this.events.cores[row]}`);
    }
    this.queues.forEach((queue, n) => {
      const lane = this.queueLane(n);
      drawLane(context, place, lane.y, lane.height, queue.name);
    });
    drawAxis(context, place, height);
    context.save();
    context.beginPath();
    context.rect(place.left, 0, place.width + 2, height);
    context.clip();
    if (sums && !whole) this.drawSums(context, place, sums);
    for (const chunk of chunks) this.drawChunk(context, place, chunk);
    const stretches = joined(chunks);
    this.queues.forEach((queue, n) => this.drawQueue(context, place, queue, n, stretches));
    for (const { from, to } of whole ? [] : stretches) {
      context.fillStyle = ink("accent");
      context.fillRect(xOf(place, from), LANE.axis - 4, xOf(place, to) - xOf(place, from), 2);
    }
    this.drawMarks(context, place, chunks);
    if (this.dragged) {
      const [x, stop] = this.dragged;
      context.fillStyle = `color-mix(in srgb, ${ink("accent")} 22%, transparent)`;
      context.fillRect(Math.min(x, stop), 0, Math.abs(stop - x), height);
    }
    context.restore();
    this.shown = { chunks, sums, whole };
    this.state.textContent = this.about(place, whole, sums, chunks);
    if (sums && !Timeline.painted) {
      Timeline.painted = true;
      performance.mark("timeline");
    }
  }

  about({ from, to, width }, whole, sums, chunks) {
    const step = (to - from) / width;
    const span = `${instant(from, step)} to ${instant(to, step)}. `;
    if (whole) return `${span}Every event is shown.`;
    if (!sums) return span;
    const summed = `${span}Bars show how much of each ${duration(sums.width_ns)} tasks ran`;
    if (chunks.length && !this.events.sampled) return `${summed}, for a moment.`;
    if (!chunks.length && (to - from > sums.width_ns * 60 || !this.events.sampled))
      return `${summed}. Zoom in to see single firings.`;
    const have = chunks.length ? ", and every event below the line. For all of them:" : ". For events:";
    const seconds = (ns) => `${(ns / 1e9).toFixed(3)}s`;
    const window = `${seconds(Math.floor(from / 1e6) * 1e6)}..${seconds(Math.ceil(to / 1e6) * 1e6)}`;
    return `${summed}${have} whimbrel report ${this.run.folder} --exact ${window}`;
  }

  drawSums(context, place, { width_ns, bin, row, what, value }) {
    const end = above(bin, place.to / width_ns);
    let n = above(bin, Math.floor(place.from / width_ns) - 1);
    while (n < end) {
      const [itsBin, itsRow] = [bin[n], row[n]];
      const lane = this.laneOf(itsRow);
      const shares = [];
      let [misses, moves] = [0, 0];
      for (; n < end && bin[n] === itsBin && row[n] === itsRow; n++) {
        if (what[n] >= 0) shares.push([what[n], value[n]]);
        else if (what[n] === -1) misses = value[n];
        else moves = value[n];
      }
      if (!lane) continue;
      const times = [itsBin * width_ns, Math.min((itsBin + 1) * width_ns, this.run.end)];
      drawShares(context, place, lane, shares, times, this.fill);
      const x = xOf(place, (times[0] + times[1]) / 2);
      if (misses) drawMiss(context, x, lane.y);
      if (moves && this.run.allMigrations > ARROWS) {
        context.fillStyle = ink("ink");
        context.fillRect(x - 1, lane.y + lane.height - 4, 2, 6);
      }
    }
  }

  drawChunk(context, place, chunk) {
    const { waits } = this.layout();
    const { from, to } = chunk;
    const start = Math.max(xOf(place, from), place.left);
    const stop = Math.min(xOf(place, to), place.left + place.width);
    const name = (task) => this.run.names[task] ?? `task ${task}`;
    context.save();
    context.beginPath();
    context.rect(start, 0, Math.max(stop - start, 0.5), 1e5);
    context.clip();
    chunk.slices.forEach((slices, row) => {
      const lane = this.laneOf(row);
      if (!lane) return;
      context.fillStyle = ink("lane");
      context.fillRect(start, lane.y, stop - start, lane.height);
      drawSlices(context, place, lane, slices, { fill: this.fill, name });
    });
    for (const wait of waits ? chunk.waits : []) {
      const lane = this.laneOf(wait.row);
      if (!lane || wait.to < place.from || wait.from > place.to) continue;
      const x = Math.max(xOf(place, wait.from), place.left);
      context.fillStyle = this.fill(wait.task);
      const y = lane.y + lane.height + 1 + (wait.task % 3) * 2;
      context.fillRect(x, y, xOf(place, wait.to) - x - 1, 1.5);
    }
    context.restore();
    for (const miss of chunk.misses) {
      const lane = this.laneOf(miss.row);
      if (lane && miss.at >= place.from && miss.at <= place.to)
        drawMiss(context, xOf(place, miss.at), lane.y);
    }
  }

  queueLane(n) {
    const y = this.layout().queues + n * (LANE.queue + LANE.gap);
    return { y, height: LANE.queue };
  }

  drawQueue(context, place, { curve, number }, n, stretches) {
    const lane = this.queueLane(n);
    const channel = this.run.channels[number];
    const parts = Math.max(Math.floor(place.width / 3), 2);
    const step = (place.to - place.from) / parts;
    const { mean, high } = curve.sample(place.from, place.to, parts);
    const most = Math.max(channel?.high ?? Math.max(...curve.high), 1);
    const steps = (values) => values.map((value, k) => [place.from + k * step, value ?? 0]);
    context.globalAlpha = 0.35;
    drawSteps(context, place, lane, steps(high), most, place.to);
    context.globalAlpha = 1;
    drawSteps(context, place, lane, steps(mean), most, place.to);
    for (const stretch of stretches) {
      const known = stretch.chunks.flatMap((chunk) => {
        chunk.queues ??= Map.groupBy(chunk.messages, (message) => message.object);
        return chunk.queues.get(number) ?? [];
      });
      const [from, to] = [Math.max(stretch.from, place.from), Math.min(stretch.to, place.to)];
      const [one] = known;
      const before = one
        ? Math.max(one.value + (one.kind === KIND.send ? -1 : 1), 0)
        : (curve.value(stretch.from) ?? 0);
      const past = known.findLast((message) => message.at <= from)?.value ?? before;
      const seen = known.filter(({ at }) => at > from && at <= to).map(({ at, value }) => [at, value]);
      const [x, stop] = [xOf(place, from), xOf(place, to)];
      context.fillStyle = ink("lane");
      context.fillRect(x, lane.y, stop - x, lane.height);
      drawSteps(context, place, lane, [[from, past], ...seen], most, to);
    }
    context.fillStyle = ink("ink");
    context.font = FONT;
    context.textAlign = "right";
    context.textBaseline = "top";
    const slots = channel?.slots ? ` of ${channel.slots}` : "";
    context.fillText(`${most}${slots}`, place.left + place.width - 5, lane.y + 2);
  }

  drawMarks(context, place, chunks) {
    this.places = [];
    const { run } = this;
    for (const death of run.deaths) {
      const lane = this.laneOf(this.rowOf(death.core));
      const at = death.detected_ns - run.start;
      const back = death.back_after_ns == null ? run.end : at + death.back_after_ns;
      if (!lane || back < place.from || at > place.to) continue;
      drawDeath(context, place, lane, at, back);
      this.places.push({ x: xOf(place, at), y: lane.y + lane.height / 2, death });
    }
    const seen = this.movesIn(place, chunks);
    if (seen.length > ARROWS) return;
    for (const move of seen) {
      const [from, to] = [move.source, move.target].map((core) => this.laneOf(this.rowOf(core)));
      if (!from || !to) continue;
      const ends = [
        [move.leaves, from.y + from.height / 2],
        [move.arrives ?? move.leaves, to.y + to.height / 2],
      ];
      const failed = move.status !== "ok";
      drawMove(context, place, ...ends, { failed, chosen: this.chosen?.move === move });
      for (const part of [0, 0.5, 1]) {
        const x = xOf(place, ends[0][0] + (ends[1][0] - ends[0][0]) * part);
        this.places.push({ x, y: ends[0][1] + (ends[1][1] - ends[0][1]) * part, move });
      }
    }
  }

  /// The migrations of the summary in a part of the run, and those that only events tell of.
  movesIn({ from, to }, chunks) {
    const listed = this.run.migrations.filter(
      (move) => move.leaves <= to && (move.arrives ?? move.leaves) >= from,
    );
    if (this.run.migrations.length >= this.run.allMigrations && !this.run.killed) return listed;
    const known = new Set(this.run.migrations.map((move) => `${move.number} ${move.leaves}`));
    const events = chunks.flatMap((chunk) => chunk.moves).sort((a, b) => a.at - b.at);
    const after = (event, kind) =>
      events.find((one) => one.kind === kind && one.task === event.task && one.at >= event.at);
    this.found ??= new Map();
    for (const park of events.filter(({ kind }) => kind === KIND.park)) {
      const key = `${park.task} ${park.at}`;
      const attach = after(park, KIND.attach);
      if (known.has(key) || !attach) continue;
      if (!this.found.has(key)) {
        const slices = chunks.flatMap((chunk) => chunk.slices[attach.row]);
        const ran = slices.find((one) => one.task === park.task && one.from >= attach.at);
        const [source, target] = [park.row, attach.row].map((row) => this.events.cores[row]);
        const times = {
          parked_ns: park.at + this.run.start,
          attached_ns: attach.at + this.run.start,
          running_ns: ran && ran.from + this.run.start,
        };
        const arrives = ran?.from ?? attach.at;
        const move = { number: park.task, source, target, leaves: park.at, arrives, ...times };
        this.found.set(key, { ...move, status: "ok", task: this.run.names[park.task] });
      }
      listed.push(this.found.get(key));
    }
    return listed;
  }

  // ---- what was chosen ----------------------------------------------------------------------------

  choose(chosen) {
    this.chosen = chosen;
    this.detail.replaceChildren(...(chosen ? [this.describe(chosen)] : []));
    this.draw();
  }

  describe({ move, death, slice }) {
    const title = (text) => html`<h3>${text}</h3>`;
    if (move) return html`<div>${title(moveName(this.run, move))}${this.phases(move)}</div>`;
    if (death) {
      const lost = `${plural(death.moved ?? 0, "task")} moved, ${count(death.lost ?? 0)} lost`;
      const about = `At ${instant(death.detected_ns - this.run.start, 1e3)}, found by ${death.by}; ${lost}.`;
      return html`<div>${title(`The kernel of core ${death.core} died`)}<p>${about}</p></div>`;
    }
    const { task, row, from } = slice;
    const to = this.events.endOf(slice);
    const name = this.run.names[task] ?? `task ${task}`;
    const about = `From ${instant(from, 1)} to ${instant(to, 1)}: ${duration(to - from)}.`;
    return html`<div>${title(`${name} on core ${this.events.cores[row]}`)}<p>${about}</p></div>`;
  }

  /// The phases of a migration: the times between the points that it reached.
  phases(move) {
    const { start } = this.run;
    const target = this.rowOf(move.target);
    const rang = (this.shown?.chunks ?? [])
      .flatMap((chunk) => chunk.moves)
      .filter(({ kind, row }) => kind === KIND.doorbell && row === target)
      .map(({ at }) => at + start)
      .find((at) => move.parked_ns && at >= move.parked_ns && at <= (move.attached_ns ?? 0));
    const points = [
      ["request", move.request_ns],
      ["parked", move.parked_ns],
      ["copied", move.copied_ns],
      ["doorbell", rang],
      ["attached", move.attached_ns],
      ["running", move.running_ns],
      ["first output", move.output_ns],
    ].filter(([, at]) => at);
    points.sort((a, b) => a[1] - b[1]);
    const all = points.slice(1).map(([name, at], n) => {
      const [before, since] = points[n];
      return { name: `${before} to ${name}`, from: since - start, took: at - since, n };
    });
    const total = all.reduce((sum, phase) => sum + phase.took, 0);
    const part = ({ took, n, name }) =>
      html`<i title=${name} style="flex: ${took} 0 2px; background: ${colour(n)}" />`;
    const columns = [
      { title: "phase", of: (phase) => phase.name, left: true, shade: (phase) => colour(phase.n) },
      column("from", "from", (ns) => instant(ns, 1)),
      column("took", "took", duration, { share: (phase) => phase.took / Math.max(total, 1) }),
      { title: "ns", of: (phase) => phase.took, show: count },
    ];
    const about = [
      `${duration(total)} from ${points[0]?.[0]} to ${points.at(-1)?.[0]}`,
      move.status !== "ok" && `status ${move.status}`,
      move.mode && `mode ${move.mode}`,
      move.by && `by ${move.by}`,
      move.bytes && `${bytes(move.bytes)} copied`,
    ];
    return html`
      <div>
        <p class="about">${about.filter(Boolean).join(", ")}. Parked: at a checkpoint, and off the source.</p>
        <div class="phases">${all.map(part)}</div>
        ${table(columns, all)}
        <button type="button" onclick=${() => this.zoomTo({ move })}>Zoom to this migration</button>
      </div>
    `;
  }

  zoomTo({ move, death }) {
    const from = move ? move.leaves : death.detected_ns - this.run.start;
    const to = move ? (move.arrives ?? from) : from + 1e6;
    const around = Math.max(to - from, 1000) * 0.6;
    this.bring(move ? [move.source, move.target] : [death.core]);
    this.run.view.show(from - around, to + around);
  }

  /// Scrolls to these cores.
  bring(cores) {
    const rows = cores.map((core) => this.rowOf(core));
    if (rows.some((row) => row >= 0 && !this.laneOf(row))) this.scroll(Math.min(...rows) - this.top);
  }

  scroll(by) {
    const last = this.events.cores.length - this.layout().rows;
    this.top = Math.max(Math.min(this.top + by, last), 0);
    this.draw();
  }

  move(part) {
    const { view } = this.run;
    const by = (view.to - view.from) * part;
    view.show(view.from + by, view.to + by);
  }

  zoom(factor, about = null) {
    const { view } = this.run;
    const centre = about ?? (view.from + view.to) / 2;
    view.show(centre - (centre - view.from) * factor, centre + (view.to - centre) * factor);
  }

  /// Chooses the next mark, or the one before.
  next(by) {
    if (!this.marks.length) return;
    const now = this.marks.findIndex(
      (mark) => mark.move === this.chosen?.move && mark.death === this.chosen?.death,
    );
    const { view } = this.run;
    const first = this.marks.findIndex((mark) => mark.at >= view.from);
    const n = now >= 0 ? now + by : first;
    const mark = this.marks[(n + this.marks.length) % this.marks.length];
    this.bring(mark.move ? [mark.move.source, mark.move.target] : [mark.death.core]);
    this.choose(mark);
    const half = (view.to - view.from) / 2;
    if (mark.at < view.from || mark.at > view.to) view.show(mark.at - half, mark.at + half);
  }

  listen() {
    const { canvas } = this.sharp;
    const { view } = this.run;
    const x = (event) => event.clientX - canvas.getBoundingClientRect().left;
    const keys = {
      ArrowLeft: () => this.move(-0.2),
      ArrowRight: () => this.move(0.2),
      ArrowUp: () => this.scroll(-1),
      ArrowDown: () => this.scroll(1),
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      Home: () => view.whole(),
      n: () => this.next(1),
      p: () => this.next(-1),
      Enter: () => (this.chosen?.move || this.chosen?.death) && this.zoomTo(this.chosen),
      Escape: () => this.choose(null),
    };
    const on = (name, does) => canvas.addEventListener(name, does);
    on("keydown", (event) => {
      const does = keys[event.key] ?? keys[event.key.toLowerCase()];
      if (!does || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      does();
    });
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey) return;
        event.preventDefault();
        const turned = event.deltaY || event.deltaX;
        if (event.ctrlKey) this.zoom(1.0015 ** turned, timeAt(this.place, x(event)));
        else this.move(turned / 1000);
      },
      { passive: false },
    );
    on("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.dragged = [x(event), x(event)];
    });
    on("pointermove", (event) => {
      if (!this.dragged) return this.tell(event);
      this.dragged[1] = x(event);
      this.draw();
    });
    on("pointerup", (event) => {
      const [from, to] = (this.dragged ?? []).map((at) => timeAt(this.place, at));
      const far = this.dragged && Math.abs(this.dragged[1] - this.dragged[0]) > 4;
      this.dragged = null;
      if (far) view.show(Math.min(from, to), Math.max(from, to));
      else this.choose(this.at(event));
    });
    on("pointercancel", () => {
      this.dragged = null;
    });
    on("dblclick", () => view.whole());
    on("pointerleave", hideTip);
  }

  /// What is under the pointer.
  at(event) {
    const box = this.sharp.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const far = (one) => Math.hypot(one.x - x, one.y - y);
    const near = (this.places ?? []).filter((one) => far(one) < 9).sort((a, b) => far(a) - far(b));
    if (near.length) return near[0];
    const at = timeAt(this.place, x);
    for (const [row] of this.events.cores.entries()) {
      const lane = this.laneOf(row);
      if (!lane || y < lane.y || y > lane.y + lane.height + 6) continue;
      const chunk = (this.shown?.chunks ?? []).find((one) => one.from <= at && at < one.to);
      if (y > lane.y + lane.height) {
        const waits = chunk?.waits.filter((one) => one.row === row) ?? [];
        const its = Math.min(Math.floor((y - lane.y - lane.height - 1) / 2), 2);
        const wait = waits.find((w) => w.from <= at && at < w.to && w.task % 3 === its);
        return wait ? { wait } : null;
      }
      const slice = chunk?.slices[row].find((one) => one.from <= at && at < one.to);
      return slice ? { slice } : null;
    }
    return null;
  }

  tell(event) {
    const found = this.at(event);
    const { run } = this;
    const name = (task) => run.names[task] ?? `task ${task}`;
    if (found?.move) {
      showTip(event, [moveName(run, found.move), "Click for its phases"]);
    } else if (found?.death) {
      showTip(event, [`The kernel of core ${found.death.core} died`]);
    } else if (found?.slice) {
      const { task, from } = found.slice;
      const took = this.events.endOf(found.slice) - from;
      showTip(event, [name(task), [colour(task), `${duration(took)} from ${instant(from, 1)}`]]);
    } else if (found?.wait) {
      const { task, object } = found.wait;
      showTip(event, [name(task), [colour(task), `waits for ${awaited(object, run)}`]]);
    } else hideTip();
  }
}

/// Chunks that follow each other, as stretches.
function joined(chunks) {
  const stretches = [];
  for (const chunk of chunks) {
    const last = stretches.at(-1);
    if (last?.to === chunk.from) {
      last.to = chunk.to;
      last.chunks.push(chunk);
    } else stretches.push({ from: chunk.from, to: chunk.to, chunks: [chunk] });
  }
  return stretches;
}

const moveName = (run, move) =>
  `${run.nameOf(move.task, move.index)} moves from core ${move.source} to core ${move.target}`;

function timelineCard(run) {
  if (!run.timeline.cores.length) return emptyCard("Timeline", "This run recorded no events.");
  const timeline = new Timeline(run);
  run.shownIn = timeline;
  const about = "What each core ran; below it the fullest queues. Click a migration for its phases";
  return card("Timeline", timeline.element, { about, tools: timeline.tools });
}
