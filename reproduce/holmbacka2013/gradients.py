# SPDX-License-Identifier: Apache-2.0
"""Figure 1 of holmbacka2013: how a mapping of tasks heats a chip, in the steady state."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from experiments import CROWDED
from players import CA9X4, MESH64, SMALL_MS, Lab, Platform
from published import Row, row
from recorded import POWER, Recorded, Steps
from whimbrel.plot.chart import Chip, Floorplans

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())["figure1"]

# Temperatures in the mean over so many seconds, whole periods of the videos, before the last one,
# in which the players end.
MEAN_S = 2.0


@dataclass(frozen=True)
class Mapping:
    """A chip that has taken its temperature."""

    run: Recorded
    cores_c: list[float]

    @staticmethod
    def simulate(
        lab: Lab,
        name: str,
        platform: Platform,
        cores: list[int],
        seconds: int,
        frame_ms: float = SMALL_MS,
    ) -> Mapping:
        """Videos on these cores, without a policy, and with agents that hardly ever look."""
        options = [f"--duration={seconds}s", "--agent-period=100s"]
        run = lab.play(name, platform, cores, frame_ms, *options)
        return Mapping(run, run.temperatures_c(seconds - 1 - MEAN_S, seconds - 1))

    def hottest(self) -> float:
        """Degrees Celsius of the hottest core."""
        return max(self.cores_c)

    def gradient(self) -> float:
        """Kelvin between the hottest and the coolest core."""
        return self.hottest() - min(self.cores_c)

    def chip(self, title: str) -> Chip:
        """To be drawn; a block without a core has its temperature of the end."""
        blocks = self.run.summary["floorplan"]["blocks"]
        celsius = [
            block["temperature_mc"] / 1e3 if block["core"] is None else self.cores_c[block["core"]]
            for block in blocks
        ]
        return Chip(title, blocks, celsius)

    def core_w(self, begin: float, end: float) -> list[float]:
        """Mean power of each core between two times."""
        every = (Steps(self.run.events(core, POWER)) for core in range(self.run.cores))
        return [core.mean(begin, end) / 1e6 for core in every]


def compared(what: str, spread: Mapping, concentrated: Mapping, note: str) -> list[Row]:
    """Two mappings of the same work."""
    colours = "theirs has colours only, of another chip"
    return [
        row(f"{what}: hottest core, spread", None, spread.hottest(), "°C", note),
        row(f"{what}: hottest core, concentrated", None, concentrated.hottest(), "°C", note),
        row(f"{what}: gradient, spread", PUBLISHED["spread"], spread.gradient(), "K", colours),
        row(
            f"{what}: gradient, concentrated",
            PUBLISHED["concentrated"],
            concentrated.gradient(),
            "K",
            colours,
        ),
    ]


def figure1(lab: Lab, quick: bool) -> tuple[list[Row], dict[str, Floorplans]]:
    """Four videos on four cores and on one; 64 on 64 and on a corner of 16."""
    small_s, large_s = (200, 150) if quick else (400, 400)
    spread = Mapping.simulate(lab, "heat_spread", CA9X4, [0, 1, 2, 3], small_s)
    packed = Mapping.simulate(lab, "heat_packed", CA9X4, [0] * 4, small_s)
    note = f"after {small_s} s; thermal parameters are ours. Spread, the whole chip draws more"
    rows = compared("figure 1, ca9x4", spread, packed, note)
    wide = Mapping.simulate(lab, "mesh_heat_spread", MESH64, list(range(64)), large_s)
    corner = Mapping.simulate(lab, "mesh_heat_packed", MESH64, CROWDED, large_s)
    note = f"after {large_s} s; 64 players on 64 cores, and on a corner of 16"
    rows += compared("figure 1, 64 cores", wide, corner, note)
    plots = {
        "figure1": Floorplans(
            "Figure 1 on ca9x4: four small videos",
            [spread.chip("one per core"), packed.chip("all on core 0")],
        ),
        "figure1_mesh": Floorplans(
            "Figure 1 on 64 cores: 64 small videos",
            [wide.chip("one per core"), corner.chip("four per core in a corner")],
        ),
    }
    return rows, plots
