#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds circles of C files and of their folders, whose objects call each other, maybe over others.

    c_circles.py NM OBJECT...

Reads with NM what each object defines and what it needs. Prints each circle, and exits with 1 if
there is one. middleware/src/parts.c is not among the objects: it is the table in which a program
names its parts, and what is called through it does not depend on them.
"""

import subprocess
import sys
from pathlib import Path

from circles import circles

UNDEFINED = "U"


def symbols(nm: str, path: str) -> tuple[set[str], set[str]]:
    """What an object defines for others, and what it needs of them."""
    command = [nm, "--portability", "--extern-only", path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    named = [line.split()[:2] for line in lines]
    needed = {name for name, kind in named if kind == UNDEFINED}
    return {name for name, kind in named if kind != UNDEFINED}, needed


def graph(nm: str, paths: list[str]) -> dict[str, set[str]]:
    """Which objects each object needs."""
    read = {path: symbols(nm, path) for path in paths}
    home = {name: path for path, (defined, _) in read.items() for name in defined}
    return {
        path: {home[name] for name in needed if name in home} - {path}
        for path, (_, needed) in read.items()
    }


def folders(edges: dict[str, set[str]]) -> dict[str, set[str]]:
    """The same of folders."""
    found: dict[str, set[str]] = {}
    for path, needed in edges.items():
        folder = str(Path(path).parent)
        others = {str(Path(other).parent) for other in needed}
        found.setdefault(folder, set()).update(others - {folder})
    return found


def main() -> int:
    nm, paths = sys.argv[1], sys.argv[2:]
    files = graph(nm, paths)
    found = 0
    for what, edges in (("objects", files), ("folders", folders(files))):
        for circle in circles(edges):
            print(f"a circle of {len(circle)} {what}: {' '.join(sorted(circle))}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
