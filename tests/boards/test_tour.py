# SPDX-License-Identifier: Apache-2.0
"""The block of docs/tour.md that runs on a board does what the page says of it."""

import re
from pathlib import Path

import emulated  # noqa: F401  (its folder of modules)
from tour import ON_A_BOARD, sections, typed


def test_the_board_of_the_tour_moves_tasks_and_its_radio_is_the_reference(tmp_path: Path) -> None:
    assert len(sections()[ON_A_BOARD]) == 1
    done = typed(ON_A_BOARD, 0, tmp_path)
    printed = done.stdout
    assert done.returncode == 0, printed
    for task in ("bird", "demodulator"):
        cores = re.findall(rf"^{task} +(\d) → \d .* ok$", printed, re.MULTILINE)
        assert set(cores) > {"1", "2"}, printed
    (decibels,) = re.findall(r"\bsnr_db ([\d.]+)", printed)
    assert float(decibels) > 30
