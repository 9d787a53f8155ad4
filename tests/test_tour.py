# SPDX-License-Identifier: Apache-2.0
"""Each block of commands of docs/tour.md does what the page says of it."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tour import ON_A_BOARD, sections, typed

OK_MOVE = r"^%s +\d → \d .* ok$"
# By its heading, what each block prints. That of a board is typed by tests/boards/test_tour.py.
PRINTS: dict[str, list[list[str]]] = {
    "": [[]],
    "Move one task": [[r"^\d+ messages, then the bird was gone$", OK_MOVE % "bird"]],
    "Choose how a task moves": [
        [
            OK_MOVE % "demodulator",
            r"^250 frames (.*\n)+^250 frames (.*\n)+^25000 frames (.*\n)+^250 frames ",
            r"^core +.*energy",
        ]
    ],
    "Watch and steer a run": [
        [
            r"fm_radio-1 .* running",
            r"^fm_radio-1: policy balance$",
            r"^fm_radio-1: 40 frames per second$",
            r"^bpf\.2 runs on core 1$",
            OK_MOVE % r"bpf\.2",
            r"stopped by its user",
        ]
    ],
    "Kill a core": [[r"^the kernel of core \d was killed", r"^the same sound$"]],
    "Simulate hardware that you do not have": [
        [
            OK_MOVE % "demodulator",
            r"^the same sound$",
            r"\.pftrace: \d+ events",
            r"\.html: \d+ KiB",
        ],
        [OK_MOVE % r"video\.0", OK_MOVE % r"video\.1", OK_MOVE % r"video\.2"],
    ],
    "Explore mappings": [[r"explored\.html: \d+ KiB", r"^250 frames "]],
    "Import applications": [[r"^mp3_decoder ", r"^s4_dat "]],
}


def test_every_block_of_the_tour_is_typed_by_a_test() -> None:
    counted = {heading: len(blocks) for heading, blocks in sections().items()}
    typed_here = {heading: len(blocks) for heading, blocks in PRINTS.items()}
    assert counted == {**typed_here, ON_A_BOARD: 1}


@pytest.mark.parametrize(
    ("heading", "number"), [(h, n) for h, blocks in PRINTS.items() for n in range(len(blocks))]
)
def test_a_block_of_the_tour_prints_what_the_page_says(heading: str, number: int) -> None:
    # A machine with other work leaves less time for moves, and a run may end before it is killed.
    for _ in range(5):
        with TemporaryDirectory(dir="/tmp") as folder:  # the path of a socket has 107 bytes at most
            done = typed(heading, number, Path(folder))
        wanted = PRINTS[heading][number]
        missing = [one for one in wanted if re.search(one, done.stdout, re.MULTILINE) is None]
        if done.returncode == 0 and not missing:
            return
    raise AssertionError(f"status {done.returncode}, without {missing}:\n{done.stdout}")
