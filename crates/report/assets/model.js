// SPDX-License-Identifier: Apache-2.0
// A run as the page shows it: columns decoded, curves sampled, and the part of the run that all
// plots show together.

const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/// The numbers of a column: base64 of differences, each zigzag and LEB128.
const decode = (text) => numbers(bytesOf(text), 1)[0];

/// The numbers of columns of the same length, which follow each other.
function numbers(bytes, columns) {
  let all = 0;
  for (const byte of bytes) all += byte < 0x80;
  const decoded = new Float64Array(all);
  const length = all / columns;
  let value = 0,
    scale = 1,
    before = 0,
    n = 0;
  for (const byte of bytes) {
    value += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte < 0x80) {
      if (n % length === 0) before = 0;
      before += value % 2 ? -(value + 1) / 2 : value / 2;
      decoded[n++] = before;
      value = 0;
      scale = 1;
    }
  }
  return Array.from({ length: columns }, (_, k) => decoded.subarray(k * length, (k + 1) * length));
}

/// The position of the first element of ascending numbers that is above `value`.
function above(numbers, value) {
  let low = 0,
    high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

// ---- a value over time --------------------------------------------------------------------------

/// A curve of points: from `at` on the value is `last`; in bins it was between `low` and `high`.
class Curve {
  constructor(data, end) {
    this.at = decode(data.at);
    this.last = decode(data.last);
    this.low = data.low ? decode(data.low) : this.last;
    this.high = data.high ? decode(data.high) : this.last;
    this.mean = data.mean ? decode(data.mean) : this.last;
    this.end = end;
  }

  /// The value at a time; `null` before the first point.
  value(time) {
    const n = above(this.at, time) - 1;
    return n < 0 ? null : this.last[n];
  }

  /// How many points lie in a part of the run.
  points(from, to) {
    return above(this.at, to) - above(this.at, from);
  }

  /// Mean, lowest and highest value in each of `n` equal parts of a part of the run.
  sample(from, to, n) {
    const mean = new Array(n).fill(null),
      low = new Array(n).fill(null),
      high = new Array(n).fill(null);
    const width = (to - from) / n;
    let point = Math.max(above(this.at, from) - 1, 0);
    for (let part = 0; part < n; part++) {
      const start = from + part * width,
        stop = start + width;
      let area = 0,
        known = 0,
        least = Infinity,
        most = -Infinity;
      for (; point < this.at.length && this.at[point] < stop; point++) {
        const next = point + 1 < this.at.length ? this.at[point + 1] : this.end;
        const span = Math.min(next, stop) - Math.max(this.at[point], start);
        if (span > 0) {
          area += this.mean[point] * span;
          known += span;
        }
        if (span > 0 || this.at[point] >= start) {
          least = Math.min(least, this.low[point]);
          most = Math.max(most, this.high[point]);
        }
        if (next > stop) break;
      }
      if (known > 0) [mean[part], low[part], high[part]] = [area / known, least, most];
    }
    return { mean, low, high };
  }
}

// ---- a run --------------------------------------------------------------------------------------

/// Rows of a table as objects.
const rows = (table) =>
  table.rows.map((row) => Object.fromEntries(table.columns.map((key, n) => [key, row[n]])));

class Run {
  /// `chunks`: how many chunks of events runs before it have.
  constructor(data, chunks) {
    const { events, summary } = data;
    this.folder = data.folder;
    this.summary = summary;
    this.killed = !Object.keys(summary).length;
    this.end = Math.max(events.end_ns, 1);
    this.events = events.events;
    this.damage = data.damage;
    this.start = summary.start_ns ?? 0;
    for (const key of [
      "cores",
      "tasks",
      "channels",
      "migrations",
      "phases",
      "waits",
      "deaths",
      "advice",
      "errors",
    ]) {
      this[key] = rows(data[key]);
    }
    // Estimated or simulated; what is measured of the machine is no core's.
    this.energy = this.cores.reduce((sum, core) => sum + (core.energy_uj ?? 0), 0) || null;
    // Those that went well, as the summary counts them.
    this.moved = this.tasks.reduce((sum, task) => sum + (task.migrations ?? 0), 0);
    this.allMigrations = data.all_migrations;
    this.allWaits = data.all_waits;
    const several = new Set(this.tasks.filter((task) => task.index > 0).map((task) => task.task));
    this.nameOf = (task, index) => (several.has(task) ? `${task}.${index}` : task);
    this.names = this.tasks.map((task) => this.nameOf(task.task, task.index));
    this.numbers = new Map(this.names.map((name, number) => [name, number]));
    const curves = (all) => all.map((data) => data && new Curve(data, this.end));
    this.timeline = new Events(events.timeline, chunks);
    for (const key of ["depth", "frequency", "power", "temperature"])
      this[key] = curves(events[key]);
    for (const move of this.migrations) {
      move.number = this.numbers.get(this.nameOf(move.task, move.index)) ?? -1;
      move.at = move.request_ns - this.start;
      move.leaves = (move.parked_ns || move.request_ns) - this.start;
      move.arrives = move.running_ns ? move.running_ns - this.start : null;
      const between = (from, to) => (move[from] && move[to] ? move[to] - move[from] : null);
      move.to_parked = between("request_ns", "parked_ns");
      move.to_attached = between("parked_ns", "attached_ns");
      move.to_running = between("attached_ns", "running_ns");
      move.to_output = between("running_ns", "output_ns");
      move.away = between("parked_ns", "running_ns");
    }
    this.view = new View(this.end);
  }

  channel(number) {
    return this.channels[number]?.channel ?? `channel ${number}`;
  }

  /// Whether a curve of this sort is known of any core.
  knows(sort) {
    return this[sort].some((curve) => curve);
  }
}

/// What part of the run every plot shows; at what time the pointer is, followers are told.
class View {
  constructor(end) {
    this.end = end;
    [this.from, this.to] = [0, end];
    this.drawers = new Set();
    this.followers = new Set();
  }

  /// Shows another part; never less than 20 ns, never beyond the run.
  show(from, to) {
    const span = Math.min(Math.max(to - from, 20), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - span);
    this.to = this.from + span;
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      for (const draw of this.drawers) draw();
    });
  }

  whole() {
    this.show(0, this.end);
  }

  point(time) {
    for (const follow of this.followers) follow(time);
  }
}
