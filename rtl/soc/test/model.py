# SPDX-License-Identifier: Apache-2.0
"""Runs programs on the model of the SoC."""

import subprocess
from pathlib import Path

BUILD = Path(__file__).resolve().parents[3] / "build" / "rtl"
MODEL = BUILD / "soc" / "whimbrel-soc"


def run_model(
    image: Path, *options: str, stdin: bytes = b"", cycles: int = 3_000_000
) -> subprocess.CompletedProcess[bytes]:
    """Runs an image to its end, or for so many cycles."""
    command = [MODEL, "--cycles", str(cycles), *options, image]
    return subprocess.run(command, input=stdin, capture_output=True, timeout=600, check=False)


def program(name: str) -> Path:
    return BUILD / "programs" / f"{name}.elf"
