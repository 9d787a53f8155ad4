#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the instructions of single operations with counts.toml (`make bench-check`).

    check.py BUILD BIN

callgrind counts a program twice, of which the second run does an operation twice as often: the
difference is the operation's. The counts are those of one compiler; with another they are skipped.
If ACCEPT is set in the environment, the counts of this tree are written to counts.toml instead."""

import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
COUNTS = HERE / "counts.toml"
TOLERANCE = 0.02
ON_LINUX, TIMES = ("message", "message.waited", "switch", "handoff.sleep"), 1000
PIPELINE = [f"{HERE.parent}/sim/pipeline.toml", "--platform", f"{HERE.parent}/sim/flat.toml"]
MILLISECONDS = 40
HEADER_BYTES, RECORD_BYTES = 32, 24  # docs/recorded-run.md
# Memory is copied by instructions that every processor of the architecture has.
os.environ["GLIBC_TUNABLES"] = "glibc.cpu.hwcaps=-AVX2,-AVX512F,-ERMS"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# Instructions of one operation. `make bench-check ACCEPT=1` writes the tables of its compilers.
"""


def valgrind(folder: Path) -> str:
    return f"valgrind -q --tool=callgrind --callgrind-out-file={folder}/%p"


def instructions(files: list[Path]) -> int:
    lines = [line for path in files for line in path.read_text().splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("totals:"))


def on_linux(build: Path, operation: str, times: int) -> int:
    """Instructions of the kernels, each of which is a process; the launcher waits for them."""
    with tempfile.TemporaryDirectory() as name:
        command = [*valgrind(Path(name)).split(), build / "release/counted", operation, str(times)]
        launcher = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        _, errors = launcher.communicate()
        if launcher.returncode != 0:
            sys.exit(f"counted {operation} {times} failed:\n{errors}")
        return instructions(
            [path for path in Path(name).iterdir() if path.name != str(launcher.pid)]
        )


def simulated(build: Path, bin_: Path, milliseconds: int, *, record: bool) -> tuple[int, int, int]:
    """Instructions of the simulator, firings and records."""
    with tempfile.TemporaryDirectory() as name:
        # A tree as the command looks for it. Addresses are as the simulator sets them.
        tree = Path(name)
        for folder in ("bin", "build/apps", "counted"):
            (tree / folder).mkdir(parents=True)
        program = f"setarch -R {valgrind(tree / 'counted')} {(bin_ / 'whimbrel-sim').resolve()}"
        (tree / "bin/whimbrel-sim").write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (tree / "bin/whimbrel-sim").chmod(0o755)
        (tree / "build/apps/synthetic.so").symlink_to((build / "counts/synthetic.so").resolve())
        options = ["--duration", f"{milliseconds}ms", "--quiet", "--json"]
        options += ["--record", f"{tree}/recorded"] if record else []
        out = subprocess.run(
            [bin_ / "whimbrel", "sim", *PIPELINE, *options],
            env={**os.environ, "WHIMBREL_LIBEXEC": f"{tree}/bin"},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        firings = sum(task["firings"] for task in json.loads(out)["tasks"])
        sizes = [path.stat().st_size - HEADER_BYTES for path in tree.glob("recorded/*.events")]
        counted = instructions(list((tree / "counted").iterdir()))
        return counted, firings, sum(sizes) // RECORD_BYTES


def simulator(build: Path, bin_: Path) -> dict[str, float]:
    def longer(*, record: bool) -> list[int]:
        runs = [simulated(build, bin_, n * MILLISECONDS, record=record) for n in (1, 2)]
        return [more - few for few, more in zip(*runs, strict=True)]

    plain, firings, _ = longer(record=False)
    recorded, _, records = longer(record=True)
    return {"firing": plain / firings, "record": (recorded - plain) / records}


def linux(build: Path) -> dict[str, float]:
    def longer(operation: str) -> int:
        return on_linux(build, operation, 2 * TIMES) - on_linux(build, operation, TIMES)

    return {operation: longer(operation) / TIMES for operation in ON_LINUX}


def differs(operation: str, count: float, known: float | None) -> bool:
    print(f"{operation:14} {count:8.1f} instructions", end="")
    print(f", {known} checked in ({count / known - 1:+.1%})" if known else ", none checked in")
    return known is None or abs(count / known - 1) > TOLERANCE


def text(tables: dict[str, dict[str, float]]) -> str:
    rows = HEAD
    for compilers, counts in tables.items():
        rows += f'\n["{compilers}"]\n'
        rows += "".join(f'"{operation}" = {count:.1f}\n' for operation, count in counts.items())
    return rows


def said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main(build: Path, bin_: Path) -> int:
    gcc = f"{platform.machine()}, gcc {said('gcc', '-dumpfullversion')}"
    rust = f"{gcc}, rustc {said('rustc', '--version').split()[1]}"
    tables = tomllib.loads(COUNTS.read_text())
    accept = os.environ.get("ACCEPT")
    wrong = []
    for compilers, count in ((gcc, lambda: linux(build)), (rust, lambda: simulator(build, bin_))):
        if compilers not in tables and not accept:
            print(f"skipped: {COUNTS.name} has no counts of {compilers}, and others differ")
            continue
        counts = count()
        known = tables.get(compilers, {})
        wrong += [name for name in counts if differs(name, counts[name], known.get(name))]
        tables[compilers] = counts
    if accept:
        COUNTS.write_text(text(tables))
        return 0
    if wrong:
        print(f"the instructions of {', '.join(wrong)} have changed by more than {TOLERANCE:.0%}")
        print("help: remove what the change added; or accept the counts with")
        print("`make bench-check ACCEPT=1`, and state the reason in the body of the commit")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
