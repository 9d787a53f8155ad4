#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Gates of the HW-RTOS: the paper's figure beside those that Yosys counts, and how they grow.

Exit code 0: done; 2: error.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "common"))

import command  # noqa: E402
from command import ROOT, Failed  # noqa: E402
from published import Row, publish, row, table  # noqa: E402

PYTHON = ROOT / "build/venv_rtl/bin/python"
PUBLISHED = tomllib.loads((HERE / "published.toml").read_text())["gates"]
NOTE = "NANDs with two inputs; neither placed nor routed. Tasks and ports are not published"


def counted(quick: bool) -> list[dict]:
    """What `make synth` counts, of one size or of all."""
    if not PYTHON.exists():
        raise Failed("the tools for hardware are missing: make rtl-tools")
    words = [str(PYTHON), str(ROOT / "rtl/synth/synth.py"), "--json"]
    ended = subprocess.run(words + ["--quick"] * quick, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise Failed(ended.stderr[-2000:])
    return json.loads(ended.stdout)["rows"]


def rows_of(counts: list[dict]) -> list[Row]:
    """The first of them is the size that is compared."""
    rows = []
    for n, one in enumerate(counts):
        size = f"{one['cores']} cores, {one['tasks']} tasks, {one['ports']} ports"
        size += f", {one['words']} words" if one["words"] > 1 else ""
        paper = PUBLISHED["smp"] if n == 0 else None
        note = NOTE if n == 0 else ""
        rows.append(row(f"gates, {size}", paper, one["with_buffers"], "gates", note))
        without = f"gates, {size}, buffers in RAM"
        rows.append(row(without, None, one["without_buffers"], "gates", "the RAM is not counted"))
    return rows


def main() -> None:
    """Counts and prints."""
    parser = command.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="only 2 cores, 16 tasks, 16 ports")
    options = parser.parse_args()
    with command.told("nacul2007"):
        rows = rows_of(counted(options.quick))
    publish(rows, {}, table(rows, "synthesized"), None, options.json)


if __name__ == "__main__":
    main()
