# SPDX-License-Identifier: Apache-2.0
"""Runs a program under a load and a condition, and measures time and noise."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from conditions import Condition, Failed
from loads import Load

# Writes when the program begins and when it has ended, without a process more: what a tool takes
# before and after is not the program's time.
STAMPED = ("bash", "-c", 'echo $EPOCHREALTIME; "$@"; s=$?; echo $EPOCHREALTIME; exit $s', "timed")
# What a load takes to be at work; also for what the last run moved to settle.
SETTLE_S = 0.2
# Between two looks at what others do.
GLANCE_S = 0.5
STAMP = re.compile(rb"^(\d+\.\d+)$", re.MULTILINE)
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PROCESSORS = os.cpu_count() or 1


@dataclass(frozen=True)
class Job:
    """A program of the paper with an input: the commands of its passes, one after the other."""

    name: str
    megabytes: float
    passes: Callable[[Path], list[list[str]]]


@dataclass(frozen=True)
class Run:
    """One measurement: seconds of each pass, and what its command took besides (the tool's part).

    Shares are of all processors: what the hypervisor took, and what other processes did.
    """

    round: int
    load: str
    job: str
    condition: str
    passes_s: list[float]
    besides_s: list[float]
    steal: float
    others: float

    @property
    def disturbed(self) -> float:
        """What others took, of all processors."""
        return self.steal + self.others

    @property
    def total_s(self) -> float:
        """Of all passes."""
        return sum(self.passes_s)


def lame(music: Path) -> Callable[[Path], list[list[str]]]:
    """Wave to MP3, with the arguments of the paper."""
    return lambda out: [["lame", "--quiet", "-b", "320", str(music), str(out / "out.mp3")]]


def mencoder(video: Path) -> Callable[[Path], list[list[str]]]:
    """MPEG-1 to MPEG-4 in two passes."""

    def passes(out: Path) -> list[list[str]]:
        command = ["mencoder", "-really-quiet", str(video), "-nosound", "-ovc", "lavc"]
        command += ["-passlogfile", str(out / "passes"), "-o", str(out / "out.avi")]
        return [[*command, "-lavcopts", f"vcodec=mpeg4:vpass={n}"] for n in (1, 2)]

    return passes


def stat_ticks() -> tuple[int, int]:
    """Of all processors since the start: ticks at work, and ticks that the hypervisor took."""
    with Path("/proc/stat").open() as stat:
        user, nice, system, _, _, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    return user + nice + system + irq + softirq, steal


def wait_for_calm(share: float, patience_s: float) -> None:
    """Waits until all processes and the hypervisor together take no more of the processors.

    Nothing of ours may run meanwhile. Goes on when its patience is at its end.
    """
    deadline_s = time.monotonic() + patience_s
    while time.monotonic() < deadline_s:
        start = sum(stat_ticks())
        time.sleep(GLANCE_S)
        if sum(stat_ticks()) - start <= share * GLANCE_S * TICKS_PER_S * PROCESSORS:
            return


def own_s() -> float:
    """Processor time of this process and of its children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in both)


def reap() -> None:
    """Takes the children of others that have ended, which are ours in a namespace."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def timed(tool: Sequence[str], words: Sequence[str], folder: Path) -> tuple[float, float]:
    """Seconds of a program, and what its command took besides."""
    command, said = [*tool, *STAMPED, *words], folder / "said"
    with said.open("wb") as errors:
        start_s = time.monotonic()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            check=False,
        )
        whole_s = time.monotonic() - start_s
    stamps = [float(stamp) for stamp in STAMP.findall(done.stdout)]
    if done.returncode != 0 or len(stamps) != 2:
        raise Failed(f"{' '.join(words)}: {said.read_text(errors='replace')[-400:].strip()}")
    seconds = stamps[1] - stamps[0]
    return seconds, whole_s - seconds


def measure(number: int, load: Load, job: Job, condition: Condition) -> Run:
    """Starts the load, runs the job's passes, ends the load."""
    start_s, start_own_s, (start_busy, start_steal) = time.monotonic(), own_s(), stat_ticks()
    with TemporaryDirectory() as name, load.running():
        folder = Path(name)
        time.sleep(SETTLE_S)
        with condition.ready():
            times = [timed(condition.words, words, folder) for words in job.passes(folder)]
        if not any(path.stat().st_size for path in folder.glob("out.*")):
            raise Failed(f"{job.name}: nothing has come out")
    reap()
    busy, steal = stat_ticks()
    ticks = (time.monotonic() - start_s) * TICKS_PER_S * PROCESSORS
    others = busy - start_busy - (own_s() - start_own_s) * TICKS_PER_S
    return Run(
        round=number,
        load=load.name,
        job=job.name,
        condition=condition.name,
        passes_s=[seconds for seconds, _ in times],
        besides_s=[besides for _, besides in times],
        steal=(steal - start_steal) / ticks,
        others=max(0.0, others / ticks),
    )
