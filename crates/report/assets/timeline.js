// SPDX-License-Identifier: Apache-2.0
// The timeline of cores: which task ran where, migrations as arrows, missed deadlines as marks.

const GUTTER = 58,
  AXIS = 22,
  TOP = 10;

/// Beyond so many slices in view lanes show sums.
const MANY_SLICES = 20000;

class Lanes {
  constructor(run) {
    this.run = run;
    this.view = run.view;
    this.chosen = null;
    const label =
      "Timeline of cores. Arrow keys move, plus and minus zoom, 0 shows all, " +
      "N and P step through migrations.";
    this.main = sharpCanvas({ tabindex: 0, role: "img", "aria-label": label }, () => this.draw());
    this.small = sharpCanvas({ "aria-hidden": "true" }, () => this.draw());
    this.main.box.className = "timeline";
    this.small.box.className = "overview";
    const room = Math.floor(520 / Math.max(run.lanes.length, 1));
    this.pitch = Math.min(Math.max(room, 2), 44);
    this.gap = this.pitch > 12 ? 8 : this.pitch > 5 ? 2 : 0;
    this.height = TOP + this.pitch * run.lanes.length + AXIS;
    this.view.drawers.add(() => this.draw());
    this.view.followers.add((time) => this.follow(time));
    this.line = el("div", {
      style: {
        position: "absolute",
        top: 0,
        width: "1px",
        background: "var(--soft)",
        pointerEvents: "none",
      },
    });
    this.main.box.append(this.line);
  }

  x(time) {
    return (
      GUTTER +
      ((time - this.view.from) / (this.view.to - this.view.from)) * (this.main.width - GUTTER)
    );
  }

  time(x) {
    return (
      this.view.from + ((x - GUTTER) / (this.main.width - GUTTER)) * (this.view.to - this.view.from)
    );
  }

  top(core) {
    return TOP + core * this.pitch + this.gap / 2;
  }

  draw() {
    if (!this.main.width) return;
    this.perNs = (this.main.width - GUTTER) / (this.view.to - this.view.from);
    const context = (this.context = this.main.paint(this.height));
    context.font = "11px system-ui, sans-serif";
    this.grid();
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, this.main.width - GUTTER, this.height);
    context.clip();
    const spans = this.run.lanes.map((lane) => this.inView(lane));
    // All lanes are drawn in one way, so that they can be compared.
    const most = spans.reduce((most, [first, last]) => Math.max(most, last - first), 0);
    const all = spans.reduce((sum, [first, last]) => sum + last - first, 0);
    const column = this.run.lanes.length > 16 ? 4 : 2;
    const sums = (this.summed =
      this.run.laneWidth > 0 || all > MANY_SLICES || most * 3 > this.main.width);
    this.run.lanes.forEach((lane, core) => {
      const top = this.top(core),
        tall = this.pitch - this.gap;
      if (sums) this.sums(lane.bins(column / this.perNs), top, tall);
      else this.slices(lane, ...spans[core], top, tall);
    });
    this.arrows();
    this.misses();
    context.restore();
    this.drawSmall();
  }

  grid() {
    const { context, main, height } = this;
    const { all, step } = ticks(this.view.from, this.view.to, (main.width - GUTTER) / 110);
    context.fillStyle = ink("lane");
    this.run.lanes.forEach((_, core) =>
      context.fillRect(GUTTER, this.top(core), main.width - GUTTER, this.pitch - this.gap),
    );
    context.textBaseline = "middle";
    context.textAlign = "right";
    context.fillStyle = ink("soft");
    const every = Math.ceil(13 / this.pitch);
    for (let core = 0; core < this.run.lanes.length; core += every) {
      context.fillText(`core ${core}`, GUTTER - 8, this.top(core) + (this.pitch - this.gap) / 2);
    }
    context.textAlign = "center";
    for (const at of all) {
      const x = Math.round(this.x(at)) + 0.5;
      context.fillStyle = ink("line");
      context.fillRect(x, TOP, 1, height - AXIS - TOP + 4);
      context.fillStyle = ink("soft");
      const text = instant(at, step),
        half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, GUTTER + half), main.width - half), height - 8);
    }
  }

  shade(task) {
    return this.chosen === null || this.chosen === task ? colour(task) : ink("line");
  }

  /// The first slice in view, and the one behind the last.
  inView(lane) {
    return [Math.max(above(lane.at, this.view.from) - 1, 0), above(lane.at, this.view.to)];
  }

  slices(lane, first, last, top, tall) {
    const { context } = this;
    for (let n = first; n < last; n++) {
      const left = this.x(lane.at[n]),
        width = Math.max(lane.span[n] * this.perNs, 0.75);
      context.fillStyle = this.shade(lane.task[n]);
      context.fillRect(left, top, width, tall);
      const from = Math.max(left, GUTTER),
        room = Math.min(left + width, this.main.width) - from - 8;
      if (room > 24 && tall > 14)
        this.caption(this.run.name(lane.task[n]), from + 4, top + tall / 2, room);
    }
  }

  caption(text, left, middle, room) {
    const { context } = this;
    const wide = context.measureText(text).width;
    const shown =
      wide > room ? text.slice(0, Math.max(Math.floor((text.length * room) / wide) - 1, 0)) : text;
    if (shown.length < 2) return;
    context.fillStyle = "#10151c";
    context.textAlign = "left";
    context.fillText(shown === text ? text : `${shown}…`, left, middle + 1);
  }

  /// Each bin is a column: how high says for what part of it the core was in tasks, and in which;
  /// behind it is a shade of the task that ran most, so that short ones are seen as well.
  sums(bins, top, tall) {
    const { context } = this;
    const wide = Math.max(bins.width * this.perNs, 1);
    const last = above(bins.at, this.view.to);
    let n = Math.max(above(bins.at, this.view.from - bins.width), 0);
    while (n < last) {
      const bin = n,
        left = this.x(bins.at[n]);
      let most = n;
      for (; n < last && bins.at[n] === bins.at[bin]; n++)
        if (bins.span[n] > bins.span[most]) most = n;
      context.globalAlpha = 0.22;
      context.fillStyle = this.shade(bins.task[most]);
      context.fillRect(left, top, wide, tall);
      context.globalAlpha = 1;
      let low = top + tall;
      for (let k = bin; k < n; k++) {
        const high = (bins.span[k] / bins.width) * tall;
        context.fillStyle = this.shade(bins.task[k]);
        context.fillRect(left, low - high, wide + 0.3, high);
        low -= high;
      }
    }
  }

  arrows() {
    const { context } = this;
    const inView = (move) =>
      move.leaves <= this.view.to && (move.arrives ?? move.leaves) >= this.view.from;
    const moves = this.run.migrations.filter(inView);
    const crowded = moves.length * 5 > this.main.width;
    context.strokeStyle = context.fillStyle = ink("ink");
    context.lineWidth = crowded ? 0.5 : 1.4;
    context.globalAlpha = crowded ? 0.4 : 0.9;
    for (const move of moves) {
      if (this.chosen !== null && move.number !== this.chosen) continue;
      if (move.status === "ok" && move.arrives !== null) this.arrow(move, !crowded);
      else this.cross(move);
    }
    context.globalAlpha = 1;
  }

  arrow(move, head) {
    const { context } = this;
    const down = move.target > move.source;
    const tall = this.pitch - this.gap;
    const from = [this.x(move.leaves), this.top(move.source) + (down ? tall : 0)];
    const to = [this.x(move.arrives), this.top(move.target) + (down ? 0 : tall)];
    // Lanes are close to each other, so the arrow begins and ends inside them.
    const inset = Math.min(tall / 2, 12) * (down ? 1 : -1);
    from[1] -= inset;
    to[1] += inset;
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
    if (!head) return;
    context.beginPath();
    const size = Math.min(8, this.pitch * 0.6);
    context.arc(...from, size * 0.3, 0, 7);
    context.fill();
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    context.beginPath();
    context.moveTo(...to);
    for (const side of [2.7, -2.7])
      context.lineTo(to[0] + size * Math.cos(angle + side), to[1] + size * Math.sin(angle + side));
    context.fill();
  }

  cross(move) {
    const { context } = this;
    const x = this.x(move.leaves),
      y = this.top(move.source) + (this.pitch - this.gap) / 2;
    context.beginPath();
    for (const side of [-1, 1]) {
      context.moveTo(x - 4, y - 4 * side);
      context.lineTo(x + 4, y + 4 * side);
    }
    context.stroke();
  }

  misses() {
    const { context } = this;
    const { at, core, task } = this.run.misses;
    const size = Math.min(5, this.pitch / 2);
    context.fillStyle = ink("bad");
    const drawn = new Set();
    for (let n = above(at, this.view.from - 1); n < at.length && at[n] <= this.view.to; n++) {
      const x = Math.round(this.x(at[n]));
      const key = x * 4096 + core[n];
      if (drawn.has(key) || (this.chosen !== null && task[n] !== this.chosen)) continue;
      drawn.add(key);
      const y = this.top(core[n]) - 1;
      context.beginPath();
      context.moveTo(x, y + size);
      context.lineTo(x - size, y - size * 0.8);
      context.lineTo(x + size, y - size * 0.8);
      context.fill();
    }
  }

  /// The whole run in one strip, with the part that is shown.
  drawSmall() {
    const { small, run } = this;
    if (!small.width) return;
    const high = 30,
      wide = small.width - GUTTER;
    const context = small.paint(high);
    context.fillStyle = ink("lane");
    context.fillRect(GUTTER, 0, wide, high);
    if (!this.profile || this.profile.length !== Math.floor(wide / 2))
      this.profile = this.load(Math.floor(wide / 2));
    context.fillStyle = ink("accent");
    context.globalAlpha = 0.55;
    const most = Math.max(...this.profile, 1e-6);
    this.profile.forEach((part, n) =>
      context.fillRect(GUTTER + n * 2, high - (part / most) * high, 2, (part / most) * high),
    );
    context.globalAlpha = 1;
    const tick = (at, shade, from) => {
      context.fillStyle = shade;
      context.fillRect(GUTTER + (at / run.end) * wide, from, 1, 6);
    };
    run.migrations.forEach((move) => tick(move.at, ink("ink"), 0));
    run.misses.at.forEach((at) => tick(at, ink("bad"), high - 6));
    const left = GUTTER + (this.view.from / run.end) * wide;
    const right = GUTTER + (this.view.to / run.end) * wide;
    context.fillStyle = ink("card");
    context.globalAlpha = 0.7;
    context.fillRect(GUTTER, 0, left - GUTTER, high);
    context.fillRect(right, 0, GUTTER + wide - right, high);
    context.globalAlpha = 1;
    context.strokeStyle = ink("accent");
    context.strokeRect(left + 0.5, 0.5, Math.max(right - left - 1, 2), high - 1);
    context.font = "11px system-ui, sans-serif";
    context.fillStyle = ink("soft");
    context.textAlign = "right";
    context.textBaseline = "middle";
    context.fillText("load, to", GUTTER - 8, high / 2 - 6);
    context.fillText(percent(most), GUTTER - 8, high / 2 + 7);
  }

  /// The load of all cores together in each of `n` parts of the run, from 0 to 1.
  load(n) {
    const parts = new Float64Array(n);
    const width = this.run.end / n;
    for (const lane of this.run.lanes) {
      const bins = lane.bins(width / 2);
      for (let k = 0; k < bins.at.length; k++) {
        const part = Math.floor((bins.at[k] + bins.width / 2) / width);
        parts[Math.min(part, n - 1)] += bins.span[k] / width / this.run.lanes.length;
      }
    }
    return parts.map((part) => Math.min(part, 1));
  }
}
