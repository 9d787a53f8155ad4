// SPDX-License-Identifier: Apache-2.0
// An exploration: candidates as points, those that no other one beats as the front.

const FRONT_HEIGHT = 400,
  LEFT = 70,
  BOTTOM = 40;

/// Columns whose unit is in their name.
const UNITS = {
  energy_mj: (value, step) =>
    step ? `${value.toFixed(Math.max(0, Math.ceil(-Math.log10(step))))} mJ` : energy(value * 1000),
  latency_ms: (value, step) => (step ? instant(value * 1e6, step * 1e6) : duration(value * 1e6)),
};
/// A value; on an axis, told from those a `step` away.
const written = (key, value, step) =>
  typeof value === "number" ? (UNITS[key] ?? count)(value, step) : String(value);
/// Values of a column, with as many digits as tell them apart.
function toldApart(key, all) {
  const values = [...new Set(all)].sort((a, b) => a - b);
  const told = new Set(values.map((value) => written(key, value))).size === values.length;
  const steps = values.slice(1).map((value, n) => value - values[n]);
  const step = told ? 0 : steps.reduce((a, b) => Math.min(a, b), Infinity);
  return (value) => written(key, value, step);
}

class Front {
  /// `candidates`: each a `row` with its columns by name, and whether it is on the `front`.
  constructor(columns, candidates) {
    this.columns = columns;
    this.candidates = candidates;
    const values = candidates.map(({ row }) => columns.map((key) => row[key]));
    // The front is drawn last, over the others.
    this.candidates.sort((a, b) => a.front - b.front);
    this.numeric = columns.filter(
      (key, n) =>
        key !== "id" &&
        key !== "pareto" &&
        values.some((row) => typeof row[n] === "number") &&
        values.every((row) => typeof row[n] === "number"),
    );
    const first = (...names) => names.find((name) => this.numeric.includes(name));
    this.x = first("energy_mj") ?? this.numeric[0];
    this.y = this.varied("misses") ?? this.varied("latency_ms") ?? this.numeric[1] ?? this.x;
    this.by = first("cores") ?? (columns.includes("policy") ? "policy" : columns[0]);
    this.sharp = sharpCanvas(
      {
        role: "img",
        "aria-label": "Candidates of the exploration; the table below lists the front",
      },
      () => this.draw(),
    );
    this.key = html`<div class="chips" />`;
    const groups = columns.filter(
      (key) => key !== "id" && new Set(this.candidates.map(({ row }) => row[key])).size <= 24,
    );
    this.tools = [
      this.choice("across", "x", this.numeric),
      this.choice("up", "y", this.numeric),
      this.choice("colour", "by", groups),
    ];
    this.element = html`<div>${this.key}${this.sharp.box}</div>`;
    this.sharp.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.sharp.canvas.addEventListener("pointerleave", hideTip);
    redraws.add(() => this.draw());
  }

  /// The column of this name, if its values on the front differ.
  varied(key) {
    const values = this.candidates.filter(({ front }) => front).map(({ row }) => row[key]);
    return this.numeric.includes(key) && new Set(values).size > 1 ? key : null;
  }

  choice(title, what, keys) {
    const change = () => {
      this[what] = select.value;
      this.draw();
    };
    const option = (key) => html`
      <option value=${key} selected=${key === this[what]}>${key}</option>
    `;
    const select = html`<select onchange=${change}>${keys.map(option)}</select>`;
    return html`<label class="soft">${title} ${select}</label>`;
  }

  extent(key) {
    const values = this.candidates.map(({ row }) => row[key]);
    const low = values.reduce((a, b) => Math.min(a, b), Infinity),
      high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const margin = (high - low || Math.abs(high) || 1) * 0.05;
    return [low >= 0 ? Math.max(low - margin, 0) : low - margin, high + margin];
  }

  draw() {
    const { sharp, x, y } = this;
    if (!sharp.width || !x) return;
    const context = sharp.paint(FRONT_HEIGHT);
    context.font = "11px system-ui, sans-serif";
    const [[x0, x1], [y0, y1]] = [this.extent(x), this.extent(y)];
    const across = (value) => LEFT + ((value - x0) / (x1 - x0)) * (sharp.width - LEFT - 12);
    const up = (value) =>
      FRONT_HEIGHT - BOTTOM - ((value - y0) / (y1 - y0)) * (FRONT_HEIGHT - BOTTOM - 12);
    this.axes(context, across, up, [x0, x1], [y0, y1]);
    const kinds = [...new Set(this.candidates.map(({ row }) => row[this.by]))].sort(
      (a, b) => (a > b) - (a < b),
    );
    const shades = new Map(kinds.map((kind, n) => [kind, colour(n)]));
    const chip = (kind) => html`
      <span class="soft key">
        <i style="background: ${shades.get(kind)}" />${this.by} ${kind}
      </span>
    `;
    this.key.replaceChildren(...kinds.map(chip));
    this.staircase(context, across, up);
    for (const one of this.candidates) {
      [one.px, one.py] = [across(one.row[x]), up(one.row[y])];
      context.fillStyle = shades.get(one.row[this.by]);
      context.globalAlpha = one.front ? 1 : 0.35;
      context.beginPath();
      context.arc(one.px, one.py, one.front ? 5 : 2.5, 0, 7);
      context.fill();
      if (!one.front) continue;
      context.strokeStyle = ink("ink");
      context.lineWidth = 1.2;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  axes(context, across, up, [x0, x1], [y0, y1]) {
    const { sharp, x, y } = this;
    const round = (low, high, most) => {
      const step = [1, 2, 5, 10]
        .map((n) => n * 10 ** Math.floor(Math.log10((high - low) / most)))
        .find((step) => (high - low) / step <= most);
      const all = [];
      for (let at = Math.ceil(low / step); at * step <= high; at++) all.push(at * step);
      return { all, step };
    };
    const [below, beside] = [round(x0, x1, sharp.width / 110), round(y0, y1, 8)];
    context.textBaseline = "middle";
    for (const at of below.all) {
      context.fillStyle = ink("line");
      context.fillRect(Math.round(across(at)), 8, 1, FRONT_HEIGHT - BOTTOM - 8);
      context.fillStyle = ink("soft");
      context.textAlign = "center";
      context.fillText(written(x, at, below.step), across(at), FRONT_HEIGHT - BOTTOM + 12);
    }
    for (const at of beside.all) {
      context.fillStyle = ink("line");
      context.fillRect(LEFT, Math.round(up(at)), sharp.width - LEFT - 12, 1);
      context.fillStyle = ink("soft");
      context.textAlign = "right";
      context.fillText(written(y, at, beside.step), LEFT - 8, up(at));
    }
    context.textAlign = "center";
    context.fillText(x, (LEFT + sharp.width) / 2, FRONT_HEIGHT - 8);
    context.save();
    context.translate(10, (FRONT_HEIGHT - BOTTOM) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(y, 0, 0);
    context.restore();
  }

  /// The edge of what can be had of the two columns shown, less being better.
  staircase(context, across, up) {
    const { x, y } = this;
    const ordered = this.candidates
      .map(({ row }) => [row[x], row[y]])
      .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    context.beginPath();
    let least = null;
    for (const [right, high] of ordered) {
      if (least !== null && high >= least) continue;
      if (least === null) context.moveTo(across(right), 8);
      else context.lineTo(across(right), up(least));
      context.lineTo(across(right), up(high));
      least = high;
    }
    if (least !== null) context.lineTo(this.sharp.width - 12, up(least));
    context.strokeStyle = ink("soft");
    context.lineWidth = 1;
    context.setLineDash([4, 3]);
    context.stroke();
    context.setLineDash([]);
  }

  hover(event) {
    const place = this.sharp.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - place.left, event.clientY - place.top];
    let [nearest, best] = [null, 14];
    for (const one of this.candidates) {
      const far = Math.hypot(one.px - x, one.py - y);
      // The front lies over the others, so it is found first.
      if (far - (one.front ? 4 : 0) < best) [nearest, best] = [one, far - (one.front ? 4 : 0)];
    }
    if (!nearest) return hideTip();
    showTip(event, [
      nearest.front ? "on the front" : "another candidate",
      ...this.columns
        .filter((key) => key !== "pareto")
        .map((key) => `${key}: ${written(key, nearest.row[key])}`),
    ]);
  }
}

/// The front of one frame rate, or of all candidates if there is one rate.
function frontCards(keys, candidates) {
  const front = new Front(keys, candidates);
  const best = front.candidates.filter((one) => one.front).map((one) => one.row);
  const columns = front.columns
    .filter((key) => key !== "pareto")
    .map((key) => {
      const left = !front.numeric.includes(key);
      return {
        title: key,
        of: (row) => row[key],
        left,
        show: left ? null : toldApart(key, best.map((row) => row[key])),
      };
    });
  const first = columns.find(({ title }) => title === front.x);
  return html`
    <div>
      ${card("Pareto front", front.element, {
        about: "The line is the edge of what can be had of the two figures shown",
        tools: front.tools,
      })}
      ${card("The front", table(columns, best, { first, rising: true }))}
    </div>
  `;
}

function exploration(data) {
  const all = rows(data.candidates).map((row, n) => ({ row, front: data.front[n] }));
  const best = all.filter((one) => one.front).length;
  const shown = all.length < data.all ? `, of which ${count(all.length)} are shown` : "";
  // A rate is given, not chosen: what is best at one says nothing of another.
  const rates = [...new Set(all.map(({ row }) => row.rate))].sort((a, b) => a - b);
  const each = rates.length > 1 ? ` of their ${rates.length} frame rates, each by itself` : "";
  const about =
    `${plural(data.all, "candidate")}${shown}; ${count(best)} on the front${each}: ` +
    "no other one is better in everything";
  const of = (rate) => () =>
    frontCards(
      data.candidates.columns,
      all.filter(({ row }) => row.rate === rate),
    );
  const fronts = rates.map((rate) => [`${written("rate", rate)} frames/s`, of(rate)]);
  return html`
    <div>
      <header>
        <p class="brand">Whimbrel · exploration</p>
        <h1>${data.folder}</h1>
        <p class="about">${about}</p>
      </header>
      ${chosen("frame rates", fronts)}
    </div>
  `;
}
