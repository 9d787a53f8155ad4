# SPDX-License-Identifier: Apache-2.0
"""Runs programs on models of the SoC."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/rtl"
PROGRAMS = BUILD / "nacul2007"

# Loads may overtake stores to other lines; a read of a device is a fence.
ORDER = ("--store-order", "tso")


CYCLES = "100000000"  # a program that has not ended then does not


class Failed(Exception):
    """A program that could not be measured."""


def build(*targets: Path) -> None:
    """Makes models and programs."""
    names = [str(target.relative_to(ROOT)) for target in targets]
    command = ["make", "--silent", "-C", str(ROOT), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} failed:\n{done.stderr}")


def model(size: str = "") -> Path:
    """The model of the SoC, or of another size, as c2_t16_p32_w4: cores, tasks, ports, words."""
    return BUILD / "soc" / size / "whimbrel-soc"


def run_text(soc: Path, image: Path, wait_states: int, *options: str, line: str) -> str:
    """What a program prints on its serial line and its console; `line` is what it reads."""
    command = [str(soc), "--wait-states", str(wait_states), "--cycles", CYCLES, *options]
    done = subprocess.run(
        [*command, str(image)], input=line.encode(), capture_output=True, check=False
    )
    text = (done.stdout + done.stderr).decode(errors="replace")
    if done.returncode != 0:
        raise Failed(f"{image.name} ended with {done.returncode}: {text}")
    return text


def run(soc: Path, image: Path, wait_states: int, *options: str, line: str = "") -> str:
    """The same of a program that uses the serial line alone, by the measurements' memory order."""
    return run_text(soc, image, wait_states, *ORDER, *options, line=line)
