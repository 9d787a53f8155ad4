# SPDX-License-Identifier: Apache-2.0
"""Runs that are under way, as the command sees them."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WHIMBREL = Path(__file__).resolve().parent.parent / "bin/whimbrel"
PATIENCE_S = 600


def wait_for_totals(runtime: Path, holds: Callable[[dict[str, Any]], bool]) -> None:
    """Waits until this holds of the totals of the only run whose folder is in `runtime`."""
    words = [str(WHIMBREL), "top", "--json"]
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    deadline = time.monotonic() + PATIENCE_S
    while True:
        told = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        # It may not have started yet.
        if told.returncode == 0 and holds(json.loads(told.stdout)):
            return
        assert time.monotonic() < deadline, f"it does not come to that: {told}"
        time.sleep(0.01)


def move_enough(run: Callable[[], dict[str, Any]], moves: int, *tasks: str) -> None:
    """Runs, which checks what comes out and gives the summary, until so many moves went well in
    all, and each of these tasks had one. A machine with other work leaves less time for moves: ten
    runs that brought none of what is missing are a failure."""
    happened: list[dict[str, Any]] = []
    missing, in_vain = moves + len(tasks), 0
    while in_vain < 10:
        happened += [one for one in run()["migrations"] if one["status"] == "ok"]
        before, others = missing, set(tasks) - {one["task"] for one in happened}
        missing = max(moves - len(happened), 0) + len(others)
        if missing == 0:
            return
        in_vain += missing == before
    raise AssertionError(f"{len(happened)} moves, of {moves}; of {tasks}")
