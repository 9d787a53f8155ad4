# SPDX-License-Identifier: Apache-2.0
"""Each program of examples/ prints what it says when a reader types its command."""

from __future__ import annotations

import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from example_programs import FOLDER, NAMES, command, is_as_expected, output

CPUS = sorted(os.sched_getaffinity(0))
CORES = f"--cores {CPUS[0]},{CPUS[-1]}"
ON_A_BOARD = "freertos"  # by tests/boards/test_example.py


@pytest.mark.parametrize("name", [name for name in NAMES if name != ON_A_BOARD])
def test_an_example_prints_what_it_says(name: str) -> None:
    words = command(name).replace("--cores 0,1", CORES)
    expected = FOLDER / name / "expected.txt"
    # A machine with other work leaves less time for moves.
    for _ in range(5 if "has moved" in expected.read_text() else 1):
        # The path of a socket has 107 bytes at most.
        with TemporaryDirectory(dir="/tmp") as runtime:
            printed = output(words, XDG_RUNTIME_DIR=runtime)
        if is_as_expected(printed, expected):
            return
    raise AssertionError(printed)


def test_the_page_lists_every_example_with_its_command() -> None:
    page = (FOLDER / "README.md").read_text()
    rows = re.findall(r"^\| .*\? \| \[.*\]\((\w+)/[\w.]+\) \| `(.*)` \|$", page, re.MULTILINE)
    assert sorted(rows) == [(name, " ".join(command(name).split())) for name in NAMES]


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("a 1 b\nc\nd\n", "a … b\n…\n", True),
        ("a 1 b\n", "a … b\n…\n", True),
        ("a 1 b\nc\n", "a … b\n", False),
        ("a 1\n2 b\n", "a … b\n", False),
        ("x\na 1 b\n", "a … b\n", False),
        ("a+b\n", "a+b\n", True),
        ("aab\n", "a+b\n", False),
    ],
)
def test_what_varies_is_what_the_file_leaves_open(
    tmp_path: Path, printed: str, expected: str, same: bool
) -> None:
    (tmp_path / "expected.txt").write_text(expected)
    assert is_as_expected(printed, tmp_path / "expected.txt") == same


def test_a_folder_of_the_examples_is_not_left_out() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}
    assert folders == set(NAMES)
