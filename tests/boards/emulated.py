# SPDX-License-Identifier: Apache-2.0
"""Runs a program on the emulated board."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "vexpress_a9"
QEMU = "qemu-system-arm"
BOARD = [
    *("-M", "vexpress-a9", "-m", "128M", "-display", "none", "-monitor", "none"),
    *("-audiodev", "none,id=a0", "-serial", "null"),
]
# Each core a thread of the host: real races. And all in turns, by counting instructions: the same
# each time. QEMU takes 2^shift nanoseconds for an instruction.
THREADS = ()
COUNTED = ("-icount", "shift=5,sleep=off")
INSTRUCTIONS = ("-icount", "shift=0,sleep=off")

LIMIT_S = int(os.environ.get("BOARD_LIMIT_S", "60"))


@dataclass
class Run:
    """How a program on the board ended."""

    status: int  # of the program; 124: it was not over in time
    text: str  # all that it printed


def run(
    *words: str, mode: tuple[str, ...] = THREADS, cores: int = 4, limit_s: int = LIMIT_S
) -> Run:
    """Runs the conformance suite with these arguments, until it ends."""
    arguments = ",".join(["enable=on,target=native", "arg=conform", *(f"arg={w}" for w in words)])
    command = [QEMU, *BOARD, "-smp", str(cores), *mode, "-semihosting-config", arguments]
    command += ["-kernel", str(BUILD / "conform")]
    try:
        ended = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit_s
        )
    except subprocess.TimeoutExpired as late:
        return Run(124, (late.stdout or b"").decode())
    lines = ended.stdout.splitlines(keepends=True)
    return Run(ended.returncode, "".join(line for line in lines if not line.startswith("audio:")))


def missing() -> str | None:
    """What is not there that a run needs."""
    if shutil.which(QEMU) is None:
        return f"{QEMU} (make setup)"
    return None if (BUILD / "conform").exists() else f"{BUILD / 'conform'} (make test-freertos)"


def run_each(cases: list[str], mode: tuple[str, ...], limit_s: int = LIMIT_S) -> dict[str, Run]:
    """Runs each case by itself, as many at once as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda case: run("=" + case, mode=mode, limit_s=limit_s), cases)
        return dict(zip(cases, runs, strict=True))
