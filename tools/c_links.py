#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the text of the middleware's links for boards (middleware/size.mk), and checks the least.

c_links.py BUILD ARM_PREFIX RV32_PREFIX LINK...
"""

import subprocess
import sys
from pathlib import Path

# What a hand-off has nothing to do with: no function of theirs may be in the first link.
APART = (
    "context/attach",
    "context/replicate",
    "context/transfer",
    "context/recreation",
    "context/image",
)


def text(prefix: str, elf: Path) -> int:
    """The bytes of code and constants."""
    out = subprocess.run([prefix + "size", elf], check=True, capture_output=True, text=True).stdout
    return int(out.splitlines()[1].split()[0])


def functions(prefix: str, path: Path) -> set[str]:
    """The functions that an object or a link defines for others."""
    command = [prefix + "nm", "--portability", "--extern-only", "--defined-only", path]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in out.splitlines()}


def main() -> int:
    build, arm, rv32, *links = sys.argv[1:]
    boards = {"arm": arm, "rv32": rv32}
    print("link".ljust(12) + "".join(board.rjust(8) for board in boards))
    for link in links:
        elves = {prefix: Path(build, board, link + ".elf") for board, prefix in boards.items()}
        sizes = [text(prefix, elf) for prefix, elf in elves.items()]
        print(link.ljust(12) + "".join(str(size).rjust(8) for size in sizes))
    strangers = set()
    for board, prefix in boards.items():
        least = functions(prefix, Path(build, board, links[0] + ".elf"))
        for name in APART:
            strangers |= least & functions(prefix, Path(build, board, f"middleware/src/{name}.o"))
    print(f"functions of replication, images and recreation in {links[0]}: {len(strangers)}")
    return 1 if strangers else 0


if __name__ == "__main__":
    sys.exit(main())
