# SPDX-License-Identifier: Apache-2.0
"""Workloads of rt-app as its Debian package ships them, made fit to be compared."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command import Failed

EXAMPLES = Path("/usr/share/doc/rt-app")
WORKGEN = "/usr/bin/workgen"

Object = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """A file of rt-app, and for how many seconds it runs."""

    name: str
    file: str
    seconds: int


# "Long" is what the file says of itself: 600 s, of which the first ones are taken.
WORKLOADS = (
    Workload("mp3-short", "examples/mp3-short.json", 6),
    Workload("mp3-long", "examples/mp3-long.json", 20),
    Workload("video-short", "examples/video-short.json", 6),
    Workload("video-long", "examples/video-long.json", 20),
    Workload("browser-short", "examples/browser-short.json", 6),
    Workload("browser-long", "examples/browser-long.json", 20),
    Workload("spreading-tasks", "examples/spreading-tasks.json", 6),
    Workload("barriers", "examples/tutorial/example7.json", 6),
)


def plain(file: Path, folder: Path) -> Object:
    """The file as JSON has it: what rt-app's own preprocessor makes of it, without what is more."""
    out = folder / f"{file.stem}-workgen.json"
    command = [WORKGEN, "-d", "-o", str(out), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0 or not out.exists():
        raise Failed(f"workgen cannot read {file}: {done.stderr}")
    text = re.sub(r"/\*.*?\*/", "", out.read_text(), flags=re.DOTALL)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", text))


def fit(workload: Object, seconds: int, loop_ns: int) -> Object:
    """Without processors and files, with this calibration."""
    tasks: Object = {}
    for name, task in workload["tasks"].items():
        tasks[name] = {key: value for key, value in task.items() if key != "cpus"}
    calm = {"lock_pages": False, "ftrace": False, "gnuplot": False, "log_size": 2}
    said = {"duration": seconds, "calibration": loop_ns, "default_policy": "SCHED_OTHER"}
    return {"tasks": tasks, "global": said | calm}


def later(workload: Object, us: int) -> Object:
    """The same, but that all threads begin later."""
    tasks = {
        name: task | {"delay": task.get("delay", 0) + us}
        for name, task in workload["tasks"].items()
    }
    return {"tasks": tasks, "global": workload["global"]}


def pinned(workload: Object, cpu: int, logs: Path) -> Object:
    """The same for rt-app: all threads on one processor, logs in a folder."""
    tasks = {name: task | {"cpus": [cpu]} for name, task in workload["tasks"].items()}
    said = workload["global"] | {"logdir": str(logs), "log_basename": "log"}
    return {"tasks": tasks, "global": said}
