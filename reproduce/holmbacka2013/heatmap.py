# SPDX-License-Identifier: Apache-2.0
"""Floorplans coloured by temperature, side by side on one scale, as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

PLAN, GAP, TOP, SCALE = 300, 30, 60, 46
# From cool to hot; readable in grey as well.
COLOURS = ((59, 76, 192), (141, 176, 254), (221, 221, 221), (244, 152, 122), (180, 4, 38))


@dataclass(frozen=True)
class Chip:
    """A floorplan, with the temperature of each block in degrees Celsius."""

    title: str
    blocks: list[dict[str, Any]]
    temperatures: list[float]


def colour(part: float) -> str:
    """From 0, cool, to 1, hot."""
    place = min(max(part, 0.0), 1.0) * (len(COLOURS) - 1)
    low = min(int(place), len(COLOURS) - 2)
    mixed = (
        round(a + (b - a) * (place - low))
        for a, b in zip(COLOURS[low], COLOURS[low + 1], strict=True)
    )
    return f"#{''.join(f'{value:02x}' for value in mixed)}"


def label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    """A piece of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def drawn(chip: Chip, left: float, least: float, most: float) -> list[str]:
    """One floorplan, scaled to the width of a plan."""
    width = max(block["x_mm"] + block["width_mm"] for block in chip.blocks)
    height = max(block["y_mm"] + block["height_mm"] for block in chip.blocks)
    scale = PLAN / max(width, height)
    parts = [label(left + PLAN / 2, TOP - 12, chip.title)]
    for block, celsius in zip(chip.blocks, chip.temperatures, strict=True):
        x = left + block["x_mm"] * scale
        y = TOP + (height - block["y_mm"] - block["height_mm"]) * scale
        w, h = block["width_mm"] * scale, block["height_mm"] * scale
        fill = colour((celsius - least) / (most - least or 1))
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{fill}" '
            f'stroke="white"><title>{escape(block["name"])}: {celsius:.2f} °C</title></rect>'
        )
        if w >= SCALE:
            parts.append(label(x + w / 2, y + h / 2 + 4, f"{celsius:.1f}"))
    return parts


def key(left: float, least: float, most: float) -> list[str]:
    """The scale."""
    steps = 20
    parts = []
    for step in range(steps):
        y = TOP + PLAN * (steps - 1 - step) / steps
        fill = colour(step / (steps - 1))
        parts.append(f'<path d="M{left} {y:.1f}h14v{PLAN / steps + 0.5:.1f}h-14z" fill="{fill}"/>')
    ends = ((TOP + 10, most), (TOP + PLAN, least))
    return parts + [label(left + 18, y, f"{celsius:.1f}", "start") for y, celsius in ends]


def text(title: str, chips: list[Chip]) -> str:
    """The chips beside each other, as an SVG document."""
    every = [celsius for chip in chips for celsius in chip.temperatures]
    least, most = min(every), max(every)
    width = GAP + len(chips) * (PLAN + GAP) + SCALE + 12
    parts = [label(width / 2, 20, title)]
    for number, chip in enumerate(chips):
        parts += drawn(chip, GAP + number * (PLAN + GAP), least, most)
    parts += key(GAP + len(chips) * (PLAN + GAP), least, most)
    body = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + PLAN + 20}" '
    head += 'font-family="sans-serif" font-size="12">'
    return f'{head}\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n'
