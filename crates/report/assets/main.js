// SPDX-License-Identifier: Apache-2.0
// The page: what is in it, and in which order.

/// What is to be drawn again when colours change.
const redraws = new Set();

function timelineCard(run) {
  if (!run.lanes.length) return null;
  const line = new Timeline(run);
  const { view } = run;
  redraws.add(() => line.draw());
  const tool = (text, label, act) =>
    el("button", { type: "button", title: label, "aria-label": label, onclick: act }, text);
  const tools = [
    tool("◀", "earlier", () => view.pan(-0.5)),
    tool("▶", "later", () => view.pan(0.5)),
    tool("+", "zoom in", () => view.zoom(0.5)),
    tool("−", "zoom out", () => view.zoom(2)),
    tool("All", "the whole run", () => view.whole()),
  ];
  const chips = run.names.map((name, task) => {
    const chip = el(
      "button",
      {
        type: "button",
        "aria-pressed": true,
        title: `only ${name}`,
        onclick: () => {
          line.chosen = line.chosen === task ? null : task;
          chips.forEach((other, n) =>
            other.setAttribute("aria-pressed", line.chosen === null || line.chosen === n),
          );
          line.draw();
        },
      },
      el("i", { style: { background: colour(task) } }),
      name,
    );
    return chip;
  });
  const bins = run.laneWidth
    ? ` This run is long: what cores ran is kept in steps of ${duration(run.laneWidth)}.`
    : "";
  const marks = run.misses.at.length
    ? "Arrows are migrations, red marks are missed deadlines"
    : "Arrows are migrations";
  const about = `What each core ran; the height of a column is the load in it. ${marks}.${bins}`;
  const keys = [
    "Drag to zoom, ",
    el("kbd", {}, "Shift"),
    " drag to move, ",
    el("kbd", {}, "Ctrl"),
    " wheel to zoom, double click for all. Keys: ",
    ...["←", "→", "+", "−", "0"].map((key) => el("kbd", {}, key)),
    ", ",
    el("kbd", {}, "N"),
    el("kbd", {}, "P"),
    " next and previous migration.",
  ];
  return card(
    "Timeline",
    about,
    tools,
    el("div", { class: "chips" }, chips),
    line.main.box,
    line.small.box,
    el("p", { class: "hint" }, keys),
  );
}

function recorded(run) {
  return el(
    "div",
    {},
    header(run),
    troubleCards(run),
    timelineCard(run),
    queueCard(run),
    powerCards(run),
    heatCards(run),
    migrationCards(run),
    taskCard(run),
    el("div", { class: "long" }, coreCard(run), channelCard(run)),
    options(run),
  );
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const runs = data.runs.map((one) => new Run(one));
  page.replaceChildren();
  if (runs.length > 1) {
    const place = el("div");
    const made = new Map();
    const choose = (n) => {
      if (!made.has(n)) made.set(n, recorded(runs[n]));
      place.replaceChildren(made.get(n));
      buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === n));
    };
    const buttons = runs.map((run, n) =>
      el("button", { type: "button", onclick: () => choose(n) }, run.folder),
    );
    page.append(
      el("p", { class: "brand" }, "Whimbrel · recorded runs"),
      el("h1", {}, plural(runs.length, "run")),
      comparison(runs),
      el("nav", { class: "runs", "aria-label": "runs" }, buttons),
      place,
    );
    place.style.marginTop = "24px";
    choose(0);
  } else runs.forEach((run) => page.append(recorded(run)));
  data.explorations.forEach((one, n) => {
    const element = exploration(one);
    if (runs.length || n) element.style.marginTop = "36px";
    page.append(element);
  });
  page.append(el("footer", {}, "Made by whimbrel report. Plots by uPlot, MIT licence."));
  const again = () => {
    for (const run of runs) for (const draw of run.view.drawers) draw();
    for (const draw of redraws) draw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  // Paper is white, whatever the screen is.
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("paper");
    document.querySelectorAll("details").forEach((details) => {
      details.open = true;
    });
    again();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("paper");
    again();
  });
}

start();
