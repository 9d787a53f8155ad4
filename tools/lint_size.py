#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds sources of C and Rust to the project's limits of size.

Lines of at most 100 columns, as formatters leave comments and texts as they are; C functions of at
most 80 lines, of which the compilers say nothing. Prints what is over, and exits with 1 if anything
is.
"""

import re
import subprocess
import sys
from pathlib import Path

COLUMNS, FUNCTION_LINES = 100, 80
SOURCES = ("*.c", "*.cc", "*.h", "*.hpp", "*.S", "*.rs")


def tracked() -> list[Path]:
    """The source files of this checkout, also those that are not committed yet."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *SOURCES]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return [path for path in map(Path, listed) if path.exists() and "third_party" not in path.parts]


def functions(lines: list[str]) -> list[tuple[int, int]]:
    """First line and length of each C function: a brace in column 0 to the next closing one."""
    found, start = [], None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            found.append((start, number - start - 1))
            start = None
    return found


def main() -> int:
    over = []
    for path in tracked():
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines, 1):
            if len(line.expandtabs(8)) > COLUMNS and not re.search(r"https?://", line):
                over.append(f"{path}:{number}: {len(line)} columns, at most {COLUMNS}")
        if path.suffix == ".c":
            for number, length in functions(lines):
                if length > FUNCTION_LINES:
                    over.append(f"{path}:{number}: a function of {length} lines")
    print("\n".join(over), end="\n" if over else "")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
