# SPDX-License-Identifier: Apache-2.0
"""An application of as many tasks as the command lets a board have, and of one more."""

from __future__ import annotations

import bisect
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRINGS = 2
MOST = 4000


def write(folder: Path, tasks: int, cores: int, keys: str) -> Path:
    """An app.toml with so many tasks that compute a little, each with these keys."""
    task = "[[task]]\nname = 't{}'\ncore = {}\ncycles = 1000\nfirings = {}\n{}\n"
    text = "[app]\nname = 'many'\n"
    app = folder / "app.toml"
    app.write_text(text + "".join(task.format(i, i % cores, FIRINGS, keys) for i in range(tasks)))
    return app


def most_that_fit(folder: Path, board: str, cores: int, keys: str) -> int:
    """How many such tasks the command does not refuse."""

    def is_refused(tasks: int) -> bool:
        app = write(folder, tasks, cores, keys)
        command = [ROOT / "bin/whimbrel", "plan", app, "--board", board, "-o", folder / "plan.c"]
        return subprocess.run(command, capture_output=True).returncode != 0

    return bisect.bisect_left(range(1, MOST), True, key=is_refused)
