# SPDX-License-Identifier: Apache-2.0
"""The blocks of guides that run on a board do what their pages say of them."""

import re
from pathlib import Path

import emulated  # noqa: F401  (its folder of modules)
from documents import ROOT, blocks
from tour import ON_A_BOARD, sections, typed, typed_block


def test_the_board_of_the_tour_moves_tasks_and_its_radio_is_the_reference(tmp_path: Path) -> None:
    assert len(sections()[ON_A_BOARD]) == 1
    done = typed(ON_A_BOARD, 0, tmp_path)
    printed = done.stdout
    assert done.returncode == 0, printed
    for task in ("bird", "demodulator"):
        cores = re.findall(rf"^{task} +(\d) → \d .* ok$", printed, re.MULTILINE)
        assert len(set(cores)) >= 2, printed  # of the last ten moves
    (decibels,) = re.findall(r"\bsnr_db ([\d.]+)", printed)
    assert float(decibels) > 30


def test_the_board_of_the_way_from_simulation_plays_the_reference(tmp_path: Path) -> None:
    *_, block = blocks(ROOT / "docs/simulation-to-board.md", "")
    assert "--board vexpress_a9" in block
    done = typed_block(block, tmp_path)
    printed = done.stdout
    assert done.returncode == 0, printed
    moves = re.findall(r"^demodulator +(\d) → \d .* ok$", printed, re.MULTILINE)
    # The last ten of them are shown.
    assert len(set(moves)) >= 2 and set(moves) <= {"0", "1", "2", "3"}, printed
    (decibels,) = re.findall(r"\bsnr_db ([\d.]+)", printed)
    assert float(decibels) > 60
