# SPDX-License-Identifier: Apache-2.0
"""A namespace in which tools that move every process see only those of the experiment.

Processes and mounts are its own. Interrupts, kernel workers and sysctls are of the whole machine,
so they cannot be written in it. Cpusets are of the whole machine as well: those of cset that are
left after an end by force are put back from outside; those of occupy it puts back itself. Of two
experiments on a machine the second waits for the first.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from conditions import CPUSET, Failed

INSIDE = "--inside"
BY_CSET = ("user", "system")
# First those that are mounts already, then those that become one.
READ_ONLY = ("/sys", "/proc/irq", "/proc/sys")


@contextmanager
def alone() -> Iterator[list[int]]:
    """While no other experiment of this machine changes its cpusets, and as long as a process has
    the descriptors that it gives."""
    if not CPUSET.is_dir():
        yield []
        return
    folder = os.open(CPUSET, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waits for another experiment to end", file=sys.stderr)
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield [folder]
    finally:
        os.close(folder)


def enter(script: str, arguments: list[str], lock: list[int]) -> int:
    """Runs a script once more, inside; its exit code. The script does not outlive this process,
    or not for long: until then it has the descriptors of `alone()`."""
    mapped = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", *mapped, "--pid", "--fork"]
    command += ["--mount-proc", "--kill-child", "--", sys.executable, script, INSIDE, *arguments]
    foreign = set(sets())

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    with subprocess.Popen(command, pass_fds=lock) as process:
        try:
            return process.wait()
        finally:
            # unshare ends when all processes of the namespace have.
            for child in children(process.pid) if process.poll() is None else []:
                os.kill(child, signal.SIGKILL)
            process.wait()
            put_back(foreign)


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def sets() -> list[Path]:
    """Cpusets with the names that cset gives."""
    return [CPUSET / name for name in BY_CSET if (CPUSET / name).is_dir()]


def put_back(foreign: set[Path]) -> None:
    """Removes cpusets that were not there before, and are empty; cset changes nothing else."""
    for path in sets():
        if path not in foreign:
            print(f"put back: {path}", file=sys.stderr)
            path.rmdir()


def shut() -> None:
    """Inside: nothing of the whole machine but cpusets may be written."""
    for path in READ_ONLY:
        bind = [] if Path(path).is_mount() else [["mount", "--bind", path, path]]
        for command in (*bind, ["mount", "-o", "remount,bind,ro", path]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
