// SPDX-License-Identifier: Apache-2.0
// What each core ran: sums over bins of time, and chunks of events as they were. Both are unpacked
// when they are shown.

/// Kinds of events (docs/recorded-run.md).
const KIND = {
  run: 1,
  ready: 2,
  block: 3,
  end: 4,
  send: 5,
  receive: 6,
  miss: 7,
  park: 8,
  attach: 9,
  return: 10,
  sleep: 11,
  output: 13,
  doorbell: 17,
};
const PAUSES = [KIND.ready, KIND.block, KIND.end, KIND.park];

/// How many chunks are unpacked at a time: beyond that the view shows sums.
const CHUNKS_SHOWN = 64;

/// How many unpacked chunks are remembered.
const CHUNKS_KEPT = 256;

/// Columns of numbers that were packed together.
async function unpack(text, columns) {
  const packed = new Blob([bytesOf(text)]).stream();
  const stream = packed.pipeThrough(new DecompressionStream("deflate-raw"));
  return numbers(new Uint8Array(await new Response(stream).arrayBuffer()), columns);
}

class Events {
  /// `first`: the position of the run's first chunk among all of the page.
  constructor(data, first) {
    this.cores = data.cores;
    this.levels = data.levels;
    [this.from, this.to] = [decode(data.from), decode(data.to)];
    this.sampled = data.sampled;
    this.first = first;
    this.unpacked = new Map();
  }

  /// The sums whose bins are at least this wide, and the widest that are there until those are
  /// unpacked; `ready` is called then.
  sums(width_ns, ready) {
    const wide = this.levels.findIndex((level) => level.width_ns >= width_ns);
    const level = this.levels.at(wide);
    level.waiting ??= unpack(level.packed, 4).then(([bin, row, what, value]) => {
      level.sums = { width_ns: level.width_ns, bin, row, what, value };
      ready();
    });
    return level.sums ?? this.levels.findLast((level) => level.sums)?.sums ?? null;
  }

  /// The chunks of a part of the run that are unpacked, and whether they are all of it. Others are
  /// being unpacked, unless they would be too many.
  exact(from, to, ready) {
    const start = above(this.to, from);
    const end = start + above(this.from.subarray(start), to);
    if (end - start > CHUNKS_SHOWN) return { chunks: [], whole: false };
    const chunks = [];
    let reached = from;
    for (let n = start; n < end; n++) {
      const chunk = this.chunk(n, ready);
      if (!chunk) continue;
      if (chunk.from <= reached) reached = chunk.to;
      chunks.push(chunk);
    }
    return { chunks, whole: reached >= Math.min(to, this.to.at(-1) ?? 0) };
  }

  chunk(n, ready) {
    const known = this.unpacked.get(n);
    if (known !== undefined) return known;
    this.unpacked.set(n, null);
    Events.texts ??= document.getElementById("exact")?.textContent.split("\n");
    const text = Events.texts?.[this.first + n];
    if (text === undefined) {
      // The page is not there yet as a whole.
      Events.texts = null;
      this.unpacked.delete(n);
      addEventListener("DOMContentLoaded", ready, { once: true });
      return null;
    }
    if (this.unpacked.size > CHUNKS_KEPT) this.unpacked.delete(this.unpacked.keys().next().value);
    unpack(text, 6).then((columns) => {
      this.unpacked.set(n, replay(columns, this.from[n], this.to[n], this.cores.length));
      ready();
    });
    return null;
  }

  /// The end of a stretch that goes on after its chunk, as far as that is known.
  endOf(slice) {
    const later = [...this.unpacked.values()].flatMap((chunk) => chunk?.slices[slice.row] ?? []);
    const same = later.filter((one) => one.task === slice.task && one.from === slice.from);
    return Math.max(slice.to, ...same.map((one) => one.to));
  }
}

/// What events of a chunk mean: of each row the stretches for which a task ran, what tasks waited
/// for, and the other events.
function replay([time, kind, row, task, object, value], from, to, rows) {
  const slices = Array.from({ length: rows }, () => []);
  const running = new Array(rows).fill(null);
  const on = new Map();
  const blocked = new Map();
  const chunk = { from, to, slices, waits: [], misses: [], messages: [], moves: [] };
  const stop = (row, at) => {
    const slice = running[row];
    if (!slice) return;
    slice.to = at;
    slices[row].push(slice);
    running[row] = null;
    on.delete(slice.task);
  };
  const wake = (wait, at) => chunk.waits.push({ ...wait, to: at });
  for (let n = 0; n < time.length; n++) {
    const event = {
      at: time[n],
      kind: kind[n],
      row: row[n],
      task: task[n],
      object: object[n],
      value: value[n],
    };
    switch (event.kind) {
      case KIND.run: {
        const other = on.get(event.task);
        if (other !== undefined && other !== event.row) stop(other, event.at);
        stop(event.row, event.at);
        running[event.row] = { row: event.row, task: event.task, from: event.at, to };
        on.set(event.task, event.row);
        if (blocked.has(event.task)) wake(blocked.get(event.task), event.at);
        blocked.delete(event.task);
        break;
      }
      case KIND.sleep:
        stop(event.row, event.at);
        break;
      case KIND.send:
      case KIND.receive:
        chunk.messages.push(event);
        break;
      case KIND.miss:
        chunk.misses.push(event);
        break;
      default:
        if (!PAUSES.includes(event.kind) || event.kind === KIND.park) chunk.moves.push(event);
    }
    if (PAUSES.includes(event.kind)) {
      if (on.get(event.task) === event.row) stop(event.row, event.at);
      if (event.kind === KIND.block && event.object >= 2 ** 28)
        blocked.set(event.task, { ...event, from: event.at });
    }
  }
  for (let row = 0; row < rows; row++) stop(row, to);
  for (const wait of blocked.values()) wake(wait, to);
  return chunk;
}

/// What a task waits for, by the object of its block.
function awaited(object, run) {
  const number = object % 2 ** 28;
  const sort = Math.floor(object / 2 ** 28);
  if (sort === 1) return run.summary.objects?.[number]?.name ?? `object ${number}`;
  if (sort === 2) return `channel ${run.channel(number)}`;
  return ["a mutex", "a semaphore", "a condition", "a barrier"][sort - 3] ?? "something";
}
