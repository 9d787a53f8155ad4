# SPDX-License-Identifier: Apache-2.0
"""What else the machine does meanwhile.

All of it stays in the session of the experiment: with `sched_autogroup_enabled` Linux shares
processors between sessions first, and a load in one of its own would count as one process.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from inputs import Inputs, Missing

BUSY = ("sh", "-c", "while :; do :; done")
AGAIN = ("sh", "-c", 'while :; do "$@"; done', "again")
PLAYER = ("mplayer", "-really-quiet", "-nolirc", "-vo", "null", "-nosound", "-loop", "0")


@dataclass(frozen=True)
class Load:
    """Processes that run until the measurement is over."""

    name: str
    commands: tuple[tuple[str, ...], ...]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Starts them, and ends them with their children."""
        with ExitStack() as stack:
            started = [stack.enter_context(in_background(command)) for command in self.commands]
            yield
            for process, command in zip(started, self.commands, strict=True):
                if process.poll() is not None:
                    raise Missing(f"a load ended before its time: {' '.join(command)}")


@contextmanager
def in_background(command: tuple[str, ...]) -> Iterator[subprocess.Popen[bytes]]:
    """A process and its children, in a group by which they are ended."""
    quiet = subprocess.DEVNULL
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            command, stdin=quiet, stdout=quiet, stderr=quiet, cwd=folder, process_group=0
        )
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            # Its children are ours now, where we are the first process of a namespace.
            with suppress(ChildProcessError):
                while True:
                    os.waitpid(-process.pid, 0)


def every_load(inputs: Inputs, processors: int) -> dict[str, Load]:
    """By name: the paper's two, and what they leave open."""
    light = (*PLAYER, str(inputs.clip()))
    heavy = (*PLAYER, str(inputs.clip4()))
    many = 3 * processors
    loads = [
        Load("light", (light,)),
        Load("heavy", (light, heavy)),
        Load("crowded", (light, heavy, *[BUSY] * many)),
        Load(f"{processors} busy", (BUSY,) * processors),
        Load(f"{many} busy", (BUSY,) * many),
        Load(f"{processors} encoders", encoders(inputs, processors)),
    ]
    return {load.name: load for load in loads}


def encoders(inputs: Inputs, count: int) -> tuple[tuple[str, ...], ...]:
    """LAME and MEncoder in turn, each again and again."""
    music, video = str(inputs.wave(40)), str(inputs.clip())
    sound = (*AGAIN, "lame", "--quiet", "-b", "320", music, os.devnull)
    picture = (*AGAIN, "mencoder", "-really-quiet", video, "-nosound", "-ovc", "lavc")
    picture += ("-lavcopts", "vcodec=mpeg4", "-o", os.devnull)
    return tuple((sound, picture)[number % 2] for number in range(count))
