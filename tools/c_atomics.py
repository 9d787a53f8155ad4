#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds atomics outside of wb/word.h: it is the only place for them (docs/decisions/0011)."""

import re
import subprocess
import sys
from pathlib import Path

ATOMIC = re.compile(r"stdatomic|\b_Atomic\b|\batomic_\w+\(|__atomic_\w+|__sync_\w+|__ATOMIC_\w+")
HOME = {"word.h", "riscv_config.h", "sim_config.h"}
# Those that share no words with the middleware, and the functions that its words become where the
# processor has no atomic instructions.
APART = ("tests/guest/", "launcher/third_party/", "kernels/riscv/atomic.c")


def main() -> int:
    command = ["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h", "*.cc"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    found = False
    for path in map(Path, listed):
        if path.name in HOME or str(path).startswith(APART) or not path.exists():
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if ATOMIC.search(line):
                print(f"{path}:{number}: atomics are in wb/word.h only")
                found = True
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
