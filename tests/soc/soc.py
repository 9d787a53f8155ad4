# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the model of the SoC."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "build" / "rtl" / "soc" / "whimbrel-soc"
BOARDS = ROOT / "build" / "boards"
CONFORM = BOARDS / "rv32_soc" / "conform"
LIMIT_S = int(os.environ.get("SOC_LIMIT_S", "600"))
# Of the suite's counts, of which each is 8 at least. The model runs half a million cycles a second,
# so most cases of `make test-soc` are at that; `make soak` has 0.3.
SCALE = os.environ.get("SOC_SCALE", "0.005")
LONG_SCALE = 0.1  # from which on the tests run that take long
OUT_OF_CYCLES = 124


@dataclass
class Run:
    """How a program ended."""

    status: int  # of the program; 124: it was not over in time
    text: str  # all that it printed


def run(*words: str, options: tuple[str, ...] = (), image: Path = CONFORM) -> Run:
    """Runs a program, the conformance suite by default. Its line brings it these arguments."""
    command = [str(MODEL), *options, str(image)]
    try:
        ended = subprocess.run(
            command,
            input=" ".join(words) + "\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_S,
        )
    except subprocess.TimeoutExpired as late:
        return Run(OUT_OF_CYCLES, (late.stdout or b"").decode())
    return Run(ended.returncode, ended.stdout)


def run_each(
    cases: list[str], *words: str, options: tuple[str, ...] = (), image: Path = CONFORM
) -> dict[str, Run]:
    """Runs each case by itself, as many at once as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda case: run("=" + case, *words, options=options, image=image), cases)
        return dict(zip(cases, runs, strict=True))
