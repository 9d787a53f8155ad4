# SPDX-License-Identifier: Apache-2.0
"""Plots in one style, written as SVG or PNG by the name of their file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

Point = tuple[float, float]

STYLE: Any = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(
        color=["#1b6ca8", "#c4451c", "#3c8d40", "#7a4fa3", "#b8860b", "#5f6b73"],
        marker=["o", "s", "^", "D", "v", "P"],
    ),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "grid.color": "#dddddd",
    "lines.markersize": 4,
    "savefig.dpi": 150,
    # The same plot is the same file, and its text can be searched for.
    "svg.fonttype": "none",
    "svg.hashsalt": "whimbrel",
}


@dataclass(frozen=True)
class Axis:
    """An axis: what it measures in which unit, and whether its scale is logarithmic."""

    label: str
    logarithmic: bool = False


class Plot:
    """Points, lines or bars over two axes."""

    @mpl.rc_context(STYLE)
    def __init__(self, title: str, x: Axis, y: Axis) -> None:
        self.figure = Figure(figsize=(7, 4.2))
        self.axes = self.figure.subplots()
        self.axes.set(title=title, xlabel=x.label, ylabel=y.label)
        self.axes.set_xscale("log" if x.logarithmic else "linear")
        self.axes.set_yscale("log" if y.logarithmic else "linear")

    def add(self, name: str, points: Iterable[Point], line: bool = False) -> None:
        """Adds points, or a line without marks."""
        xs, ys = zip(*points, strict=True)
        style: Any = {"marker": "", "linestyle": "-"} if line else {"linestyle": ""}
        self.axes.plot(xs, ys, label=name, gid=f"series {name}", **style)

    def limit(self, name: str, y: float) -> None:
        """Adds a horizontal line."""
        style: Any = {"color": "#777777", "linestyle": "--", "linewidth": 1, "marker": ""}
        self.axes.axhline(y, label=name, gid=f"series {name}", **style)

    def bars(self, groups: Mapping[str, Mapping[str, float | None]]) -> None:
        """Bars side by side in groups; what was not measured has no bar."""
        series = list(dict.fromkeys(name for group in groups.values() for name in group))
        width = 0.8 / max(len(series), 1)
        for place, name in enumerate(series):
            found = [(at, group.get(name)) for at, group in enumerate(groups.values())]
            kept = [(at, value) for at, value in found if value is not None]
            for bar in self.axes.bar(
                [at - 0.4 + width * (place + 0.5) for at, _ in kept],
                [value for _, value in kept],
                width,
                label=name,
            ):
                bar.set_gid(f"bar {name}")
        self.axes.set_xticks(range(len(groups)), list(groups))

    def write(self, path: Path) -> None:
        """Into a file."""
        if self.axes.get_yscale() == "linear":
            self.axes.set_ylim(bottom=0)
        _, names = self.axes.get_legend_handles_labels()
        if len(names) > 4:
            self.axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
        elif names:
            self.axes.legend()
        save(self.figure, path)


@dataclass(frozen=True)
class Chip:
    """A floorplan, with the temperature of each block in degrees Celsius."""

    title: str
    blocks: list[dict[str, Any]]
    temperatures: list[float]


class Floorplans:
    """Chips side by side, coloured by temperature on one scale."""

    @mpl.rc_context(STYLE)
    def __init__(self, title: str, chips: list[Chip]) -> None:
        self.figure = Figure(figsize=(4.2 * len(chips) + 1, 4.4))
        self.figure.suptitle(title, fontsize="medium")
        celsius = [value for chip in chips for value in chip.temperatures]
        colours = ScalarMappable(Normalize(min(celsius), max(celsius)), "coolwarm")
        every = self.figure.subplots(1, len(chips), squeeze=False)[0]
        for axes, chip in zip(every, chips, strict=True):
            draw(axes, chip, colours)
        self.figure.colorbar(colours, ax=list(every), label="°C")

    def write(self, path: Path) -> None:
        """Into a file."""
        save(self.figure, path)


def draw(axes: Any, chip: Chip, colours: Any) -> None:
    """One floorplan, each block with its temperature where there is room for the number."""
    axes.set(title=chip.title, xlabel="mm", ylabel="mm", aspect="equal")
    axes.grid(visible=False)
    width = max(block["x_mm"] + block["width_mm"] for block in chip.blocks)
    for block, celsius in zip(chip.blocks, chip.temperatures, strict=True):
        x, y, w, h = (block[key] for key in ("x_mm", "y_mm", "width_mm", "height_mm"))
        fill = colours.to_rgba(celsius)
        axes.add_patch(Rectangle((x, y), w, h, facecolor=fill, edgecolor="white", gid="block"))
        if w > width / 6:
            axes.text(x + w / 2, y + h / 2, f"{celsius:.1f}", ha="center", va="center")
    axes.autoscale_view()


@mpl.rc_context(STYLE)
def save(figure: Figure, path: Path) -> None:
    """Writes a figure without the time of its making."""
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
