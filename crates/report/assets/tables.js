// SPDX-License-Identifier: Apache-2.0
// Tables that sort by any column, and the head of a run.

/// How many rows a table shows until it is asked for all.
const ROWS = 200;

/// A table. A column is `{ title, of, show, left, mark, shade, share, opens }`: the value of a row
/// by which it sorts, how it is written, whether it is text, whether it is bad, the colour before
/// it, and how long its bar is, from 0 to 1. It is sorted by the column `first`; `onrow` is called
/// for the row whose cell in a column that `opens` is pressed.
function table(columns, all, { first = null, rising = false, onrow = null } = {}) {
  let [by, up, most] = [first, rising, ROWS];
  const body = html`<tbody />`;
  const sort = (column) => {
    [by, up] = [column, by === column ? !up : !!column.left];
    fill();
  };
  const head = columns.map(
    (column) => html`
      <th class=${column.left && "left"} scope="col">
        <button type="button" onclick=${() => sort(column)}>${column.title}</button>
      </th>
    `,
  );
  const showAll = () => {
    most = Infinity;
    fill();
  };
  const more = html`<button type="button" onclick=${showAll} />`;
  const compare = (a, b) => {
    const [x, y] = [by.of(a), by.of(b)];
    if (x == null || y == null) return (x == null) - (y == null);
    return (
      (typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y) * (up ? 1 : -1)
    );
  };
  const fill = () => {
    const ordered = by ? [...all].sort(compare) : all;
    const cells = (row) => columns.map((column) => cell(column, row, onrow));
    body.replaceChildren(...ordered.slice(0, most).map((row) => html`<tr>${cells(row)}</tr>`));
    head.forEach((th, n) => {
      if (columns[n] === by) th.setAttribute("aria-sort", up ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
    more.textContent = `Show all ${count(all.length)}`;
    more.hidden = all.length <= most;
  };
  fill();
  return html`
    <div>
      <div class="scroll" tabindex="0">
        <table><thead><tr>${head}</tr></thead>${body}</table>
      </div>
      ${more}
    </div>
  `;
}

function cell(column, row, onrow) {
  const value = column.of(row);
  const text = value == null ? "–" : column.show ? column.show(value, row) : String(value);
  const swatch =
    column.shade && html`<span class="swatch" style="background: ${column.shade(row)}" />`;
  const share = column.share?.(row);
  const width = `width: ${Math.min(Math.max(share, 0), 1) * 100}%`;
  const track =
    share != null && html`<span class="track"><span class="bar" style=${width} /></span>`;
  const shown = column.opens
    ? html`<button type="button" onclick=${() => onrow(row)}>${text}</button>`
    : text;
  const bad = column.mark?.(value, row) && "bad";
  const classes = [column.left && "left", bad].filter(Boolean).join(" ") || null;
  const title = column.left && text.length > 40 ? text : null;
  return html`<td class=${classes} title=${title}>${swatch}${shown}${track}</td>`;
}

const column = (title, key, show = null, more = {}) => ({
  title,
  of: (row) => row[key],
  show,
  ...more,
});
const text = (title, key, more = {}) => ({ title, of: (row) => row[key], left: true, ...more });
const some = (value) => value > 0;

// ---- the head of a run --------------------------------------------------------------------------

/// One of several at a time, each a name and what makes its elements; buttons choose, if there is
/// a choice.
function chosen(what, all) {
  if (all.length < 2) return all.map(([, make]) => make());
  const place = html`<div style="margin-top: 24px" />`;
  const made = new Map();
  const choose = (n) => {
    if (!made.has(n)) made.set(n, all[n][1]());
    place.replaceChildren(made.get(n));
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === n));
  };
  const buttons = all.map(
    ([name], n) => html`<button type="button" onclick=${() => choose(n)}>${name}</button>`,
  );
  choose(0);
  return [html`<nav class="runs" aria-label=${what}>${buttons}</nav>`, place];
}

function header(run) {
  const { summary } = run;
  const name = summary.run || run.folder;
  const badge = run.killed
    ? ["killed", true]
    : [summary.ok ? summary.ended : `${summary.ended}, not ok`, !summary.ok];
  const platform = [
    summary.platform && `on ${summary.platform}`,
    summary.clock === "virtual" ? "simulated, in virtual time" : null,
  ];
  const about = [summary.app?.description, ...platform].filter(Boolean).join(" · ");
  return html`
    <header>
      <p class="brand">Whimbrel · recorded run</p>
      <div class="titled">
        <h1>${name}</h1>
        <span class=${badge[1] ? "badge bad" : "badge"}>${badge[0]}</span>
        ${name !== run.folder && html`<span class="soft">${run.folder}</span>`}
      </div>
      ${[about, ...run.damage].map((line) => line && html`<p class="about">${line}</p>`)}
      <div class="tiles">${tiles(run)}</div>
    </header>
  `;
}

function tiles(run) {
  const { summary } = run;
  const facts = [
    [duration(run.end), "took"],
    [count(summary.frames), "frames"],
    [summary.frames_per_s == null ? "–" : `${digits(summary.frames_per_s)}/s`, "frame rate"],
    ...(summary.graphs ?? []).slice(0, 3).map((one) => [
      `${digits(one.iterations_per_s)}/s`,
      "iterations of the graph",
    ]),
    [count(summary.deadline_misses), "deadline misses", summary.deadline_misses > 0],
    [count(run.moved), "migrations"],
    [run.energy == null ? "–" : energy(run.energy), "energy of cores"],
    [count(run.events), "events recorded"],
  ];
  return facts.map(
    ([value, what, bad]) =>
      html`<div class=${bad ? "tile bad" : "tile"}><b>${value}</b><span>${what}</span></div>`,
  );
}

/// How a member of the summary is written.
function plain(key, value) {
  if (value === null || value === "") return "none";
  if (key.endsWith("_ns")) return duration(value);
  if (key.endsWith("_bytes")) return bytes(value);
  if (key.endsWith("_uj")) return energy(value);
  if (key === "rate_millihz") return `${digits(value / 1000)}/s`;
  if (typeof value === "number") return count(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function options(run) {
  const {
    app,
    options: told,
    floorplan,
    graphs,
    modes,
    energy: consumed,
    run: _,
    platform,
    ...rest
  } = run.summary;
  const item = ([key, value]) => html`
    <div><dt>${key.replace(/_(ns|bytes|uj)$/, "")}</dt><dd>${plain(key, value)}</dd></div>
  `;
  const part = (title, members) => {
    const items = Object.entries(members ?? {});
    const list = html`<dl class="options">${items.map(item)}</dl>`;
    return items.length > 0 && html`<div><p class="hint">${title}</p>${list}</div>`;
  };
  const ofEnergy = Object.entries(consumed ?? {}).map(([key, value]) => [`energy_${key}`, value]);
  return html`
    <section>
      <details>
        <summary>Options and result</summary>
        ${part("Told", told)}
        ${part("Parameters of the application", app?.params)}
        ${part("Result", { platform, ...rest, ...Object.fromEntries(ofEnergy) })}
        ${part("Application", app && { path: app.path, module: app.module })}
      </details>
    </section>
  `;
}
