#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost and the delay of each doorbell, for the frames of a voice codec: one task sends a frame
every 20 ms, after it has computed for about 4 ms, and another receives it (lee2009, table 4).

Simulated on the platform davinci (the paper's ARM and DSP), or with --here on two processors of
this machine. --bound instead sends `--messages` messages to a receiver with `adaptive`, and prints
the longest delay and the kernel's part of it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WHIMBREL = ROOT / "bin" / "whimbrel"
FRAME_MS = 20

DOORBELLS = [
    ("interrupt", 'doorbell = "interrupt"'),
    *((f"polling:{ms}ms", f'doorbell = "polling:{ms}ms"') for ms in (5, 10, 15, 20)),
    *((f"adaptive:{ms}ms", f'doorbell = "adaptive:{ms}ms"') for ms in (1, 5, 20)),
    ("batch 2:40ms", 'batch = "2:40ms"'),
    ("batch 4:80ms", 'batch = "4:80ms"'),
]

APP = """
[app]
name = "frames"
compute = "model"

[[task]]
name = "codec"
core = 1
period_us = {period_us}
cycles = {{ {cycles} }}
distribution = "normal"
spread = {spread}
firings = {firings}

[[task]]
name = "phone"
core = 0
cycles = {{ arm9 = 1000, host = 1000 }}

[[channel]]
from = "codec.out"
to = "phone.in"
slot_bytes = 160
slots = 16
{keys}
"""


def run(app: str, options: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "app.toml"
        path.write_text(app)
        command = [str(WHIMBREL), options[0], str(path), *options[1:], "--json", "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)


def active(result: dict[str, Any], core: int) -> float:
    """The part of the time, in per cent, that a core did anything; its interrupts if simulated."""
    points = result["cores"][core]["points"]
    busy_ns = sum(point["active_ns"] for point in points) or result["cores"][core]["busy_ns"]
    return 100 * busy_ns / result["time_ns"]


def row(name: str, keys: str, frames: int, here: bool) -> dict[str, Any]:
    # On this machine, cycles are of its own clock: 4 ms at 2.5 GHz, at least 3 at others.
    cycles = "host = 10000000" if here else "dsp = 2400000"
    app = APP.format(
        period_us=FRAME_MS * 1000, cycles=cycles, spread=0.1, firings=frames, keys=keys
    )
    # Agents that hardly ever report: they would wake the receiver's core.
    options = ["run", "--cores", "0,1", "--spin", "0us"] if here else ["sim", "--platform=davinci"]
    result = run(app, [*options, "--agent-period", "10s"])
    channel = result["channels"][0]
    response = result["tasks"][1]["response"]
    return {
        "doorbell": name,
        "gpp_percent": active(result, 0),
        "dsp_percent": active(result, 1),
        "switches": result["cores"][0]["switches"],
        "latency_ms": response["mean_ns"] / 1e6,
        "latency_max_ms": response["max_ns"] / 1e6,
        "rings": channel.get("rings", frames if name == "interrupt" else 0),
        "polls": channel.get("polls", 0),
        "hits": channel.get("hits", 0),
    }


def table(rows: list[dict[str, Any]]) -> None:
    base = next(row for row in rows if row["doorbell"] == "interrupt")
    print("doorbell       GPP %  DSP %  later than an interrupt: mean    max  rings  polls   hits")
    for one in rows:
        mean = one["latency_ms"] - base["latency_ms"]
        most = one["latency_max_ms"] - base["latency_ms"]
        print(
            f"{one['doorbell']:13} {one['gpp_percent']:6.3f} {one['dsp_percent']:6.3f}"
            f" {mean:27.3f} ms {most:6.2f} {one['rings']:6} {one['polls']:6} {one['hits']:6}"
        )
    fixed = next(row for row in rows if row["doorbell"] == f"polling:{FRAME_MS}ms")
    fixed_ms = fixed["latency_ms"] - base["latency_ms"]
    for best in (row for row in rows if row["doorbell"].startswith("adaptive")):
        later_ms = best["latency_ms"] - base["latency_ms"]
        print(
            f"{best['doorbell']} against {fixed['doorbell']}: "
            f"{best['gpp_percent'] / fixed['gpp_percent']:.4f} of its load, "
            f"{later_ms / fixed_ms:.3f} of its notification latency"
        )


def bound(messages: int, bound_us: int, here: bool) -> dict[str, Any]:
    """Messages in an irregular rhythm, to a receiver with `adaptive`."""
    # On davinci a message takes longer to send.
    period_us, cycles = (100, "host = 75000") if here else (2000, "dsp = 480000")
    app = APP.format(
        period_us=period_us,
        cycles=cycles,
        spread=0.3,
        firings=messages,
        keys=f'doorbell = "adaptive:{bound_us}us"',
    )
    options = ["run", "--cores", "0,1"] if here else ["sim", "--platform=davinci"]
    result = run(app, options)
    channel = result["channels"][0]
    over_ns = max(0, channel["worst_ns"] - bound_us * 1000)
    return {
        "messages": channel["received"],
        "waits": channel["waits"],
        "rings": channel["rings"],
        "bound_us": bound_us,
        "mean_us": channel["late_ns"] / max(1, channel["noticed"]) / 1e3,
        "worst_us": channel["worst_ns"] / 1e3,
        "over_us": over_ns / 1e3,
        "kernel_us": channel["kernel_ns"] / 1e3,
        "held": over_ns <= channel["kernel_ns"],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--here", action="store_true", help="on this machine, in real time")
    parser.add_argument("--frames", type=int, default=2000, help="number of frames of 20 ms")
    parser.add_argument("--bound", type=int, metavar="US", help="measure the bound instead")
    parser.add_argument(
        "--messages", type=int, default=1_000_000, help="their number, with --bound"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.bound is not None:
        result = bound(args.messages, args.bound, args.here)
        print(json.dumps(result, indent=2) if args.json else result)
        return 0 if result["held"] else 1
    rows = [row(name, keys, args.frames, args.here) for name, keys in DOORBELLS]
    print(json.dumps(rows, indent=2)) if args.json else table(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
