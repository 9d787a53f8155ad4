// SPDX-License-Identifier: Apache-2.0
// The temperature map: the floorplan, or the cores as a grid, at one time of the run.

class HeatMap {
  constructor(run) {
    this.run = run;
    const known = run.temperature.filter((curve) => curve);
    const ends = this.blocks().map((block) => block.end).filter((end) => end !== undefined);
    this.low = Math.min(...known.map((curve) => Math.min(...curve.low)), ...ends);
    this.high = Math.max(...known.map((curve) => Math.max(...curve.high)), this.low + 1000, ...ends);
    this.time = run.end;
    this.cells = [];
    const slide = () => this.show((this.slider.value / 1000) * run.end);
    this.slider = html`
      <input
        type="range"
        min="0"
        max="1000"
        value="1000"
        aria-label="time of the map"
        oninput=${slide}
      />
    `;
    this.output = html`<output />`;
    this.button = html`<button type="button" onclick=${() => this.play()}>Play</button>`;
    const steps = HEAT.map((_, n) => heat(1 - n / (HEAT.length - 1)));
    const marks = [1, 0.75, 0.5, 0.25, 0].map((part) => this.low + (this.high - this.low) * part);
    this.element = html`
      <div>
        <div class="slider">${this.button}${this.slider}${this.output}</div>
        <div class="map">
          ${this.plan()}
          <div class="scale">
            <i style="background: linear-gradient(${steps.join(", ")})" />
            ${marks.map((mark) => html`<span>${degrees(mark)}</span>`)}
          </div>
        </div>
      </div>
    `;
    run.view.followers.add((time) => time !== null && !this.timer && this.show(time));
    this.show(run.end);
  }

  /// Rectangles in millimetres, y downwards; of a grid, each core is 1 mm.
  blocks() {
    const plan = this.run.summary.floorplan?.blocks;
    if (plan?.length) {
      const top = Math.max(...plan.map((block) => block.y_mm + block.height_mm));
      return plan.map((block) => ({
        name: block.name,
        core: block.core,
        end: block.core === null ? block.temperature_mc : undefined,
        x: block.x_mm,
        y: top - block.y_mm - block.height_mm,
        wide: block.width_mm,
        high: block.height_mm,
      }));
    }
    const columns = Math.ceil(Math.sqrt(this.run.temperature.length));
    return this.run.temperature.map((_, core) => ({
      name: `core ${core}`,
      core,
      x: core % columns,
      y: Math.floor(core / columns),
      wide: 1,
      high: 1,
    }));
  }

  plan() {
    const blocks = this.blocks();
    const wide = Math.max(...blocks.map((block) => block.x + block.wide));
    const high = Math.max(...blocks.map((block) => block.y + block.high));
    const unit = 600 / wide;
    const cells = blocks.map((block) => this.cell(block, unit));
    return html`
      <svg viewBox=${`0 0 600 ${high * unit}`} role="img" aria-label="temperature of each block">
        ${cells}
      </svg>
    `;
  }

  cell(block, unit) {
    const curve = this.run.temperature[block.core];
    const at = {
      x: block.x * unit + 1,
      y: block.y * unit + 1,
      width: Math.max(block.wide * unit - 2, 1),
      height: Math.max(block.high * unit - 2, 1),
    };
    const rect = html`<rect ...${at} rx="3" fill="var(--lane)" />`;
    const size = Math.min(at.width / 6, at.height / 3, 28);
    const warm = curve || block.end !== undefined;
    const centre = {
      x: at.x + at.width / 2,
      "text-anchor": "middle",
      "font-size": size,
      // Dark with a pale rim: it is read on each colour of the scale.
      fill: warm ? "#111" : "var(--soft)",
      stroke: warm ? "#fffb" : "none",
      "stroke-width": 4,
      "paint-order": "stroke",
    };
    const middle = at.y + at.height / 2;
    const value = html`<text ...${centre} y=${middle + size * 1.1} />`;
    const name = this.short(block.name, at.width / size);
    const texts = [html`<text ...${centre} y=${middle - size * 0.1}>${name}</text>`, value];
    const title = html`<title />`;
    this.cells.push({ block, curve, rect, value, title });
    return html`<g>${rect}${size >= 6 && texts}${title}</g>`;
  }

  short(name, most) {
    return name.length > most * 1.7 ? `${name.slice(0, Math.floor(most * 1.7) - 1)}…` : name;
  }

  show(time) {
    this.time = time;
    this.slider.value = (time / this.run.end) * 1000;
    this.output.textContent = instant(time, this.run.end / 1000);
    for (const { block, curve, rect, value, title } of this.cells) {
      // Of a block without a core its end alone is known.
      const now = curve?.value(time) ?? block.end ?? null;
      if (now !== null) rect.setAttribute("fill", heat((now - this.low) / (this.high - this.low)));
      value.textContent = now === null ? "" : degrees(now);
      title.textContent = `${block.name}: ${now === null ? "no temperature" : degrees(now)}`;
    }
  }

  /// Goes through the run in eight seconds.
  play() {
    const stop = () => {
      clearInterval(this.timer);
      this.timer = null;
      this.button.textContent = "Play";
    };
    if (this.timer) return stop();
    if (this.time >= this.run.end) this.show(0);
    this.button.textContent = "Pause";
    this.timer = setInterval(() => {
      this.show(Math.min(this.time + this.run.end / 200, this.run.end));
      if (this.time >= this.run.end) stop();
    }, 40);
  }
}

function heatCards(run) {
  const title = "Temperature";
  const missing =
    "This run recorded no temperatures: the simulator does, on a platform with a floorplan.";
  if (!run.knows("temperature")) return emptyCard(title, missing);
  const about = run.summary.floorplan?.blocks?.length
    ? "The floorplan at one time of the run"
    : "The cores at one time of the run, as a grid: the platform has no floorplan";
  const plot = new Plot(run, ofCores(run, "temperature"), degrees, { height: 330 });
  return html`
    <div class="pair">
      ${card("Temperature map", new HeatMap(run).element, { about })}
      ${card(title, plot.element, { about: "Of each core" })}
    </div>
  `;
}
