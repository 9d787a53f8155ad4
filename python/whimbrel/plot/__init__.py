# SPDX-License-Identifier: Apache-2.0
"""Figures of runs and explorations by matplotlib, for papers.

`whimbrel.plot.pages` has them for pages, by plotly; `chart` is what the figures of reproduce/ are
made of.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.animation import FuncAnimation
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from . import series
from .chart import STYLE, Axis, Chip, Floorplans, Plot, draw

if TYPE_CHECKING:
    from ..exploration import Exploration
    from ..runs import Run
    from . import pages

__all__ = [
    "Axis",
    "Chip",
    "Floorplans",
    "Plot",
    "energy_by_rate",
    "occupancy",
    "pages",
    "pareto",
    "thermal_animation",
    "thermal_map",
    "timeline",
]


def __getattr__(name: str) -> ModuleType:
    # Plotly takes a while to import, and not everybody has it.
    if name == "pages":
        return import_module(f"{__name__}.pages")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _figure(rows: int, height: float) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(8, max(2.2, height * rows + 0.8)))
    return figure, list(figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0])


@mpl.rc_context(STYLE)
def timeline(run: Run, *, begin: float = 0, end: float | None = None) -> Figure:
    """Which task has each core when (Gantt), of a recorded run.

    Args:
        run: A recorded run.
        begin: Where it begins, in seconds.
        end: Where it ends, in seconds; the end of the run if not said.

    Raises:
        InputError: The run was not recorded, or there is no such time.
    """
    begin, end = series.window(run, begin, end)
    spans = series.spans(run, begin, end)
    cores = len(run.summary["cores"])
    figure, (axes,) = _figure(1, 0.45 * cores)
    # As they are: the cycle of a style would be another when the figure is written.
    colours = mpl.colormaps["tab20"]
    for number, task in enumerate(dict.fromkeys(span.task for span in spans)):
        of_task = [span for span in spans if span.task == task]
        for core in range(cores):
            bars = [(s.begin, s.end - s.begin) for s in of_task if s.core == core]
            label = task if core == of_task[0].core else None
            if bars:
                axes.broken_barh(bars, (core - 0.4, 0.8), color=colours(number % 20), label=label)
    axes.set(xlabel="s", xlim=(begin, end), ylim=(cores - 0.5, -0.5), title=_of(run))
    axes.set_yticks(range(cores), [f"core {core}" for core in range(cores)])
    axes.grid(visible=False)
    if spans:
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
    return figure


@mpl.rc_context(STYLE)
def occupancy(run: Run, *, begin: float = 0, end: float | None = None) -> Figure:
    """How many messages each channel of a recorded run has over time, and how many fit.

    Args:
        run: A recorded run.
        begin: Where it begins, in seconds.
        end: Where it ends, in seconds; the end of the run if not said.

    Raises:
        InputError: The run was not recorded, or there is no such time.
    """
    begin, end = series.window(run, begin, end)
    steps = series.occupancies(run, begin, end)
    figure, every = _figure(max(len(steps), 1), 0.8)
    for axes, channel in zip(every, run.summary["channels"], strict=False):
        times, depths = steps[channel["channel"]]
        axes.step(times, depths, where="post", marker="")
        axes.axhline(channel["slots"], color="#777777", linestyle="--", linewidth=1, marker="")
        axes.set_title(channel["channel"], fontsize="small", loc="left")
        axes.set_ylim(bottom=0)
    every[-1].set(xlabel="s", xlim=(begin, end))
    return figure


@mpl.rc_context(STYLE)
def pareto(explored: Exploration, x: str = "latency_ms", y: str = "energy_mj") -> Figure:
    """All candidates and the front, for each frame rate by itself.

    Args:
        explored: What an exploration has found.
        x: What goes to the right: "latency_ms", "energy_mj", "misses" or "cores".
        y: What goes up, one of the same.

    Raises:
        InputError: There is no such objective.
    """
    words = series.objective("x", x), series.objective("y", y)
    rates = series.candidates(explored)
    figure = Figure(figsize=(4.2 * max(len(rates), 1), 3.8))
    every = figure.subplots(1, max(len(rates), 1), squeeze=False)[0]
    for axes, of_rate in zip(every, rates, strict=False):
        for rows, colour, label in (
            (of_rate.rows, "#bbbbbb", "ran"),
            (of_rate.front, "#c4451c", "front"),
        ):
            there = [row for row in rows if row[x] is not None and row[y] is not None]
            places = [row[x] for row in there], [row[y] for row in there]
            axes.plot(*places, color=colour, label=label, linestyle="", marker="o")
        axes.set(title=of_rate.called, xlabel=words[0], ylabel=words[1])
        axes.legend()
    return figure


@mpl.rc_context(STYLE)
def energy_by_rate(explored: Exploration) -> Figure:
    """The least energy without a missed deadline at each frame rate: mean power above, and energy
    per frame below.

    The energy of a whole candidate is not comparable: at a higher rate it has more frames, and
    other candidates may have run for another time.
    """
    found = series.least_energy(explored)
    figure, every = _figure(2, 2.2)
    for axes, of_rate in zip(every, (found.power_mw, found.frame_mj), strict=True):
        if found.rates:
            axes.plot(found.rates, of_rate)
        axes.set_ylim(bottom=0)
    for axes, label in zip(every, series.ENERGIES, strict=True):
        axes.set_ylabel(label)
    every[-1].set_xlabel("frames per second")
    return figure


@mpl.rc_context(STYLE)
def thermal_map(run: Run) -> Figure:
    """The floorplan with the temperatures at the end of a run.

    Raises:
        InputError: The platform has no floorplan.
    """
    blocks = series.floorplan(run)
    celsius = [block["temperature_mc"] / 1e3 for block in blocks]
    return Floorplans(_of(run), [Chip("", blocks, celsius)]).figure


@mpl.rc_context(STYLE)
def thermal_animation(run: Run, frames: int = 50, *, interval_ms: int = 100) -> FuncAnimation:
    """The floorplan over a recorded run; blocks without a core keep the colour of the end.

    Args:
        run: A recorded run.
        frames: How many pictures it has.
        interval_ms: How long each is shown, in milliseconds.

    Raises:
        InputError: The platform has no floorplan, or the run was not recorded.
    """
    blocks = series.floorplan(run)
    times = [run.seconds * number / max(frames - 1, 1) for number in range(frames)]
    readings = series.temperatures(run, times)
    ends = [block["temperature_mc"] / 1e3 for block in blocks]
    every = ends + [value for reading in readings for value in reading.values()]
    colours = ScalarMappable(Normalize(min(every), max(every)), "coolwarm")
    figure = Figure(figsize=(5.2, 4.4))
    axes = figure.subplots()
    figure.colorbar(colours, ax=axes, label="°C")

    def show(number: int) -> list[Any]:
        reading = readings[number]
        pairs = zip(blocks, ends, strict=True)
        celsius = [reading.get(block["core"], end) for block, end in pairs]
        axes.clear()
        draw(axes, Chip(f"{times[number]:.3g} s", blocks, celsius), colours)
        return list(axes.patches)

    return FuncAnimation(figure, show, frames=frames, interval=interval_ms)


def _of(run: Run) -> str:
    return f"{run.summary['app']['name']} on {run.summary['platform']}"
