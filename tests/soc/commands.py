# SPDX-License-Identifier: Apache-2.0
"""The command with the board of the SoC."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import soc
from running import WHIMBREL

# An image may have to be built before.
LIMIT_S = 4 * soc.LIMIT_S


def whimbrel(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([WHIMBREL, *words], capture_output=True, text=True, timeout=LIMIT_S)


def run(
    app: str | Path, *options: str | Path, board: str = "rv32_soc", **params: object
) -> dict[str, Any]:
    """Runs an application, by its name or its file; its summary, and what it prints as `said`."""
    path = app if isinstance(app, Path) else soc.ROOT / "apps" / app / "app.toml"
    settings = [word for key, value in params.items() for word in ("--set", f"{key}={value}")]
    words = ["--board", board, "--fast", "--json", "--quiet"]
    ended = whimbrel("run", path, *words, *options, *settings)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout) | {"said": ended.stderr}
