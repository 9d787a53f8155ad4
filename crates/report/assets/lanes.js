// SPDX-License-Identifier: Apache-2.0
// Draws cores by time: every function takes a context, where to draw, and data. `place` has `left`,
// `width`, and the times `from` and `to` that these show; `y` and `height` are of one lane.

const FONT = "11px system-ui, sans-serif";

/// Columns narrower than this share one, in pixels.
const COLUMN = 2;

const xOf = (place, at) =>
  place.left + ((at - place.from) / (place.to - place.from)) * place.width;
const timeAt = (place, x) =>
  place.from + ((x - place.left) / place.width) * (place.to - place.from);

/// Round times above the lanes, and lines through them.
function drawAxis(context, place, height) {
  const { all, step } = ticks(place.from, place.to, place.width / 110);
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  for (const at of all) {
    const x = Math.round(xOf(place, at)) + 0.5;
    context.fillStyle = ink("line");
    context.fillRect(x - 0.5, 0, 1, height);
    const label = instant(at, step);
    if (x + 4 + context.measureText(label).width > place.left + place.width) continue;
    context.fillStyle = ink("soft");
    context.fillText(label, x + 4, 12);
  }
}

/// The ground of a lane, and its name.
function drawLane(context, place, y, height, name) {
  context.fillStyle = ink("lane");
  context.fillRect(place.left, y, place.width, height);
  context.fillStyle = ink("soft");
  context.font = FONT;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.fillText(shorten(context, name, place.left - 14), place.left - 8, y + height / 2);
}

/// As much of a text as fits.
function shorten(context, name, width) {
  const text = String(name);
  if (context.measureText(text).width <= width) return text;
  let most = text.length;
  while (most > 1 && context.measureText(`${text.slice(0, most)}…`).width > width) most--;
  return `${text.slice(0, most)}…`;
}

/// Shares of the time from `from` to `to`, one above the other: pairs of a task and nanoseconds.
/// However small, a share can be seen.
function drawShares(context, place, { y, height }, shares, [from, to], fill) {
  // Whole pixels: neighbours have no seam.
  const x = Math.round(Math.max(xOf(place, from), place.left));
  const width = Math.round(Math.min(xOf(place, to), place.left + place.width)) - x;
  let top = y + height;
  for (const [task, ns] of shares) {
    const tall = Math.max((height * ns) / (to - from), 1);
    top -= tall;
    context.fillStyle = fill(task);
    context.fillRect(x, top, Math.max(width, 0.5), tall);
  }
}

/// Stretches for which tasks ran: `{ task, from, to }`, ascending. Those that are too narrow share a
/// column.
function drawSlices(context, place, lane, slices, { fill, name }) {
  const perColumn = ((place.to - place.from) / place.width) * COLUMN;
  let column = null;
  let shares = new Map();
  const flush = () => {
    if (column !== null) {
      const from = place.from + column * perColumn;
      drawShares(context, place, lane, shares, [from, from + perColumn], fill);
    }
    [column, shares] = [null, new Map()];
  };
  const add = (its, task, ns) => {
    if (its !== column) flush();
    column = its;
    shares.set(task, (shares.get(task) ?? 0) + ns);
  };
  for (const { task, from, to } of slices) {
    const start = Math.max(from, place.from);
    const end = Math.min(to, place.to);
    if (end <= start) continue;
    if (end - start < perColumn) {
      const its = Math.floor((start - place.from) / perColumn);
      const next = place.from + (its + 1) * perColumn;
      add(its, task, Math.min(end, next) - start);
      if (end > next) add(its + 1, task, end - next);
      continue;
    }
    flush();
    const [x, stop] = [xOf(place, start), xOf(place, end)];
    context.fillStyle = fill(task);
    context.fillRect(x, lane.y, stop - x, lane.height);
    if (stop - x > 6) {
      // A line between neighbours of one colour.
      context.fillStyle = ink("card");
      context.fillRect(stop - 1, lane.y, 1, lane.height);
    }
    if (stop - x > 34 && lane.height >= 11) {
      context.fillStyle = isDark(fill(task)) ? "#fff" : "#14181f";
      context.font = FONT;
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillText(
        shorten(context, name(task), stop - x - 10),
        x + 5,
        lane.y + lane.height / 2 + 0.5,
      );
    }
  }
  flush();
}

/// Whether white text can be read on a colour.
function isDark(colour) {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  return parts[0] * 0.299 + parts[1] * 0.587 + parts[2] * 0.114 < 140;
}

/// A triangle that points down at a lane: a deadline was missed.
function drawMiss(context, x, y) {
  context.fillStyle = ink("bad");
  context.strokeStyle = ink("card");
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(x, y + 4);
  context.lineTo(x - 4.5, y - 4);
  context.lineTo(x + 4.5, y - 4);
  context.closePath();
  context.fill();
  context.stroke();
}

/// A kernel died: a cross, and the time until it is back is crossed out.
function drawDeath(context, place, { y, height }, at, back) {
  const x = xOf(place, at);
  const stop = Math.min(xOf(place, back), place.left + place.width);
  const start = Math.max(x, place.left);
  context.save();
  context.strokeStyle = ink("bad");
  context.globalAlpha = 0.45;
  context.beginPath();
  context.rect(start, y, Math.max(stop - start, 0), height);
  context.clip();
  for (let line = start - height; line < stop; line += 7) {
    context.moveTo(line, y + height);
    context.lineTo(line + height, y);
  }
  context.stroke();
  context.restore();
  context.strokeStyle = ink("bad");
  context.lineWidth = 2.5;
  context.beginPath();
  for (const [dx, dy] of [
    [1, 1],
    [1, -1],
  ]) {
    context.moveTo(x - 5 * dx, y + height / 2 - 5 * dy);
    context.lineTo(x + 5 * dx, y + height / 2 + 5 * dy);
  }
  context.stroke();
}

/// A task moves: from where and when it was parked to where and when it runs again.
function drawMove(context, place, [from, fromY], [to, toY], { failed, chosen }) {
  const [x, stop] = [xOf(place, from), xOf(place, to)];
  context.strokeStyle = failed ? ink("bad") : ink("ink");
  context.fillStyle = context.strokeStyle;
  context.lineWidth = chosen ? 3 : 1.25;
  context.setLineDash(failed ? [4, 3] : []);
  context.beginPath();
  context.moveTo(x, fromY);
  context.lineTo(stop, toY);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.arc(x, fromY, chosen ? 4 : 2.5, 0, 7);
  context.fill();
  const angle = Math.atan2(toY - fromY, stop - x);
  const size = chosen ? 9 : 7;
  context.beginPath();
  context.moveTo(stop, toY);
  for (const side of [-0.45, 0.45])
    context.lineTo(stop - size * Math.cos(angle + side), toY - size * Math.sin(angle + side));
  context.fill();
}

/// A depth over time, as pairs of a time and a value that holds from then on, up to `most`.
function drawSteps(context, place, { y, height }, steps, most, until) {
  if (!steps.length) return;
  const top = (value) => y + height - (height * value) / most;
  context.beginPath();
  context.moveTo(xOf(place, steps[0][0]), y + height);
  steps.forEach(([at, value], n) => {
    context.lineTo(xOf(place, at), top(value));
    context.lineTo(xOf(place, steps[n + 1]?.[0] ?? until), top(value));
  });
  context.lineTo(xOf(place, until), y + height);
  context.closePath();
  context.fillStyle = ink("queue");
  context.fill();
}
