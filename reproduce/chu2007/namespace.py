# SPDX-License-Identifier: Apache-2.0
"""A namespace in which tools that move every process see only those of the experiment.

Processes and mounts are its own. Interrupts, kernel workers and sysctls are of the whole machine,
so they cannot be written in it. Cpusets are of the whole machine as well: what is left of them
after an end by force is put back from outside.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

from conditions import BALANCE, CPUSET, Failed

INSIDE = "--inside"
LEFT_BY_TOOLS = ("user", "system", "whimbrel-*")
# First those that are mounts already, then those that become one.
READ_ONLY = ("/sys", "/proc/irq", "/proc/sys")


def enter(script: str, arguments: list[str]) -> int:
    """Runs a script once more, inside; its exit code. The script does not outlive this process."""
    mapped = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", *mapped, "--pid", "--fork"]
    command += ["--mount-proc", "--kill-child", "--", sys.executable, script, INSIDE, *arguments]
    before = {path: path.read_text() for path in (BALANCE,) if path.exists()}
    foreign = set(sets())

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    # The script inside has it as well, puts back what it changed, and ends.
    signal.signal(signal.SIGINT, lambda *_: None)
    with subprocess.Popen(command) as process:
        try:
            return process.wait()
        finally:
            process.kill()
            process.wait()
            put_back(before, foreign)


def sets() -> list[Path]:
    """Cpusets with the names that tools give."""
    return [path for name in LEFT_BY_TOOLS for path in CPUSET.glob(f"{name}/")]


def put_back(before: dict[Path, str], foreign: set[Path]) -> None:
    """Removes cpusets that were not there before, with nobody in them, and restores the balance."""
    left = [path for path in sets() if path not in foreign]
    for path in left:
        print(f"put back: {path}", file=sys.stderr)
        path.rmdir()
    if left:
        for path, text in before.items():
            path.write_text(text)


def shut() -> None:
    """Inside: nothing of the whole machine but cpusets may be written."""
    for path in READ_ONLY:
        bind = [] if Path(path).is_mount() else [["mount", "--bind", path, path]]
        for command in (*bind, ["mount", "-o", "remount,bind,ro", path]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Failed(f"{' '.join(command)}: {done.stderr.strip()}")
