# SPDX-License-Identifier: Apache-2.0
"""What a plot that was written as SVG shows, for tests."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

SVG = "{http://www.w3.org/2000/svg}"
TITLE = "{http://purl.org/dc/elements/1.1/}title"


def marks_in(path: Path) -> int:
    """How many points, lines without points, bars and blocks there are."""
    shown = 0
    for group in ElementTree.parse(path).iter(f"{SVG}g"):
        kind = group.get("id", "").split()
        if kind and kind[0] in ("series", "bar", "block"):
            shown += max(len(list(group.iter(f"{SVG}use"))), 1)
    return shown


def drawn_by(path: Path) -> str | None:
    """The version of the library that drew a plot."""
    return ElementTree.parse(path).findtext(f".//{TITLE}")


def check_drawn(shown: Path, drawn: Path) -> None:
    """Fails unless a page shows what a run draws; by another version the same looks different."""
    if drawn_by(shown) != drawn_by(drawn):
        pytest.skip(f"{shown.name} was drawn by {drawn_by(shown)}")
    same = shown.read_text() == drawn.read_text()
    assert same, f"{shown} is not what the run draws: draw it anew by `run --plots`"
