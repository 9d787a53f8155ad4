# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/tour.md and of other guides, as a reader types them."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from documents import ROOT
from running import PATIENCE_S

PAGE = (ROOT / "docs/tour.md").read_text()
ON_A_BOARD = "Run on a board"
CPUS = sorted(os.sched_getaffinity(0))


def sections() -> dict[str, list[str]]:
    """The blocks of commands below each heading; those above the first one have the empty one."""
    parts = re.split(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    texts = dict(zip(["", *parts[1::2]], parts[::2], strict=True))
    found = {
        heading: re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        for heading, text in texts.items()
    }
    return {heading: blocks for heading, blocks in found.items() if blocks}


def typed(heading: str, number: int, folder: Path) -> subprocess.CompletedProcess[str]:
    """Types a block of the tour."""
    return typed_block(sections()[heading][number], folder)


def on_these_processors(cores: re.Match[str]) -> str:
    numbers = [CPUS[0] if core == "0" else CPUS[-1] for core in cores[1].split(",")]
    return "--cores " + ",".join(map(str, numbers))


def typed_block(block: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Types commands, with `folder` in the place of build/tour, on processors that there are.

    The command is built already. A line that fails ends the block, and with it what still runs.
    """
    commands = block.replace("make build\n", "")
    commands = commands.replace("build/tour", str(folder))
    commands = re.sub(r"--cores (0(?:,[01])+)", on_these_processors, commands)
    if len(CPUS) == 1:  # as the page says
        both = rf"\1 --cores {CPUS[0]},{CPUS[0]}"
        commands = re.sub(r"(whimbrel run \S+)(?!.*--(cores|board))", both, commands)
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700, parents=True, exist_ok=True)
    return subprocess.run(
        ["bash", "-e", "-c", f"trap 'kill $(jobs -p) 2>/dev/null || true' ERR\n{commands}"],
        cwd=ROOT,
        env=os.environ | {"XDG_RUNTIME_DIR": str(runtime)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
