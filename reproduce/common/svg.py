# SPDX-License-Identifier: Apache-2.0
"""Plots of points with lines through them, as SVG, without any library."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 30, 40, 60
COLOURS = ("#1b6ca8", "#c4451c", "#3c8d40", "#7a4fa3")

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """An axis: what it measures, and whether its scale is logarithmic."""

    label: str
    logarithmic: bool = False


@dataclass
class Plot:
    """A plot; add series and limits, then ask for its text."""

    title: str
    x: Axis
    y: Axis
    series: list[tuple[str, list[Point], bool]] = field(default_factory=list)
    limits: list[tuple[str, float]] = field(default_factory=list)

    def add(self, name: str, points: Iterable[Point], line: bool = False) -> None:
        """Adds points, or a line without marks."""
        self.series.append((name, list(points), line))

    def limit(self, name: str, y: float) -> None:
        """Adds a horizontal line."""
        self.limits.append((name, y))

    def text(self) -> str:
        """The plot as an SVG document."""
        points = [point for _, some, _ in self.series for point in some]
        to_x = scale(self.x, [x for x, _ in points], LEFT, WIDTH - RIGHT)
        heights = [y for _, y in points] + [y for _, y in self.limits]
        to_y = scale(self.y, heights, HEIGHT - BOTTOM, TOP)
        parts = [*frame(self), *ticks(self, points, heights, to_x, to_y)]
        for number, (name, some, line) in enumerate(self.series):
            parts += drawn(some, line, COLOURS[number % len(COLOURS)], to_x, to_y)
            parts += legend(number, name, COLOURS[number % len(COLOURS)])
        for name, y in self.limits:
            parts.append(
                f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{to_y(y):.1f}" y2="{to_y(y):.1f}" '
                'stroke="#777" stroke-dasharray="6 4"/>'
            )
            parts.append(label(WIDTH - RIGHT, to_y(y) - 5, name, "end"))
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        head += 'font-family="sans-serif" font-size="12">'
        body = "\n".join(parts)
        return f'{head}\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'


def limits_of(axis: Axis, values: list[float]) -> Point:
    """Where an axis begins and ends."""
    if axis.logarithmic:
        positive = [value for value in values if value > 0]
        return 10 ** math.floor(math.log10(min(positive))), 10 ** math.ceil(
            math.log10(max(positive))
        )
    return 0.0, max(values) * 1.05


def scale(axis: Axis, values: list[float], first: int, last: int) -> Callable[[float], float]:
    """Maps values of an axis to places of the picture."""
    low, high = limits_of(axis, values)
    if axis.logarithmic:
        decades = math.log10(high / low) or 1
        return lambda v: first + (last - first) * math.log10(max(v, low) / low) / decades
    return lambda v: first + (last - first) * (v - low) / ((high - low) or 1)


def tick_values(axis: Axis, values: list[float]) -> list[float]:
    """Round numbers along an axis."""
    low, high = limits_of(axis, values)
    if axis.logarithmic:
        return [10.0**n for n in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10(high / 2))
    while high / step > 6:
        step *= 2
    return [step * n for n in range(int(high / step) + 1)]


def label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """A piece of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def frame(plot: Plot) -> list[str]:
    """The title, the axes and what they measure."""
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return [
        label(WIDTH / 2, 20, plot.title),
        label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 15, plot.x.label),
        f'<g transform="rotate(-90 18 {middle})">{label(18, middle, plot.y.label)}</g>',
        f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="black"/>',
    ]


def ticks(
    plot: Plot,
    points: list[Point],
    heights: list[float],
    to_x: Callable[[float], float],
    to_y: Callable[[float], float],
) -> list[str]:
    """Round numbers beside both axes."""
    parts = [
        label(to_x(v), HEIGHT - BOTTOM + 18, f"{v:g}")
        for v in tick_values(plot.x, [x for x, _ in points])
    ]
    return parts + [
        label(LEFT - 6, to_y(v) + 4, f"{v:g}", "end") for v in tick_values(plot.y, heights)
    ]


def drawn(
    points: list[Point],
    line: bool,
    colour: str,
    to_x: Callable[[float], float],
    to_y: Callable[[float], float],
) -> list[str]:
    """One series: a line, or marks."""
    places = [(to_x(x), to_y(y)) for x, y in points]
    if line:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        return [f'<polyline points="{path}" fill="none" stroke="{colour}"/>']
    return [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>' for x, y in places]


def legend(number: int, name: str, colour: str) -> list[str]:
    """The name of a series, in its colour."""
    y = TOP + 8 + 18 * number
    return [
        f'<circle cx="{LEFT + 16}" cy="{y}" r="4" fill="{colour}"/>',
        label(LEFT + 26, y + 4, name, "start"),
    ]
