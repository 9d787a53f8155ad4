// SPDX-License-Identifier: Apache-2.0
// Plots of values over time, all of the same part of the run.

/// How many curves a plot shows at first.
const AT_FIRST = 6;

/// The steps of an axis of whole numbers.
const WHOLE = [...Array(12).keys()].flatMap((n) => [1, 2, 5].map((step) => step * 10 ** n));

class Plot {
  /// `curves`: `{ name, number, curve }`; `unit`: how a value is written; `least`: the top of the
  /// axis is no lower than this; `height` in pixels.
  constructor(run, curves, unit, { least = 0, height = 190 } = {}) {
    Object.assign(this, { run, curves, unit, least, height });
    this.shown = new Set(curves.slice(0, AT_FIRST));
    this.box = html`<div />`;
    const buttons = curves.length > 1 ? curves.map((one) => this.chip(one)) : [];
    const clear = () => {
      this.shown.clear();
      buttons.forEach((button) => button.setAttribute("aria-pressed", false));
      this.build();
    };
    const none =
      curves.length > AT_FIRST && html`<button type="button" onclick=${clear}>none</button>`;
    this.element = html`<div><div class="chips">${none}${buttons}</div>${this.box}</div>`;
    run.view.drawers.add(() => this.draw());
    run.view.followers.add((time) => this.follow(time));
    new ResizeObserver(([entry]) => {
      const width = Math.floor(entry.contentRect.width);
      if (width && width !== this.width) {
        this.width = width;
        requestAnimationFrame(() => this.build());
      }
    }).observe(this.box);
  }

  chip(one) {
    const toggle = () => {
      if (!this.shown.delete(one)) this.shown.add(one);
      button.setAttribute("aria-pressed", this.shown.has(one));
      this.build();
    };
    const button = html`
      <button type="button" aria-pressed=${this.shown.has(one)} onclick=${toggle}>
        <i style="background: ${colour(one.number)}" />${one.name}
      </button>
    `;
    return button;
  }

  get visible() {
    return this.curves.filter((one) => this.shown.has(one));
  }

  /// The columns of the plot: times, then for each curve its mean, highest and lowest value. Points
  /// that have room are drawn as they are; more are drawn as their mean in each part of the plot,
  /// in a band from the lowest to the highest.
  data() {
    const { from, to } = this.run.view;
    const visible = this.visible;
    const points = visible.reduce((sum, { curve }) => sum + curve.points(from, to), 0);
    if (points * 2 <= this.width && visible.every(({ curve }) => curve.low === curve.last))
      return this.exact(visible, from, to);
    const n = Math.max(Math.floor(this.width / 3), 2);
    const step = (to - from) / n;
    const times = Array.from({ length: n }, (_, part) => from + part * step);
    return [
      times,
      ...visible.flatMap(({ curve }) => {
        const { mean, low, high } = curve.sample(from, to, n);
        return [mean, high, low];
      }),
    ];
  }

  exact(visible, from, to) {
    const times = new Set([from, to]);
    for (const { curve } of visible) {
      for (let n = above(curve.at, from); n < curve.at.length && curve.at[n] <= to; n++)
        times.add(curve.at[n]);
    }
    const ordered = [...times].sort((a, b) => a - b);
    const none = ordered.map(() => null);
    return [
      ordered,
      ...visible.flatMap(({ curve }) => [ordered.map((at) => curve.value(at)), none, none]),
    ];
  }

  /// The plot anew: uPlot's series are fixed once it is made.
  build() {
    this.plot?.destroy();
    if (!this.width) return;
    const { view } = this.run;
    const stepped = uPlot.paths.stepped({ align: 1 });
    const line = (one) => ({
      stroke: colour(one.number),
      width: 1.5,
      paths: stepped,
      points: { show: false },
      spanGaps: false,
    });
    // Many bands lie over each other.
    const faint = this.shown.size > 3 ? 9 : 20;
    const edge = { stroke: "transparent", width: 0, paths: stepped, points: { show: false } };
    const axis = {
      stroke: () => ink("soft"),
      font: "11px system-ui, sans-serif",
      grid: { stroke: () => ink("line"), width: 1 },
      ticks: { show: false },
    };
    this.plot = new uPlot(
      {
        width: this.width,
        height: this.height,
        legend: { show: false },
        padding: [8, 24, 0, 0],
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => view.whole() },
        },
        scales: {
          x: { time: false, range: () => [view.from, view.to] },
          y: {
            range: (_, low, high) => [Math.min(low ?? 0, 0) || this.floor(low), this.ceiling(high)],
          },
        },
        axes: [
          {
            ...axis,
            space: 110,
            size: 26,
            splits: (_, __, from, to) => ticks(from, to, this.width / 120).all,
            values: (_, all) => all.map((at) => instant(at, (all[1] ?? at + 1) - all[0])),
          },
          {
            ...axis,
            size: 66,
            space: 32,
            ...(this.unit === count && { incrs: WHOLE }),
            values: (_, all) => all.map((value) => this.unit(value)),
          },
        ],
        series: [{}, ...this.visible.flatMap((one) => [line(one), edge, edge])],
        bands: this.visible.map((one, n) => ({
          series: [n * 3 + 2, n * 3 + 3],
          fill: `color-mix(in srgb, ${colour(one.number)} ${faint}%, transparent)`,
        })),
        hooks: {
          setSelect: [(plot) => this.select(plot)],
          setCursor: [
            (plot) =>
              this.hovered &&
              view.point(plot.cursor.left < 0 ? null : plot.posToVal(plot.cursor.left, "x")),
          ],
        },
      },
      this.data(),
      this.box,
    );
    this.plot.over.addEventListener("pointerenter", () => {
      this.hovered = true;
    });
    this.plot.over.addEventListener("pointermove", (event) => this.tell(event));
    this.plot.over.addEventListener("pointerleave", () => {
      this.hovered = false;
      hideTip();
      view.point(null);
    });
  }

  /// Temperatures begin where they are; what can be nothing begins at nothing.
  floor(low) {
    return this.unit === degrees ? Math.floor((low ?? 0) / 5000 - 0.2) * 5000 : 0;
  }

  ceiling(high) {
    const most = Math.max(high ?? 0, this.least);
    return this.unit === degrees ? Math.ceil(most / 5000 + 0.2) * 5000 : Math.max(most * 1.08, 1);
  }

  draw() {
    this.plot?.setData(this.data());
  }

  select(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
    this.run.view.show(from, to);
  }

  follow(time) {
    if (!this.plot || this.hovered) return;
    const left = time === null ? -10 : this.plot.valToPos(time, "x");
    this.plot.setCursor({ left, top: time === null ? -10 : 0 }, false);
  }

  tell(event) {
    const { plot } = this;
    const at = plot.posToVal(event.clientX - plot.over.getBoundingClientRect().left, "x");
    const n = Math.max(above(plot.data[0], at) - 1, 0);
    const lines = this.visible.slice(0, 12).map((one, k) => {
      const [value, high, low] = [0, 1, 2].map((part) => plot.data[k * 3 + 1 + part][n]);
      const band = high != null && high !== low ? ` (${this.unit(low)} to ${this.unit(high)})` : "";
      return [colour(one.number), `${one.name}: ${this.unit(value)}${band}`];
    });
    showTip(event, [
      `at ${instant(at, (this.run.view.to - this.run.view.from) / this.width)}`,
      ...lines,
    ]);
  }
}

/// The curves of cores of this sort, scaled to the unit that is written.
function ofCores(run, sort, name = (core) => `core ${core}`) {
  return run[sort].flatMap((curve, core) =>
    curve ? [{ name: name(core), number: core, curve }] : [],
  );
}

/// A card with a plot, or with the reason why there is none.
function plotCard(run, title, about, curves, unit, absent, more) {
  if (!curves.length) return emptyCard(title, absent);
  return card(title, new Plot(run, curves, unit, more).element, { about });
}

/// The channels whose depth is known, the fullest first.
function fullest(run) {
  const known = run.depth.flatMap((curve, number) =>
    curve ? [{ name: run.channel(number), number, curve }] : [],
  );
  const fullness = ({ number }) =>
    (run.channels[number]?.high ?? 0) / (run.channels[number]?.slots || 1);
  return known.sort((a, b) => fullness(b) - fullness(a) || a.number - b.number);
}

function queueCard(run) {
  const order = fullest(run);
  const all =
    run.channels.length > order.length && order.length === 256
      ? `, of the 256 busiest of ${run.channels.length} channels`
      : "";
  return plotCard(
    run,
    "Queue occupancy",
    `Messages in each channel over time, the fullest first${all}`,
    order,
    count,
    "This run recorded no messages.",
    { least: 2 },
  );
}

function powerCards(run) {
  const absent = (what) =>
    `This run recorded no ${what}: only a simulated run, or one on a platform that tells it, does.`;
  // Frequencies are recorded in kHz.
  const hertz = (khz) => frequency(khz == null ? khz : khz * 1000);
  const shown = "Of each core; the mean where it changes faster than can be seen";
  const frequencies = ofCores(run, "frequency");
  const powers = ofCores(run, "power");
  return html`
    <div class="pair">
      ${plotCard(run, "Frequency", "Of each core", frequencies, hertz, absent("frequencies"))}
      ${plotCard(run, "Power", shown, powers, power, absent("power"))}
    </div>
  `;
}
