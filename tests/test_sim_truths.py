# SPDX-License-Identifier: Apache-2.0
"""The simulator against what is known in closed form.

Nothing is allowed to differ by more than its statistics: what is deterministic has to be exact, and
a mean of samples has to lie within 4.5 of its standard errors (one of 150000 good runs does not).
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev

import pytest
from simulated import PATIENCE_S, RECEIVE, SEND, TEMPERATURE, WHIMBREL, events, platform, simulate

SIGMAS = 4.5


# ---- Queues -------------------------------------------------------------------------------------

CUSTOMERS = int(os.environ.get("QUEUE_CUSTOMERS", "100000"))
BATCHES = 40  # each so long that the next knows almost nothing of it
GAP_CYCLES = 1_000_000  # of 1 ns: mean time between two customers


def waits_of_a_queue(folder: Path, service: str, load: float, seed: int) -> list[float]:
    """For each customer of a queue with one server the wait for its service, in mean gaps."""
    app = f"""
[app]
name = "queue"

[[task]]
name = "source"
core = 0
cycles = {GAP_CYCLES}
distribution = "exponential"
firings = {CUSTOMERS}

[[task]]
name = "server"
core = 1
cycles = {round(GAP_CYCLES * load)}
distribution = "{service}"

[[channel]]
from = "source.out"
to = "server.in"
slots = 32768
slot_bytes = 8
"""
    record = folder / "record"
    options = ("--record", str(record), "--seed", str(seed), "--max-time", "10h")
    summary = simulate(folder, app, platform("count = 2\n"), *options)
    assert summary["dropped_events"] == 0
    assert summary["channels"][0]["high"] < 32768, "a full queue would hold up the source"
    arrivals = [e.time_ns for e in events(record, 0) if e.kind == SEND]
    starts = [e.time_ns for e in events(record, 1) if e.kind == RECEIVE]
    assert len(arrivals) == len(starts) == CUSTOMERS
    return [(start - at) / GAP_CYCLES for at, start in zip(arrivals, starts, strict=True)]


def check_mean(samples: list[float], expected: float) -> None:
    """Batch means (Law, Simulation Modeling and Analysis, 9.5.3): batches are all but independent,
    so their spread gives the standard error of the whole mean."""
    size = len(samples) // BATCHES
    warm = samples[size:]  # the queue begins empty
    means = [fmean(warm[i : i + size]) for i in range(0, len(warm) - size + 1, size)]
    error = stdev(means) / math.sqrt(len(means))
    assert abs(fmean(means) - expected) < SIGMAS * error
    # And the interval is narrow enough to say something.
    assert SIGMAS * error < 0.15 * expected


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_customers_wait_as_long_as_in_an_m_m_1_queue(load: float, tmp_path: Path) -> None:
    waits = waits_of_a_queue(tmp_path, "exponential", load, seed=11)
    check_mean(waits, load * load / (1 - load))
    # Who finds nobody before does not wait: a part of 1 - load.
    check_mean([float(wait == 0) for wait in waits], 1 - load)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_customers_wait_as_long_as_in_an_m_d_1_queue(load: float, tmp_path: Path) -> None:
    waits = waits_of_a_queue(tmp_path, "constant", load, seed=12)
    check_mean(waits, load * load / (2 * (1 - load)))


def test_the_gaps_of_customers_are_exponential(tmp_path: Path) -> None:
    """Otherwise the queues above would not be what they are taken for."""
    waits_of_a_queue(tmp_path, "constant", 0.3, seed=13)
    at = [e.time_ns for e in events(tmp_path / "record", 0) if e.kind == SEND]
    gaps = [(b - a) / GAP_CYCLES for a, b in pairwise(at)]
    n = len(gaps)
    assert abs(fmean(gaps) - 1) < SIGMAS / math.sqrt(n)
    assert abs(fmean(gap * gap for gap in gaps) - 2) < SIGMAS * math.sqrt(20 / n)
    for at_most in (0.1, 1.0, 3.0):
        part = 1 - math.exp(-at_most)
        error = math.sqrt(part * (1 - part) / n)
        assert abs(fmean(gap <= at_most for gap in gaps) - part) < SIGMAS * error


# ---- Energy -------------------------------------------------------------------------------------

PERIODIC = """
[app]
name = "periodic"

[[task]]
name = "job"
period_us = 1000
cycles = 200000
firings = 100
"""


@pytest.mark.parametrize(
    ("core", "active_ns", "active_mw", "idle_mw"),
    [
        ("[[core.point]]\nmhz = 1000\nactive_mw = 500\nidle_mw = 100\n", 200_000, 500, 100),
        ("[[core.point]]\nmhz = 400\nactive_mw = 90\nidle_mw = 30\n", 500_000, 90, 30),
        ('idle = "off"\n[[core.point]]\nmhz = 400\nactive_mw = 90\n', 500_000, 90, 0),
    ],
)
def test_a_periodic_task_takes_the_energy_computed_by_hand(
    core: str, active_ns: int, active_mw: int, idle_mw: int, tmp_path: Path
) -> None:
    """Active for the cycles of its 100 jobs, idle for the rest of the run: to the microjoule."""
    summary = simulate(tmp_path, PERIODIC, platform(core))
    run_ns, busy_ns = summary["time_ns"], 100 * active_ns
    assert summary["cores"][0]["busy_ns"] == busy_ns
    assert summary["tasks"][0]["state"] == "ended"
    assert run_ns == 100_000_000  # the last job's period ends, too
    picojoules = busy_ns * active_mw + (run_ns - busy_ns) * idle_mw
    assert summary["energy"]["cores_uj"] == picojoules // 1_000_000


# ---- Response times -----------------------------------------------------------------------------

# In microseconds: period and computing time, the most urgent first; and the longest of the latter.
TASK_SETS = {
    "light": ([(1000, 200), (2000, 300), (5000, 700)], 700),
    "short": ([(2000, 250), (3000, 600), (12000, 600)], 900),
    "full": ([(8000, 1000), (12000, 3000), (24000, 6000)], 6000),
    "four": ([(1000, 100), (2000, 350), (3000, 500), (10000, 400)], 500),
}


def response_us(tasks: list[tuple[int, int]], n: int, blocking: int) -> int:
    """The longest response of task n when no job preempts another.

    Its first job starts when the job that just began before is done, and those of all that are more
    urgent: w = B + sum over them of (floor(w / T) + 1) * C. L. George, N. Rivierre, M. Spuri,
    Preemptive and non-preemptive real-time uniprocessor scheduling, INRIA report 2966, 1996.
    """
    start = blocking
    while True:
        longer = blocking + sum((start // period + 1) * time for period, time in tasks[:n])
        if longer == start:
            return start + tasks[n][1]
        start = longer


def is_first_job_the_worst(tasks: list[tuple[int, int]], n: int, blocking: int) -> bool:
    """Whether the busy period of this urgency is over before the task is released again."""
    busy = blocking + sum(time for _, time in tasks[: n + 1])
    while True:
        longer = blocking + sum(-(-busy // period) * time for period, time in tasks[: n + 1])
        if longer == busy:
            return busy <= tasks[n][0]
        busy = longer


@pytest.mark.parametrize("name", TASK_SETS)
def test_tasks_of_fixed_priority_respond_as_late_as_the_analysis_says(
    name: str, tmp_path: Path
) -> None:
    """Kernels are cooperative where a platform does not say otherwise, and a modelled job has no
    checkpoint within: it is not preempted.

    A job that is a microsecond longer than the others begins a microsecond before all of them are
    released: so it blocks them for as long as any job can, also one that begins at the very instant
    of a release. A deadline of one microsecond makes the lateness of a job its response, less that.
    """
    tasks, longest = TASK_SETS[name]
    app = [
        f"""
[app]
name = "rta"

[[task]]
name = "blocker"
priority = 1
period_us = 1000000
cycles = {(longest + 1) * 1000}
firings = 1
"""
    ]
    for n, (period, time) in enumerate(tasks):
        app.append(
            f"""
[[task]]
name = "t{n}"
priority = {20 - n}
period_us = {period}
offset_frames = {1 / period!r}
deadline_frames = {1 / period!r}
cycles = {time * 1000}
firings = {240_000 // period}
"""
        )
    summary = simulate(tmp_path, "\n".join(app), platform(""))
    blocking = longest
    for n, task in enumerate(summary["tasks"][1:]):
        assert is_first_job_the_worst(tasks, n, blocking)
        assert task["jobs"] == 240_000 // tasks[n][0]
        assert task["worst_late_ns"] == (response_us(tasks, n, blocking) - 1) * 1000
        assert task["response"]["max_ns"] == response_us(tasks, n, blocking) * 1000


TOGETHER = """
[app]
name = "together"

[[task]]
name = "low"
priority = 5
period_us = 2000
cycles = 400000
firings = 1000

[[task]]
name = "high"
priority = 10
period_us = 1000
cycles = 100000
deadline_frames = 0.15
firings = 2000
"""


def test_the_more_urgent_of_two_that_are_released_together_runs_first(tmp_path: Path) -> None:
    summary = simulate(tmp_path, TOGETHER, platform(""))
    tasks = {task["task"]: task for task in summary["tasks"]}
    assert tasks["high"]["misses"] == 0
    assert tasks["low"]["misses"] == 0


# Periods in microseconds, of which every hyperperiod is at most this long.
PERIODS_US, HYPERPERIOD_US = (1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000), 24000


def random_tasks(chance: random.Random) -> list[tuple[int, int]]:
    """Periods and computing times, the most urgent first, that a core has time for."""
    while True:
        periods = [chance.choice(PERIODS_US) for _ in range(chance.randint(2, 6))]
        tasks = [(period, chance.randrange(50, period // 2, 50)) for period in periods]
        if sum(time / period for period, time in tasks) <= 1:
            return tasks


def longest_responses_us(tasks: list[tuple[int, int]]) -> list[int]:
    """Of each task, when all are released together at 0 and no job preempts another.

    Job by job: whenever the core is free, the most urgent of the jobs that are released by then,
    that instant included, is chosen.
    """
    done = [0] * len(tasks)
    longest = [0] * len(tasks)
    now = 0
    while True:
        releases = [done[n] * period for n, (period, _) in enumerate(tasks)]
        now = max(now, min(releases))
        if now >= HYPERPERIOD_US:
            return longest
        n = next(n for n, release in enumerate(releases) if release <= now)
        now += tasks[n][1]
        done[n] += 1
        longest[n] = max(longest[n], now - releases[n])


@pytest.mark.parametrize("seed", range(20))
def test_of_all_that_is_released_at_an_instant_the_most_urgent_runs_first(
    seed: int, tmp_path: Path
) -> None:
    """Releases of one instant come in any order of tasks, and some when a job ends."""
    chance = random.Random(seed)
    tasks = random_tasks(chance)
    order = list(enumerate(tasks))
    chance.shuffle(order)
    app = ['[app]\nname = "rta"\n']
    for n, (period, time) in order:
        app.append(
            f"""
[[task]]
name = "t{n}"
priority = {20 - n}
period_us = {period}
deadline_frames = {1 / period!r}
cycles = {time * 1000}
firings = {HYPERPERIOD_US // period}
"""
        )
    summary = simulate(tmp_path, "\n".join(app), platform(""))
    late_ns = {task["task"]: task["worst_late_ns"] for task in summary["tasks"]}
    for n, response in enumerate(longest_responses_us(tasks)):
        assert late_ns[f"t{n}"] == (response - 1) * 1000


# ---- Accounts ------------------------------------------------------------------------------------

RING = """
[app]
name = "ring"

[[task]]
name = "a"
cycles = 1000

[[task]]
name = "b"
core = 1
cycles = 3000

[[channel]]
from = "a.out"
to = "b.in"
slots = 2
slot_bytes = 8

[[channel]]
from = "b.out"
to = "a.in"
slots = 2
slot_bytes = 8
initial = 2
"""


@pytest.mark.parametrize("options", [(), ("--agent-period", "1ms")], ids=["alone", "agents"])
def test_a_task_that_runs_when_the_run_is_cut_off_counts(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    """`b` never waits, so that it runs until the end; `a` has a third of its core."""
    core = "count = 2\n[[core.point]]\nmhz = 1000\nactive_mw = 100\nidle_mw = 10\n"
    summary = simulate(tmp_path, RING, platform(core), "--duration", "10ms", *options)
    for core, load in zip(summary["cores"], (1 / 3, 1), strict=True):
        assert core["load"] == pytest.approx(load, abs=1e-3)
        (point,) = core["points"]
        assert point["active_ns"] == core["busy_ns"]
        assert point["active_ns"] + point["idle_ns"] == summary["time_ns"]
        picojoules = point["active_ns"] * 100 + point["idle_ns"] * 10
        assert core["energy_uj"] == picojoules // 1_000_000


# ---- Heat ---------------------------------------------------------------------------------------

FLOORPLAN = """
[thermal]
ambient_c = 25
thickness_mm = 0.5
conductivity_w_per_m_k = 100
capacity_j_per_m3_k = 1.75e6
sink_k_per_w = 2
sink_j_per_k = 0.1
step_ms = 10
source = "made for this test"

[[block]]
name = "left"
core = 0
x_mm = 0
y_mm = 0
width_mm = 2
height_mm = 2

[[block]]
name = "right"
core = 1
x_mm = 2
y_mm = 0
width_mm = 2
height_mm = 2
"""


def test_a_floorplan_settles_where_the_closed_form_says(tmp_path: Path) -> None:
    """One core computes at 3 W, its neighbour idles at 1 W; the sink takes it all.

    Each block to the sink: 0.5 mm / (100 W/(m K) * 4 mm^2) = 1.25 K/W. To each other:
    2 mm / (100 W/(m K) * 0.5 mm * 2 mm) = 20 K/W, which the difference of both sees from both ends.
    """
    app = """
[app]
name = "heater"

[[task]]
name = "heater"
cycles = 1000000
firings = 20000
"""
    core = "count = 2\n[[core.point]]\nmhz = 1000\nactive_mw = 3000\nidle_mw = 1000\n"
    record = tmp_path / "record"
    summary = simulate(tmp_path, app, platform(core, rest=FLOORPLAN), "--record", str(record))
    assert summary["time_ns"] == 20_000_000_000  # a hundred time constants of the sink
    mean = 25 + (3 + 1) * 2 + (3 + 1) / 2 * 1.25
    difference = (3 - 1) / (1 / 1.25 + 2 / 20)
    for which, expected in enumerate((mean + difference / 2, mean - difference / 2)):
        last = [e.value for e in events(record, which) if e.kind == TEMPERATURE][-1]
        assert last == round(expected * 1000)
        assert summary["cores"][which]["temperature_mc"] == last


def test_without_a_floorplan_no_temperature_is_known(tmp_path: Path) -> None:
    app = '[app]\nname = "cool"\n\n[[task]]\nname = "cool"\ncycles = 1000\nfirings = 20\n'
    record = tmp_path / "record"
    summary = simulate(tmp_path, app, platform(""), "--record", str(record))
    assert summary["cores"][0]["temperature_mc"] is None
    recorded = events(record, 0)
    assert recorded
    assert not [event for event in recorded if event.kind == TEMPERATURE]


# ---- Latency ------------------------------------------------------------------------------------

FREE = platform("count = 3\n")


def stages(*tasks: str, channels: tuple[tuple[str, str], ...]) -> str:
    """An application of tasks, a core each, and channels between them."""
    parts = ['[app]\nname = "stages"\n']
    parts += [f"[[task]]\ncore = {core}\n{task}" for core, task in enumerate(tasks)]
    parts += [
        f'[[channel]]\nfrom = "{a}.out"\nto = "{b}.in"\nslot_bytes = 8\n' for a, b in channels
    ]
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("source", "latency_ns"),
    [
        # From its release: its own computing, and that of the filter.
        ("period_us = 1000\ncycles = 100000\n", 300_000),
        # From its sending: that of the filter.
        ("cycles = 500000\n", 200_000),
        # The filter sets the pace: 4 slots are full and it computes, so each frame waits for five.
        # The fifth waits a little less, and takes part in the mean around the median.
        ("cycles = 100\n", 5 * 200_000 - 1),
    ],
)
def test_a_frame_takes_as_long_as_computed_by_hand(
    source: str, latency_ns: int, tmp_path: Path
) -> None:
    app = stages(
        f'name = "source"\nfirings = 500\n{source}',
        'name = "filter"\ncycles = 200000\n',
        'name = "sink"\ncycles = 50000\n',
        channels=(("source", "filter"), ("filter", "sink")),
    ).replace('to = "filter.in"\n', 'to = "filter.in"\nslots = 4\n')
    summary = simulate(tmp_path, app, FREE)
    assert summary["frames"] == 500
    assert summary["latency_ns"] == latency_ns


def test_a_frame_that_is_split_arrives_with_its_slower_part(tmp_path: Path) -> None:
    app = stages(
        'name = "source"\nfirings = 100\nperiod_us = 1000\ncycles = 1000\n',
        'name = "worker"\ncount = 2\ncycles = 300000\n',
        'name = "sink"\ncycles = 1000\n',
        channels=(("source", "worker"), ("worker", "sink")),
    )
    # Both workers are on one core, one after the other.
    assert simulate(tmp_path, app, FREE)["latency_ns"] == 1000 + 2 * 300_000


def test_explore_tells_the_latency_of_each_candidate(tmp_path: Path) -> None:
    """The filter at 1 GHz or at 500 MHz; whoever is slower than that takes less energy."""
    points = "".join(f"[[core.point]]\nmhz = {mhz}\nactive_mw = {mhz}\n" for mhz in (500, 1000))
    app = stages(
        'name = "source"\nperiod_us = 10000\ncycles = 1000000\nmigratable = false\n',
        'name = "filter"\ncycles = 2000000\nmigratable = false\n',
        'name = "sink"\nmigratable = false\ncycles = 1000\n',
        channels=(("source", "filter"), ("filter", "sink")),
    )
    (tmp_path / "app.toml").write_text(app)
    (tmp_path / "platform.toml").write_text(platform(f"count = 3\n{points}"))
    words = [WHIMBREL, "explore", tmp_path / "app.toml", "--platform", tmp_path / "platform.toml"]
    words += ["--json", "--quiet", "--duration", "200ms", "--objectives", "latency,energy"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    front = json.loads(done.stdout)["rates"][0]["front"]
    ghz = [[hz / 1e9 for hz in member["hz"]] for member in front]
    assert [member["outcome"]["latency_ms"] for member in front] == [
        pytest.approx(1 / source + 2 / way) for source, way, _ in ghz
    ]
    assert {0.5, 1.0} == {point for points in ghz for point in points[:2]}
