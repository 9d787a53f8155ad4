# SPDX-License-Identifier: Apache-2.0
"""Runs with kernels of two kinds that are under way: who their kernels are, and what they do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "apps/common")]

from driven import kernels_of  # noqa: E402
from running import WHIMBREL  # noqa: E402

CPU = min(os.sched_getaffinity(0))
LIMIT_S = 300


def command(app: str | Path, cores: str, *options: str, **params: object) -> list[str]:
    """`app`: a folder of `apps`, or a path."""
    folder = ROOT / "apps" / app
    words = [str(WHIMBREL), "run", f"{folder}/app.toml", "--cores", cores, "--json", *options]
    for key, value in params.items():
        words += ["--set", f"{key}={value}"]
    return words


def second_board(folder: Path) -> Path:
    """Another emulator of the same board: as another board, in this folder."""
    board = ROOT / "boards/virt_a64"
    text = (board / "board.toml").read_text(encoding="utf-8")
    for of, other in [("virt_a64", "second"), (".", board)]:
        assert text.count(f'= "{of}"\n') == 1
        text = text.replace(f'= "{of}"\n', f'= "{other}"\n')
    (folder / "board.toml").write_text(text, encoding="utf-8")
    return folder / "board.toml"


@contextmanager
def started(runtime: Path, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A run, which is ended with the block. What it says then is shown if the test fails."""
    runtime.mkdir(mode=0o700)
    process = subprocess.Popen(
        words,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)},
    )
    try:
        yield process
    except BaseException:
        process.kill()
        print(process.communicate()[1])
        raise
    finally:
        process.kill()
        process.communicate()


def whimbrel(runtime: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime)}
    words = (str(WHIMBREL), *words)
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.01)


def kernel_of(runtime: Path, core: int, instead_of: int = 0) -> int:
    """The number of the process of a core's kernel, once it has one, and another than this one."""
    found: list[int] = []

    def is_there() -> bool:
        processes = kernels_of(runtime)
        assert processes, "the run is over"
        process = processes[core]
        if process is not None and process["pid"] != instead_of:
            found.append(process["pid"])
        return bool(found)

    wait_until(is_there)
    return found[0]


def received(runtime: Path) -> dict[str, int]:
    """How many messages came through each channel; empty if the run does not answer."""
    told = whimbrel(runtime, "top", "--json")
    channels = json.loads(told.stdout)["channels"] if told.returncode == 0 else []
    return {one["channel"]: one["received"] for one in channels}


def wait_for_more(
    runtime: Path,
    process: subprocess.Popen[str],
    more: int = 1000,
    channels: Sequence[str] = ("relay_receiver",),
) -> bool:
    """Waits until so many more messages came through each of these; false if the run is over."""
    before: dict[str, int] = {}

    def are_through() -> bool:
        now = received(runtime)
        before.update({} if before else now)
        return process.poll() is not None or (
            bool(now) and all(now[one] >= before[one] + more for one in channels)
        )

    wait_until(are_through)
    return process.poll() is None


def stop(process: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    """Asks a run to end: its exit status, its summary, and what it said."""
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=LIMIT_S)
    assert out, said
    return process.returncode, json.loads(out), said
