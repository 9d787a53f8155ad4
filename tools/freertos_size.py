#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how much text Whimbrel adds to an image of FreeRTOS, and checks that it stays below.

freertos_size.py FOLDER: where kernels/freertos/size was built
"""

import subprocess
import sys
from pathlib import Path

KIB = 1024
# What is linked, and the most that it may add, in KiB.
LINKS = {"ordinary": 7, "channels": 24, "everything": 69, "scripts": 8}
BEYOND = {"scripts": "everything"}  # what a link adds to, if not to FreeRTOS
# Lines of code. holmbacka2013 has 1300, without what tells mistakes, and what is asked for a task
# from afar.
LINES_MOST, BEYOND_LINES_MOST = 1300, 310
BEYOND_PAPER = {"ask.c", "guard.c", "freertos_guards.h", "freertos_guard_hooks.h"}
# What serves a launcher, a guest or a loader is no part of the kernel.
APART = {"host.c", "apart.c", "freertos_board.h"}


def text(elf: Path) -> int:
    """The bytes of code and constants."""
    command = ["arm-none-eabi-size", elf]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(out.splitlines()[1].split()[0])


def kernel() -> set[Path]:
    """The files that make FreeRTOS a kernel of the middleware."""
    root = Path(__file__).resolve().parents[1] / "kernels" / "freertos"
    files = [*root.glob("*.c"), *root.glob("*.h"), *(root / "include").glob("*.h")]
    loader = ("load", "recreat", "module", "elf", "export")
    return {
        path
        for path in files
        if path.name not in APART and not any(word in path.name for word in loader)
    }


def beyond() -> set[Path]:
    return {path for path in kernel() if path.name in BEYOND_PAPER}


def code_lines(path: Path) -> int:
    """Lines that are neither empty nor a comment."""
    lines = (line.strip() for line in path.read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith("//"))


def main() -> int:
    folder = Path(sys.argv[1])
    failed = False
    print("text that is added to FreeRTOS for a Cortex-A9, -Os -mthumb, in bytes")
    for link, most in LINKS.items():
        added = text(folder / link) - text(folder / BEYOND.get(link, "plain"))
        failed |= added >= most * KIB
        print(f"{link:12}{added:8}   of at most {most} KiB")
    for what, files, most in (
        ("without launcher and loader", kernel() - beyond(), LINES_MOST),
        (", ".join(sorted(BEYOND_PAPER)), beyond(), BEYOND_LINES_MOST),
    ):
        lines = sum(map(code_lines, files))
        failed |= lines >= most
        print(f"{lines:12} lines of code of kernels/freertos, of at most {most}: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
