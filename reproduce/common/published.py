# SPDX-License-Identifier: Apache-2.0
"""Rows of what was published beside what came out here, and how they are shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from whimbrel.plot.chart import Floorplans, Plot

Row = dict[str, Any]


def row(what: str, paper: object, ours: float, unit: str, note: str) -> Row:
    """One thing that was published and came out here; `note`: what differs and why."""
    return {"what": what, "paper": paper, "ours": ours, "unit": unit, "note": note}


def shown(value: object) -> str:
    """A number with four digits that count."""
    if not isinstance(value, (int, float)):
        return "-" if value is None else str(value)
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"


def table(rows: list[Row], ours: str) -> str:
    """The rows for people; `ours` is the title of what came out here."""
    lines = [("", "published", ours, "unit", "note")]
    lines += [(r["what"], shown(r["paper"]), shown(r["ours"]), r["unit"], r["note"]) for r in rows]
    return aligned(lines, "<>><<")


def aligned(lines: list[tuple[str, ...]], sides: str) -> str:
    """Columns as wide as what is in them, which is at the left or the right of each."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shape = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    return "\n".join(shape.format(*line).rstrip() for line in lines)


def publish(
    rows: list[Row],
    plots: Mapping[str, Plot | Floorplans],
    text: str,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Prints the rows, as text for people or as JSON, and writes the plots, by the names of their
    files; `folder`: where they and other files of the run are, if it has some."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, plot in plots.items():
            plot.write(folder / f"{name}.svg")
    if as_json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        print(text)
        if folder is not None:
            print(f"\nfiles: {folder}", file=sys.stderr)
