# SPDX-License-Identifier: Apache-2.0
"""Rows of what was published beside what came out here, and how they are shown."""

from __future__ import annotations

from typing import Any

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
