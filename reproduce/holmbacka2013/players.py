# SPDX-License-Identifier: Apache-2.0
"""Video players in the simulator."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import ROOT, Failed, settings
from recorded import Recorded, record

VIDEO = ROOT / "apps/video"
FILMS = {
    "large": {"input": VIDEO / "data/large.avi", "width": 320, "height": 240},
    "small": {"input": VIDEO / "data/small.avi", "width": 160, "height": 120},
}

# Four large videos on one core reach 6 to 14 frames per second: 10 in the middle, 40 in all.
LARGE_MS = 25.0
# Four small ones fill a core, but for what the screens and a policy take.
SMALL_MS = 9.6


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
        words = ["sim", str(toml), "--platform", platform.name, *options]
        words += ["--map", mapping(cores), "--compute", "model"]
        cycles = round(platform.mhz() * 1000 * frame_ms)
        film = FILMS["large" if frame_ms == LARGE_MS else "small"]
        words += settings({**film, "plays": 1000000, "frame_cycles": cycles})
        run, _ = record(self.folder / name, *words)
        return run


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
