// SPDX-License-Identifier: Apache-2.0
// The timeline under the pointer and the keys.

class Timeline extends Lanes {
  constructor(run) {
    super(run);
    this.listen();
  }

  listen() {
    const {
      main: { canvas },
      small,
      view,
    } = this;
    const place = (event) => event.clientX - canvas.getBoundingClientRect().left;
    let start = null,
      moved = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      start = { x: place(event), from: view.from, to: view.to, pan: event.shiftKey };
    });
    canvas.addEventListener("pointermove", (event) => {
      const x = place(event);
      if (start?.pan) {
        const by = ((start.x - x) / (this.main.width - GUTTER)) * (start.to - start.from);
        view.show(start.from + by, start.to + by);
      } else if (start && Math.abs(x - start.x) > 3) {
        moved = [Math.min(x, start.x), Math.max(x, start.x)];
        this.select(...moved);
      } else this.hover(event, x);
    });
    const release = () => {
      if (moved) view.show(this.time(Math.max(moved[0], GUTTER)), this.time(moved[1]));
      [start, moved] = [null, null];
      this.select(0, 0);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("pointerleave", () => {
      hideTip();
      view.point(null);
    });
    canvas.addEventListener("dblclick", () => view.whole());
    canvas.addEventListener(
      "wheel",
      (event) => {
        const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
        if (!sideways && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        if (sideways) view.pan(event.deltaX / this.main.width);
        else view.zoom(1.0025 ** event.deltaY, this.time(place(event)));
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => this.key(event));
    const jump = (event) => {
      if (!event.buttons) return;
      const part =
        (event.clientX - small.canvas.getBoundingClientRect().left - GUTTER) /
        (small.width - GUTTER);
      const half = (view.to - view.from) / 2;
      view.show(part * view.end - half, part * view.end + half);
    };
    small.canvas.addEventListener("pointerdown", (event) => {
      small.canvas.setPointerCapture(event.pointerId);
      jump(event);
    });
    small.canvas.addEventListener("pointermove", jump);
  }

  key(event) {
    const { view } = this;
    const acts = {
      ArrowLeft: () => view.pan(-0.2),
      ArrowRight: () => view.pan(0.2),
      "+": () => view.zoom(0.5),
      "=": () => view.zoom(0.5),
      "-": () => view.zoom(2),
      0: () => view.whole(),
      Home: () => view.whole(),
      n: () => this.step(1),
      p: () => this.step(-1),
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  /// Shows the next migration, or the one before, at a scale that suits it.
  step(by) {
    const middle = (this.view.from + this.view.to) / 2,
      near = (this.view.to - this.view.from) / 1000;
    const moves = this.run.migrations.map((move) => move.leaves).sort((a, b) => a - b);
    const next =
      by > 0 ? moves.find((at) => at > middle + near) : moves.findLast((at) => at < middle - near);
    if (next === undefined) return;
    const half = Math.min((this.view.to - this.view.from) / 2, this.run.end / 40);
    this.view.show(next - half, next + half);
  }

  select(from, to) {
    const wide = to - from > 3;
    Object.assign(
      this.line.style,
      wide
        ? {
            left: `${from}px`,
            width: `${to - from}px`,
            opacity: 0.25,
            height: `${this.height - AXIS}px`,
            display: "block",
          }
        : { width: "1px", opacity: 1, display: "none" },
    );
  }

  follow(time) {
    const shown = time !== null && time >= this.view.from && time <= this.view.to;
    Object.assign(this.line.style, {
      display: shown ? "block" : "none",
      left: `${this.x(time ?? 0)}px`,
      height: `${this.height - AXIS}px`,
      width: "1px",
      opacity: 0.8,
    });
  }

  hover(event, x) {
    const y = event.clientY - this.main.canvas.getBoundingClientRect().top;
    const core = Math.floor((y - TOP) / this.pitch);
    const time = this.time(x);
    if (x < GUTTER || core < 0 || core >= this.run.lanes.length) return hideTip();
    this.view.point(time);
    showTip(event, [...this.near(time, core, y), ...this.under(core, time)]);
  }

  /// What happens within some pixels of the pointer: migrations and missed deadlines.
  near(time, core, y) {
    const reach = 5 / this.perNs,
      { run } = this;
    const { at, core: where, task, late, count: many } = run.misses;
    const lines = [];
    for (const move of run.migrations) {
      const close =
        Math.abs(move.leaves - time) < reach ||
        Math.abs((move.arrives ?? move.leaves) - time) < reach;
      const crosses =
        Math.min(move.source, move.target) <= core && core <= Math.max(move.source, move.target);
      if (!close || !crosses || lines.length > 3) continue;
      const status =
        move.status === "ok" ? `parked to running ${duration(move.away)}` : move.status;
      lines.push([
        colour(move.number),
        `${run.nameOf(move.task, move.index)}: core ${move.source} → ${move.target}, ${status}`,
      ]);
    }
    for (
      let n = above(at, time - reach);
      n < at.length && at[n] < time + reach && lines.length < 6;
      n++
    ) {
      if (where[n] !== core) continue;
      const more = many[n] > 1 ? `, the latest of ${many[n]}` : "";
      lines.push([
        ink("bad"),
        `deadline missed: ${run.name(task[n])}, ${duration(late[n])} late${more}`,
      ]);
    }
    return lines.length ? [`at ${instant(time, 1 / this.perNs)}`, ...lines] : [];
  }

  /// What the core ran at this time.
  under(core, time) {
    const lane = this.run.lanes[core];
    const n = above(lane.at, time) - 1;
    if (this.summed)
      return [`core ${core} at ${instant(time, 1 / this.perNs)}`, ...this.around(lane, time)];
    if (n < 0 || time > lane.at[n] + lane.span[n] + 1 / this.perNs)
      return [`core ${core} at ${instant(time, 1 / this.perNs)}`, "in no task"];
    return [
      `core ${core} from ${instant(lane.at[n], 1 / this.perNs)} on`,
      [colour(lane.task[n]), `${this.run.name(lane.task[n])} for ${duration(lane.span[n])}`],
    ];
  }

  /// The shares of tasks in the bin of this time.
  around(lane, time) {
    const bins = lane.bins(8 / this.perNs);
    const from = Math.floor(time / bins.width + 1e-9) * bins.width;
    const found = [];
    for (
      let n = above(bins.at, from - bins.width / 2);
      n < bins.at.length && bins.at[n] < from + bins.width / 2;
      n++
    ) {
      found.push([bins.task[n], bins.span[n] / bins.width]);
    }
    const busy = found.reduce((sum, [, part]) => sum + part, 0);
    const most = found.sort((a, b) => b[1] - a[1]).slice(0, 6);
    return [
      `${percent(Math.min(busy, 1))} busy within ${duration(bins.width)}`,
      ...most.map(([task, part]) => [colour(task), `${this.run.name(task)} ${percent(part)}`]),
    ];
  }
}
