// SPDX-License-Identifier: Apache-2.0
// The page: what is in it, and in which order.

/// What is to be drawn again when colours change.
const redraws = new Set();

/// What another viewer shows better, and how to get there.
const viewerHint = (run) => html`
  <p class="hint">
    ${"For searches, SQL and frequencies on the same tracks: "}
    <code>whimbrel trace ${run.folder} --format perfetto</code>
    ${" writes a trace. Open "}
    <a href="https://ui.perfetto.dev" rel="noreferrer" target="_blank">ui.perfetto.dev</a>
    ${" and drag the file into its window."}
  </p>
`;

const recorded = (run) => html`
  <div>
    ${header(run)}
    ${troubleCards(run)}
    ${timelineCard(run)}
    ${viewerHint(run)}
    ${queueCard(run)}
    ${powerCards(run)}
    ${heatCards(run)}
    ${migrationCards(run)}
    ${taskCard(run)}
    ${waitCard(run)}
    ${responseCard(run)}
    <div class="long">${coreCard(run)}${channelCard(run)}</div>
    ${options(run)}
  </div>
`;

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  let chunks = 0;
  const runs = data.runs.map((one) => {
    const run = new Run(one, chunks);
    chunks += run.timeline.from.length;
    return run;
  });
  page.replaceChildren();
  if (runs.length > 1) {
    page.append(
      html`<p class="brand">Whimbrel · recorded runs</p>`,
      html`<h1>${plural(runs.length, "run")}</h1>`,
      comparison(runs),
      ...chosen(
        "runs",
        runs.map((run) => [run.folder, () => recorded(run)]),
      ),
    );
  } else runs.forEach((run) => page.append(recorded(run)));
  data.explorations.forEach((one, n) => {
    const element = exploration(one);
    if (runs.length || n) element.style.marginTop = "36px";
    page.append(element);
  });
  page.append(html`<footer>Made by whimbrel report. Plots by uPlot, MIT licence.</footer>`);
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
