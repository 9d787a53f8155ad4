# SPDX-License-Identifier: Apache-2.0
"""Numbers that a page states in its tables, for the tests that count them again.

A row is named by the cells at its left; one that is empty stands for the one above it. So what is
compared is what a reader sees, and a row that is renamed or gone fails its test. What stands in
brackets explains a number, and is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Digits in groups of three are one number.
NUMBER = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)|\d+(?:\.\d+)?")


def _rows(page: Path) -> Iterator[list[str]]:
    above: list[str] = []
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            above = []
            continue
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        filled = list(cells)
        for place, cell in enumerate(cells):
            if cell or place >= len(above):
                break
            filled[place] = above[place]
        above = filled
        yield filled


def stated(page: str, *labels: str) -> list[float]:
    """The numbers behind the labels in the one row of `page` that begins with them."""
    found = [row for row in _rows(ROOT / page) if row[: len(labels)] == list(labels)]
    assert len(found) == 1, f"{page} has {len(found)} rows that begin with {labels}"
    text = re.sub(r"\([^)]*\)", "", " | ".join(found[0][len(labels) :]))
    return [float(one.replace(" ", "")) for one in NUMBER.findall(text)]


def check(page: str, labels: Sequence[str], counted: Sequence[float], within: float) -> None:
    """Fails unless the row states what was counted, each number `within` such a part of it."""
    said = stated(page, *labels)
    assert len(said) == len(counted), f"{page}, {labels}: {said} is stated, {counted} counted"
    for place, (one, other) in enumerate(zip(said, counted, strict=True)):
        # The last digit that is stated is rounded.
        digits = len(f"{one:g}".partition(".")[2])
        near = max(within * abs(other), 0.5 * 10**-digits)
        assert abs(one - other) <= near, (
            f"{page} states {one:g} as number {place + 1} of {labels}; {other:g} was counted: "
            f"correct the page, or find out why it has changed"
        )
