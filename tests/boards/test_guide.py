# SPDX-License-Identifier: Apache-2.0
"""docs/freertos.md word by word: its files, its commands, and a task that moves."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import emulated
import pytest

GUIDE = (emulated.ROOT / "docs" / "freertos.md").read_text()


def freertos() -> str:
    """The folder of FreeRTOS that the board was built with."""
    cache = (emulated.BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^FREERTOS_KERNEL_PATH:PATH=(.*)$", cache, re.MULTILINE)[1]


def files() -> dict[str, str]:
    """The files of the guide's project by their names."""
    return dict(re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


def test_a_project_that_follows_the_guide_sees_a_task_move(tmp_path: Path) -> None:
    assert list(files()) == ["CMakeLists.txt", "FreeRTOSConfig.h", "main.c"]
    for name, text in files().items():
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


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"NUM_THREAD_LOCAL_STORAGE_POINTERS": "0"}, "Whimbrel takes the last, so give it one"),
        ({"TASK_NOTIFICATION_ARRAY_ENTRIES": "1"}, "Whimbrel takes the last, so give it one"),
        ({"USE_PREEMPTION": "0"}, "Whimbrel's task must get the processor at once, so set it to 1"),
        (
            {
                "USE_TIMERS": "1",
                "TIMER_TASK_PRIORITY": "(configMAX_PRIORITIES - 1)",
                "TIMER_QUEUE_LENGTH": "8",
                "TIMER_TASK_STACK_DEPTH": "512",
            },
            "Whimbrel has the most urgent task: lower configTIMER_TASK_PRIORITY",
        ),
    ],
)
def test_a_configuration_that_does_not_suffice_is_told_by_the_compiler(
    settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    last = '#include "whimbrel_freertos.h"'
    lines = [f"#undef config{key}\n#define config{key} {value}" for key, value in settings.items()]
    text = files()["FreeRTOSConfig.h"]
    assert last in text
    (tmp_path / "FreeRTOSConfig.h").write_text(text.replace(last, "\n".join([*lines, last])))
    root, kernel = emulated.ROOT, Path(freertos())
    folders = [
        root / "kernels/freertos/include",
        root / "kernels/board",
        root / "middleware/include",
    ]
    folders += [tmp_path, kernel / "include", kernel / "portable/GCC/ARM_CA9"]
    command = ["arm-none-eabi-gcc", "-fsyntax-only", "-DWB_KERNEL_TASK_BYTES=256"]
    command += [f"-I{folder}" for folder in folders] + [root / "kernels/freertos/kernel.c"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode != 0 and said in ended.stderr
