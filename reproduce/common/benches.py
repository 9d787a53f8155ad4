# SPDX-License-Identifier: Apache-2.0
"""Rows of `whimbrel bench --quick`, measured once for all tests of a process."""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

WHIMBREL = Path(__file__).resolve().parents[2] / "bin/whimbrel"
GROUPS = ("migration", "channel", "checkpoint", "agent", "wake")


def measure() -> list[dict[str, Any]]:
    """Measures; takes about 20 s."""
    command = [str(WHIMBREL), "bench", "--quick", "--json", *GROUPS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


measured = functools.cache(measure)
