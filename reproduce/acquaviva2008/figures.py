# SPDX-License-Identifier: Apache-2.0
"""Figures 2, 6, 7 and 16 (b) of acquaviva2008 from the rows of `whimbrel bench`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from published import Row, row
from whimbrel.plot.chart import Axis, Plot, Point

Benches = dict[str, dict[str, Any]]

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
SIZES_KIB = {"64KiB": 64, "256KiB": 256, "1MiB": 1024, "4MiB": 4096, "16MiB": 16384}
RATES_HZ, TASKS = (1, 10, 100), (8, 16)
RADIO_TASKS = ("lpf", "demodulator", "bpf", "sum")


@dataclass(frozen=True)
class Line:
    """A straight line through costs against sizes, and how well it fits."""

    offset: float
    slope: float
    r2: float


def fit(points: list[Point]) -> Line:
    """Least squares of relative errors: otherwise the largest size alone would decide."""
    x, y = np.array(points, dtype=float).T
    (xx, xy), (_, yy) = np.cov(x, y, aweights=y**-2)
    mean_x, mean_y = np.average([x, y], axis=1, weights=y**-2)
    return Line(mean_y - xy / xx * mean_x, slope=xy / xx, r2=xy**2 / (xx * yy))


def costs(benches: Benches, mode: str, suffix: str = "") -> list[Point]:
    """Undisturbed cost of a migration in nanoseconds against the size of the context in KiB.

    The least of all samples: on a machine with other work, most of them wait for a processor.
    """
    return [
        (kib, benches[f"migration.{mode}.{size}{suffix}"]["min"]) for size, kib in SIZES_KIB.items()
    ]


def r2(points: list[Point]) -> float:
    """How well an ordinary line fits."""
    return float(np.corrcoef(np.array(points, dtype=float).T)[0, 1] ** 2)


def figure2(benches: Benches) -> tuple[list[Row], Plot]:
    """Migration cost against task size, replication and recreation."""
    replication, recreation = costs(benches, "replicate", ".cold"), costs(benches, "recreate")
    modes = {"replication": replication, "recreation": recreation}
    lines = {name: fit(points) for name, points in modes.items()}
    rows = []
    for name, line in lines.items():
        rows += [
            row(f"figure 2: {name}, offset", None, line.offset, "ns", "the figure has no numbers"),
            row(f"figure 2: {name}, slope", None, line.slope, "ns/KiB", "64 KiB to 16 MiB"),
            row(f"figure 2: {name}, R² of relative errors", None, line.r2, "", "as the line above"),
            row(f"figure 2: {name}, R²", None, r2(modes[name]), "", "of errors: the usual one"),
        ]
    ours = [
        ("offset", lines["recreation"].offset / max(lines["replication"].offset, 1)),
        ("slope", lines["recreation"].slope / lines["replication"].slope),
    ]
    for name, ratio in ours:
        paper = PUBLISHED["figure2"][f"recreation_{name}"]
        note = "recreation over replication; a program is loaded from its file"
        if name == "slope":
            note = "recreation over replication; pages are faulted in, and summed up twice"
        rows.append(row(f"figure 2: {name}s", paper, ratio, "times", note))
    for (kib, dear), (_, cheap) in zip(recreation, replication, strict=True):
        what = f"figure 2: recreation over replication, {kib} KiB"
        rows.append(row(what, "> 1", dear / cheap, "times", "whole migrations"))

    axes = Axis("size of the context, KiB", True), Axis("cost of a migration, µs", True)
    plot = Plot("Figure 2: migration cost against task size", *axes)
    plot.add("task recreation", [(x, y / 1000) for x, y in recreation])
    plot.add("task replication", [(x, y / 1000) for x, y in replication])
    return rows, plot


def stated6(name: str, hz: int, tasks: int) -> object:
    """What the paper says of a daemon: at the highest rate and the most tasks, and nothing else."""
    if (hz, tasks) != (max(RATES_HZ), max(TASKS)):
        return None
    stated = PUBLISHED["figure6"]
    return f"< {stated['agent_most_percent']}" if name == "agent" else stated["coordinator"]


def figure6(benches: Benches, mhz: float) -> tuple[list[Row], list[Plot]]:
    """Share of a core that the coordinator (a) and an agent (b) take, against their rate."""
    paper_mhz = PUBLISHED["platform"]["agent_core_mhz"]
    most = PUBLISHED["figure6"]["agent_most_percent"]
    rows, plots = [], []
    for letter, name in (("a", "coordinator"), ("b", "agent")):
        title = f"Figure 6 ({letter}): {name}, share of a core of {paper_mhz} MHz"
        plot = Plot(title, Axis("invocations per second", True), Axis("share, %", True))
        for tasks in TASKS:
            shares = [(hz, benches[f"{name}.{hz}Hz.{tasks}tasks"]["p50"] / 1e4) for hz in RATES_HZ]
            scaled = [(float(hz), share * mhz / paper_mhz) for hz, share in shares]
            plot.add(f"{tasks} tasks", scaled)
            for (hz, share), (_, slow) in zip(shares, scaled, strict=True):
                what = f"figure 6 ({letter}): {name}, {hz} Hz, {tasks} tasks"
                note = f"of a core of {mhz:.0f} MHz, caches emptied"
                rows.append(row(what, None, share, "%", note))
                note = f"our cycles on a core of {paper_mhz} MHz"
                paper = stated6(name, hz, tasks)
                rows.append(row(f"{what}, at {paper_mhz} MHz", paper, slow, "%", note))
        plot.limit(f"stated for the agent: < {most} %", most)
        plots.append(plot)
    return rows, plots


def figure7(benches: Benches, mhz: float) -> tuple[list[Row], Plot]:
    """Cost of a replication in cycles against the size of the task."""
    cycles = [(kib, ns * mhz / 1000) for kib, ns in costs(benches, "replicate", ".cold")]
    line = fit(cycles)
    small = benches["migration.replicate.4KiB.cold"]["min"] * mhz / 1000
    paper = PUBLISHED["figure7"]
    rows = [
        row(
            "figure 7: intercept",
            paper["intercept_cycles"],
            line.offset,
            "cycles",
            f"at {mhz:.0f} MHz; no kernel stack is copied, and no daemon is interrupted",
        ),
        row("figure 7: slope", None, line.slope, "cycles/KiB", "the figure has no numbers"),
        row("figure 7: R²", paper["shape"], r2(cycles), "", "64 KiB to 16 MiB"),
        row("figure 7: a context of 4 KiB", None, small, "cycles", "they move no less than 64 KiB"),
    ]
    axes = Axis("size of the context, KiB"), Axis("cost of a migration, cycles")
    plot = Plot("Figure 7: task migration cost (replication)", *axes)
    plot.add("measured", cycles)
    plot.limit(
        f"published intercept: {paper['intercept_cycles']} cycles", paper["intercept_cycles"]
    )
    ends = [(x, line.offset + line.slope * x) for x in (0, max(SIZES_KIB.values()))]
    plot.add(f"{line.offset:.0f} + {line.slope:.0f} cycles/KiB", ends, line=True)
    return rows, plot


def figure16b(benches: Benches) -> tuple[list[Row], Plot]:
    """What checkpoints that nobody answers take of each task of the FM radio."""
    most = PUBLISHED["figure16b"]["task_most_percent"]
    plot = Plot(
        "Figure 16 (b): checkpoints of the FM radio's tasks",
        Axis(", ".join(f"{n}: {name}" for n, name in enumerate(RADIO_TASKS, 1))),
        Axis("share of the task's time, %", True),
    )
    rows = []
    for name in RADIO_TASKS:
        percent = benches[f"checkpoint.fm_radio.{name}.serial"]["p50"] / 1e4
        note = "one checkpoint a frame, as theirs; fenced in: an upper bound"
        rows.append(row(f"figure 16 (b): {name}", f"< {most}", percent, "%", note))
    plot.add("measured", [(n, r["ours"]) for n, r in enumerate(rows, 1)])
    plot.limit(f"stated: < {most} %", most)
    for suffix, note in ((".serial", "on one core; an upper bound"), ("", "as it runs")):
        percent = benches[f"checkpoint.fm_radio{suffix}"]["p50"] / 1e4
        what = f"figure 16 (b): all tasks, {'fenced in' if suffix else 'overlapped'}"
        rows.append(row(what, f"< {most}", percent, "%", note))
    return rows, plot


def reproduce(benches: Benches, mhz: float) -> tuple[list[Row], dict[str, Plot]]:
    """Every row, and every plot by the name of its file."""
    rows2, plot2 = figure2(benches)
    rows6, plots6 = figure6(benches, mhz)
    rows7, plot7 = figure7(benches, mhz)
    rows16, plot16 = figure16b(benches)
    plots = {"figure2": plot2, "figure6a": plots6[0], "figure6b": plots6[1]}
    return rows2 + rows6 + rows7 + rows16, plots | {"figure7": plot7, "figure16b": plot16}
