# SPDX-License-Identifier: Apache-2.0
"""What tshark reads in a capture."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from phones import SOUND_PORT

# Checksums are verified, so that a wrong one is an expert's warning. Phones of tests have free
# ports below those of sound, which tshark may know as another protocol's: 3478 as STUN's.
CHECKSUMS = ("-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
WORDS = ("tshark", *CHECKSUMS, "-d", f"udp.port==1024-{SOUND_PORT - 1},sip", "-r")


@dataclass(frozen=True)
class Stream:
    """A row of its analysis of RTP."""

    source: tuple[str, int]
    sink: tuple[str, int]
    codec: str
    packets: int
    lost: int
    jitter_ms: float  # the most
    has_problems: bool


def tshark(path: Path, *options: str) -> str:
    ran = subprocess.run([*WORDS, str(path), *options], capture_output=True, text=True)
    assert ran.returncode == 0 and "cut short" not in ran.stderr, ran.stderr
    return ran.stdout


def streams(path: Path) -> list[Stream]:
    table = tshark(path, "-q", "-z", "rtp,streams")
    print(table)
    rows = [line.split() for line in table.splitlines() if " 0x" in line]
    return [
        Stream(
            source=(row[2], int(row[3])),
            sink=(row[4], int(row[5])),
            codec=row[7],
            packets=int(row[8]),
            lost=int(row[9]),
            jitter_ms=float(row[16]),
            has_problems=row[-1] == "X",
        )
        for row in rows
    ]


def fields(path: Path, display: str, *names: str) -> list[list[str]]:
    """The fields of each packet that a filter shows."""
    options = [word for name in names for word in ("-e", name)]
    lines = tshark(path, "-Y", display, "-T", "fields", *options).splitlines()
    return [line.split("\t") for line in lines]
