# SPDX-License-Identifier: Apache-2.0
"""Simulated kernels that preempt, against the analysis of schedules, schedules made by hand, and
SimSo.

Where nothing but computing takes time, all is exact: a task that is late by a nanosecond fails.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from beside_simso import of_simso
from simulated import ROOT, WHIMBREL, Json, platform, simulate
from task_sets import Task as Made
from task_sets import application, intervals, of_whimbrel, task_set

PREEMPTIVE = 'scheduling = "preemptive"\n'
LOCKS = ROOT / "build/test-apps/locks.so"


def app_of(*tasks: str, head: str = "") -> str:
    return f'[app]\nname = "made"\n{head}\n' + "\n".join(f"[[task]]\n{task}" for task in tasks)


def responses_us(summary: Json) -> list[float]:
    return [task["response"]["max_ns"] / 1000 for task in summary["tasks"]]


def preemptions(summary: Json) -> list[int]:
    return [task["preemptions"] for task in summary["tasks"]]


# ---- Fixed priorities ---------------------------------------------------------------------------

# In microseconds: period and computing time, the most urgent first.
TASK_SETS = {
    "light": [(1000, 200), (2000, 300), (5000, 700)],
    "full": [(7000, 3000), (12000, 3000), (20000, 5000)],
    "harmonic": [(1000, 250), (2000, 500), (4000, 2000)],
    "five": [(500, 100), (1300, 200), (2900, 400), (7100, 900), (17000, 1700)],
}


def response_us(tasks: list[tuple[int, int]], n: int, blocking: int = 0) -> int:
    """The longest response of task n, in which each job that is more urgent interrupts it: the
    least R = C + B + sum over them of ceil(R / T) * C. M. Joseph, P. Pandya, "Finding Response
    Times in a Real-Time System", The Computer Journal 29(5), 1986; with blocking: L. Sha, R.
    Rajkumar, J. P. Lehoczky, "Priority Inheritance Protocols", IEEE Transactions on Computers
    39(9), 1990."""
    response = own = tasks[n][1] + blocking
    while True:
        longer = own + sum(-(-response // period) * time for period, time in tasks[:n])
        if longer == response:
            return response
        response = longer


def by_priority(tasks: list[tuple[int, int]]) -> str:
    return application([Made(*task, 0, 20 - n) for n, task in enumerate(tasks)], "preemptive")


@pytest.mark.parametrize("name", TASK_SETS)
def test_tasks_respond_as_late_as_the_analysis_of_their_critical_instant_says(
    name: str, tmp_path: Path
) -> None:
    """All are released together at the start, so each one's longest response is its first."""
    tasks = TASK_SETS[name]
    app, until = by_priority(tasks), ("--duration", "500ms")
    summary = simulate(tmp_path, app, platform(PREEMPTIVE), *until)
    expected = [response_us(tasks, n) for n in range(len(tasks))]
    assert responses_us(summary) == expected
    assert summary["deadline_misses"] == 0
    cooperative = simulate(tmp_path, app, platform('scheduling = "cooperative"\n'), *until)
    assert responses_us(cooperative)[0] > expected[0], "there a job is waited for"
    assert preemptions(cooperative) == [0] * len(tasks)


def holding(tasks: dict[str, tuple[int, int, int]]) -> str:
    """Period, computing time, and how much of that with the mutex, from the start of a job; the
    last is released a microsecond before the others."""
    entries, parameters = [], []
    for n, (name, (period, time, section)) in enumerate(tasks.items()):
        is_last = n == len(tasks) - 1
        parts = [0, section, time - section] if section else [time]
        parameters.append(f"{name} = {parts}\n")
        entries.append(
            f"""name = "{name}"
entry = "{"job" if section else "free_job"}"
priority = {20 - n}
period_us = {period}
offset_frames = {0 if is_last else 1 / period!r}
cycles = 1000
"""
        )
    head = f'module = "{LOCKS}"\n[params]\n' + "".join(parameters)
    return app_of(*entries, head=head)


@pytest.mark.parametrize("section", [2, 100, 400, 900])
def test_who_waits_for_a_mutex_is_blocked_as_long_as_the_analysis_says(
    section: int, tmp_path: Path
) -> None:
    """The holder inherits the priority of who waits, so that even a task in between, which has
    nothing to do with the mutex, is blocked by it once; by none of the others."""
    tasks = {
        "high": (5000, 300, 100),
        "free": (7000, 700, 0),
        "next": (11000, 900, 200),
        "last": (90000, 1000, section),
    }
    summary = simulate(tmp_path, holding(tasks), platform(PREEMPTIVE), "--duration", "80ms")
    # It has had a microsecond of its section when the others are released.
    times = [(period, time) for period, time, _ in tasks.values()]
    expected = [response_us(times, n, section - 1) for n in range(3)]
    assert responses_us(summary)[:3] == expected
    # Its own response begins that microsecond before those of the others.
    assert responses_us(summary)[3] == response_us([*times[:3], (90000, 999)], 3) + 1


# ---- Deadlines ----------------------------------------------------------------------------------

PERIODS, HYPERPERIOD = (1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000), 24000


def full_set(seed: int) -> list[tuple[int, int]]:
    """Tasks that need the core all the time, to the microsecond."""
    chance = random.Random(seed)
    while True:
        periods = chance.sample(PERIODS, chance.randint(2, 5))
        tasks = [(period, chance.randrange(1, period // 2)) for period in periods]
        rest = HYPERPERIOD - sum(time * HYPERPERIOD // period for period, time in tasks)
        if rest > 0:
            return [*tasks, (HYPERPERIOD, rest)]


def misses(folder: Path, tasks: list[tuple[int, int]], scheduling: str) -> int:
    """Urgent by their periods, where priorities count."""
    made = [Made(period, time, 0, 30 - n) for n, (period, time) in enumerate(sorted(tasks))]
    core = platform(f'scheduling = "{scheduling}"\n')
    summary = simulate(folder, application(made, scheduling), core, "--duration", "240ms")
    return summary["deadline_misses"]


def test_by_deadlines_the_whole_core_can_be_used_and_not_more(tmp_path: Path) -> None:
    """C. L. Liu, J. W. Layland, "Scheduling Algorithms for Multiprogramming in a Hard-Real-Time
    Environment", Journal of the ACM 20(1), 1973: with deadlines for periods exactly the sets of a
    utilisation of at most 1 keep them all. By priorities, not all of these do."""
    by_priorities = 0
    for seed in range(25):
        tasks = full_set(seed)
        assert sum(time * HYPERPERIOD // period for period, time in tasks) == HYPERPERIOD
        assert misses(tmp_path, tasks, "edf") == 0
        (period, time), before = tasks[-1], tasks[:-1]
        assert misses(tmp_path, [*before, (period, time + 1)], "edf") > 0
        by_priorities += misses(tmp_path, tasks, "preemptive") > 0
    assert by_priorities > 0


def test_deadlines_decide_within_a_priority_only(tmp_path: Path) -> None:
    task = 'name = "{}"\npriority = {}\nperiod_us = {}\ncycles = {}\noffset_frames = {}\n'
    app = app_of(
        task.format("urgent", 9, 50_000, 2_000_000, 0.02),  # from 1 ms on
        task.format("early", 8, 5000, 1_000_000, 0.4),  # from 2 ms on, until 7 ms
        task.format("late", 8, 20_000, 5_000_000, 0),
    )
    core = platform('scheduling = "edf"\n')
    summary = simulate(tmp_path, app, core, "--duration", "20ms")
    # late runs for 1 ms, urgent for 2, early for 1: it has waited for urgent for 1.
    assert [task["response"]["max_ns"] for task in summary["tasks"]][:2] == [2_000_000, 2_000_000]
    assert preemptions(summary)[0] == preemptions(summary)[1] == 0


def test_a_job_that_follows_one_that_was_late_has_its_own_deadline(tmp_path: Path) -> None:
    """`long` ends its first job 2 ms after its second was released; that one's deadline is after
    the one of `short`, which so goes first."""
    task = 'name = "{}"\nperiod_us = {}\ncycles = {}\noffset_frames = {}\n'
    app = app_of(
        task.format("long", 10_000, 12_000_000, 0), task.format("short", 6000, 1_000_000, 1.75)
    )
    summary = simulate(
        tmp_path,
        app,
        platform('scheduling = "edf"\n'),
        "--duration",
        "16ms",
        "--record",
        str(tmp_path / "record"),
    )
    assert summary["tasks"][0]["jobs"] >= 1
    # Released at 10.5 ms, of a deadline of 16.5: after the first of `long`, before its second.
    assert intervals(tmp_path / "record", 1)[0] == (12_000_000, 13_000_000)


# ---- Slices -------------------------------------------------------------------------------------

SLICES = platform('scheduling = "preemptive"\nslice_us = 1000\n')


def equal(*computes: int, more: str = "") -> str:
    tasks = [
        f'name = "t{n}"\nperiod_us = 100000\ncycles = {time * 1000}\n'
        for n, time in enumerate(computes)
    ]
    return app_of(*tasks, *([more] if more else []))


def had_us(folder: Path, app: str, hardware: str, number: int) -> list[list[tuple[int, int]]]:
    """When each task had the core, in microseconds, neighbouring intervals as one."""
    simulate(folder, app, hardware, "--duration", "90ms", "--record", str(folder / "record"))
    found: list[list[tuple[int, int]]] = [[] for _ in range(number)]
    for task in range(number):
        for begin, end in intervals(folder / "record", task):
            if found[task] and found[task][-1][1] * 1000 == begin:
                found[task][-1] = (found[task][-1][0], end // 1000)
            elif end > begin:
                found[task].append((begin // 1000, end // 1000))
    return found


def test_equally_urgent_tasks_take_turns_of_a_slice(tmp_path: Path) -> None:
    app = equal(3000, 1500, 2500)
    assert had_us(tmp_path, app, SLICES, 3) == [
        [(0, 1000), (3000, 4000), (5500, 6500)],
        [(1000, 2000), (4000, 4500)],
        [(2000, 3000), (4500, 5500), (6500, 7000)],
    ]
    summary = simulate(tmp_path, app, SLICES, "--duration", "90ms")
    assert responses_us(summary) == [6500, 4500, 7000]
    assert preemptions(summary) == [2, 1, 2]
    without = simulate(tmp_path, app, platform(PREEMPTIVE), "--duration", "90ms")
    assert responses_us(without) == [3000, 4500, 7000]


def test_a_trace_has_a_preemption_where_it_was(tmp_path: Path) -> None:
    had_us(tmp_path, equal(3000, 1500), SLICES, 2)
    words = [str(WHIMBREL), "trace", str(tmp_path / "record"), "--format", "btf", "-o", "-", "-q"]
    told = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True).stdout
    rows = [line.split(",") for line in told.splitlines() if ",T,t" in line]
    when = {
        word: [(int(row[0]), row[4]) for row in rows if row[6] == word]
        for word in ("preempt", "resume")
    }
    t0, t1 = "t0", "t1"
    assert when["preempt"][:3] == [(1_000_000, t0), (2_000_000, t1), (3_000_000, t0)]
    assert when["resume"][:3] == [(2_000_000, t0), (3_000_000, t1), (3_500_000, t0)]


def test_who_is_preempted_in_its_slice_has_the_rest_of_it_first(tmp_path: Path) -> None:
    urgent = 'name = "u"\npriority = 9\nperiod_us = 50000\noffset_frames = 0.01\ncycles = 200000\n'
    assert had_us(tmp_path, equal(1500, 1500, more=urgent), SLICES, 3)[:2] == [
        [(0, 500), (700, 1200), (2200, 2700)],
        [(1200, 2200), (2700, 3200)],
    ]


def test_slices_of_a_task_that_is_alone_follow_each_other(tmp_path: Path) -> None:
    """Another one that comes has to wait for the end of the slice that has begun by then."""
    other = 'name = "o"\nperiod_us = 50000\noffset_frames = 0.045\ncycles = 300000\n'
    assert had_us(tmp_path, equal(4000, more=other), SLICES, 2) == [
        [(0, 3000), (3300, 4300)],
        [(3000, 3300), (52250, 52550)],
    ]


# ---- What it costs ------------------------------------------------------------------------------

COSTS = """
[costs.switch]
time_us = 10
source = "ours: a test"

[costs.interrupt]
time_us = 5
source = "ours: a test"
"""


def test_a_preemption_costs_an_interrupt_and_two_switches(tmp_path: Path) -> None:
    app = app_of(
        'name = "low"\npriority = 1\nperiod_us = 50000\ncycles = 1000000\n',
        'name = "high"\nperiod_us = 50000\noffset_frames = 0.006\ncycles = 100000\n',
    )
    hardware = platform(PREEMPTIVE, rest=COSTS)
    # high is switched to at 0 and sleeps until 300; low begins at 20.
    assert had_us(tmp_path, app, hardware, 2)[0][0] == (20, 300)
    summary = simulate(tmp_path, app, hardware, "--duration", "40ms")
    assert responses_us(summary) == [20 + 1000 + 5 + 10 + 100 + 10, 5 + 10 + 100]
    assert preemptions(summary) == [1, 0]


def test_an_interrupt_for_a_less_urgent_task_costs_who_has_the_core_its_time(
    tmp_path: Path,
) -> None:
    """Two releases of one instant are one interrupt."""
    low = 'name = "{}"\npriority = 1\nperiod_us = 50000\noffset_frames = 0.006\ncycles = 1000\n'
    app = app_of(
        'name = "high"\nperiod_us = 50000\noffset_frames = 0.004\ncycles = 500000\n',
        low.format("a"),
        low.format("b"),
    )
    summary = simulate(tmp_path, app, platform(PREEMPTIVE, rest=COSTS), "--duration", "40ms")
    # Idle when it was released: an interrupt and a switch; the others are released at 300.
    assert responses_us(summary)[0] == 5 + 10 + 500 + 5
    assert preemptions(summary) == [0, 0, 0]


PIPE = """
[[channel]]
from = "far.out"
to = "urgent.in"
slot_bytes = 8
"""


def test_a_message_preempts_who_computes_at_the_moment_it_comes(tmp_path: Path) -> None:
    """Kernels of both kinds beside each other: each core has its own."""
    app = app_of(
        'name = "low"\npriority = 1\nperiod_us = 50000\ncycles = 1000000\n',
        'name = "urgent"\npriority = 9\ncycles = 50000\n',
        'name = "far"\ncore = 1\nperiod_us = 50000\ncycles = 300000\n',
    )
    for core, urgent, low in ((PREEMPTIVE, 50, 1050), ("", 750, 1000)):
        hardware = platform(core, "")
        summary = simulate(tmp_path, app + PIPE, hardware, "--duration", "40ms")
        assert responses_us(summary) == [low, urgent, 300]


# ---- Beside SimSo -------------------------------------------------------------------------------

SETS, UNTIL_US = 100, 40_000


@pytest.mark.parametrize("scheduling", ["preemptive", "edf"])
def test_jobs_are_complete_when_they_are_in_simso(scheduling: str, tmp_path: Path) -> None:
    jobs = 0
    for seed in range(SETS):
        tasks = task_set(seed)
        ours = of_whimbrel(tmp_path / str(seed), tasks, scheduling, UNTIL_US)
        assert ours == of_simso(tasks, scheduling, UNTIL_US), f"seed {seed}: {tasks}"
        jobs += sum(map(len, ours))
    print(f"{jobs} jobs of {SETS} sets")
    assert jobs > 50 * SETS
