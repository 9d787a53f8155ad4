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
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    return "\n".join(
        f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d:<{widths[3]}}  {e}".rstrip()
        for a, b, c, d, e in lines
    )


def publish(
    rows: list[Row], plots: Mapping[str, Plot | Floorplans], ours: str, folder: Path, as_json: bool
) -> None:
    """Prints the rows, and writes the plots into a folder, by the names of their files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot in plots.items():
        plot.write(folder / f"{name}.svg")
    if as_json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    else:
        print(table(rows, ours))
        print(f"\nplots: {folder}", file=sys.stderr)
