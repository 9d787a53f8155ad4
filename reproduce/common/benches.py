# SPDX-License-Identifier: Apache-2.0
"""Rows of `whimbrel bench --quick`, measured once for all tests of a process."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

WHIMBREL = Path(__file__).resolve().parents[2] / "bin/whimbrel"
GROUPS = ("migration", "channel", "call", "checkpoint", "agent", "wake")


def measure(groups: tuple[str, ...], rounds: int, samples: int) -> list[dict[str, Any]]:
    """Measures each thing of some groups in so many rounds of so many samples."""
    command = [str(WHIMBREL), "bench", "--quick", "--json", *groups]
    lengths = {"WHIMBREL_BENCH_ROUNDS": str(rounds), "WHIMBREL_BENCH_SAMPLES": str(samples)}
    environment = os.environ | lengths
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def measured() -> list[dict[str, Any]]:
    """In one short round: most tests look at which rows there are, not how good."""
    return measure(GROUPS, rounds=1, samples=1000)
