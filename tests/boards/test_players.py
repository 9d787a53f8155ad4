# SPDX-License-Identifier: Apache-2.0
"""Figures 5 and 6 of holmbacka2013 in short, on four emulated cores whose instructions count."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import emulated
import pytest

sys.path += [str(emulated.ROOT / "reproduce" / folder) for folder in ("common", "holmbacka2013")]

import board_rows
from counted import Counted, Experiment
from stated import check_words, said

FPS = 25


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def second(ours: Counted, number: int) -> list[int]:
    """The frames of each player in one second."""
    return [rate[number] for rate in ours.rates]


def test_four_films_are_too_much_for_a_core_until_three_move_away(tmp_path: Path) -> None:
    away = Experiment(
        "figure5", "small", [0] * 4, 3, 2, [1.0, 1.1, 1.2, -1], [1, 2, 3, 0], turn_us=10000
    )
    ours = Counted.measure(tmp_path, away)
    assert 4 <= min(second(ours, 0)) <= max(second(ours, 0)) <= 14
    assert second(ours, 2) == [FPS] * 4
    assert 0.9 < ours.frame() < 1.5


def test_films_that_are_collected_let_the_other_cores_sleep(tmp_path: Path) -> None:
    collected = Experiment("figure6", "small", [0, 1, 2, 3], 3, 2, [-1, 1.0, 1.1, 1.2], [0] * 4)
    ours = Counted.measure(tmp_path, collected)
    told = (ours.rates, ours.run.summary["line"], ours.run.summary["cores"])
    assert second(ours, 0) == second(ours, 2) == [FPS] * 4, told
    assert ours.wakes([1, 2, 3], 0.0, 1.0) >= FPS
    assert ours.wakes([1, 2, 3], 2.0, 3.0) == 0


@pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")
def test_the_readme_states_what_the_whole_runs_count(tmp_path: Path) -> None:
    page = "reproduce/holmbacka2013/README.md"
    figure5, _ = board_rows.figure5(tmp_path, quick=False)
    rows = {r["what"].removeprefix("board, "): r for r in figure5}
    names = ("slowest player before", "fastest player before", "slowest player after")
    names += ("the player that stays, at most", "frames that were compared")
    *rates, frames = [rows[f"figure 5: {name}"]["ours"] for name in names]
    words = (
        "{} to {} frames per second with four on core 0, {} when each has its core; "
        "the player that stays has a peak of {}; {} frames compared"
    )
    *said_rates, said_frames = said(page, words)
    # A run differs from the next by a frame in a second.
    assert said_rates == pytest.approx(rates, abs=1)
    assert said_frames == pytest.approx(frames, rel=0.01)
    frame = re.search(r"a frame takes ([\d.]+)", rows["figure 5: slowest player before"]["note"])
    check_words(page, "a frame takes {} million with all", [float(frame[1])], within=0.01)
    slowest = [r["ours"] for r in board_rows.figure6(tmp_path, quick=False)[:3]]
    assert slowest == pytest.approx(
        said(page, "{} frames per second before, during the moves and") * 3, abs=1
    )
    total = board_rows.table1(tmp_path)[-1]["ours"]
    words = "{} instructions from parking on one core to running on the other"
    check_words(page, words, [total], within=0.02)
