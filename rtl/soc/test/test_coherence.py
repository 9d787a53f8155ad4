# SPDX-License-Identifier: Apache-2.0
"""What each way to keep data caches coherent costs."""

import json
import subprocess
from pathlib import Path

COHERENCE = Path(__file__).resolve().parents[1] / "coherence"


def test_snooping_is_quickest_and_no_cache_slowest() -> None:
    command = [COHERENCE, "--json", "--wait-states", "4"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    cycles = {row["bench"]: row["p50"] for row in json.loads(printed)}
    ways = ("snooping", "shared_uncached", "nothing_cached")
    took = [cycles[f"rtl.coherence.{way}.4"] for way in ways]
    assert took == sorted(took)
    assert took[2] > 1.5 * took[0]
