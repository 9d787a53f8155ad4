# SPDX-License-Identifier: Apache-2.0
"""Scripts on four emulated Cortex-A9: what they come to while their tasks move in every mode, and
what ends a run of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running import move_enough
from scripted import EXAMPLE, LOOPS, barrier_of_one, deadlock, loops
from test_run import refusal, run

MODES = {"camera": "handoff", "decoder": "replicate", "control": "recreate"}
MOVES = ("camera=1,0@11ms", "decoder=1,2,0@7ms", "control=3,0@13ms", "worker.0=1,0@17ms")


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_scripts_move_in_every_mode_and_lose_nothing(tmp_path: Path) -> None:
    text = EXAMPLE.read_text()
    for task, mode in MODES.items():
        named = f'[[task]]\nname = "{task}"\n'
        assert named in text
        text = text.replace(named, f'{named}mode = "{mode}"\nrestart = true\n')
    app = tmp_path / "app.toml"
    app.write_text(text)
    shuttles = [word for move in MOVES for word in ("--shuttle", move)]

    def run_right() -> dict[str, Any]:
        summary = run(app, *shuttles)
        assert loops(summary) == LOOPS
        assert [channel["sent"] for channel in summary["channels"]] == [50]
        return summary

    move_enough(run_right, len(MODES), *MODES)


@pytest.mark.parametrize("ends_badly", [barrier_of_one, deadlock])
def test_what_cannot_go_on_is_told_with_task_phase_and_event(
    ends_badly: Callable[[], tuple[str, tuple[str, ...]]], tmp_path: Path
) -> None:
    text, words = ends_badly()
    app = tmp_path / "app.toml"
    app.write_text(text)
    said = refusal(app)
    for word in words:
        assert word in said, said
