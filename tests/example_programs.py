# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/, as a reader types their commands."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from documents import ROOT, files

FOLDER = ROOT / "examples"
NAMES = sorted({path.parent.name for path in files("examples/*/Makefile")})
# What the build prints, and the command during a run: a task's lines may come before or after.
NOTES = re.compile(
    r"make|CC |CXX |LD |cargo |audio: |running as |the kernel of core |\d+ frames .* load +\d"
)
PATIENCE_S = 600


def command(name: str) -> str:
    """The command in the first comment of an example, which one of its files has."""
    pattern = re.compile(rf"^    (make -C examples/{name}\b.*?)^$", re.DOTALL | re.MULTILINE)
    found = []
    for path in files(f"examples/{name}/*"):
        found += pattern.findall(re.sub(r"^// ?", "", path.read_text(), flags=re.MULTILINE))
    (one,) = found
    return one


def output(command: str, **environment: str) -> str:
    """What a command prints, without notes; an exit status other than 0 is its last line."""
    # The build is one of its own, not a part of what runs this test.
    kept = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS")}
    ended = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env={**kept, "PYTHONUNBUFFERED": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    lines = [line for line in ended.stdout.splitlines() if NOTES.match(line) is None]
    if ended.returncode != 0:
        lines.append(f"exit status {ended.returncode}")
    return "".join(f"{line}\n" for line in lines)


def is_as_expected(printed: str, path: Path) -> bool:
    """Whether a file says this: `…` is any text within a line, and alone it is any lines."""
    pattern = re.escape(path.read_text())
    pattern = re.sub(r"^…\\?\n", lambda _: r"(?:.*\n)*", pattern, flags=re.MULTILINE)
    return re.fullmatch(pattern.replace("…", r"[^\n]*"), printed) is not None
