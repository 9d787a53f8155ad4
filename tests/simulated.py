# SPDX-License-Identifier: Apache-2.0
"""What the tests of the simulator share: running it, platforms made for a test, event streams."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from running import WHIMBREL

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_S = 600

RUN, READY, BLOCK, SEND, RECEIVE = 1, 2, 3, 5, 6
TEMPERATURE = 16

Json = dict[str, Any]

# Two tasks, behind the name of an application, and a table that puts them on one core at 20 Hz.
TURNS = """
frame_rate = 10

[[task]]
name = "a"
periodic = true
cycles = 1000

[[task]]
name = "b"
periodic = true
cycles = 1000
"""
ROWS = """
[[row]]
frame_rate = 10
mapping = { a = 0, b = 1 }
frequency_mhz = 1000

[[row]]
frame_rate = 20
mapping = { a = 0, b = 0 }
frequency_mhz = [1000, "off"]
"""


def recorded_bytes(folder: Path) -> dict[str, bytes]:
    """The result in a recorded folder, without what it takes to repeat it."""
    files = [*folder.glob("summary.json"), *folder.glob("*.events")]
    return {path.name: path.read_bytes() for path in files}


def platform(*cores: str, rest: str = "") -> str:
    """A platform on which nothing but computing takes time; 1 GHz where a core says nothing."""
    point = "[[core.point]]\nmhz = 1000\nactive_mw = 100\n"
    tables = [f"[[core]]\n{core}{'' if 'point' in core else point}" for core in cores]
    return '[platform]\nname = "made"\n\n' + "\n".join(tables) + rest


def command(
    app: Path,
    *options: str,
    libexec: Path | None = None,
    quiet: bool = True,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Starts `whimbrel sim` and waits for its end; never fails by itself."""
    environment = {**os.environ, "NO_COLOR": "1", **environment}
    if libexec is not None:
        environment["WHIMBREL_LIBEXEC"] = str(libexec)
    words = [str(WHIMBREL), "sim", str(app), "--json", *(["--quiet"] if quiet else []), *options]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=environment
    )


def simulate(folder: Path, app: str, hardware: str, *options: str) -> Json:
    """Simulates an application on a platform, both as text, and returns the summary."""
    (folder / "app.toml").write_text(app)
    (folder / "platform.toml").write_text(hardware)
    done = command(folder / "app.toml", "--platform", str(folder / "platform.toml"), *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Event:
    """A record of an event stream; see docs/recorded-run.md."""

    time_ns: int
    kind: int
    core: int
    task: int
    object: int
    value: int


def events(folder: Path, core: int) -> list[Event]:
    """The event stream of a core."""
    raw = (folder / f"core-{core}.events").read_bytes()
    assert raw[:8] == b"WBEVENTS"
    return [Event(*record) for record in struct.iter_unpack("<QHHIII", raw[32:])]
