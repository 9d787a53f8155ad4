#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the product's own lines by folder (`make lines`).

Counted are code, build files and TOML, with their comments and empty lines. Not counted are tests,
the models of the protocols, documents, data, lock files, and what is not ours.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path, PurePosixPath

CODE = re.compile(r"\.(c|cc|css|h|hpp|html|js|mk|py|rs|S|sh|syms|toml)")
CODE_NAMES = {"Makefile", "run"}
# `dv` and `formal` verify the hardware, `fault_injection` are programs that go wrong on a board.
NOT_PRODUCT = re.compile(
    "conform|dv|fake|formal|recorded|snapshots|tests?|fault_injection|data|docs"
)
THIRD_PARTY = re.compile(r"uplot|htm\.min|yyjson|third_party")
TEST_FILE = re.compile(r"^(test_.*|tests|second_machine|check_vectorised)$")


def is_product(path: PurePosixPath) -> bool:
    if not CODE.fullmatch(path.suffix) and path.name not in CODE_NAMES:
        return False
    if str(path).startswith("middleware/model/") or THIRD_PARTY.search(str(path)):
        return False
    own_tests = path.parts[:2] == ("crates", "trace") and "recorded" in path.parts
    other = any(map(NOT_PRODUCT.fullmatch, path.parts[:-1])) or TEST_FILE.match(path.stem)
    return own_tests or not other


def lines(path: PurePosixPath) -> int:
    """Lines of a file; of Rust without the tests that end it."""
    text = Path(path).read_text()
    if path.suffix == ".rs":
        text = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, flags=re.MULTILINE)[0]
    return text.count("\n")


def main() -> None:
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    counted = Counter()
    for path in map(PurePosixPath, filter(None, listed)):
        if Path(path).exists() and is_product(path):
            folder = "/".join(path.parts[:2]) if len(path.parts) > 2 else path.parts[0]
            counted[folder] += lines(path)
    for folder, n in sorted(counted.items()):
        print(f"{n:7} {folder}")
    print(f"{counted.total():7} in all")


if __name__ == "__main__":
    main()
