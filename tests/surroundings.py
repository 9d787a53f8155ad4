#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a quick part of every suite in odd surroundings: no test may depend on who starts it.

    tests/surroundings.py [WORD …]        those whose names have one of the words; else all

What is built must be current: `make soak` builds it. What failed is in build/log/surroundings/.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/log/surroundings"
PYTEST = ("build/venv/bin/python", "-m", "pytest", "-q", "-p", "no:cacheprovider")
LONGEST_S = 900

# Lines of shell that end in the command, which is "$@".
SURROUNDINGS = {
    "as it is": 'exec "$@"',
    "ignored signals": 'trap "" HUP INT QUIT TERM PIPE; exec "$@"',
    "closed input": 'exec "$@" <&-',
    "closed output": 'exec "$@" >&- 2>&-',
    "all closed": 'exec "$@" <&- >&- 2>&-',
    "umask 077": 'umask 077; exec "$@"',
    "umask 000": 'umask 000; exec "$@"',
    "a terminal": 'exec script -qec "$(printf "%q " "$@")" /dev/null',
    "another niceness": 'exec nice -n 7 "$@"',
    "no terminal": 'exec setsid --wait "$@"',
    "long TMPDIR": 'export TMPDIR="$ODD/a name with spaces/$(printf %0120d 0)";'
    ' mkdir -p "$TMPDIR"; exec "$@"',
    "no HOME": 'unset HOME; exec "$@"',
    "no variables": 'exec env -i PATH="$PATH" "$@"',
    "Turkish": 'export LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8; exec "$@"',
    "the C locale": 'export LANG=C LC_ALL=C; exec "$@"',
}

# What does not begin without an output: pytest, whose tests give the programs theirs.
NEEDS_OUTPUT = "pytest"


def rust_tests() -> Iterator[tuple[str, list[str], Path]]:
    """The programs of the crates' tests, which cargo starts in their crates' folders."""
    build = ("cargo", "test", "--release", "--locked", "--workspace", "--no-run")
    told = subprocess.run(
        [*build, "--message-format=json"], cwd=ROOT / "crates", check=True, capture_output=True
    )
    for line in told.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["profile"]["test"]:
            program = message["executable"]
            yield Path(program).name, [program], Path(message["manifest_path"]).parent


def parts() -> Iterator[tuple[str, list[str], Path]]:
    """A name, the words and the folder of each part."""
    release = ROOT / "build/release"
    for test in sorted(release.glob("test_*")):
        if not test.suffix:
            yield test.name, [str(test)], ROOT
    for name in ("conform-linux", "conform-sim", "faults-sim"):
        yield name, ["env", "CONFORM_SCALE=0.02", str(release / name)], ROOT
    for name in ("test_filters", "test_tasks"):
        yield name, [str(ROOT / "build/obj/fm_radio" / name)], ROOT / "apps/fm_radio"
    quick = ("hello", "helper", "crash", "recreation", "documents", "sim_refusals", "sim_steps")
    tests = [f"tests/test_{name}.py" for name in quick]
    yield "pytest", [*PYTEST, *tests, "reproduce/common"], ROOT
    yield from rust_tests()


def passes(surroundings: str, name: str, words: list[str], folder: Path) -> bool:
    """Runs one part in such surroundings."""
    log = LOGS / surroundings.replace(" ", "_") / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as odd, log.open("wb") as out:
        # insta would ask cargo for the root, and cargo a home.
        known = {"ODD": odd, "INSTA_WORKSPACE_ROOT": str(ROOT / "crates")}
        if surroundings == "no variables":
            words = ["env", f"INSTA_WORKSPACE_ROOT={ROOT / 'crates'}", *words]
        command = ["bash", "-c", SURROUNDINGS[surroundings], "bash", *words]
        try:
            ended = subprocess.run(
                command,
                cwd=folder,
                env=os.environ | known,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return False
    return ended.returncode == 0


def main() -> int:
    asked = sys.argv[1:] or [""]
    every = list(parts())
    failed = 0
    for surroundings in SURROUNDINGS:
        if not any(word in surroundings for word in asked):
            continue
        closed = surroundings in ("closed output", "all closed")
        those = [part for part in every if not (closed and part[0] == NEEDS_OUTPUT)]
        wrong = [part[0] for part in those if not passes(surroundings, *part)]
        failed += len(wrong)
        print(f"{surroundings:16} {'failed: ' + ', '.join(wrong) if wrong else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
