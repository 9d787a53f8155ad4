# SPDX-License-Identifier: Apache-2.0
"""Plots in one style, written as SVG, PDF or PNG by the name of their file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from cycler import cycler
from matplotlib import figure as mpl_figure
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from .._help import described
from ..errors import InputError

Point = tuple[float, float]
Column = Literal["ieee", "ieee2", "acm", "acm2", "lncs"]
Width = Column | float | None

# The columns of templates, in inches: one, and the width of a page with two.
WIDTHS: dict[str, float] = {"ieee": 3.5, "ieee2": 7.16, "acm": 3.33, "acm2": 7.0, "lncs": 4.8}

_COLOURS = ["#1b6ca8", "#c4451c", "#3c8d40", "#7a4fa3", "#b8860b", "#5f6b73"]
_MARKERS = ["o", "s", "^", "D", "v", "P"]
_LINES = ["-", "--", ":", "-."]
HATCHES = ["", "//", "..", "xx"]

STYLE: Any = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    # 24 styles: when the colours begin again, each has another mark and another line.
    "axes.prop_cycle": cycler(
        color=_COLOURS * len(_LINES),
        marker=[_MARKERS[(at + at // 6) % 6] for at in range(6 * len(_LINES))],
        linestyle=[line for line in _LINES for _ in _COLOURS],
    ),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "grid.color": "#dddddd",
    "lines.markersize": 4,
    # Fonts that are embedded as they are, which publishers ask for.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "savefig.dpi": 150,
    # The same plot is the same file, and its text can be searched for.
    "svg.fonttype": "none",
    "svg.hashsalt": "whimbrel",
}


# A file without the time of its making.
_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


@described
class Figure(mpl_figure.Figure):
    """A figure in the style, which a notebook shows without pyplot and without a display.

    Args:
        size: Its width and height, in inches.
        width: The width of a column, such as "ieee", or inches; replaces that of `size`.

    Examples:
        >>> figure = whimbrel.plot.Figure((3, 2), width="ieee")
        >>> figure.subplots().set_xlim(0, 10)
        (0.0, 10.0)
        >>> figure.savefig("lines.svg")
    """

    def __init__(self, size: tuple[float, float], width: Width = None) -> None:
        self.style = STYLE
        """The settings of matplotlib by which it is drawn."""
        if width is not None:
            # Text as small as that of captions, so less room for it.
            self.style = STYLE | {"font.size": 8, "lines.linewidth": 1, "lines.markersize": 3}
            size = inches(width), size[1] * 0.8
        with mpl.rc_context(self.style):
            super().__init__(figsize=size)

    # Matplotlib makes ticks and embeds fonts as late as here, by the style of then.

    def draw(self, renderer: Any) -> None:
        """Draws it in its style.

        Examples:
            >>> whimbrel.plot.Figure((3, 2)).draw_without_rendering()
        """
        with mpl.rc_context(self.style):
            super().draw(renderer)

    def savefig(self, fname: Any, **options: Any) -> None:
        """Writes it, the same figure as the same bytes.

        Examples:
            >>> whimbrel.plot.timeline(run, end=0.01).savefig("timeline.pdf")
        """
        kind = options.get("format") or Path(str(fname)).suffix[1:]
        options.setdefault("metadata", _UNDATED.get(kind))
        with mpl.rc_context(self.style):
            super().savefig(fname, **options)

    def fit(self) -> None:
        """Shows fewer numbers at axes where they would overlap.

        Examples:
            >>> whimbrel.plot.Figure((3, 2)).fit()
        """
        for bins in (5, 4, 3, 2, 1):
            self.draw_without_rendering()
            full = [axes.xaxis for axes in self.axes if _crowded(axes.xaxis)]
            for axis in full:
                axis.set_major_locator(MaxNLocator(bins))
            if not full:
                return

    def key(self, *named: Any) -> None:
        """Explains styles under the figure, which grows by what that takes.

        Examples:
            >>> from matplotlib.lines import Line2D
            >>> whimbrel.plot.Figure((3, 2)).key(Line2D([], [], label="load"))
        """
        first = self.legend(handles=named, loc="outside lower center")
        columns = max(1, int(self.bbox.width // first.get_window_extent().width))
        first.remove()
        legend = self.legend(handles=named, loc="outside lower center", ncols=columns)
        self.set_figheight(self.get_figheight() + legend.get_window_extent().height / self.dpi)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        # Of twice the pixels, for screens that have them.
        picture, (width, height) = BytesIO(), self.get_size_inches() * self.dpi
        self.savefig(picture, format="png", dpi=2 * self.dpi)
        return picture.getvalue(), {"width": round(width), "height": round(height)}


def inches(width: str | float) -> float:
    """The width of a figure."""
    said = WIDTHS.get(width) if isinstance(width, str) else width
    if said is not None and not isinstance(said, bool) and 1 <= said <= 100:
        return said
    raise InputError(f"width={width!r}", f"take 1 to 100 inches, or one of {', '.join(WIDTHS)}")


def _crowded(axis: Any) -> bool:
    if axis.get_scale() != "linear" or not isinstance(axis.get_major_locator(), MaxNLocator):
        return False
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [tick.label1.get_window_extent() for tick in ticks if tick.label1.get_visible()]
    return any(left.x1 + 4 > right.x0 for left, right in pairwise(boxes))


@described
@dataclass(frozen=True)
class Axis:
    """An axis: what it measures in which unit, and whether its scale is logarithmic.

    Examples:
        >>> whimbrel.plot.Axis("time, s", logarithmic=True)
        Axis(label='time, s', logarithmic=True)
    """

    label: str
    """The quantity and its unit."""
    logarithmic: bool = False
    """Whether its scale is logarithmic."""


@described
class Plot:
    """Points, lines or bars over two axes.

    Args:
        title: What is written above it.
        x: The axis to the right.
        y: The axis upwards.

    Examples:
        >>> axes = whimbrel.plot.Axis("cores"), whimbrel.plot.Axis("energy, mJ")
        >>> plot = whimbrel.plot.Plot("", *axes)
        >>> plot.add("radio", [(1, 40), (2, 30)])
        >>> plot.write("energy.svg")
    """

    @mpl.rc_context(STYLE)
    def __init__(self, title: str, x: Axis, y: Axis) -> None:
        self.figure = Figure((7, 4.2))
        """The figure, of 7 by 4.2 inches."""
        self.limits = 0
        """The number of lines that `limit` has added."""
        self.axes = self.figure.subplots()
        """The axes of matplotlib."""
        self.axes.set(title=title, xlabel=x.label, ylabel=y.label)
        self.axes.set_xscale("log" if x.logarithmic else "linear")
        self.axes.set_yscale("log" if y.logarithmic else "linear")

    def add(self, name: str, points: Iterable[Point], line: bool = False) -> None:
        """Adds points, or a line without marks.

        Args:
            name: What the key calls them.
            points: Pairs of x and y, at least one, in the units of the axes.
            line: Whether they are joined by a line.

        Examples:
            >>> axes = whimbrel.plot.Axis("cores"), whimbrel.plot.Axis("energy, mJ")
            >>> plot = whimbrel.plot.Plot("", *axes)
            >>> plot.add("radio", [(1, 40), (2, 30)], line=True)
        """
        xs, ys = zip(*points, strict=True)
        style: Any = {"marker": ""} if line else {"linestyle": ""}
        self.axes.plot(xs, ys, label=name, gid=f"series {name}", **style)

    def limit(self, name: str, y: float) -> None:
        """Adds a horizontal line.

        Args:
            name: What the key calls it.
            y: Its height, in the unit of the axis.

        Examples:
            >>> axes = whimbrel.plot.Axis("cores"), whimbrel.plot.Axis("energy, mJ")
            >>> plot = whimbrel.plot.Plot("", *axes)
            >>> plot.limit("battery", 50)
        """
        self.limits += 1
        line = _LINES[self.limits % len(_LINES)]
        style: Any = {"color": "#777777", "linestyle": line, "linewidth": 1, "marker": ""}
        self.axes.axhline(y, label=name, gid=f"series {name}", **style)

    def bars(self, groups: Mapping[str, Mapping[str, float | None]]) -> None:
        """Bars side by side in groups; what was not measured has no bar.

        Args:
            groups: For each group the heights of its bars by their names, in the unit of the axis;
                None: not measured.

        Examples:
            >>> axes = whimbrel.plot.Axis(""), whimbrel.plot.Axis("energy, mJ")
            >>> plot = whimbrel.plot.Plot("", *axes)
            >>> plot.bars({"one core": {"radio": 40}, "two cores": {"radio": 30}})
        """
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
                hatch=HATCHES[place // len(_COLOURS) % len(HATCHES)],
            ):
                bar.set_gid(f"bar {name}")
        self.axes.set_xticks(range(len(groups)), list(groups))

    def write(self, path: str | PathLike[str]) -> None:
        """Into a file.

        Examples:
            >>> axes = whimbrel.plot.Axis("cores"), whimbrel.plot.Axis("energy, mJ")
            >>> plot = whimbrel.plot.Plot("", *axes)
            >>> plot.write("empty.svg")
        """
        if self.axes.get_yscale() == "linear":
            from_zero(self.axes)
        _, names = self.axes.get_legend_handles_labels()
        if len(names) > 4 or self.limits > 1:
            self.axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1))
        elif names:
            self.axes.legend()
        self.figure.savefig(path)


@described
@dataclass(frozen=True)
class Chip:
    """A floorplan, with the temperature of each block in degrees Celsius.

    Examples:
        >>> block = {"x_mm": 0, "y_mm": 0, "width_mm": 2, "height_mm": 1}
        >>> whimbrel.plot.Chip("idle", [block], [41.5]).temperatures
        [41.5]
    """

    title: str
    """What is written above it."""
    blocks: list[dict[str, Any]]
    """Rectangles: `x_mm`, `y_mm`, `width_mm` and `height_mm` of each."""
    temperatures: list[float]
    """The temperature of each block, in degrees Celsius."""


@described
class Floorplans:
    """Chips side by side, coloured by temperature on one scale.

    Args:
        title: What is written above them.
        chips: The chips, at least one.
        width: The width of a column, such as "ieee", or inches.

    Examples:
        >>> block = {"x_mm": 0, "y_mm": 0, "width_mm": 2, "height_mm": 1}
        >>> chips = [whimbrel.plot.Chip(str(at), [block], [at]) for at in (40.0, 60.0)]
        >>> whimbrel.plot.Floorplans("before and after", chips).write("chips.svg")
    """

    def __init__(self, title: str, chips: list[Chip], width: Width = None) -> None:
        self.figure = Figure((4.2 * len(chips) + 1, 4.4), width)
        """The figure."""
        celsius = [value for chip in chips for value in chip.temperatures]
        colours = ScalarMappable(Normalize(min(celsius), max(celsius)), "coolwarm")
        with mpl.rc_context(self.figure.style):
            self.figure.suptitle(title, fontsize="medium")
            every = self.figure.subplots(1, len(chips), squeeze=False)[0]
            for axes, chip in zip(every, chips, strict=True):
                draw(axes, chip, colours)
            self.figure.colorbar(colours, ax=list(every), label="°C")
        self.figure.fit()

    def write(self, path: str | PathLike[str]) -> None:
        """Into a file.

        Examples:
            >>> block = {"x_mm": 0, "y_mm": 0, "width_mm": 2, "height_mm": 1}
            >>> chips = [whimbrel.plot.Chip("", [block], [40.0])]
            >>> whimbrel.plot.Floorplans("idle", chips).write("chip.svg")
        """
        self.figure.savefig(path)


def from_zero(axes: Any) -> None:
    """Has the axis of y begin at zero; values that are close to each other are not cut then."""
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.03 * axes.dataLim.y1))


def draw(axes: Any, chip: Chip, colours: Any) -> None:
    """One floorplan, each block with its temperature where there is room for the number."""
    axes.set(title=chip.title, xlabel="mm", ylabel="mm", aspect="equal")
    axes.grid(visible=False)
    numbers = []
    for block, celsius in zip(chip.blocks, chip.temperatures, strict=True):
        x, y, w, h = (block[key] for key in ("x_mm", "y_mm", "width_mm", "height_mm"))
        fill = colours.to_rgba(celsius)
        where = Rectangle((x, y), w, h, facecolor=fill, edgecolor="white", gid="block")
        middle = x + w / 2, y + h / 2
        text = axes.text(*middle, f"{celsius:.1f}", ha="center", va="center", clip_on=True)
        numbers.append((axes.add_patch(where), text))
    axes.autoscale_view()
    axes.figure.draw_without_rendering()
    for where, text in numbers:
        room, needs = where.get_window_extent(), text.get_window_extent()
        if needs.width > 0.7 * room.width or needs.height > 0.9 * room.height:
            text.remove()
