# SPDX-License-Identifier: Apache-2.0
"""Numbers that a page states, for the tests that count them again.

A row of a table is named by the cells at its left; one that is empty stands for the one above it.
A sentence is named by its words. So what is compared is what a reader sees, and a row or sentence
that is reworded or gone fails its test. What stands in brackets explains a number of a table, and
is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAD = 2  # lines of a table

# Digits in groups of three are one number.
NUMBER = re.compile(r"\d{1,3}(?:[ ,]\d{3})+(?!\d)|\d+(?:\.\d+)?")


def rows(page: Path) -> Iterator[list[str]]:
    """The cells of every row of every table, but for its head; an empty label is that above it."""
    place, above = 0, []
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            place, above = 0, []
            continue
        place += 1
        if place <= HEAD:
            continue
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        filled = list(cells)
        for label, cell in enumerate(cells):
            if cell or label >= len(above):
                break
            filled[label] = above[label]
        above = filled
        yield filled


def place_of(words: str) -> re.Pattern[str]:
    """What finds the words, with a number for each `{}`."""
    return re.compile(f"({NUMBER.pattern})".join(map(re.escape, words.split("{}"))))


def _numbers(text: str) -> list[float]:
    return [float(re.sub("[ ,]", "", one)) for one in NUMBER.findall(text)]


def stated(page: str, *labels: str) -> list[float]:
    """The numbers behind the labels in the one row of `page` that begins with them."""
    found = [row for row in rows(ROOT / page) if row[: len(labels)] == list(labels)]
    assert len(found) == 1, f"{page} has {len(found)} rows that begin with {labels}"
    return _numbers(re.sub(r"\([^)]*\)", "", " | ".join(found[0][len(labels) :])))


def said(page: str, words: str) -> list[float]:
    """The numbers in the one place of `page` that has these words, with a number for each `{}`."""
    found = place_of(words).findall(" ".join((ROOT / page).read_text().split()))
    assert len(found) == 1, f"{page} has {len(found)} times: {words}"
    numbers = [found[0]] if isinstance(found[0], str) else found[0]
    return [one for number in numbers for one in _numbers(number)]


def check(page: str, labels: Sequence[str], counted: Sequence[float], within: float) -> None:
    """Fails unless the row states what was counted, each number `within` such a part of it."""
    _compare(page, labels, stated(page, *labels), counted, within)


def check_words(page: str, words: str, counted: Sequence[float], within: float) -> None:
    """The same of a sentence, or of the part of one that `words` is; each `{}` is a number."""
    _compare(page, words, said(page, words), counted, within)


def _compare(
    page: str, where: object, said: list[float], counted: Sequence[float], within: float
) -> None:
    assert len(said) == len(counted), f"{page}, {where}: {said} is stated, {counted} counted"
    for place, (one, other) in enumerate(zip(said, counted, strict=True)):
        # The last digit that is stated is rounded.
        digits = len(f"{one:.10g}".partition(".")[2])
        near = max(within * abs(other), 0.5 * 10**-digits)
        assert abs(one - other) <= near, (
            f"{page} states {one:.10g} as number {place + 1} of {where}; {other:.10g} was counted "
            f"(of all: {counted}): correct the page, or find out why it has changed"
        )
