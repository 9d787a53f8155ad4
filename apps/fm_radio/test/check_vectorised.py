#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the compiler vectorised every loop marked `// hot`.

usage: check_vectorised.py OBJECT_FOLDER   (the .vec reports that the Makefile makes gcc write)
"""

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).parent.parent
REPORTED = re.compile(r"([^:]+):(\d+):\d+: optimized: loop vectorized using (\d+) byte vectors")


def hot_loops(source: Path) -> list[int]:
    """Line numbers of the marked loops."""
    lines = source.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if line.endswith("// hot")]


def vectorised_loops(report: Path) -> dict[int, int]:
    """Line number of each vectorised loop, with the bytes of its widest vectors."""
    widest: dict[int, int] = {}
    for match in REPORTED.finditer(report.read_text() if report.exists() else ""):
        line, width = int(match[2]), int(match[3])
        widest[line] = max(width, widest.get(line, 0))
    return widest


def main() -> int:
    objects = Path(sys.argv[1])
    found = missed = 0
    for source in sorted(SOURCES.rglob("*.c")):
        name = source.relative_to(SOURCES)
        vectorised = vectorised_loops((objects / name).with_suffix(".vec"))
        for line in hot_loops(source):
            if line in vectorised:
                found += 1
                print(f"ok {name}:{line} is vectorised, {vectorised[line]} bytes at a time")
            else:
                missed += 1
                print(f"not ok {name}:{line} is marked hot and is not vectorised")
    if found + missed == 0:
        print("not ok: no loop is marked hot")
    return 0 if found > 0 and missed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
