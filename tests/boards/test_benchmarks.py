# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of nacul2007 on four emulated Cortex-A9: what comes out is what Linux makes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import emulated
import pytest
from running import WHIMBREL

APPS = emulated.ROOT / "apps"
FILES_LINKED = 'cores = 4\nfiles = "linked"'


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def run(app: str, *options: str, **params: object) -> tuple[dict, list[str]]:
    """The summary of a run, and what the application said."""
    command = [str(WHIMBREL), "run", str(APPS / app / "app.toml")]
    command += ["--fast", "--json", "--quiet", *options]
    for key, value in params.items():
        command += ["--set", f"{key}={value}"]
    # The image may have to be built before, on a machine that has other things to do.
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=4 * emulated.LIMIT_S, check=False
    )
    assert ended.returncode == 0, ended.stderr
    said = [line for line in ended.stderr.splitlines() if line.startswith(f"{app}: ")]
    return json.loads(ended.stdout), said


def test_a_picture_that_is_linked_in_needs_no_file(tmp_path: Path) -> None:
    board = emulated.ROOT / "boards/vexpress_a9"
    text = (board / "board.toml").read_text()
    for old, new in (('cmake = "."', f'cmake = "{board}"'), ("cores = 4", FILES_LINKED)):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "board.toml").write_text(text)
    picture, image = tmp_path / "small.qoi", tmp_path / "image.elf"
    picture.write_bytes((APPS / "image_filter/data/hopper_small.qoi").read_bytes())
    options = ("--board", str(tmp_path / "board.toml"))
    _, expected = run("image_filter", *options, input=picture)
    built = emulated.ROOT / "build/boards/vexpress_a9/image_filter.elf"
    image.write_bytes(built.read_bytes())
    picture.unlink()
    _, said = run("image_filter", *options, "--image", str(image), input=picture)
    assert said == expected and "1 pictures of 24 x 28" in said[0]


@pytest.mark.parametrize(
    ("app", "outputs", "tasks", "plays"),
    [
        ("image_filter", {"output": "out.ppm"}, ("decoder", "filter"), 2),
        (
            "packets",
            {"forward": "forward.pcap", "store": "store.pcap"},
            ("decoder.0", "enqueue", "classifier"),
            8,
        ),
    ],
)
def test_what_comes_out_while_tasks_go_round_is_what_linux_makes(
    app: str, outputs: dict[str, str], tasks: tuple[str, ...], plays: int, tmp_path: Path
) -> None:
    emulated.move_enough(
        lambda times: moves_while_all_is_right(app, outputs, tasks, times * plays, tmp_path)
    )


def moves_while_all_is_right(
    app: str, outputs: dict[str, str], tasks: tuple[str, ...], plays: int, tmp_path: Path
) -> int:
    """Runs here and on the board, and compares what comes out; how many moves there were."""
    here = {key: tmp_path / name for key, name in outputs.items()}
    there = {key: tmp_path / f"board_{name}" for key, name in outputs.items()}
    shuttles = [f"--shuttle={task}=1,2,3,0@5ms" for task in tasks]
    _, expected = run(app, plays=plays, **here)
    summary, said = run(app, "--board", "vexpress_a9", *shuttles, plays=plays, **there)
    assert said == expected and said
    for key in outputs:
        assert there[key].read_bytes() == here[key].read_bytes()
    return sum(move["status"] == "ok" for move in summary["migrations"])
