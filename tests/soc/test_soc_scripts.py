# SPDX-License-Identifier: Apache-2.0
"""Scripts on the model of the SoC: what they come to while tasks move. Where the HW-RTOS schedules,
kernels/conform has them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import whimbrel
from scripted import loops

# Each move takes a while to tell over the serial line, so there are few.
SCRIPTS = """
[app]
name = "scripts"

[[mutex]]
name = "m"

[[condition]]
name = "c"

[[barrier]]
name = "b"
tasks = 2

[[task]]
name = "camera"
script = [{ phase = "film", loop = 8, do = [
    { lock = "m" }, { run = 300 }, { send = "out" }, { wait = "c", mutex = "m" }, { unlock = "m" },
    { timer = "1ms" },
] }]

[[task]]
name = "decoder"
core = 1
script = [{ loop = 8, do = [
    { receive = "in" }, { lock = "m" }, { signal = "c" }, { unlock = "m" },
] }]

[[task]]
name = "walker"
script = [{ loop = 2, do = [
    { run = 200 }, { barrier = "b" }, { migrate = 1 },
    { lock = "m" }, { unlock = "m" }, { migrate = 0 },
] }]

[[task]]
name = "partner"
core = 1
script = [{ loop = 2, do = [{ runtime = "100us" }, { barrier = "b" }, { memory = "1KiB" }] }]

[[channel]]
from = "camera.out"
to = "decoder.in"
slot_bytes = 8
"""
LOOPS = {"camera": 8, "decoder": 8, "walker": 2, "partner": 2}


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of each test are its own."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


def test_scripts_do_what_they_say_and_move(tmp_path: Path) -> None:
    app = tmp_path / "app.toml"
    app.write_text(SCRIPTS)
    ended = whimbrel("run", app, "--board", "rv32_soc", "--fast", "--json", "--quiet")
    assert ended.returncode == 0, ended.stderr
    summary = json.loads(ended.stdout)
    assert loops(summary) == LOOPS
    moves = {task["task"]: task["migrations"] for task in summary["tasks"]}
    assert moves == {"camera": 0, "decoder": 0, "walker": 4, "partner": 0}
