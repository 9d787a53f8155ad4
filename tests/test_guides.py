# SPDX-License-Identifier: Apache-2.0
"""The guides for the first hours are right when typed: each block does what its page says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from documents import ROOT
from tour import typed_block

MOVED = r"^%s +\d → \d .* ok$"
HEADLINE = r"^\d+ frames \(.*\), {misses} deadline misses, "
MISSED, NONE_MISSED = HEADLINE.format(misses=r"[1-9]\d*"), HEADLINE.format(misses="0")
RESPONSE = re.compile(
    r"^response .*\n(?:.*\n)*?sink +\S+ +[\d.]+ \S+ +([\d.]+) (\S+)", re.MULTILINE
)
NS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}

# Of each block of commands of a page, in order, what it prints. The last one of
# simulation-to-board.md is typed by tests/boards/test_tour.py.
PRINTS: dict[str, list[list[str]]] = {
    "first-run.md": [
        [r"^250 frames .* [1-9]\d* migrations", MOVED % "demodulator", r"cold_day\.wav$"],
        [r"the bird is in process", MOVED % "bird"],
        [r"^fm_radio-1 .* running", r"^demodulator runs on core 1$", r"stopped by its user"],
        [MOVED % "demodulator", r"^energy ", r"\.html: \d+ KiB"],
    ],
    "simulation-to-board.md": [
        [MOVED % "demodulator"],
        [MOVED % "demodulator", r"^the same sound$"],
    ],
    "own-platform.md": [
        [],
        [MISSED + r"(?:.*\n)*" + NONE_MISSED],
        [MOVED % "encode", r"^migrations +p50"],
        [r"\bbus\b|^energy "],
        [r"\.html: \d+ KiB", r"estimated from the platform"],
    ],
}
ON_A_BOARD = {"simulation-to-board.md": 1}


def blocks(page: str) -> list[tuple[str, str]]:
    """The code blocks of a page, each with its language; commands have the empty one."""
    text = (ROOT / "docs" / page).read_text()
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def followed(page: str, folder: Path) -> tuple[list[str], list[str]]:
    """Types a page from its top; what its blocks print, and what is missing there."""
    printed: list[str] = []
    missing: list[str] = []
    for language, block in blocks(page):
        if language == "toml":
            with (folder / "board.toml").open("a") as file:
                file.write(block)
        elif len(printed) < len(PRINTS[page]):
            done = typed_block(block, folder)
            missing += [f"status {done.returncode}: {done.stdout}"] if done.returncode else []
            wanted = PRINTS[page][len(printed)]
            missing += [one for one in wanted if not re.search(one, done.stdout, re.MULTILINE)]
            printed.append(done.stdout)
    return printed, missing


@pytest.mark.parametrize("page", PRINTS)
def test_a_guide_is_right_when_typed(page: str) -> None:
    commands = [block for language, block in blocks(page) if language == ""]
    assert len(commands) == len(PRINTS[page]) + ON_A_BOARD.get(page, 0)
    # A machine with other work leaves less time for moves, and a run may end before one.
    for _ in range(3):
        with TemporaryDirectory(dir="/tmp") as folder:  # the path of a socket has 107 bytes at most
            printed, missing = followed(page, Path(folder))
        if not missing:
            break
    else:
        raise AssertionError(f"without {missing}:\n" + "\n".join(printed))
    if page == "own-platform.md":
        free, costly, shared = [response_ns(printed[step]) for step in (1, 2, 3)]
        assert free < costly < shared


def response_ns(printed: str) -> float:
    """The mean response of the sink at 50 frames a second: step 1 has it in its second run."""
    found = RESPONSE.findall(printed)
    value, unit = found[-1] if re.search(MISSED, printed, re.MULTILINE) else found[0]
    return float(value) * NS[unit]


def test_make_alone_lists_the_verbs() -> None:
    env = {key: value for key, value in os.environ.items() if "MAKE" not in key}
    done = subprocess.run(["make"], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    verbs = [line.split()[0] for line in done.stdout.splitlines()]
    assert {"help", "setup", "build", "demo", "docs", "test"} <= set(verbs)
