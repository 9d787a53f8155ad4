# SPDX-License-Identifier: Apache-2.0
"""Runs an application by the command, for its tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

APPS = Path(__file__).resolve().parent.parent
WHIMBREL = APPS.parent / "bin/whimbrel"
PATIENCE_S = 600

# Two kernels share a processor where there is only one.
CPUS = sorted(os.sched_getaffinity(0))
CORES = ("--cores", f"{CPUS[0]},{CPUS[-1]}")

Param = str | int | float | Path | list[int]

Ended = subprocess.CompletedProcess[str]


def command(verb: str, app: Path, options: tuple[str, ...], params: dict[str, Any]) -> list[str]:
    words = [str(WHIMBREL), verb, str(app), "--json", "--quiet", *options]
    for key, value in params.items():
        words += ["--set", f"{key}={value}"]
    return words


def run(app: Path, *options: str, **params: Param) -> Ended:
    """Runs it on two kernels as fast as it goes; never fails by itself."""
    return ended(command("run", app, ("--fast", *CORES, *options), params))


def simulate(app: Path, *options: str, **params: Param) -> Ended:
    return ended(command("sim", app, ("--fast", *options), params))


def ended(words: list[str]) -> Ended:
    return subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def moved(summary: dict[str, Any]) -> int:
    return sum(migration["status"] == "ok" for migration in summary["migrations"])


def move_enough(run: Callable[[], dict[str, Any]], least: int) -> None:
    """Runs, which gives the summary, until there were so many moves in all. Beside other work a run
    may be over before many: ten that brought none are a failure."""
    moves = in_vain = 0
    while moves < least:
        now = moved(run())
        moves, in_vain = moves + now, in_vain + (now == 0)
        assert in_vain < 10, f"{moves} moves, of {least}"


def refusal(ended: Ended) -> str:
    """What a run that was refused said, in one line."""
    assert ended.returncode == 2, ended.stderr
    return " ".join(word for word in ended.stderr.split() if word != "│")


def kernels_of(runtime: Path) -> list[dict[str, Any] | None]:
    """The process of each core's kernel, if it has one, as the only run there says; none before it
    says so, and once it is over."""
    with suppress(FileNotFoundError):
        for file in runtime.glob("whimbrel/*/run.json"):
            return json.loads(file.read_text(encoding="utf-8"))["kernels"]
    return []


def with_a_kernel_killed(
    app: Path, when: Callable[[], bool], *options: str, **params: Param
) -> tuple[dict[str, Any], str]:
    """Kills the kernel of core 1 in the midst of a run: its summary, and what it said."""
    words = command("run", app, ("--fast", *CORES, *options), params)
    with TemporaryDirectory(dir="/tmp") as runtime:  # a socket's path has 107 bytes at most
        environment = {**os.environ, "XDG_RUNTIME_DIR": runtime}
        started = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        deadline = time.monotonic() + PATIENCE_S
        while not when() or not (kernel := next(iter(kernels_of(Path(runtime))[1:]), None)):
            assert started.poll() is None and time.monotonic() < deadline
            time.sleep(0.001)
        with suppress(ProcessLookupError):
            os.kill(int(kernel["pid"]), signal.SIGKILL)
        out, said = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 2 and "kernel of core 1 was killed" in said, said
    return json.loads(out), said
