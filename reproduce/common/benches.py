# SPDX-License-Identifier: Apache-2.0
"""Rows of `whimbrel bench --quick`, measured once for all tests of a process."""

from __future__ import annotations

import functools
import json
import os
from typing import Any

from command import whimbrel

GROUPS = ("migration", "channel", "call", "checkpoint", "agent", "wake")


def measure(groups: tuple[str, ...], rounds: int, samples: int) -> list[dict[str, Any]]:
    """Measures each thing of some groups in so many rounds of so many samples."""
    lengths = {"WHIMBREL_BENCH_ROUNDS": str(rounds), "WHIMBREL_BENCH_SAMPLES": str(samples)}
    words = ("bench", *groups, "--quick", "--json")
    return json.loads(whimbrel(*words, timeout=900, env=os.environ | lengths).stdout)


@functools.cache
def measured() -> list[dict[str, Any]]:
    """In one short round: most tests look at which rows there are, not how good."""
    return measure(GROUPS, rounds=1, samples=1000)
