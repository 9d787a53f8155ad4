# SPDX-License-Identifier: Apache-2.0
"""Bars in groups, as SVG, like those of figures 7 and 8 of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from svg import BOTTOM, HEIGHT, LEFT, TOP, Axis, label, scale, tick_values

GROUP, GAP, KEY, LEGEND = 120, 20, 18, 120
COLOURS = ("#9a9a9a", "#1b6ca8", "#c4451c", "#3c8d40", "#7a4fa3", "#b8860b")


@dataclass
class Bars:
    """A chart; add groups of values by the name of their series, then ask for its text."""

    title: str
    axis: Axis
    groups: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    limits: list[tuple[str, float]] = field(default_factory=list)

    def add(self, name: str, values: dict[str, float | None]) -> None:
        """Adds a group; what was not measured has no bar."""
        self.groups.append((name, {s: v for s, v in values.items() if v is not None}))

    def limit(self, name: str, value: float) -> None:
        """Adds a horizontal line."""
        self.limits.append((name, value))

    def series(self) -> list[str]:
        """Every name that a bar has."""
        return list(dict.fromkeys(name for _, values in self.groups for name in values))

    def text(self) -> str:
        """The chart as an SVG document."""
        heights = [value for _, group in self.groups for value in group.values()]
        heights = [*heights, *(value for _, value in self.limits)] or [1.0]
        to_y = scale(self.axis, heights, HEIGHT - BOTTOM, TOP)
        end, width = LEFT + len(self.groups) * GROUP, LEFT + len(self.groups) * GROUP + LEGEND
        middle = (TOP + HEIGHT - BOTTOM) / 2
        parts = [
            label(width / 2, 20, self.title),
            f'<g transform="rotate(-90 18 {middle})">{label(18, middle, self.axis.label)}</g>',
            f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{end}" fill="none" stroke="black"/>',
        ]
        for value in tick_values(self.axis, heights):
            parts.append(label(LEFT - 6, to_y(value) + 4, f"{value:g}", "end"))
        for number, (name, group) in enumerate(self.groups):
            parts += drawn(name, group, self.series(), LEFT + number * GROUP, to_y)
        for _, value in self.limits:
            y = to_y(value)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{end}" stroke="#777" stroke-dasharray="6 4"/>')
        for place, name in enumerate(self.series()):
            y = TOP + KEY * place
            parts.append(f'<rect x="{end + 12}" y="{y}" {square(place)}/>')
            parts.append(label(end + 26, y + 9, name, "start"))
        for place, (name, _) in enumerate(self.limits, len(self.series())):
            y = TOP + KEY * place + 5
            parts.append(f'<path d="M{end + 8} {y}h16" stroke="#777" stroke-dasharray="6 4"/>')
            parts.append(label(end + 26, y + 4, name, "start"))
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
        head += 'font-family="sans-serif" font-size="12">'
        body = "\n".join(parts)
        return f'{head}\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'


def square(place: int) -> str:
    """The sign of a series in the legend: its size and colour."""
    return f'width="10" height="10" fill="{COLOURS[place % len(COLOURS)]}"'


def drawn(
    name: str,
    group: dict[str, float],
    series: list[str],
    left: float,
    to_y: Callable[[float], float],
) -> list[str]:
    """One group, and its name below."""
    parts = [label(left + GROUP / 2, HEIGHT - BOTTOM + 18, name)]
    each = (GROUP - GAP) / len(series)
    for place, of in enumerate(series):
        if of not in group:
            continue
        x, y = left + GAP / 2 + place * each, to_y(group[of])
        fill = COLOURS[place % len(COLOURS)]
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{each - 1:.1f}" '
            f'height="{HEIGHT - BOTTOM - y:.1f}" fill="{fill}">'
            f"<title>{escape(f'{name}, {of}: {group[of]:.3g}')}</title></rect>"
        )
    return parts
