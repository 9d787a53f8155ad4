# SPDX-License-Identifier: Apache-2.0
"""Table 1 on the model of the SoC: the applications for a million cycles, in columns."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from model import PROGRAMS, Failed, build, model, run

MILLION = 1_000_000
WAIT_STATES = 4
ENDLESS = 1000  # plays

# A mean is of what comes between so many cycles: behind the filling of the channels, and of several
# plays of the capture.
WINDOWS = {"image_filter": (MILLION, 4 * MILLION), "packets": (2 * MILLION, 8 * MILLION)}

# Where data that several cores write to lies in a program.
SHARED = "app_shared_memory"


@dataclass(frozen=True)
class Column:
    """A system, and how it places tasks: 1 on core 0, s each on its core, d on any."""

    name: str
    system: str
    mapping: str
    patience: int = 0
    options: tuple[str, ...] = ()
    uncached: bool = False  # what is shared


PAPER = (
    Column("FreeRTOS single", "freertos", "1"),
    Column("HW-RTOS single", "hw_rtos", "1"),
    Column("HW-RTOS SMP static", "hw_rtos", "s"),
    Column("HW-RTOS SMP dynamic", "hw_rtos", "d"),
)
NO_CACHE = ("--no-dcache",)
BEYOND = (
    Column("SMP selective, 100 cycles of patience", "hw_rtos", "d", 100),
    Column("SMP selective, 1000 cycles", "hw_rtos", "d", 1000),
    Column("SMP static, shared data uncached", "hw_rtos", "s", 0, (), True),
    Column("SMP dynamic, shared data uncached", "hw_rtos", "d", 0, (), True),
    Column("SMP static, no data cache", "hw_rtos", "s", 0, NO_CACHE),
    Column("SMP dynamic, no data cache", "hw_rtos", "d", 0, NO_CACHE),
)


@dataclass(frozen=True)
class Measured:
    """In a million cycles: pixels or packets, and idle cycles of each core."""

    done: int
    idle: tuple[int, ...]


def image(app: str, system: str) -> Path:
    return PROGRAMS / "app" / f"{app}.{system}.elf"


def shared_range(program: Path) -> str:
    """The addresses FIRST:LAST of what several cores write to."""
    command = ["riscv64-unknown-elf-nm", "--print-size", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        words = line.split()
        if words[-1] == SHARED:
            first, size = int(words[0], 16), int(words[1], 16)
            return f"{first:#x}:{first + size - 1:#x}"
    raise Failed(f"{program.name} has no {SHARED}: {done.stderr}")


def start(app: str, column: Column, line: str, size: str = "") -> str:
    """What an application prints that is started with a line of options."""
    program = image(app, column.system)
    options = list(column.options)
    if column.uncached:
        options += ["--uncached", shared_range(program)]
    return run(model(size), program, WAIT_STATES, *options, line=line)


def measure(
    app: str, column: Column, lanes: int = 2, size: str = "", cycles: int = MILLION
) -> Measured:
    """For so many cycles from the start of the tasks on."""
    line = f"{column.mapping} {lanes} {ENDLESS} {cycles} {column.patience}\n"
    words = start(app, column, line, size).split()
    if words[:1] != ["done"]:
        raise Failed(f"{app}, {column.name}: {' '.join(words)}")
    return Measured(int(words[1]), tuple(int(word) for word in words[3::2]))


@dataclass(frozen=True)
class Mean:
    """In a million cycles, behind the beginning."""

    done: float
    idle: tuple[float, ...]


def mean(app: str, column: Column) -> Mean:
    """Of pixels or packets, and of idle cycles of each core."""
    begin, end = WINDOWS[app]
    first, all_of_it = (measure(app, column, cycles=cycles) for cycles in (begin, end))
    millions = (end - begin) / MILLION
    idle = zip(first.idle, all_of_it.idle, strict=True)
    return Mean(
        (all_of_it.done - first.done) / millions, tuple((b - a) / millions for a, b in idle)
    )


def means() -> dict[tuple[str, str], Mean]:
    """Of every entry of the paper, by the application and the column."""
    places = [(app, column) for app in WINDOWS for column in PAPER]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda place: mean(*place), places)
        return {(a, column.name): one for (a, column), one in zip(places, found, strict=True)}


def finish(app: str, column: Column, plays: int = 1) -> str:
    """What an application says of its result that runs to its end."""
    return start(app, column, f"{column.mapping} 2 {plays} 0 {column.patience}\n")


def build_all() -> None:
    programs = [image(a, s) for a in ("image_filter", "packets") for s in ("freertos", "hw_rtos")]
    build(model(), *programs)


def table(columns: tuple[Column, ...] = PAPER) -> dict[tuple[str, str], Measured]:
    """Every entry, by the application and the column."""
    return {
        (app, column.name): measure(app, column)
        for app in ("image_filter", "packets")
        for column in columns
    }


# The cores, and how many decoders and CRC checkers the packets have.
SCALES = ((1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (3, 2), (3, 4), (4, 2), (4, 4))


def scaling() -> dict[tuple[int, int], Measured]:
    """Packets with dynamic scheduling on 1 to 4 cores, with 8 to 14 tasks and 14 to 32 ports."""
    sizes = {cores: "" if cores == 2 else f"c{cores}_t16_p32_w4" for cores, _ in SCALES}
    build(*map(model, sizes.values()), image("packets", "hw_rtos"))
    return {
        (cores, lanes): measure("packets", PAPER[3], lanes, sizes[cores]) for cores, lanes in SCALES
    }
