// SPDX-License-Identifier: Apache-2.0
// How long tasks took, from when they could until they had: a table, and a histogram of one.

function responseCard(run) {
  const measured = run.tasks.filter((task) => task.response);
  if (!measured.length) return null;
  const longest = Math.max(...measured.map((task) => task.response.max_ns), 1);
  const time = (title, key, more) => ({
    title,
    of: (task) => task.response[key],
    show: duration,
    ...more,
  });
  const name = (task) => run.nameOf(task.task, task.index);
  const columns = [
    {
      title: "task",
      of: name,
      left: true,
      shade: (task) => colour(run.numbers.get(name(task))),
    },
    column("firings/s", "firings_per_s", (per_s) => (per_s == null ? "–" : digits(per_s))),
    time("shortest", "min_ns"),
    time("mean", "mean_ns"),
    time("median", "p50_ns"),
    time("99 %", "p99_ns"),
    time("longest", "max_ns", { share: (task) => task.response.max_ns / longest }),
    { title: "n", of: (task) => task.response.n, show: count },
  ];
  const shade = (task) => colour(run.numbers.get(name(task)));
  const place = html`<div />`;
  const buttons = measured.map(
    (task, n) => html`
      <button type="button" onclick=${() => choose(n)}>
        <i style="background: ${shade(task)}" />${name(task)}
      </button>
    `,
  );
  const choose = (n) => {
    place.replaceChildren(histogram(measured[n].response, shade(measured[n])));
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === n));
  };
  choose(0);
  const shown = html`
    <div>
      ${table(columns, measured)}
      <div class="chips" style="margin-top: 12px">${buttons}</div>
      ${place}
    </div>
  `;
  const about =
    "Of jobs from their release, of other firings from when their messages were there; " +
    "one task's below";
  return card("Response times", shown, { about });
}

/// Bars of a histogram: across the logarithm of time, up how many.
function histogram(response, shade) {
  const parts = response.histogram;
  const [width, height] = [1000, 180];
  const logarithm = (ns) => Math.log2(Math.max(ns, 1));
  const first = logarithm(parts[0][0]);
  const span = Math.max(logarithm(parts[parts.length - 1][1]) - first, 1e-9);
  const across = (ns) => ((logarithm(ns) - first) / span) * width;
  const most = Math.max(...parts.map(([, , n]) => n));
  const bars = parts.map(([from, to, n]) => {
    const tall = Math.max((n / most) * height, 1);
    const wide = Math.max(across(to) - across(from) - 1, 1);
    const said = `${duration(from)} to ${duration(to)}: ${count(n)} of ${count(response.n)}`;
    return html`
      <rect x=${across(from)} y=${height - tall} width=${wide} height=${tall} fill=${shade}>
        <title>${said}</title>
      </rect>
    `;
  });
  // The bars have the width of the screen, the words their own size.
  const plot = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img" };
  return html`
    <div class="histogram">
      <svg ...${plot} aria-label="histogram">${bars}</svg>
      <div class="ends">
        <span>${duration(parts[0][0])}</span><span>${duration(parts[parts.length - 1][1])}</span>
      </div>
    </div>
  `;
}
