#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the suites of `make test`, as many side by side as there are processors for them.

    tools/suites.py [--times] [FILE]

FILE lists them ([tools/suites.toml]). A suite that keeps all processors busy runs alone; of those
that keep none, one at a time takes what the others leave. Comments and empty lines of C that a
suite only compiles are none of its inputs. What it prints goes to build/log/NAME.log. A suite that
has passed with the same inputs is not run again, unless CI or ALL is set in the environment. Every
suite is run, whichever fails.

`--times` prints what the last run of each took instead.
"""

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LOGS, PASSED = Path("build/log"), Path("build/passed")
ALWAYS_READ = (
    ".pytest.ini",
    "Makefile",
    *(f"tools/{name}" for name in ("c.mk", "requirements.txt", "suites.py", "suites.toml")),
)
SUITES = Path("tools/suites.toml")
COMPILED, LIST = "~", "@"
# Strings, characters and comments of C; in a string there is no comment.
TOKEN = re.compile(
    rb'"(?:\\.|[^"\\\n])*"' rb"|'(?:\\.|[^'\\\n])*'" rb"|//[^\n]*|/\*.*?\*/", re.DOTALL
)
# How test runners and compilers say what failed, often far from the end of what they print.
TELLS_FAILURE = re.compile(r"\bFAIL(ED)?\b|panicked at|\b[Ee]rror\b|^E  ")
TELLING_LINES, LINES_BEHIND, TAIL_LINES = 60, 4, 30
MAKE_BUDGET_S = 400
LEAST_URGENT = 5


def files(inputs: list[str]) -> Iterator[tuple[Path, bytes]]:
    """Every file of some inputs, and what is in it, as it is in the working tree."""
    command = ["git", "ls-files", "-coz", "--exclude-standard", "--", *inputs]
    listed = subprocess.run(command, check=True, capture_output=True).stdout.split(b"\0")
    for name in sorted(filter(None, listed)):
        path = Path(os.fsdecode(name))
        yield path, path.read_bytes() if path.is_file() else b""


@cache
def code(text: bytes) -> bytes:
    """C without its comments and its empty lines, which a compiler passes over."""
    one_line = text.replace(b"\\\n", b"\\\r")  # an empty line after a backslash ends a macro
    bare = TOKEN.sub(lambda token: b" " if token[0].startswith(b"/") else token[0], one_line)
    return b"\n".join(line.rstrip(b" \t") for line in bare.split(b"\n") if line.strip(b" \t"))


@dataclass
class Suite:
    name: str
    budget_s: float
    processors: float
    inputs: list[str]
    needs: str = ""

    def log(self) -> Path:
        return LOGS / f"{self.name}.log"

    def stamp(self) -> Path:
        return PASSED / self.name

    def fingerprint(self) -> str:
        """Of every file that the suite is made of."""
        compiled = [name.removesuffix(COMPILED) for name in self.inputs if name.endswith(COMPILED)]
        read = [name for name in self.inputs if not name.endswith(COMPILED)]
        known = hashlib.sha256()
        for path, text in files([*ALWAYS_READ, *read]):
            known.update(bytes(path) + b"\0" + text)
        for path, text in files(compiled) if compiled else ():
            is_c = path.suffix in (".c", ".h")
            known.update(bytes(path) + b"\0" + (code(text) if is_c else text))
        return known.hexdigest()


def read(path: Path) -> list[Suite]:
    """The suites of a file, with the lists that their inputs name."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))

    def named(inputs: list[str]) -> list[str]:
        lists = [named(document["lists"][n[1:]]) if n.startswith(LIST) else [n] for n in inputs]
        return [name for one in lists for name in one]

    suites = [Suite(**table) for table in document["suite"]]
    for suite in suites:
        suite.inputs = named(suite.inputs)
    return suites


@dataclass
class Running:
    suite: Suite
    process: subprocess.Popen
    since_s: float
    fingerprint: str


def start(suite: Suite) -> Running:
    LOGS.mkdir(parents=True, exist_ok=True)
    fingerprint = suite.fingerprint()
    # What it needs has been made, and would wait for another suite's cargo.
    command = ["make", *(["BUILT=1"] if suite.needs else []), suite.name]
    if suite.processors == 0:
        command = ["nice", "-n", str(LEAST_URGENT), *command]
    environment = {name: text for name, text in os.environ.items() if name != "MAKEFLAGS"}
    environment["PROCESSORS"] = str(max(math.ceil(suite.processors), 1))
    with suite.log().open("wb") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )
    return Running(suite, process, time.monotonic(), fingerprint)


def wait_for_one(running: list[Running]) -> tuple[Running, int, float]:
    """The first to end, its exit code, and how many seconds of processors it took."""
    while True:
        pid, status, used = os.wait4(-1, 0)
        for one in running:
            if one.process.pid == pid:
                one.process.returncode = os.waitstatus_to_exitcode(status)
                running.remove(one)
                return one, one.process.returncode, used.ru_utime + used.ru_stime


def take_next(waiting: list[Suite], made: set[str], running: list[Running]) -> Suite | None:
    """The next suite, in order, that there are processors for; all of them are enough for any."""
    processors = os.cpu_count() or 1
    taken = [min(one.suite.processors, processors) for one in running]
    free = processors - sum(taken)
    for suite in waiting:
        has_room = 0 not in taken if suite.processors == 0 else suite.processors <= free
        if suite.needs in made and (has_room or not running):
            waiting.remove(suite)
            return suite
    return None


def telling(lines: list[str]) -> list[str]:
    """What of a log says what failed: the lines that tell, what stands behind each, and its end."""
    tail = max(len(lines) - TAIL_LINES, 0)
    found = [at for at, line in enumerate(lines[:tail]) if TELLS_FAILURE.search(line)]
    shown = sorted({n for at in found for n in range(at, min(at + LINES_BEHIND, tail))})
    return [lines[n] for n in shown[:TELLING_LINES]] + lines[tail:]


def report(one: Running, code: int, cpu_s: float) -> dict:
    suite, took_s = one.suite, time.monotonic() - one.since_s
    over = f", over its budget of {suite.budget_s:.0f} s" if took_s > suite.budget_s else ""
    verdict = "ok    " if code == 0 else "FAILED"
    spent = f"{took_s:6.1f} s, {cpu_s:6.1f} s of processors{over}"
    print(f"{verdict} {suite.name:16} {spent}", flush=True)
    row = {"suite": suite.name, "s": took_s, "cpu_s": cpu_s, "budget_s": suite.budget_s}
    if code == 0:
        PASSED.mkdir(parents=True, exist_ok=True)
        suite.stamp().write_text(json.dumps({**row, "fingerprint": one.fingerprint}))
    else:
        lines = suite.log().read_text(errors="replace").splitlines()
        print("\n".join(f"    {line}" for line in telling(lines)), flush=True)
    return row


def last_passed(suite: Suite) -> dict:
    return json.loads(suite.stamp().read_text()) if suite.stamp().exists() else {}


def to_run(suites: list[Suite]) -> Iterator[Suite]:
    everything = os.environ.get("CI") or os.environ.get("ALL")
    for suite in suites:
        if everything or last_passed(suite).get("fingerprint") != suite.fingerprint():
            yield suite
        else:
            print(f"ok     {suite.name:16} has passed as it is (ALL=1 runs it again)", flush=True)


def needed(suites: list[Suite]) -> list[Suite]:
    """What has to be made before them; that has no inputs, and so is made each time."""
    targets = dict.fromkeys(suite.needs for suite in suites if suite.needs)
    return [Suite(target, MAKE_BUDGET_S, 1, []) for target in targets]


def run(suites: list[Suite]) -> int:
    began_s = time.monotonic()
    waiting, running, failed, made = list(to_run(suites)), [], [], {""}
    waiting = needed(waiting) + waiting
    while waiting or running:
        if suite := take_next(waiting, made, running):
            running.append(start(suite))
            continue
        if not running:
            failed += waiting  # what they need could not be made
            break
        one, code, cpu_s = wait_for_one(running)
        report(one, code, cpu_s)
        if code == 0:
            made.add(one.suite.name)
        else:
            failed.append(one.suite)
    print(f"{time.monotonic() - began_s:.0f} s")
    for suite in failed:
        print(f"failed: make {suite.name} (all that it printed: {suite.log()})")
    print(f"{len(suites) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def times(suites: list[Suite]) -> int:
    print("| suite | s | s of processors | budget, s |\n|---|---|---|---|")
    suites = needed(suites) + suites
    rows = [(suite, last_passed(suite)) for suite in suites]
    for suite, row in rows:
        took = f"{row['s']:.0f} | {row['cpu_s']:.0f}" if row else "has not passed yet | "
        print(f"| `make {suite.name}` | {took} | {suite.budget_s:.0f} |")
    sums = [sum(row.get(key, 0) for _, row in rows) for key in ("s", "cpu_s")]
    print(f"| in all | {sums[0]:.0f} | {sums[1]:.0f} | {sum(s.budget_s for s in suites):.0f} |")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", action="store_true", help="print what the last run of each took")
    parser.add_argument(
        "file", nargs="?", type=Path, default=SUITES, help="the suites [%(default)s]"
    )
    asked = parser.parse_args()
    suites = read(asked.file)
    return times(suites) if asked.times else run(suites)


if __name__ == "__main__":
    sys.exit(main())
