# SPDX-License-Identifier: Apache-2.0
"""What a plot that was written as SVG shows, for tests."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"


def marks_in(path: Path) -> int:
    """How many points, lines without points, bars and blocks there are."""
    shown = 0
    for group in ElementTree.parse(path).iter(f"{SVG}g"):
        kind = group.get("id", "").split()
        if kind and kind[0] in ("series", "bar", "block"):
            shown += max(len(list(group.iter(f"{SVG}use"))), 1)
    return shown
