# SPDX-License-Identifier: Apache-2.0
"""The FM radio end to end while its tasks are recreated: each move ends one process of many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from running import WHIMBREL, move_enough

ROOT = Path(__file__).resolve().parent.parent
RADIO = ROOT / "apps/fm_radio"

# Two kernels share a processor where there is only one.
CORES = ("--cores", "0,0") if len(os.sched_getaffinity(0)) < 2 else ()
SHUTTLES = ("lpf=1,0@9ms", "demodulator=1,0@7ms", "bpf.1=1,0@11ms", "sum=1,0@13ms")

# Between the command and its helper: makes tasks of the plan ones that are recreated.
BETWEEN = """#!{python}
import json, os, socket, subprocess, sys, threading
above = socket.socket(fileno=3)
below, other = socket.socketpair()
os.dup2(other.fileno(), 9)
helper = subprocess.Popen(["{shell}", "-c", "exec 3<&9 9<&-; exec {helper}"], pass_fds=[9])
other.close()
os.close(9)

def down():
    for line in above.makefile("rb"):
        message = json.loads(line)
        for task in message.get("plan", {{}}).get("tasks", []):
            if task["name"] in {tasks!r}:
                task["mode"] = "recreate"
        below.sendall(json.dumps(message).encode() + b"\\n")
    below.shutdown(socket.SHUT_WR)

threading.Thread(target=down, daemon=True).start()
while data := below.recv(65536):
    above.sendall(data)
os._exit(helper.wait())
"""


@pytest.fixture
def between(tmp_path: Path) -> Path:
    """A folder of helpers whose first makes every task one that is recreated."""
    folder = tmp_path / "helpers"
    folder.mkdir()
    (tmp_path / "build").symlink_to(ROOT / "build")  # where modules are looked for
    script = folder / "whimbrel-linux"
    script.write_text(
        BETWEEN.format(
            python=sys.executable,
            shell="/bin/sh",
            helper=ROOT / "bin/whimbrel-linux",
            tasks=["lpf", "demodulator", "bpf", "sum"],
        )
    )
    script.chmod(0o755)
    return folder


def play(output: Path, folder: Path | None, *options: str) -> dict:
    """Plays as fast as it goes and returns the summary."""
    command = [str(WHIMBREL), "run", str(RADIO / "app.toml"), "--fast", "--json", *CORES, *options]
    command += ["--set", f"output={output}", "--set", "plays=60"]
    env = dict(os.environ)
    if folder is not None:
        env["WHIMBREL_LIBEXEC"] = str(folder)
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, env=env
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_frames_are_the_same_to_the_bit_when_tasks_are_recreated(
    tmp_path: Path, between: Path
) -> None:
    still, moved = tmp_path / "still.wav", tmp_path / "moved.wav"
    play(still, None)

    def moving() -> dict:
        summary = play(moved, between, *(o for s in SHUTTLES for o in ("--shuttle", s)))
        assert still.read_bytes() == moved.read_bytes()
        return summary

    move_enough(moving, 10, "lpf", "demodulator", "bpf", "sum")


def layout(*headers: Path) -> str:
    """What a program that is built of these headers says of itself."""
    script = ROOT / "kernels/linux/program/layout.sh"
    return subprocess.run(
        ["sh", script, *headers], capture_output=True, text=True, check=True
    ).stdout


def test_two_fields_that_have_changed_places_are_another_layout(tmp_path: Path) -> None:
    header = ROOT / "middleware/include/wb/descriptor.h"
    text = header.read_text(encoding="utf-8")
    first, second = "    struct wb_compared owner_state;\n", "    struct wb_compared request;\n"
    start = "    _Alignas(WB_LINE_BYTES) struct wb_compared owner_state;\n"
    assert start + second in text
    cases = {
        "same": text,
        "commented": text.replace(second, "    // A word.\n" + second.rstrip() + "  // too\n"),
        "swapped": text.replace(start + second, start.replace("owner_state", "request") + first),
    }
    said = {}
    for name, content in cases.items():
        copy = tmp_path / f"{name}.h"
        copy.write_text(content, encoding="utf-8")
        said[name] = layout(copy)
    assert said["same"] == said["commented"] != said["swapped"]


def test_kernels_and_programs_have_the_layout_of_the_headers_as_they_are() -> None:
    folders = ["middleware/include/wb", "kernels/linux/process", "kernels/linux"]
    # In the order in which program.mk names them.
    headers = sorted((path for of in folders for path in (ROOT / of).glob("*.h")), key=str)
    built = (ROOT / "build/obj/hosted/layout.c").read_text(encoding="utf-8")
    assert built == layout(*headers)
