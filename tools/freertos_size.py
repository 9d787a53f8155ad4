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
LINKS = {"ordinary": 7.5, "channels": 24, "everything": 64, "scripts": 8}
BEYOND = {"scripts": "everything"}  # what a link adds to, if not to FreeRTOS
LINES_MOST = 1300  # of code, as holmbacka2013 has
# What serves a launcher or a loader is no part of the kernel. The paper does not have what tells
# mistakes, and what is asked for a task from afar.
APART = {"host.c", "freertos_board.h"}
APART |= {"ask.c", "guard.c", "freertos_guards.h", "freertos_guard_hooks.h"}


def text(elf: Path) -> int:
    """The bytes of code and constants."""
    command = ["arm-none-eabi-size", elf]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return int(out.splitlines()[1].split()[0])


def kernel() -> list[Path]:
    """The files that make FreeRTOS a kernel of the middleware."""
    root = Path(__file__).resolve().parents[1] / "kernels" / "freertos"
    files = [*root.glob("*.c"), *root.glob("*.h"), *(root / "include").glob("*.h")]
    loader = ("load", "recreat", "module", "elf", "export")
    return [
        path
        for path in files
        if path.name not in APART and not any(word in path.name for word in loader)
    ]


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
    lines = sum(code_lines(path) for path in kernel())
    print(f"lines of code of kernels/freertos without {', '.join(sorted(APART))}, loader: {lines}")
    return 1 if failed or lines >= LINES_MOST else 0


if __name__ == "__main__":
    sys.exit(main())
