# SPDX-License-Identifier: Apache-2.0
"""Figures 5 and 6 and table I on four emulated Cortex-A9, whose instructions are counted.

The players decode really, under four kernels of FreeRTOS, and every frame is compared with what
another decoder has made of it. QEMU takes 2^shift nanoseconds for an instruction of any core, so
the figures are the same on every machine; what is called a second is so many instructions.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import players
from command import ROOT, Failed, settings
from players import FILMS, VIDEO
from recorded import Recorded, record

BOARD = ROOT / "boards/vexpress_a9"
OWN = Path(__file__).parent / "board"
CORES = 4
FPS = 25
FRAMES = 25  # of each film
RUN = 1  # the kind of an event: a task begins to run
PATIENCE_S = 1200


@dataclass(frozen=True)
class Experiment:
    """Players on the board, and when they move."""

    name: str
    film: str
    cores: list[int]  # where each player starts
    seconds: int
    shift: int  # QEMU takes 2^shift nanoseconds for an instruction
    move_s: list[float]  # when each player moves; -1: it does not
    move_to: list[int]
    turn_us: int = 0  # how long a core has its turn; 0: all run when they like

    def parameters(self) -> str:
        """Of turns.c, for [params]."""
        values = {
            "cores": CORES,
            "turn_us": self.turn_us,
            "seconds": self.seconds,
            "move_s": self.move_s,
            "move_to": self.move_to,
        }
        return "".join(f"{key} = {value}\n" for key, value in values.items())

    def app(self) -> str:
        """The application, with the tasks of turns.c."""
        text = players.app(len(self.cores))
        return (
            text.replace("[params]\n", "[params]\n" + self.parameters())
            + (OWN / "turns.toml").read_text()
        )

    def board(self) -> str:
        """The board's description, but for instructions that are counted."""
        text = (BOARD / "board.toml").read_text()
        for old, new in (
            ('"-smp", "4",', f'"-smp", "4", "-icount", "shift={self.shift},sleep=off",'),
            ('cmake = "."', f'cmake = "{BOARD}"'),
        ):
            if old not in text:
                raise Failed(f"{BOARD}/board.toml has no `{old}`")
            text = text.replace(old, new)
        return text

    def settings(self) -> dict[str, object]:
        """Of the players: a film that is played as long as the run lasts, and compared."""
        return {
            **FILMS[self.film],
            "expected": VIDEO / f"data/{self.film}.framecrc",
            "plays": self.seconds * FPS // FRAMES,
        }


@dataclass(frozen=True)
class Counted:
    """What came of an experiment."""

    experiment: Experiment
    run: Recorded
    rates: list[list[int]]

    @staticmethod
    def measure(folder: Path, experiment: Experiment) -> Counted:
        """Builds the image, and runs it until the films are over. A frame that is not as expected
        fails it."""
        here = folder / f"board_{experiment.name}"
        here.mkdir()
        (here / "app.toml").write_text(experiment.app())
        (here / "board.toml").write_text(experiment.board())
        (here / "Makefile").symlink_to(OWN / "Makefile")
        words = ["run", str(here / "app.toml"), "--board", str(here / "board.toml")]
        words += ["--map", players.mapping(experiment.cores), *settings(experiment.settings())]
        run, _ = record(folder / f"run_{experiment.name}", *words, timeout=PATIENCE_S)
        return Counted(experiment, run, players.frame_rates(run))

    def instructions(self, phase: str) -> float:
        """Of one phase of the migrations, in the median."""
        first, last = phase.split(" to ")
        lengths = [m[f"{last}_ns"] - m[f"{first}_ns"] for m in self.run.summary["migrations"]]
        return median(lengths) / 2**self.experiment.shift

    def frame(self) -> float:
        """Millions of instructions of a frame, by the time of the players' kernels."""
        played = [task for task in self.run.summary["tasks"] if task["task"] == "video"]
        busy_ns = sum(task["busy_ns"] for task in played)
        shown = sum(map(sum, self.rates))
        return busy_ns / 2**self.experiment.shift / shown / 1e6

    def wakes(self, cores: list[int], begin: float, end: float) -> float:
        """How often tasks began to run on the busiest of these cores, per second."""
        counts = [
            sum(begin <= event.at < end for event in self.run.events(core, RUN)) for core in cores
        ]
        return max(counts) / (end - begin)

    def sleeps(self, cores: list[int]) -> list[int]:
        """How often each of these cores went to sleep."""
        return [self.run.summary["cores"][core]["sleeps"] for core in cores]


def missing() -> str | None:
    """What is not there that the board needs."""
    tools = ("cmake", "make", "arm-none-eabi-gcc", "qemu-system-arm")
    return next((tool for tool in tools if shutil.which(tool) is None), None)
