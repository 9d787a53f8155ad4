# SPDX-License-Identifier: Apache-2.0
"""Response times, throughput and ends of simulated runs against what is known of them.

The shortest, the longest and the mean response are exact, those in between right to a thirty-second
part (docs/recorded-run.md).
"""

from __future__ import annotations

import math
import random
from heapq import heappop, heappush
from pathlib import Path

import pytest
from simulated import RECEIVE, SEND, Json, events, platform, simulate

TWO = platform("count = 2\n")


def check(response: Json, samples: list[int]) -> None:
    """What is told of the responses is what they were."""
    assert response["n"] == len(samples)
    assert (response["min_ns"], response["max_ns"]) == (min(samples), max(samples))
    assert response["mean_ns"] == sum(samples) // len(samples)
    ordered = sorted(samples)
    for key, percent in (("p50_ns", 50), ("p99_ns", 99)):
        nearest = ordered[math.ceil(len(samples) * percent / 100) - 1]
        assert response[key] == pytest.approx(nearest, rel=1 / 32)
    parts = response["histogram"]
    assert [n for *_, n in parts] == [sum(a <= s < b for s in samples) for a, b, _ in parts]
    assert sum(n for *_, n in parts) == len(samples)


# ---- Jobs ---------------------------------------------------------------------------------------


def schedule(jobs: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """Jobs (release, task, time) on one core, the lowest task first and never preempted: the task
    and the response of each. Knows nothing of the simulator."""
    ready: list[tuple[int, int, int]] = []
    responses = []
    now, coming = 0, sorted(jobs, reverse=True)
    while coming or ready:
        if not ready:
            now = max(now, coming[-1][0])
        while coming and coming[-1][0] <= now:
            release, task, time = coming.pop()
            heappush(ready, (task, release, time))
        task, release, time = heappop(ready)
        now += time
        responses.append((task, now - release))
    return responses


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_jobs_respond_as_a_schedule_by_hand_has_it(
    seed: int, together: bool, tmp_path: Path
) -> None:
    """Released together, or so that nothing ends when another task is released."""
    draw = random.Random(seed)
    periods = draw.sample([1000, 2000, 3000, 4000, 6000], draw.choice([2, 3, 4]))
    app, jobs, end_us = '[app]\nname = "jobs"\n', [], 24_000
    for n, period in enumerate(periods):
        time = draw.randrange(50, period // len(periods)) * 1000 + 7 * n * (not together)
        offset = 0 if together else draw.randrange(1, 900) * 1000 + n
        firings = end_us // period
        jobs += [(offset + k * period * 1000, n, time) for k in range(firings)]
        app += f"""
[[task]]
name = "t{n}"
priority = {20 - n}
period_us = {period}
offset_frames = {offset / (period * 1000)!r}
cycles = {time}
firings = {firings}
"""
    summary = simulate(tmp_path, app, platform(""))
    responses = schedule(jobs)
    for n, task in enumerate(summary["tasks"]):
        samples = [response for which, response in responses if which == n]
        check(task["response"], samples)
        assert task["firings"] == task["jobs"] == len(samples)


def test_a_deadline_is_missed_by_the_response_less_the_deadline(tmp_path: Path) -> None:
    app = """
[app]
name = "late"

[[task]]
name = "late"
period_us = 1000
deadline_frames = 0.5
cycles = 700000
firings = 10
"""
    (task,) = simulate(tmp_path, app, platform(""))["tasks"]
    assert task["worst_late_ns"] == 200_000
    assert task["response"]["max_ns"] == task["response"]["p50_ns"] == 700_000


# ---- Firings ------------------------------------------------------------------------------------

QUEUE = """
[app]
name = "queue"

[[task]]
name = "source"
core = 0
cycles = 1000000
distribution = "exponential"
firings = 20000

[[task]]
name = "server"
core = 1
cycles = 700000
distribution = "{service}"

[[channel]]
from = "source.out"
to = "server.in"
slots = 32768
slot_bytes = 8
"""


def test_customers_of_a_queue_respond_after_their_wait_and_their_service(tmp_path: Path) -> None:
    """M/D/1, as tests/test_sim_truths.py has it: each response is known from the event stream."""
    record = tmp_path / "record"
    options = ("--record", str(record), "--seed", "5")
    summary = simulate(tmp_path, QUEUE.format(service="constant"), TWO, *options)
    arrivals = [e.time_ns for e in events(record, 0) if e.kind == SEND]
    starts = [e.time_ns for e in events(record, 1) if e.kind == RECEIVE]
    samples = [start + 700_000 - at for at, start in zip(arrivals, starts, strict=True)]
    check(summary["tasks"][1]["response"], samples)
    gaps = [b - a for a, b in zip([summary["start_ns"], *arrivals], arrivals, strict=False)]
    check(summary["tasks"][0]["response"], gaps)


def test_a_firing_responds_from_the_last_of_its_messages(tmp_path: Path) -> None:
    """Three messages a firing, one a microsecond; the firing takes half of one. The first of each
    three has waited for two, but it is the last that counts."""
    app = QUEUE.format(service="constant").replace('distribution = "exponential"\n', "")
    app = app.replace("cycles = 1000000", "cycles = 1000").replace("700000", "500")
    summary = simulate(tmp_path, app.replace("20000", "30000") + "consume = 3\n", TWO)
    response = summary["tasks"][1]["response"]
    assert (response["n"], response["min_ns"], response["max_ns"]) == (10_000, 500, 500)
    assert summary["tasks"][1]["firings"] == 10_000


def test_measuring_lets_no_time_pass(tmp_path: Path) -> None:
    """Hundreds of messages at one instant are as many looks at the clock. A task with traffic is
    taken on by no kernel in its place."""
    app = QUEUE.format(service="constant").replace('distribution = "exponential"\n', "")
    app = app.replace("firings = 20000", "firings = 30\ntraffic = 8") + "produce = 500\n"
    summary = simulate(tmp_path, app + "consume = 500\n", TWO)
    assert summary["time_ns"] == 30 * 1_000_000 + 700_000
    assert summary["tasks"][1]["response"]["max_ns"] == 700_000


def test_looks_at_the_clock_of_many_tasks_at_one_instant_let_no_time_pass(tmp_path: Path) -> None:
    """Each of the tasks looks when it begins."""
    app = '[app]\nname = "many"\n[[barrier]]\nname = "b"\ntasks = 1000\n[[task]]\nname = "a"\n'
    app += 'count = 1000\nscript = [{ barrier = "b" }, { run = 1000 }]\n'
    assert simulate(tmp_path, app, platform(""))["time_ns"] == 1000 * 1000


# ---- Graphs -------------------------------------------------------------------------------------


def graph(cycles: tuple[int, int], produce: int, consume: int, initial: int) -> str:
    """Tasks a and b in a circle, a core each."""
    text = '[app]\nname = "circle"\n'
    for n, name in enumerate("ab"):
        text += f'\n[[task]]\nname = "{name}"\ncore = {n}\ncycles = {cycles[n]}\n'
    ends = (("a", "b", produce, consume, 0), ("b", "a", consume, produce, initial))
    for start, end, out, into, there in ends:
        text += f"""
[[channel]]
from = "{start}.out"
to = "{end}.in"
produce = {out}
consume = {into}
initial = {there}
slots = {2 * (out + into) + there}
slot_bytes = 8
"""
    return text


def test_a_graph_without_a_source_ends_at_its_duration(tmp_path: Path) -> None:
    summary = simulate(tmp_path, graph((1000, 3000), 1, 1, 2), TWO, "--duration", "10ms")
    assert summary["time_ns"] == 10_000_000
    assert (summary["ended"], summary["ok"]) == ("duration", True)
    assert summary["frames"] is summary["frames_per_s"] is None
    (circle,) = summary["graphs"]
    assert circle["tasks"] == [0, 1]
    assert circle["repetitions"] == [1, 1]
    # b never rests after the first message, and one that ends with the run may count or not.
    assert circle["iterations"] in (3332, 3333)
    assert circle["iterations_per_s"] == pytest.approx(circle["iterations"] * 100)
    assert summary["tasks"][1]["response"]["min_ns"] == 3000


def test_firings_that_are_short_do_not_go_on_after_the_duration(tmp_path: Path) -> None:
    """They went on for two seconds, which took the simulator half a minute."""
    summary = simulate(tmp_path, graph((10, 10), 1, 1, 1), TWO, "--duration", "1ms")
    assert summary["time_ns"] == 1_000_000
    assert summary["graphs"][0]["iterations"] in (49_999, 50_000)


def test_iterations_count_by_the_repetition_vector(tmp_path: Path) -> None:
    """a sends 3 for every 2 that b takes: a fires twice and b three times in an iteration."""
    summary = simulate(tmp_path, graph((1000, 1000), 3, 2, 6), TWO, "--duration", "6ms")
    a, b = (task["firings"] for task in summary["tasks"])
    (circle,) = summary["graphs"]
    assert circle["repetitions"] == [2, 3]
    assert circle["iterations"] == min(a // 2, b // 3)
    assert summary["tasks"][0]["firings_per_s"] == pytest.approx(a / 6e-3)


def test_tasks_that_nothing_connects_are_no_graph(tmp_path: Path) -> None:
    app = '[app]\nname = "alone"\n\n[[task]]\nname = "alone"\ncycles = 1000\nfirings = 50\n'
    summary = simulate(tmp_path, app, platform(""))
    assert summary["graphs"] == []
    assert summary["tasks"][0]["firings"] == 50
    assert summary["tasks"][0]["response"]["max_ns"] == 1000


# ---- How a run ended ----------------------------------------------------------------------------

STAGES = """
[app]
name = "stages"

[[task]]
name = "source"
core = 0
period_us = 1000
cycles = 1000
{more}

[[task]]
name = "sink"
core = 1
cycles = {cycles}

[[channel]]
from = "source.out"
to = "sink.in"
slot_bytes = 8
"""


@pytest.mark.parametrize(
    ("more", "cycles", "ended", "time_ns"),
    [
        # Its source ends before; the duration ends it; four seconds of computing outlast the two
        # that channels have to drain.
        ("firings = 5", 1000, "finished", 5_000_000),
        ("", 1000, "duration", 10_000_000),
        ("", 4_000_000_000, "forced", 2_010_000_000),
    ],
)
def test_how_a_run_ended_is_told(
    more: str, cycles: int, ended: str, time_ns: int, tmp_path: Path
) -> None:
    app = STAGES.format(more=more, cycles=cycles)
    summary = simulate(tmp_path, app, TWO, "--duration", "10ms")
    assert (summary["ended"], summary["ok"]) == (ended, True)
    assert summary["time_ns"] == pytest.approx(time_ns, rel=0.11)
    assert summary["frames"] is not None


def test_a_part_without_a_source_ends_the_run_though_another_part_has_one(tmp_path: Path) -> None:
    app = STAGES.format(more="", cycles=1000) + graph((1000, 1000), 1, 1, 1).split("\n", 2)[2]
    summary = simulate(tmp_path, app, TWO, "--duration", "10ms")
    assert (summary["ended"], summary["time_ns"]) == ("duration", 10_000_000)
    assert [part["tasks"] for part in summary["graphs"]] == [[0, 1], [2, 3]]
