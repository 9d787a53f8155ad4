# SPDX-License-Identifier: Apache-2.0
"""What a board's build and run say when something is missing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import emulated
import pytest


def configure(tmp_path: Path, *options: str, **environment: str) -> str:
    """Configures the board, which must fail; returns what CMake says, in one line."""
    board = emulated.ROOT / "boards" / "vexpress_a9"
    command = ["cmake", "-S", board, "-B", tmp_path]
    ended = subprocess.run(
        [*command, *options], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert ended.returncode != 0
    return " ".join(ended.stderr.split())


def test_a_folder_without_freertos(tmp_path: Path) -> None:
    said = configure(tmp_path, "-DFREERTOS_KERNEL_PATH=/nowhere")
    assert 'FREERTOS_KERNEL_PATH is "/nowhere", which has no tasks.c.' in said
    assert "Name a folder of FreeRTOS-Kernel V11" in said


def test_a_folder_without_freertos_by_the_environment(tmp_path: Path) -> None:
    said = configure(tmp_path, FREERTOS_KERNEL_PATH="/nowhere")
    assert 'FREERTOS_KERNEL_PATH is "/nowhere", which has no tasks.c.' in said


def test_no_cargo(tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for tool in ("cmake", "make", "arm-none-eabi-gcc", "arm-none-eabi-ar", "uname", "sh"):
        (bin_ / tool).symlink_to(f"/usr/bin/{tool}")
    said = configure(tmp_path / "build", PATH=str(bin_))
    assert "cargo cannot fetch FreeRTOS" in said
    assert "-DFREERTOS_KERNEL_PATH" in said


@pytest.mark.parametrize("board", [emulated.VEXPRESS, emulated.VIRT], ids=lambda board: board.name)
def test_a_core_that_never_booted(board: emulated.Board) -> None:
    case = "=a_task_that_gives_up_is_named_with_its_own_words"
    run = emulated.run(case, cores=3, board=board)
    assert run.status == 2
    assert run.text == "conform: core 3 has not booted: start all 4 cores of the board\n"
