# SPDX-License-Identifier: Apache-2.0
"""What the tests of scripts share, on whatever kernels: applications, and what they come to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).resolve().parents[1] / "apps/synthetic/script.toml"
LOOPS = {"camera": 50, "decoder": 50, "control": 25, "log": 10, "worker": 20}


def app(common: str, **scripts: str) -> str:
    """An application of tasks with these scripts, each on core 0."""
    tasks = [f'[[task]]\nname = "{name}"\nscript = [{it}]\n' for name, it in scripts.items()]
    return f'[app]\nname = "scripts"\n\n{common}\n' + "\n".join(tasks)


def loops(summary: dict[str, Any]) -> dict[str, int]:
    """How often each task has fired."""
    return {task["task"]: task["script"]["loops"] for task in summary["tasks"]}


def deadlock() -> tuple[str, tuple[str, ...]]:
    """Two tasks that wait for each other, and what is said of them."""
    common = '[[semaphore]]\nname = "s"\n\n[[semaphore]]\nname = "t"\n'
    turn = '{{ phase = "{}", loop = 2, do = [{{ take = "{}" }}, {{ give = "{}" }}] }}'
    text = app(common, a=turn.format("p", "s", "t"), b=turn.format("q", "t", "s"))
    return text, ("a for a semaphore (phase p, line 12, take s)", "b for a semaphore")


def barrier_of_one() -> tuple[str, tuple[str, ...]]:
    """A task at a barrier that the other one does not come to any more, and what is said of it."""
    turn = '{{ phase = "p", loop = {}, do = [{{ run = 5 }}, {{ barrier = "b" }}] }}'
    text = app('[[barrier]]\nname = "b"\ntasks = 2\n', a=turn.format(3), b=turn.format(2))
    return text, ("`a`", "phase p, line", "barrier b", "no task can pass it")
