# SPDX-License-Identifier: Apache-2.0
"""Costs that grow with a system no faster than it does. What is compared are counts of events, of
pages and of instructions (Valgrind's), which no other program on the machine changes."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from simulated import WHIMBREL

STAGES = 4
GROUP = 4096  # the most tasks of one name
TRIES = 10


ADDR_NO_RANDOMIZE = 0x40000
COUNTED = re.compile(r"^cmd: *(\S+).*?^summary: (\d+)", re.M | re.S)


# Of a program and of those it has waited for. A process begins with the memory of who makes it, so
# that is a small one.
MEASURE = """
import os, subprocess, sys
started = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(started.pid, 0)
started.returncode = os.waitstatus_to_exitcode(status)
print(usage.ru_maxrss, usage.ru_minflt, file=sys.stderr)
sys.exit(started.returncode)
"""


class Cost(NamedTuple):
    """What a run and its helper took."""

    peak_bytes: int  # of memory, of the command or of its helper
    faults: int  # pages that were touched for the first time
    summary: dict[str, object]


def many(tasks: int, cores: int, heap: int = 4096) -> str:
    """Pipelines of four stages, one released in each of 10 ms."""
    text = '[app]\nname = "many"\ncompute = "model"\n'
    for first in range(0, tasks // STAGES, GROUP):
        count = min(GROUP, tasks // STAGES - first)
        for stage in range(STAGES):
            on = [((first + i) * STAGES + stage) % cores for i in range(count)]
            text += f'\n[[task]]\nname = "s{first}_{stage}"\ncount = {count}\ncore = {on}\n'
            text += f"cycles = 20000\nheap = {heap}\n" + "period_us = 10000\n" * (stage == 0)
            if stage > 0:
                text += f'\n[[channel]]\nfrom = "s{first}_{stage - 1}.out"\n'
                text += f'to = "s{first}_{stage}.in"\nslots = 4\nslot_bytes = 8\n'
    return text


def named(tasks: int) -> str:
    """The same, each task and channel with a table of its own."""
    text = '[app]\nname = "named"\ncompute = "model"\n'
    for i in range(tasks):
        text += f'\n[[task]]\nname = "t{i}"\ncycles = 20000\nheap = 4096\n'
        if i % STAGES == 0:
            text += "period_us = 10000\n"
        else:
            text += f'\n[[channel]]\nfrom = "t{i - 1}.out"\nto = "t{i}.in"\nslots = 4\n'
            text += "slot_bytes = 8\n"
    return text


def inputs(
    folder: Path, app: str, cores: int, more: str = "", scheduling: str = "cooperative"
) -> None:
    """An application, and cores of 1 GHz on which only computing takes time."""
    (folder / "app.toml").write_text(app)
    point = "[[core.point]]\nmhz = 1000\nactive_mw = 100\n"
    core = f'[[core]]\ncount = {cores}\nscheduling = "{scheduling}"\n{point}'
    (folder / "p.toml").write_text(f'[platform]\nname = "p"\n{core}{more}')


def run(folder: Path, app: str, cores: int, *options: str, **hardware: str) -> Cost:
    """One simulation of it."""
    inputs(folder, app, cores, **hardware)
    words = [str(WHIMBREL), "sim", str(folder / "app.toml"), "--platform", str(folder / "p.toml")]
    measured = [sys.executable, "-c", MEASURE, *words, "--json", "--quiet", *options]
    with (folder / "out.json").open("w") as out:
        done = subprocess.run(measured, stdout=out, stderr=subprocess.PIPE, text=True, check=True)
    peak_kib, faults = map(int, done.stderr.split()[-2:])
    summary = json.loads((folder / "out.json").read_text())
    return Cost(peak_kib << 10, faults, summary)


def instructions(
    folder: Path, app: str, cores: int, *options: str, **hardware: str
) -> dict[str, int]:
    """How many the command and its helper execute in one simulation.

    A helper that has not left five seconds after its last word is killed. Under Valgrind, on a busy
    machine, it may take longer: the simulation is repeated then.
    """
    inputs(folder, app, cores, **hardware)
    for _ in range(TRIES):
        done = counted(folder, *options)
        if "whimbrel-sim was killed by signal 9" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    found = {}
    for path in (folder / "counts").iterdir():
        # An empty one is of a process that was to become another program.
        for program, count in COUNTED.findall(path.read_text()):
            found[Path(program).name] = int(count)
    assert found.keys() == {"whimbrel", "whimbrel-sim"}
    return found


def counted(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """One simulation, whose instructions are counted in files of folder `counts`."""
    counts = folder / "counts"
    shutil.rmtree(counts, ignore_errors=True)
    counts.mkdir()
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--trace-children=yes"]
    words = [str(WHIMBREL), "sim", str(folder / "app.toml"), "--platform", str(folder / "p.toml")]
    # The helper starts itself anew where addresses are random, which Valgrind does not follow.
    before = ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    try:
        return subprocess.run(
            [*counter, f"--cachegrind-out-file={counts}/%p", *words, "--quiet", *options],
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        ctypes.CDLL(None).personality(before)


def growth(few: dict[str, int], more: dict[str, int]) -> float:
    """How many times as many the second simulation takes, in the program of which it is more."""
    return max(more[program] / few[program] for program in few)


def events(folder: Path, app: str, cores: int) -> int:
    """How many there were in a simulation, as it tells people: in thousands."""
    inputs(folder, app, cores)
    words = [str(WHIMBREL), "sim", str(folder / "app.toml"), "--platform", str(folder / "p.toml")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    found = re.search(r"([0-9.]+) million events", done.stdout + done.stderr)
    assert found, done.stderr
    return round(float(found[1]) * 1e6)


def test_two_to_the_sixteenth_tasks_run_on_as_many_cores_as_there_may_be(tmp_path: Path) -> None:
    """In 298 MiB, however long. With a page for the stack of each task that came back to it now and
    then it was 440 MiB after 20 ms, and 540 after a second."""
    tasks, cores = 1 << 16, 4095
    cost = run(tmp_path, many(tasks, cores, heap=256), cores, "--duration", "15ms")
    summary = cost.summary
    assert summary["ok"]
    assert summary["frames"] == 2 * tasks // STAGES
    states = {task["state"] for task in summary["tasks"]}
    assert (len(summary["tasks"]), len(summary["cores"]), states) == (tasks, cores, {"ended"})
    assert sum(core["busy_ns"] for core in summary["cores"]) == 2 * tasks * 20_000
    assert cost.peak_bytes < 310 << 20


def test_a_core_that_is_woken_while_it_is_busy_brings_no_task_back_to_its_stack(
    tmp_path: Path,
) -> None:
    """The pages of stacks are not there in a run of a fifth of a second either."""
    few, more = (
        run(tmp_path, many(1 << 12, 256, heap=256), 256, "--duration", duration)
        for duration in ("15ms", "215ms")
    )
    assert more.faults - few.faults < 1 << 12


def test_four_times_as_many_tasks_take_four_times_as_long_to_set_up(tmp_path: Path) -> None:
    for app in many, lambda tasks, _: named(tasks):
        few, more = (
            instructions(tmp_path, app(tasks, 64), 64, "--duration", "1us")
            for tasks in (1024, 4096)
        )
        assert growth(few, more) < 4.5


def released(tasks: int) -> str:
    """All of them at once, eight times."""
    job = "period_us = 1000000\ncycles = 10000\nheap = 4096\nfirings = 8\n"
    parts = [f'[[task]]\nname = "t{n}"\ncount = 4096\n{job}' for n in range(tasks // 4096)]
    return '[app]\nname = "made"\n\n' + "\n".join(parts)


def test_to_be_ordered_costs_many_tasks_of_a_core_little(tmp_path: Path) -> None:
    """By deadlines and by shares, as by priorities alone: no list of them is walked."""

    def scheduled(scheduling: str, cores: int = 1) -> int:
        app = released(4096)
        return instructions(tmp_path, app, cores, scheduling=scheduling)["whimbrel-sim"]

    by_priority = scheduled("preemptive")
    assert scheduled("edf") < 1.15 * by_priority
    assert scheduled("fair") < 1.5 * by_priority
    assert scheduled('edf"\nmigration = "full', 64) < 2 * by_priority, "one queue of 64 cores"


def paired(tasks: int) -> str:
    """Each two wait for each other's permits, 50 times, all at once."""
    text = '[app]\nname = "paired"\n'
    for n in range(tasks):
        own, other = f"s{n}", f"s{n ^ 1}"
        script = f'{{ run = 1000 }}, {{ give = "{other}" }}, {{ take = "{own}" }}'
        text += f'\n[[semaphore]]\nname = "{own}"\n\n[[task]]\nname = "t{n}"\nheap = 4096\n'
        text += f"core = {n % 4}\nscript = [{{ loop = 50, do = [{script}] }}]\n"
    return text


def test_who_gives_looks_at_those_that_wait_and_not_at_all_tasks(tmp_path: Path) -> None:
    few, more = (instructions(tmp_path, paired(tasks), 4) for tasks in (512, 2048))
    assert growth(few, more) < 4.5


BUS = """
[[memory]]
name = "ram"
kind = "shared"
size = "64MiB"
latency_ns = 60
mb_per_s = 800
source = "ours: a test"

[bus]
arbitration = "fcfs"
mhz = 100
width_bytes = 4
burst_bytes = 32
source = "ours: a test"
"""


def contenders(folder: Path, count: int) -> dict[str, int]:
    """So many cores that have the bus in turns all the time, each for 3200 transfers."""
    task = f"count = {count}\ncore = {list(range(count))}\ncycles = 10\ntraffic = 3200\n"
    app = f'[app]\nname = "bus"\n[[task]]\nname = "t"\n{task}firings = 400\n'
    return instructions(folder, app, count, more=BUS)


def test_a_transfer_over_a_bus_costs_little_for_each_who_shares_it(tmp_path: Path) -> None:
    # Ten times as many transfers, each with ten times as many others: of their square, 100.
    assert growth(contenders(tmp_path, 4), contenders(tmp_path, 40)) < 25


def busy(period: str) -> str:
    """Four tasks, each on a core of its own."""
    text = '[app]\nname = "busy"\ncompute = "model"\n'
    for core in range(4):
        text += f'[[task]]\nname = "t{core}"\ncore = {core}\ncycles = 1000\nfirings = 1000\n'
        text += period
    return text


def test_an_idle_core_costs_a_run_little_more_than_two_pages(tmp_path: Path) -> None:
    """Its own structures are less than two; the others are of the plan's text, which is freed."""
    few, more = (run(tmp_path, busy(""), cores) for cores in (100, 1000))
    assert few.summary["time_ns"] == more.summary["time_ns"]
    assert more.faults - few.faults < 900 * 2.25


def test_an_idle_core_has_no_events_however_long_it_is_idle(tmp_path: Path) -> None:
    # Of 100 s, in which agents report a thousand times.
    few, more = (events(tmp_path, busy("period_us = 100000\n"), cores) for cores in (100, 1000))
    assert few >= 8000
    # Each begins, reports once, and has no cause to report again.
    assert more - few <= 900 * 3
