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


def measure(rounds: int) -> list[dict[str, Any]]:
    """Measures each thing in so many rounds; one takes about 10 s."""
    command = [str(WHIMBREL), "bench", "--quick", "--json", *GROUPS]
    environment = os.environ | {"WHIMBREL_BENCH_ROUNDS": str(rounds)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=900, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def measured() -> list[dict[str, Any]]:
    """In one round: most tests look at which rows there are, not how good."""
    return measure(1)
