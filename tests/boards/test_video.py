# SPDX-License-Identifier: Apache-2.0
"""The video players on four emulated Cortex-A9: the pictures are those of another decoder."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import emulated
import pytest
from running import WHIMBREL

VIDEO = emulated.ROOT / "apps/video"
SMALL = {
    "input": VIDEO / "data/small.avi",
    "expected": VIDEO / "data/small.framecrc",
    "width": 160,
    "height": 120,
}
PLAYS, FRAMES = 4, 25


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


# One player at a time is being recreated.
@pytest.mark.parametrize(("mode", "moves"), [("handoff", 10), ("replicate", 10), ("recreate", 2)])
def test_every_frame_is_right_while_four_players_go_round(
    mode: str, moves: int, tmp_path: Path
) -> None:
    emulated.move_enough(
        lambda times: moves_while_all_is_right(mode, times * PLAYS, tmp_path), moves
    )


def moves_while_all_is_right(mode: str, plays: int, tmp_path: Path) -> int:
    """Plays the film so often, and checks each picture; how many moves there were."""
    command = [str(WHIMBREL), "run", str(VIDEO / "app.toml")]
    command += ["--board", "vexpress_a9", "--fast", "--json", "--quiet", "--mode", mode]
    for key, value in {**SMALL, "plays": plays, "output": tmp_path / "out.framecrc"}.items():
        command += ["--set", f"{key}={value}"]
    for player in range(4):
        cores = ",".join(str((player + n) % 4) for n in range(1, 5))
        command += ["--shuttle", f"video.{player}={cores}@20ms"]
    # The image may have to be built before, on a machine that has other things to do.
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=4 * emulated.LIMIT_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
    for player in range(4):
        said = (
            f"video.{player}: {plays * FRAMES} frames shown, 0 dropped, 0 damaged, all as expected"
        )
        assert said in ended.stderr
        lines = (tmp_path / f"out.{player}.framecrc").read_text().splitlines()[4:]
        expected = SMALL["expected"].read_text().splitlines()
        checksums = [line.rsplit(" ", 1)[1] for line in expected]
        assert [line.rsplit(" ", 1)[1] for line in lines] == plays * checksums
    n = sum(move["status"] == "ok" for move in json.loads(ended.stdout)["migrations"])
    print(f"{mode}: {plays} plays, {n} moves")
    return n
