# SPDX-License-Identifier: Apache-2.0
"""What is plotted, as plain numbers; how it is drawn is chosen elsewhere."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..errors import InputError

if TYPE_CHECKING:
    from ..exploration import Exploration
    from ..runs import Run

Times: TypeAlias = list[float]

# What is nearer than this part of the picture's width is drawn as one.
_FINEST = 1 / 2000
_PAUSES = {"ready", "block", "end", "park"}


@dataclass(frozen=True)
class Span:
    """A task has a core, in seconds since the start."""

    core: int
    task: str
    begin: float
    end: float


def window(run: Run, begin: float, end: float | None) -> tuple[float, float]:
    """The part of a run that is looked at."""
    last = run.seconds if end is None else end
    if not 0 <= begin < last:
        raise InputError(f"begin={begin!r}, end={last!r}", "begin is from 0 on, and before end")
    return begin, last


def _events(run: Run, *kinds: str) -> Iterator[tuple[float, str, int, int, int, int]]:
    """Events of some kinds: seconds, kind, core, task, object, value."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = run.events
    table = table.filter(pc.is_in(table["kind"].cast(pa.string()), pa.array(kinds)))
    columns = ("time_ns", "kind", "core", "task", "object", "value")
    for ns, *rest in zip(*(table[name].to_pylist() for name in columns), strict=True):
        yield (ns / 1e9, *rest)


def spans(run: Run, begin: float, end: float) -> list[Span]:
    """Which task has each core when; short pauses are passed over."""
    from ..runs import names

    called, running, found = names(run), dict[int, tuple[int, float]](), list[Span]()
    for at, kind, core, task, _, _ in _events(run, "run", *_PAUSES):
        if core in running:
            other, since = running.pop(core)
            found.append(Span(core, called[other], max(since, begin), min(at, end)))
        if kind == "run":
            running[core] = (task, at)
    for core, (task, since) in running.items():
        found.append(Span(core, called[task], max(since, begin), end))
    seen = [span for span in found if span.begin < span.end]
    return list(_joined(seen, (end - begin) * _FINEST))


def _joined(found: list[Span], gap: float) -> Iterator[Span]:
    latest: dict[tuple[int, str], Span] = {}
    for span in found:
        key = (span.core, span.task)
        before = latest.get(key)
        if before is not None and span.begin - before.end <= gap:
            latest[key] = Span(span.core, span.task, before.begin, span.end)
            continue
        if before is not None:
            yield before
        latest[key] = span
    yield from latest.values()


def occupancies(run: Run, begin: float, end: float) -> dict[str, tuple[Times, list[int]]]:
    """Messages in each channel over time, as steps."""
    called = [channel["channel"] for channel in run.summary["channels"]]
    steps: dict[str, tuple[Times, list[int]]] = {name: ([begin], [0]) for name in called}
    for at, _, _, _, channel, depth in _events(run, "send", "receive"):
        times, depths = steps[called[channel]]
        if at < begin:
            depths[-1] = depth
        elif at <= end:
            times.append(at)
            depths.append(depth)
    for times, depths in steps.values():
        times.append(end)
        depths.append(depths[-1])
    return steps


def floorplan(run: Run) -> list[dict[str, Any]]:
    """The blocks of the run's platform, with their temperatures at the end."""
    plan = run.summary.get("floorplan")
    if not plan:
        cure = "simulate on a platform with [thermal] and [[block]], as platforms/ca9x4.toml"
        raise InputError(f"the platform {run.summary['platform']} has no floorplan", cure)
    return list(plan["blocks"])


def temperatures(run: Run, times: Times) -> list[dict[int, float]]:
    """Of each core at some times, in degrees Celsius."""
    readings: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for at, _, core, _, _, value in _events(run, "temperature"):
        readings[core].append((at, value / 1e3))
    found: list[dict[int, float]] = [{} for _ in times]
    for core, some in readings.items():
        place, latest = 0, some[0][1]
        for number, time in enumerate(times):
            while place < len(some) and some[place][0] <= time:
                latest = some[place][1]
                place += 1
            found[number][core] = latest
    return found


@dataclass(frozen=True)
class Candidates:
    """Those that ran at one frame rate."""

    rate: float | None
    rows: list[dict[str, Any]]

    @property
    def front(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["pareto"]]

    @property
    def called(self) -> str:
        return "all candidates" if self.rate is None else f"{self.rate:g} frames per second"


Column: TypeAlias = Literal[
    "energy_mj",
    "misses",
    "latency_ms",
    "cores",
    "power_mw",
    "energy_per_frame_mj",
    "energy_per_task_mj",
    "time_ms",
    "frames",
]
OBJECTIVES: dict[Column, str] = {
    "energy_mj": "energy, mJ",
    "misses": "missed deadlines",
    "latency_ms": "latency, ms",
    "cores": "cores",
    "power_mw": "mean power, mW",
    "energy_per_frame_mj": "energy per frame, mJ",
    "energy_per_task_mj": "energy per firing of a task, mJ",
    "time_ms": "run time, ms",
    "frames": "frames",
}


def candidates(explored: Exploration) -> list[Candidates]:
    """By frame rate: energies of different rates are not to be compared."""
    rates: dict[float | None, list[dict[str, Any]]] = defaultdict(list)
    for row in explored.table.to_pylist():
        rates[row["rate"]].append(row)
    return [Candidates(rate, rows) for rate, rows in sorted(rates.items(), key=lambda r: r[0] or 0)]


def objective(name: str, value: Column) -> str:
    """What an axis shows."""
    if value not in OBJECTIVES:
        raise InputError(f"{name}={value!r}", f"take one of {', '.join(OBJECTIVES)}")
    return OBJECTIVES[value]


@dataclass(frozen=True)
class LeastEnergy:
    """Of each frame rate at which deadlines can be kept, the candidate that keeps them with the
    least energy per frame, or the least power where no frame came to the end of the application."""

    rates: list[float]
    power_mw: list[float]
    frame_mj: list[float | None]


ENERGIES = OBJECTIVES["power_mw"], OBJECTIVES["energy_per_frame_mj"]


def least_energy(explored: Exploration) -> LeastEnergy:
    """By frame rate."""
    found = LeastEnergy([], [], [])
    for of_rate in candidates(explored):
        kept = [row for row in of_rate.rows if row["misses"] == 0]
        if of_rate.rate is None or not kept:
            continue
        best = min(kept, key=lambda row: (row["energy_per_frame_mj"] or math.inf, row["power_mw"]))
        found.rates.append(of_rate.rate)
        found.power_mw.append(best["power_mw"])
        found.frame_mj.append(best["energy_per_frame_mj"])
    return found


Value: TypeAlias = Literal["energy_mj", "misses", "latency_ms", "frames", "seconds"]
VALUES: dict[Value, str] = {
    "energy_mj": "energy, mJ",
    "misses": "missed deadlines",
    "latency_ms": "latency, ms",
    "frames": "frames",
    "seconds": "time, s",
}


@dataclass(frozen=True)
class Mean:
    """Of several runs; half of the 95 % interval around it, if there are two runs or more."""

    centre: float
    half: float | None


def mean(some: list[float]) -> Mean:
    """By Student's t, for values that are distributed normally."""
    if len(some) < 2:
        return Mean(fmean(some), None)
    from scipy import stats

    half = float(stats.t.ppf(0.975, len(some) - 1)) * stdev(some) / sqrt(len(some))
    return Mean(fmean(some), half)


def means(runs: Mapping[str, Iterable[Run]], values: Iterable[Value]) -> dict[str, list[Mean]]:
    """Of each value, by the words of its axis, in the order of the runs' names."""
    kept = {name: list(some) for name, some in runs.items()}
    if not kept or not all(kept.values()):
        raise InputError("over_seeds has no runs to show", "give one or more runs under each name")
    found: dict[str, list[Mean]] = {}
    for value in values:
        if value not in VALUES:
            raise InputError(f"the value {value!r} is unknown", f"take one of {', '.join(VALUES)}")
        every = {name: [getattr(run, value) for run in some] for name, some in kept.items()}
        for name, some in every.items():
            if None in some:
                cure = "take another value, or simulate until a frame ends"
                raise InputError(f"a run of {name!r} has no {value}", cure)
        found[VALUES[value]] = [mean(some) for some in every.values()]
    return found
