#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws docs/moving.svg (`make picture`): the FM radio in the simulator, at 1/1000 of its speed.

    tools/picture.py [FILE]

What moves is what a recorded run contains: when a task computed and on which core, when the
demodulator moved, how many messages were in each channel, and how many had reached the end.
"""

import json
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
RUN = [
    *("sim", "apps/fm_radio/app.toml", "--platform", "mpsoc3", "--fast", "--set", "output="),
    *("--map", "round-robin", "--duration", "13ms", "--shuttle", "demodulator=2,0,1@3ms"),
]
SINCE_NS, UNTIL_NS = 1_000_000, 13_000_000  # before, the channels fill
SLOWER = 1000
MOVER, SOURCE, END = "demodulator", "lpf", "sum"
STYLE = """
    .card { fill: #f6f8fa; stroke: #d0d7de }
    .core { fill: #ffffff; stroke: #8c959f }
    .memory { fill: #eaf2fb; stroke: #54779e }
    .task { fill: #9db8aa }
    .runs { fill: #2f6f4f }
    .mover { fill: #dcae92 }
    .mover.runs { fill: #b5541c }
    .frame { fill: none; stroke: #54779e }
    .slots { stroke: #eaf2fb }
    .full { fill: #54779e }
    .played { fill: #2f6f4f }
    text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
    .name { font-weight: 600 }
    .small { font-size: 12.5px; font-weight: 400; fill: #57606a }
    .on { fill: #ffffff; text-anchor: middle; font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .card { fill: #161b22; stroke: #30363d }
      .core { fill: #0d1117; stroke: #6e7681 }
      .memory { fill: #14243a; stroke: #79a6d6 }
      .task { fill: #28483a }
      .runs, .played { fill: #2c8a5c }
      .mover { fill: #5a3a22 }
      .mover.runs { fill: #c2611f }
      .frame { stroke: #79a6d6 }
      .slots { stroke: #14243a }
      .full { fill: #79a6d6 }
      text { fill: #e6edf3 }
      .small { fill: #9da7b3 }
    }
"""


def simulate(folder: Path) -> tuple[dict, str]:
    """The summary of a recorded run, and its signals as VCD."""
    command, record = ROOT / "bin/whimbrel", folder / "run"
    run = [command, *RUN, "--quiet", "--record", record]
    subprocess.run(run, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    trace = [command, "trace", record, "--quiet", "--format", "vcd", "--output", "-"]
    vcd = subprocess.run(trace, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return json.loads((record / "summary.json").read_text()), vcd


def signals(vcd: str) -> dict[str, list[tuple[int, str]]]:
    """The changes of each signal of a VCD, by its scope and name."""
    names, scopes, changes, now = {}, [], {}, 0
    for line in vcd.splitlines():
        words = line.split()
        if words[0] == "$scope":
            scopes.append(words[2])
        elif words[0] == "$upscope":
            scopes.pop()
        elif words[0] == "$var":
            names[words[3]] = f"{scopes[-1]}.{words[4]}"
        elif line.startswith("#"):
            now = int(line[1:])
        elif len(words) == 2 and words[1] in names:
            changes.setdefault(names[words[1]], []).append((now, words[0][1:]))
    return changes


def steps(attribute: str, changes: list[tuple[int, int]]) -> str:
    """An animation whose value jumps, from its values over time."""
    first = max(bisect_right([when for when, _ in changes], SINCE_NS) - 1, 0)
    kept = [(max(when, SINCE_NS), value) for when, value in changes[first:] if when < UNTIL_NS]
    kept = [one for n, one in enumerate(kept) if n == 0 or one[1] != kept[n - 1][1]]
    times = [0, *((when - SINCE_NS) / (UNTIL_NS - SINCE_NS) for when, _ in kept[1:])]
    return animation("animate", f'attributeName="{attribute}" calcMode="discrete"', times, kept)


def animation(element: str, what: str, times: list[float], values: list[tuple[int, object]]) -> str:
    """An element of SVG that changes another again and again."""
    seconds = (UNTIL_NS - SINCE_NS) * SLOWER // 10**9
    return (
        f'<{element} {what} dur="{seconds}s" repeatCount="indefinite" '
        f'keyTimes="{";".join(f"{time:.4g}" for time in times)}" '
        f'values="{";".join(str(value) for _, value in values)}"/>'
    )


def task(x: int, y: int, label: str, ran: list[tuple[int, int]], more: str, kind: str) -> str:
    """A task: brighter while it computes."""
    box = f'x="{x}" y="{y}" width="124" height="38" rx="6"'
    return (
        f'<g>{more}<rect class="{kind}" {box}/>'
        f'<rect class="{kind} runs" {box} opacity="0">{steps("opacity", ran)}</rect>'
        f'<text class="on" x="{x + 62}" y="{y + 24}">{escape(label)}</text></g>'
    )


def moves(summary: dict) -> str:
    """The way of the mover: it leaves a core when it is parked, and is there when it runs."""
    done = [
        move
        for move in summary["migrations"]
        if move["status"] == "ok" and SINCE_NS <= move["parked_ns"] < UNTIL_NS
    ]
    times, where = [0.0], [(0, f"{310 * done[0]['source']} 0")]
    for move in done:
        for when, core in ((move["parked_ns"], "source"), (move["running_ns"], "target")):
            times.append((when - SINCE_NS) / (UNTIL_NS - SINCE_NS))
            where.append((when, f"{310 * move[core]} 0"))
    return animation(
        "animateTransform",
        'attributeName="transform" type="translate"',
        [*times, 1.0],
        [*where, where[-1]],
    )


def channel(x: int, y: int, name: str, slots: int, depth: list[tuple[int, str]]) -> str:
    """A channel: its full slots."""
    width = [(when, 0 if "x" in value else 13 * int(value, 2)) for when, value in depth]
    borders = "".join(f"M{x + 13 * n} {y}v12" for n in range(1, slots))
    return (
        f'<rect class="full" x="{x}" y="{y}" height="12" width="0">{steps("width", width)}</rect>'
        f'<path class="slots" d="{borders}"/>'
        f'<rect class="frame" x="{x}" y="{y}" height="12" width="{13 * slots}"/>'
        f'<text class="small" x="{x}" y="{y - 6}">{escape(ends(name))}</text>'
    )


def ends(name: str) -> str:
    """The ends of a channel, whose index is that of the task of which there are several."""
    sender, receiver, *index = name.split("_")
    several = [sender, receiver].index("bpf") if index else None
    return " → ".join(
        f"{end}.{index[0]}" if n == several else end for n, end in enumerate((sender, receiver))
    )


def draw() -> str:
    """The picture."""
    with tempfile.TemporaryDirectory() as folder:
        summary, vcd = simulate(Path(folder))
    changes = signals(vcd)
    cores = range(len(summary["cores"]))
    parts, beside = [], Counter()
    for core in cores:
        x = 24 + 310 * core
        parts.append(f'<rect class="core" x="{x}" y="24" width="292" height="156" rx="8"/>')
        parts.append(f'<text class="name" x="{x + 16}" y="50">core {core}</text>')

    for one in summary["tasks"]:
        several = sum(other["task"] == one["task"] for other in summary["tasks"]) > 1
        name = f"{one['task']}.{one['index']}" if several else one["task"]
        computes = computing(name, [changes[f"core_{core}.running"] for core in cores])
        if one["task"] == MOVER:
            parts.append(task(106, 128, name, computes, moves(summary), "mover"))
        else:
            x = 40 + 310 * one["core"] + 136 * beside[one["core"]]
            beside[one["core"]] += 1
            parts.append(task(x, 70, name, computes, "", "task"))
    return page(summary, changes, parts)


def computing(name: str, running: list[list[tuple[int, str]]]) -> list[tuple[int, int]]:
    """When a task computes on any core, and when it does not, from what runs on each core."""
    ran = sorted((when, core, value) for core, rows in enumerate(running) for when, value in rows)
    now, computes = {}, []
    for when, core, value in ran:
        now[core] = value == name
        computes.append((when, int(any(now.values()))))
    return computes


def page(summary: dict, changes: dict[str, list], parts: list[str]) -> str:
    """The whole drawing, with the memory and what has been played."""
    parts.append('<rect class="memory" x="24" y="196" width="912" height="170" rx="8"/>')
    about = "channels, stacks and heaps: a move copies none of them"
    parts.append(
        '<text class="name" x="40" y="220">globally visible memory '
        f'<tspan class="small" dx="6">{about}</tspan></text>'
    )
    columns = {SOURCE: 0, MOVER: 1}
    rows = [0, 0, 0]
    for one in summary["channels"]:
        column = columns.get(one["channel"].split("_")[0], 2)
        x, y = 64 + 310 * column, 252 + 38 * rows[column]
        rows[column] += 1
        depth = changes[f"channels.{one['channel']}"]
        parts.append(channel(x, y, one["channel"], one["slots"], depth))

    arrived, n = [(0, 0)], 0
    depth = [
        (when, int(value, 2))
        for when, value in changes[f"channels.bpf_{END}_0"]
        if "x" not in value
    ]
    for (_, before), (when, after) in pairwise(depth):
        if after < before:
            n += when >= SINCE_NS
            arrived.append((when, n))
    played = [(when, round(780 * count / max(n, 1))) for when, count in arrived]
    parts.append('<text class="small" x="24" y="392">sound played</text>')
    parts.append(
        '<rect class="played" x="120" y="382" height="12" width="0" rx="2">'
        f"{steps('width', played)}</rect>"
    )
    body = "\n  ".join(parts)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 410" width="960" height="410"
    role="img" aria-labelledby="title desc">
  <title id="title">A task moves between cores while the stream flows</title>
  <desc id="desc">The FM radio in the simulator, {SLOWER} times slower. The demodulator moves from
    core to core, and the sound does not stop. Drawn from a recorded run by make picture.</desc>
  <style>{STYLE}  </style>
  <rect class="card" x="1" y="1" width="958" height="408" rx="10"/>
  {body}
</svg>
"""


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/moving.svg").write_text(draw())
