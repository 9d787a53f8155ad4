# SPDX-License-Identifier: Apache-2.0
"""Video players in the simulator."""

from __future__ import annotations

import json
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recorded import Recorded

ROOT = Path(__file__).resolve().parent.parent.parent
WHIMBREL = ROOT / "bin/whimbrel"
VIDEO = ROOT / "apps/video"
FILMS = {
    "large": {"input": VIDEO / "data/large.avi", "width": 320, "height": 240},
    "small": {"input": VIDEO / "data/small.avi", "width": 160, "height": 120},
}

# Four large videos on one core reach 6 to 14 frames per second: 10 in the middle, 40 in all.
LARGE_MS = 25.0
# Four small ones fill a core, but for what the screens and a policy take.
SMALL_MS = 9.6


class Failed(Exception):
    """A simulation that did not run."""


@dataclass(frozen=True)
class Platform:
    """A platform that comes with Whimbrel."""

    name: str

    def description(self) -> dict[str, Any]:
        """Its file."""
        return tomllib.loads((ROOT / f"platforms/{self.name}.toml").read_text())

    def mhz(self) -> int:
        """The highest frequency of its cores."""
        return self.description()["core"][0]["point"][-1]["mhz"]


CA9X4, MESH64 = Platform("ca9x4"), Platform("mesh64")


def app(players: int) -> str:
    """The application with so many players."""
    text = (VIDEO / "app.toml").read_text()
    if text.count("count = 4\n") != 2:
        raise Failed(f"{VIDEO}/app.toml has not four players and four screens")
    return text.replace("count = 4\n", f"count = {players}\n")


def mapping(cores: list[int]) -> str:
    """One player on each of these cores, for `--map`."""
    return ",".join(f"video.{player}={core}" for player, core in enumerate(cores))


@dataclass(frozen=True)
class Lab:
    """Where simulations leave what they record."""

    folder: Path

    def play(
        self, name: str, platform: Platform, cores: list[int], frame_ms: float, *options: str
    ) -> Recorded:
        """Simulates one player on each of `cores`, and reads what was recorded.

        Players take the time of their frames, and decode none: that is what the tests of apps/video
        are about.
        """
        toml = self.folder / f"{name}.toml"
        toml.write_text(app(len(cores)))
        command = [str(WHIMBREL), "sim", str(toml), "--platform", platform.name, *options]
        command += ["--map", mapping(cores), "--compute", "model"]
        cycles = round(platform.mhz() * 1000 * frame_ms)
        film = FILMS["large" if frame_ms == LARGE_MS else "small"]
        for key, value in {**film, "plays": 1000000, "frame_cycles": cycles}.items():
            command += ["--set", f"{key}={value}"]
        command += ["--record", str(self.folder / name), "--quiet", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failed(f"{name}: {done.stderr}")
        if json.loads(done.stdout)["dropped_events"]:
            raise Failed(f"{name}: events are missing")
        return Recorded(self.folder / name)


def frame_rates(run: Recorded) -> list[list[int]]:
    """Of each player, the frames shown in each whole second of a run."""
    seconds = int(run.seconds)
    rates = []
    for channel, times in run.sent().items():
        if not channel.startswith("video_screen"):
            continue
        per_second = [0] * (seconds + 1)
        for time in times:
            per_second[min(int(time), seconds)] += 1
        rates.append(per_second[:seconds])
    return rates


def steady_from(rates: list[list[int]], fps: int) -> int:
    """The second from which on every player shows `fps` frames in each, within one."""
    steady = 0
    for rate in rates:
        for second, frames in enumerate(rate):
            if abs(frames - fps) > 1:
                steady = max(steady, second + 1)
    return steady
