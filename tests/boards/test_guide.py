# SPDX-License-Identifier: Apache-2.0
"""docs/freertos.md word by word: its files, its commands, and a task that moves."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import emulated

GUIDE = (emulated.ROOT / "docs" / "freertos.md").read_text()


def freertos() -> str:
    """The folder of FreeRTOS that the board was built with."""
    cache = (emulated.BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^FREERTOS_KERNEL_PATH:PATH=(.*)$", cache, re.MULTILINE)[1]


def test_a_project_that_follows_the_guide_sees_a_task_move(tmp_path: Path) -> None:
    files = re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in files] == ["CMakeLists.txt", "FreeRTOSConfig.h", "main.c"]
    for name, text in files:
        (tmp_path / name).write_text(text)
    commands = re.search(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)[1]
    surroundings = {"WHIMBREL": str(emulated.ROOT), "FREERTOS_KERNEL_PATH": freertos()}
    ended = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=tmp_path,
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        timeout=emulated.LIMIT_S * 5,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    moves = re.findall(r"looptask is on core (\d): (\w+), after (\d+) us", ended.stdout)
    assert [(core, status) for core, status, _ in moves] == [(c, "done") for c in "1230"]
    run_times = [int(us) for _, _, us in moves]
    assert run_times == sorted(run_times), "its run-time counter moves along"
    assert ended.stdout.splitlines()[-1] == "it looped"
