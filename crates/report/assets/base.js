// SPDX-License-Identifier: Apache-2.0
// Elements, numbers with units, colours, and the tooltip.

const SVG = ["svg", "g", "rect", "text", "title"];

/// An element. Children that are strings become text, never markup.
function el(tag, attributes, ...children) {
  // Each is made anew: an element has one place, so htm must not keep it for the next time.
  this[0] = 3;
  const made = SVG.includes(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key.startsWith("aria-")) made.setAttribute(key, value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child != null && child !== false));
  return made;
}

/// Elements from a template; what is put into it is text, an attribute or an element, never markup.
const html = htm.bind(el);

/// A card with a heading, what it shows in a sentence, and tools at the right.
const card = (title, content, { about, tools } = {}) => html`
  <section aria-label=${title}>
    <div class="head">
      <h2>${title}</h2>
      ${about && html`<p class="about">${about}</p>`}
      ${tools && html`<div class="tools">${tools}</div>`}
    </div>
    ${content}
  </section>
`;

/// A card that says why there is nothing to show.
const emptyCard = (title, why) => card(title, html`<div class="none">${why}</div>`);

// ---- numbers ------------------------------------------------------------------------------------

const digits = (number, most = 3) => {
  const size = Math.abs(number);
  const after = size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return number.toLocaleString("en", { maximumFractionDigits: Math.min(after, most) });
};

function scaled(number, units) {
  if (number == null || !Number.isFinite(number)) return "–";
  const unit = units.find(([size]) => Math.abs(number) >= size) ?? units[units.length - 1];
  return number === 0
    ? `0 ${units[units.length - 1][1]}`
    : `${digits(number / unit[0])} ${unit[1]}`;
}

const TIMES = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const duration = (ns) => scaled(ns, TIMES);
const frequency = (hz) =>
  scaled(hz, [
    [1e9, "GHz"],
    [1e6, "MHz"],
    [1e3, "kHz"],
    [1, "Hz"],
  ]);
const power = (uw) =>
  scaled(uw, [
    [1e6, "W"],
    [1e3, "mW"],
    [1, "µW"],
  ]);
const energy = (uj) =>
  scaled(uj, [
    [1e6, "J"],
    [1e3, "mJ"],
    [1, "µJ"],
  ]);
const bytes = (n) =>
  scaled(n, [
    [2 ** 30, "GiB"],
    [2 ** 20, "MiB"],
    [2 ** 10, "KiB"],
    [1, "B"],
  ]);
const degrees = (mc) => (mc == null ? "–" : `${digits(mc / 1000, 1)} °C`);
const percent = (part) => (part == null ? "–" : `${digits(part * 100, 1)} %`);
const count = (n) => (n == null ? "–" : n.toLocaleString("en", { maximumFractionDigits: 3 }));
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/// A point in time with enough digits to tell it from its neighbours `step` nanoseconds away.
function instant(ns, step) {
  const [size, unit] = TIMES.find(([size]) => Math.max(Math.abs(ns), step) >= size) ?? TIMES[3];
  const after = Math.max(0, Math.min(9, Math.ceil(Math.log10(size / Math.max(step, 1)))));
  return `${(ns / size).toFixed(after)} ${unit}`;
}

/// Round times, about `most` of them, between two points in time.
function ticks(from, to, most) {
  const rough = (to - from) / Math.max(most, 1);
  const power10 = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((n) => n * power10).find((step) => step >= rough) ?? rough;
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) all.push(at);
  return { all, step };
}

// ---- colours ------------------------------------------------------------------------------------

/// P. Tol's bright scheme, which people with any colour vision can tell apart.
const PALETTE = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bbbbbb"];

/// The colour of the task, channel or core with this number; it keeps it everywhere on the page.
/// Those after the first seven are darker, then lighter. What has no number is grey.
function colour(number) {
  if (!(number >= 0)) return "#bbbbbb";
  const base = PALETTE[number % PALETTE.length];
  const ring = Math.floor(number / PALETTE.length) % 3;
  const parts = [1, 3, 5].map((at) => {
    const part = Number.parseInt(base.slice(at, at + 2), 16);
    const mixed = [part, part * 0.6, part + (255 - part) * 0.55][ring];
    return Math.round(mixed).toString(16).padStart(2, "0");
  });
  return `#${parts.join("")}`;
}

const HEAT = [
  [38, 66, 139],
  [44, 127, 184],
  [90, 182, 160],
  [240, 220, 120],
  [240, 140, 60],
  [190, 30, 45],
];

/// The colour of a temperature, 0 the coolest and 1 the hottest.
function heat(part) {
  const at = Math.min(Math.max(part, 0), 1) * (HEAT.length - 1);
  const low = Math.min(Math.floor(at), HEAT.length - 2);
  const mix = HEAT[low].map((value, n) =>
    Math.round(value + (HEAT[low + 1][n] - value) * (at - low)),
  );
  return `rgb(${mix.join(" ")})`;
}

const ink = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// ---- the tooltip --------------------------------------------------------------------------------

const tip = document.getElementById("tip");

/// Shows lines next to the pointer: text, or `[colour, text]`.
function showTip(event, lines) {
  tip.replaceChildren(
    ...lines.map((line, n) => {
      const [shade, text] = Array.isArray(line) ? line : [null, line];
      const swatch = shade && html`<i style="background: ${shade}" />`;
      return html`<div>${swatch}${n ? text : html`<b>${text}</b>`}</div>`;
    }),
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left =
    event.clientX + 14 + width > innerWidth ? event.clientX - width - 14 : event.clientX + 14;
  const top = Math.min(event.clientY + 14, innerHeight - height - 6);
  Object.assign(tip.style, { left: `${Math.max(left, 4)}px`, top: `${Math.max(top, 4)}px` });
}

const hideTip = () => {
  tip.hidden = true;
};

/// A canvas as sharp as the screen, in a box whose width it has; `draw` is called when that
/// changes.
function sharpCanvas(attributes, draw) {
  const canvas = html`<canvas ...${attributes} />`;
  const box = html`<div>${canvas}</div>`;
  const sharp = { box, canvas, width: 0 };
  /// Clears the canvas at this height, and gives what to draw with, in CSS pixels.
  sharp.paint = (height) => {
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(sharp.width * ratio);
    canvas.height = Math.round(height * ratio);
    Object.assign(canvas.style, { width: `${sharp.width}px`, height: `${height}px` });
    const context = canvas.getContext("2d");
    context.scale(ratio, ratio);
    return context;
  };
  new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now && now !== sharp.width) {
      sharp.width = now;
      // Not now: what is drawn changes sizes, and observers must not.
      requestAnimationFrame(draw);
    }
  }).observe(box);
  return sharp;
}
