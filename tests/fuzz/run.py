#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs targets of libFuzzer one after the other (`make fuzz`): each begins with its corpus.

    tests/fuzz/run.py --seconds N --work FOLDER PROGRAM…

A target's corpus is tests/fuzz/corpus/NAME, by the name of its program, and files that
tests/fuzz/seeds.txt names. What is found besides goes to FOLDER/NAME, and the input that a target
failed with to FOLDER/failed. Prints a line for each target with how many inputs it took, and adds
it to FOLDER/log.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SEEDS = Path(__file__).parent / "seeds.txt"
ROOT = Path(__file__).parents[2]
# Of one input: what takes longer, or more memory, is a fault. libFuzzer asks the clock on the wall:
# beside other programs, a second of a processor lasts for many.
MOST_S, MOST_MIB, MOST_BYTES = 120, 1024, 65536
# How many seconds of a processor a target may take besides; and for how long, when it ought to have
# ended, it may take less than one. libFuzzer's alarm can wait for ever, for the allocator that it
# interrupted.
LATE_S, IDLE_S = 120, 120
COUNTS = re.compile(rb"^stat::number_of_executed_units: (\d+)$", re.MULTILINE)
TAIL_LINES = 60
# Where targets put their files and sockets: memory, where there is such a folder.
MEMORY = Path("/dev/shm")


def seeds_of(name: str) -> list[str]:
    """What a target begins with: words for libFuzzer."""
    patterns = re.findall(rf"^{name} +(.+)$", SEEDS.read_text(), re.MULTILINE)
    files = [str(path) for pattern in patterns for path in sorted(ROOT.glob(pattern))]
    corpus = CORPUS / name
    seeds = [f"-seed_inputs={','.join(files)}"] if files else []
    return seeds + ([str(corpus)] if corpus.is_dir() else [])


def processor_s(process: int) -> float:
    """How many seconds of a processor a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def await_end(process: subprocess.Popen[bytes], seconds: int) -> bool:
    """False: it takes too much of a processor, or hangs."""
    begin, taken, looked = time.monotonic(), 0.0, time.monotonic()
    while True:
        try:
            process.wait(1)
            return True
        except subprocess.TimeoutExpired:
            now, takes = time.monotonic(), processor_s(process.pid)
        if takes >= taken + 1 or now - begin < seconds:
            taken, looked = takes, now
        if takes > seconds + LATE_S or now - looked > IDLE_S:
            process.kill()
            process.wait()
            return False


def run(program: Path, seconds: int, work: Path) -> tuple[int, bytes]:
    """How a target ended, and what it said."""
    found, failed = work / program.name, work / "failed"
    found.mkdir(parents=True, exist_ok=True)
    failed.mkdir(exist_ok=True)
    words = [
        f"-max_total_time={seconds}",
        f"-timeout={MOST_S}",
        f"-rss_limit_mb={MOST_MIB}",
        f"-max_len={MOST_BYTES}",
        f"-artifact_prefix={failed}/{program.name}-",
        "-print_final_stats=1",
        str(found),
        *seeds_of(program.name),
    ]
    # A target ends without a word where libFuzzer ends it: what it has there goes with the folder.
    base = MEMORY if MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="whimbrel-fuzz-", dir=base) as folder:
        options = {"ASAN_OPTIONS": "allocator_may_return_null=1", "TMPDIR": folder}
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(
                [program.absolute(), *words],
                env=os.environ | options,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            ended = await_end(process, seconds)
            said.seek(0)
            text = said.read()
    return (process.returncode, text) if ended else (1, text + b"\nIt did not end.\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10, help="for each target")
    parser.add_argument("--work", type=Path, required=True, help="for what is found")
    parser.add_argument("programs", type=Path, nargs="+")
    args = parser.parse_args()
    failures = 0
    args.work.mkdir(parents=True, exist_ok=True)
    for program in args.programs:
        status, said = run(program, args.seconds, args.work)
        counted = COUNTS.search(said)
        count = int(counted[1]) if counted else 0
        line = f"{program.name:12} {count:12} inputs{'' if status == 0 else '  FAILED'}"
        print(line, flush=True)
        with (args.work / "log").open("a") as log:
            log.write(f"{line}\n")
        # A target that took nothing but its first input has shown nothing.
        if status != 0 or count == 0:
            failures += 1
            tail = said.decode(errors="replace").splitlines()[-TAIL_LINES:]
            print("\n".join(tail), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
