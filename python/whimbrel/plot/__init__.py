# SPDX-License-Identifier: Apache-2.0
"""Figures of runs and explorations by matplotlib, for papers.

A notebook shows them; `savefig` writes them. `width` is that of a column: "ieee" (3.5 inches),
"ieee2" (7.16, both columns), "acm" (3.33), "acm2" (7), "lncs" (4.8), or inches; text is of 8 points
then.

`whimbrel.plot.pages` has them for pages, by plotly; `chart` is what the figures of reproduce/ are
made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib import import_module
from itertools import product
from textwrap import fill
from types import ModuleType
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.animation import FuncAnimation
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.ticker import MaxNLocator

from . import series
from .chart import HATCHES, Axis, Chip, Figure, Floorplans, Plot, Width, draw, from_zero, inches

if TYPE_CHECKING:
    from ..exploration import Exploration
    from ..runs import Run
    from . import pages

__all__ = [
    "Animation",
    "Axis",
    "Chip",
    "Figure",
    "Floorplans",
    "Plot",
    "energy_by_rate",
    "occupancy",
    "over_seeds",
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


class Animation(FuncAnimation):
    """An animation that a notebook shows with buttons.

    Examples:
        >>> hot = whimbrel.simulate(player, "ca9x4", duration=1, record=True)
        >>> whimbrel.plot.thermal_animation(hot, frames=2).save("hot.gif")
    """

    def _repr_html_(self) -> str:
        return str(self.to_jshtml())


def _figure(rows: int, height: float, width: Width) -> tuple[Figure, list[Any]]:
    figure = Figure((8, max(2.2, height * rows + 0.8)), width)
    with mpl.rc_context(figure.style):
        return figure, list(figure.subplots(rows, 1, squeeze=False, sharex=True)[:, 0])


def timeline(
    run: Run, *, begin: float = 0, end: float | None = None, width: Width = None
) -> Figure:
    """Which task has each core when (Gantt), of a recorded run.

    The 80 tasks that run the longest have each a colour with a hatching; all others are grey.

    Args:
        run: A recorded run.
        begin: Where it begins, in seconds.
        end: Where it ends, in seconds; the end of the run if not said.
        width: The width of a column, such as "ieee", or inches.

    Raises:
        InputError: The run was not recorded, or there is no such time.

    Examples:
        >>> whimbrel.plot.timeline(run, end=0.01, width="ieee").savefig("timeline.svg")
    """
    begin, end = series.window(run, begin, end)
    bars, busy = dict[tuple[str, int], list[tuple[float, float]]](), defaultdict[str, float](float)
    for span in series.spans(run, begin, end):
        bar = (span.begin, span.end - span.begin)
        bars.setdefault((span.task, span.core), []).append(bar)
        busy[span.task] += bar[1]
    cores = len(run.summary["cores"])
    figure, (axes,) = _figure(1, 0.45 * cores, width)
    styles = list(product(HATCHES, map(mpl.colormaps["tab20"], range(20))))
    own = set(sorted(busy, key=lambda task: -busy[task])[: len(styles)])
    style = dict(zip((task for task in busy if task in own), styles, strict=False))
    named: dict[str, Any] = {}
    with mpl.rc_context(figure.style):
        for (task, core), of_task in bars.items():
            hatch, colour = style.get(task, ("", "#bbbbbb"))
            label = task if task in style else f"{len(busy) - len(style)} other tasks"
            shown = axes.broken_barh(of_task, (core - 0.4, 0.8), color=colour, label=label)
            shown.set(hatch=hatch, edgecolor="white" if hatch else colour, linewidth=0)
            named.setdefault(label, shown)
        axes.set(xlabel="time, s", xlim=(begin, end), ylim=(cores - 0.5, -0.5), title=_of(run))
        axes.set_yticks(range(cores), [f"core {core}" for core in range(cores)])
        axes.grid(visible=False)
        figure.key(*named.values())
    figure.fit()
    return figure


def occupancy(
    run: Run, *, begin: float = 0, end: float | None = None, width: Width = None
) -> Figure:
    """How many messages each channel of a recorded run has over time, and how many fit.

    Args:
        run: A recorded run.
        begin: Where it begins, in seconds.
        end: Where it ends, in seconds; the end of the run if not said.
        width: The width of a column, such as "ieee", or inches.

    Raises:
        InputError: The run was not recorded, or there is no such time.

    Examples:
        >>> whimbrel.plot.occupancy(run, end=0.01).savefig("occupancy.pdf")
    """
    begin, end = series.window(run, begin, end)
    steps = series.occupancies(run, begin, end)
    figure, every = _figure(max(len(steps), 1), 0.8, width)
    with mpl.rc_context(figure.style):
        for axes, channel in zip(every, run.summary["channels"], strict=False):
            times, depths = steps[channel["channel"]]
            axes.step(times, depths, where="post", marker="", linewidth=1)
            axes.axhline(channel["slots"], color="#777777", linestyle="--", linewidth=1, marker="")
            axes.set_title(channel["channel"], fontsize="small", loc="left")
            axes.yaxis.set_major_locator(MaxNLocator(2, integer=True))
            from_zero(axes)
        every[-1].set(xlabel="time, s", xlim=(begin, end))
        figure.supylabel("messages", fontsize="medium")
    figure.fit()
    return figure


def pareto(
    explored: Exploration,
    x: series.Column = "latency_ms",
    y: series.Column = "energy_mj",
    *,
    width: Width = None,
) -> Figure:
    """All candidates and the front, for each frame rate by itself.

    Args:
        explored: What an exploration has found.
        x: What goes to the right: "latency_ms", "energy_mj", "misses", "cores", "power_mw",
            "energy_per_frame_mj", "energy_per_task_mj", "time_ms" or "frames".
        y: What goes up, one of the same.
        width: The width of a column, such as "ieee", or inches.

    Raises:
        InputError: There is no such objective.

    Examples:
        >>> whimbrel.plot.pareto(found, x="cores").savefig("front.png")
    """
    words = series.objective("x", x), series.objective("y", y)
    rates = series.candidates(explored)
    # As many beside each other as have room for their numbers.
    most = 3 if width is None else max(1, int(inches(width) / 2.3))
    columns = min(max(len(rates), 1), most)
    rows = -(-max(len(rates), 1) // columns)
    figure = Figure((4.2 * columns, 3.6 * rows), width)
    with mpl.rc_context(figure.style):
        every = figure.subplots(rows, columns, squeeze=False).flat
        for axes, of_rate in zip(every, rates, strict=False):
            for some, colour, mark, label in (
                (of_rate.rows, "#bbbbbb", "o", "ran"),
                (of_rate.front, "#c4451c", "D", "front"),
            ):
                there = [row for row in some if row[x] is not None and row[y] is not None]
                places = [row[x] for row in there], [row[y] for row in there]
                axes.plot(*places, color=colour, label=label, linestyle="", marker=mark)
            axes.set(title=of_rate.called, xlabel=words[0], ylabel=words[1])
        for axes in list(every)[len(rates) :]:
            axes.remove()
        if rates:
            figure.key(*figure.axes[0].lines)
    figure.fit()
    return figure


def energy_by_rate(explored: Exploration, *, width: Width = None) -> Figure:
    """The least energy per frame without a missed deadline at each frame rate: mean power above,
    and energy per frame below.

    The energy of a whole candidate is not comparable: at a higher rate it has more frames, and
    other candidates may have run for another time.

    Args:
        explored: What an exploration has found.
        width: The width of a column, such as "ieee", or inches.

    Examples:
        >>> whimbrel.plot.energy_by_rate(found).savefig("energy.svg")
    """
    found = series.least_energy(explored)
    figure, every = _figure(2, 2.2, width)
    with mpl.rc_context(figure.style):
        for axes, of_rate, label in zip(
            every, (found.power_mw, found.frame_mj), series.ENERGIES, strict=True
        ):
            if found.rates:
                axes.plot(found.rates, of_rate)
            axes.set_ylabel(label)
            from_zero(axes)
        every[-1].set_xlabel("frames per second")
    figure.fit()
    return figure


def over_seeds(
    runs: Mapping[str, Iterable[Run]],
    *values: series.Value,
    width: Width = None,
) -> Figure:
    """Means of runs that differ by their seeds, each with its 95 % interval (Student's t).

    Args:
        runs: Runs under the name of what they have in common, such as a policy.
        values: Attributes of runs: "energy_mj", "misses", "latency_ms", "frames" or "seconds";
            "energy_mj" and "misses" if not said.
        width: The width of a column, such as "ieee", or inches.

    Raises:
        InputError: There is no such value, or a run does not have it.

    Examples:
        >>> runs = [whimbrel.simulate(player, fast, duration=1, seed=seed) for seed in (1, 2, 3)]
        >>> whimbrel.plot.over_seeds({"player": runs}, "energy_mj").savefig("seeds.svg")
    """
    found = series.means(runs, values or ("energy_mj", "misses"))
    names = [fill(name, 32 if width is None else 20) for name in runs]
    lines = sum(name.count("\n") + 2 for name in names)
    figure = Figure((4.2 * len(found), 0.9 + 0.18 * lines), width)
    with mpl.rc_context(figure.style):
        every = figure.subplots(1, len(found), squeeze=False, sharey=True)[0]
        for axes, (label, means) in zip(every, found.items(), strict=True):
            centres, halves = [mean.centre for mean in means], [mean.half or 0 for mean in means]
            axes.errorbar(centres, range(len(means)), xerr=halves, linestyle="", capsize=3)
            axes.set_xlabel(label)
            axes.grid(visible=True, axis="x")
        every[0].set_yticks(range(len(runs)), names)
        every[0].set_ylim(len(runs) - 0.5, -0.5)
    figure.fit()
    return figure


def thermal_map(run: Run, *, width: Width = None) -> Figure:
    """The floorplan with the temperatures at the end of a run.

    Args:
        run: A run on a platform with a floorplan.
        width: The width of a column, such as "ieee", or inches.

    Raises:
        InputError: The platform has no floorplan.

    Examples:
        >>> hot = whimbrel.simulate(player, "ca9x4", duration=1)
        >>> whimbrel.plot.thermal_map(hot).savefig("chip.svg")
    """
    blocks = series.floorplan(run)
    celsius = [block["temperature_mc"] / 1e3 for block in blocks]
    return Floorplans(_of(run), [Chip("", blocks, celsius)], width).figure


def thermal_animation(run: Run, frames: int = 50, *, interval_ms: int = 100) -> Animation:
    """The floorplan over a recorded run; blocks without a core keep the colour of the end.

    Args:
        run: A recorded run.
        frames: How many pictures it has.
        interval_ms: How long each is shown, in milliseconds.

    Raises:
        InputError: The platform has no floorplan, or the run was not recorded.

    Examples:
        >>> hot = whimbrel.simulate(player, "ca9x4", duration=1, record=True)
        >>> whimbrel.plot.thermal_animation(hot, frames=2, interval_ms=500).save("chip.gif")
    """
    blocks = series.floorplan(run)
    times = [run.seconds * number / max(frames - 1, 1) for number in range(frames)]
    readings = series.temperatures(run, times)
    ends = [block["temperature_mc"] / 1e3 for block in blocks]
    every = ends + [value for reading in readings for value in reading.values()]
    colours = ScalarMappable(Normalize(min(every), max(every)), "coolwarm")
    figure = Figure((5.2, 4.4))
    with mpl.rc_context(figure.style):
        axes = figure.subplots()
        figure.colorbar(colours, ax=axes, label="°C")

    def show(number: int) -> list[Any]:
        reading = readings[number]
        pairs = zip(blocks, ends, strict=True)
        celsius = [reading.get(block["core"], end) for block, end in pairs]
        axes.clear()
        draw(axes, Chip(f"{times[number]:.3g} s", blocks, celsius), colours)
        return list(axes.patches)

    return Animation(figure, show, frames=frames, interval=interval_ms)


def _of(run: Run) -> str:
    return f"{run.summary['app']['name']} on {run.summary['platform']}"
