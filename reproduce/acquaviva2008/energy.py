# SPDX-License-Identifier: Apache-2.0
"""Figures 10 to 13 of acquaviva2008: power against frame rate on one, two and three cores."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from command import whimbrel
from figures import PUBLISHED
from published import Row, row
from systems import ENDLESS, TASKS, Bench, Mapping, operating_points, platform, radio
from whimbrel.plot.chart import Axis, Plot

MODES = {False: "always on", True: "shutdown when idle"}
CORES = (1, 2, 3)
HIGHEST_MHZ = operating_points()[-1][0]
# Two configurations whose power differs by less than this are equal, and the one with fewer cores
# is taken: what is between them are some doorbells and switches.
EQUAL = 0.005
ALONE: Mapping = (0, 1, 0, 0, 0, 0)  # the demodulator on a core of its own
LOADED: Mapping = (0, 1, 1, 1, 0, 0)  # and with two of the BPFs


@dataclass(frozen=True)
class Configuration:
    """A mapping with frequencies that keeps every deadline at a frame rate."""

    rate: int
    mapping: Mapping
    mhz: tuple[int, ...]
    mw: float

    @property
    def cores(self) -> int:
        """How many cores it uses."""
        return len(self.mhz)

    def described(self) -> str:
        """Which tasks are together, at which frequency."""
        parts = []
        for core, mhz in enumerate(self.mhz):
            names = [name for name, at in zip(TASKS, self.mapping, strict=True) if at == core]
            parts.append(f"{'+'.join(names)} at {mhz} MHz")
        return ", ".join(parts)


def configuration(line: dict[str, Any], shutdown: bool) -> Configuration | None:
    """What a line of evaluated.jsonl says; None: it is no candidate, or it missed a deadline."""
    outcome = line.get("verdict", {}).get("Ok")
    if outcome is None or outcome["misses"] != 0 or outcome["frames"] == 0:
        return None
    candidate = line["candidate"]
    rate = candidate["rate_millihz"] // 1000
    mhz = [operating_points()[point][0] for point in candidate["points"]]
    if shutdown:
        # What a frame takes: how the run begins and ends does not matter then.
        mw = outcome["energy_mj"] / outcome["frames"] * rate
    else:
        mw = outcome["energy_mj"] / outcome["time_ms"] * 1000
    mapping = tuple(candidate["mapping"])
    return Configuration(rate, mapping, tuple(mhz[: outcome["cores"]]), mw)


def explored(bench: Bench, rates: Iterable[int], ms: int, shutdown: bool) -> list[Configuration]:
    """Every mapping, each core at the lowest frequency that misses no deadline."""
    app = bench.write("app.toml", radio())
    hardware = bench.write("platform.toml", platform([HIGHEST_MHZ] * 3, shutdown))
    found = bench.folder / f"explored-{shutdown}"
    listed = ",".join(str(rate) for rate in rates)
    options = ["--frame-rates", listed, "--points", "auto", "--duration", f"{ms}ms", "--quiet"]
    options += ["--objectives", "energy,misses,cores", "-o", str(found)]
    settings = ENDLESS[: ENDLESS.index("--compute")]
    whimbrel("explore", app, "--platform", hardware, *settings, *options, fine=(0, 1))
    lines = (found / "evaluated.jsonl").read_text().splitlines()
    read = (configuration(json.loads(line), shutdown) for line in lines)
    return [found for found in read if found is not None]


def cheapest(found: Iterable[Configuration]) -> dict[tuple[int, int], Configuration]:
    """By frame rate and number of cores."""
    best: dict[tuple[int, int], Configuration] = {}
    for one in found:
        key = one.rate, one.cores
        if key not in best or one.mw < best[key].mw:
            best[key] = one
    return dict(sorted(best.items()))


def pareto_path(best: dict[tuple[int, int], Configuration]) -> list[Configuration]:
    """For each frame rate what consumes least, by rising rate."""
    path = []
    for rate in sorted({rate for rate, _ in best}):
        ones = [best[rate, cores] for cores in CORES if (rate, cores) in best]
        least = min(one.mw for one in ones)
        path.append(next(one for one in ones if one.mw <= least * (1 + EQUAL)))
    return path


def falls(path: list[Configuration]) -> int:
    """How often a higher frame rate has fewer cores."""
    pairs = itertools.pairwise(path)
    return sum(after.cores < before.cores for before, after in pairs)


def figures(found: list[Configuration], shutdown: bool) -> tuple[list[Row], list[Plot]]:
    """The curves of 10 or 12 and the path of 11 or 13."""
    curves, chosen = (12, 13) if shutdown else (10, 11)
    best = cheapest(found)
    path = pareto_path(best)
    axes = Axis("frames per second"), Axis("power, mW")
    every = Plot(f"Figure {curves}: power of static mappings, {MODES[shutdown]}", *axes)
    pareto = Plot(f"Figure {chosen}: Pareto configurations, {MODES[shutdown]}", *axes)
    for cores in CORES:
        name = f"{cores} core{'s' if cores > 1 else ''}"
        curve = [(float(one.rate), one.mw) for one in best.values() if one.cores == cores]
        every.add(name, curve)
        pareto.add(name, [(float(one.rate), one.mw) for one in path if one.cores == cores])
    rows = []
    for (rate, cores), one in best.items():
        what = f"figure {curves}: {rate} frames/s, {cores} cores, {MODES[shutdown]}"
        rows.append(row(what, None, one.mw, "mW", one.described()))
    shape = PUBLISHED[f"figure{chosen}"]["path"]
    counts = " ".join(str(one.cores) for one in path)
    note = f"cores along the path: {counts}; equal within {EQUAL:.1%} counts as the fewer"
    what = f"figure {chosen}: times that a higher rate needs fewer cores, {MODES[shutdown]}"
    rows.append(row(what, shape, float(falls(path)), "", note))
    return rows, [every, pareto]


def largest(sustains: Callable[[int], bool], low: int, high: int, step: int) -> int:
    """The largest multiple of `step` that is sustained, by bisection; 0 if `low` is not."""
    low, high = low // step, -(-high // step)
    if not sustains(low * step):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if sustains(middle * step) else (low, middle)
    return low * step


def sustained(bench: Bench, mapping: Mapping, mhz: int, ms: int) -> int:
    """Most frames per second without a missed deadline, all cores at one frequency."""
    cores = max(mapping) + 1

    def sustains(rate: int) -> bool:
        hardware = platform([mhz] * cores, False)
        pace = ["--frame-rate", str(rate), "--duration", f"{ms}ms"]
        return bench.sim(radio(mapping), hardware, *ENDLESS, *pace)["deadline_misses"] == 0

    return largest(sustains, 100, 8000, 10)


def crossings(bench: Bench, ms: int) -> list[Row]:
    """The frame rates that the text states for configurations, and what these sustain here."""
    paper = PUBLISHED["section63"]
    lowest = operating_points()[0][0]
    asked: list[tuple[str, int, Mapping, int, str]] = [
        (
            "one core, lowest frequency",
            paper["one_core_lowest_fps"],
            (0,) * 6,
            lowest,
            "theirs is where the experiment starts, not the most",
        ),
        (
            "demodulator alone on a second core, lowest frequency",
            paper["two_cores_lowest_fps"],
            ALONE,
            lowest,
            "theirs is where the experiment goes, not the most",
        ),
        (
            "one core, highest frequency",
            paper["one_core_most_fps"],
            (0,) * 6,
            HIGHEST_MHZ,
            "the platform's cycles of a frame are from this figure",
        ),
        (
            "demodulator alone on a second core, highest frequency",
            paper["two_cores_most_fps"],
            ALONE,
            HIGHEST_MHZ,
            "the core with the other tasks has 55 % of the work, so it could be more than theirs",
        ),
        (
            "demodulator and two BPFs on a second core, highest frequency",
            paper["two_cores_most_fps"],
            LOADED,
            HIGHEST_MHZ,
            "theirs is what a core with 71 % of the work sustains, which is this mapping",
        ),
    ]
    rows = []
    for what, fps, mapping, mhz, note in asked:
        ours = float(sustained(bench, mapping, mhz, ms))
        rows.append(row(f"section 6.3: most frames, {what}", fps, ours, "frames/s", note))
    return rows
