# SPDX-License-Identifier: Apache-2.0
"""Ways to run a program beside a load, and why one of them cannot be had."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import command

CPUSET = Path("/sys/fs/cgroup/cpuset")
# Of the first process in a namespace.
FIRST_PID = 1
BALANCE = CPUSET / "cpuset.sched_load_balance"


class Failed(command.Failed):
    """A way that does not work here, or not now."""


@dataclass(frozen=True)
class Condition:
    """A way to run a program: the words before its own, and what comes before and after.

    One that moves every process it sees is refused outside of a namespace.
    """

    name: str
    words: tuple[str, ...] = ()
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    moves_others: bool = False

    @contextmanager
    def ready(self) -> Iterator[None]:
        """While it is set up."""
        if self.moves_others and os.getpid() != FIRST_PID:
            raise Failed("it would move processes that are not the experiment's")
        if self.begin:
            if others := foreign_sets():
                raise Failed(f"there are cpusets already: {', '.join(others)}")
            told(self.begin)
        try:
            yield
        finally:
            if self.end:
                told(self.end)

    def why_not(self) -> str:
        """Why it cannot be had here; empty if it can."""
        for words in (self.words, self.begin):
            if words and shutil.which(words[0]) is None:
                return f"{words[0]} is missing: make setup build"
        if self.begin and not BALANCE.exists():
            return "there are no cpusets of cgroup version 1"
        try:
            with self.ready():
                told((*self.words, "true"))
        except Failed as failed:
            return str(failed)
        return ""


def told(words: tuple[str, ...]) -> None:
    """Runs a command that must succeed; what it says is the reason otherwise."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines() or ["it says nothing"]
        raise Failed(f"{words[0]} failed: {said[-1]}")


def foreign_sets() -> list[str]:
    """Cpusets that somebody has made; with them a shield by cset might get into their way."""
    return sorted(path.name for path in CPUSET.glob("*/") if path.is_dir())


def every_condition(whimbrel: Path, cpu: int, shield: str) -> dict[str, Condition]:
    """By name. `fifo` is the paper's own way, without ARTiS's moving of the others."""
    pinned = ("taskset", "-c", str(cpu))
    conditions = [
        Condition("default"),
        Condition("taskset", pinned),
        Condition("fifo", ("chrt", "-f", "99", *pinned)),
        Condition(
            "cset",
            ("cset", "shield", "--exec", "--"),
            ("cset", "shield", "--cpu", str(cpu)),
            ("cset", "shield", "--reset"),
            moves_others=True,
        ),
        Condition(
            "occupy",
            (str(whimbrel), "occupy", "--quiet", "--cpu", str(cpu), "--shield", shield, "--"),
            moves_others=True,
        ),
    ]
    return {condition.name: condition for condition in conditions}
