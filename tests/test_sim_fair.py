# SPDX-License-Identifier: Apache-2.0
"""Simulated kernels that share a core by weights, against schedules made by hand and the bounds of
EEVDF: I. Stoica, H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", TR-95-22, 1995.

Where nothing but computing takes time, all is exact.
"""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from shutil import rmtree

import pytest
from simulated import ROOT, Json, platform, simulate
from task_sets import intervals

SLICE_US = 1000
LOCKS = ROOT / "build/test-apps/locks.so"


def fair(slice_us: float = SLICE_US, tick_us: float = 0, more: str = "") -> str:
    tick = f"tick_us = {tick_us}\n" if tick_us else ""
    return platform(f'scheduling = "fair"\nslice_us = {slice_us}\n{tick}{more}')


def app_of(*tasks: str) -> str:
    return '[app]\nname = "made"\n\n' + "\n".join(f"[[task]]\n{task}" for task in tasks)


def job(name: str, computes_us: int, more: str = "") -> str:
    return f'name = "{name}"\nperiod_us = 100000\ncycles = {computes_us * 1000}\n{more}'


def script(name: str, events: str, more: str = "") -> str:
    return f'name = "{name}"\nscript = [{events}]\n{more}'


def busy(name: str, nice: int = 0) -> str:
    """A task that computes all the time, and is never asked to stop before the end."""
    return script(name, '{ loop = "forever", do = [{ run = 10000000 }] }', f"nice = {nice}\n")


def had(folder: Path, app: str, hardware: str, number: int, until_us: int) -> list[list[float]]:
    """When each task had the core, in microseconds: begins and ends in turns, neighbours as one.
    What a task has when the run is cut short is not told, so there is some more of that."""
    record = folder / "record"
    rmtree(record, ignore_errors=True)
    simulate(
        folder, app, hardware, "--duration", f"{until_us + 200_000}us", "--record", str(record)
    )
    found: list[list[float]] = []
    for task in range(number):
        times: list[float] = []
        for begin, end in intervals(record, task):
            if times and times[-1] == begin / 1000:
                times[-1] = end / 1000
            elif begin < end and begin < until_us * 1000:
                times += [begin / 1000, end / 1000]
        found.append(times)
    return found


def served(times: list[float], until: float) -> float:
    """What it had had of the core by then."""
    pairs = zip(times[::2], times[1::2], strict=True)
    return sum(min(end, until) - begin for begin, end in pairs if begin < until)


# ---- By hand ------------------------------------------------------------------------------------


def test_three_equal_tasks_take_the_turns_that_a_hand_computes(tmp_path: Path) -> None:
    """Each begins with half a slice, as all come at one moment and have the deadline of half a
    one. From there on whoever is not past the mean has the deadline of a whole one."""
    app = app_of(*(job(name, 2000) for name in "abc"))
    assert had(tmp_path, app, fair(), 3, 90_000) == [
        [0, 500, 1500, 2500, 4500, 5000],
        [500, 1000, 2500, 3500, 5000, 5500],
        [1000, 1500, 3500, 4500, 5500, 6000],
    ]


def test_a_slice_ends_at_a_tick(tmp_path: Path) -> None:
    """A deadline is looked at each 4 ms, when it has long been reached."""
    app = app_of(*(job(name, 9000) for name in "ab"))
    assert had(tmp_path, app, fair(tick_us=4000), 2, 90_000) == [
        [0, 4000, 8000, 12000, 16000, 17000],
        [4000, 8000, 12000, 16000, 17000, 18000],
    ]


def test_who_wakes_beside_one_that_had_all_of_the_core_preempts_it(tmp_path: Path) -> None:
    """Both are at the mean, and the one that was alone has begun its next slice at that moment."""
    app = app_of(job("a", 30_000), job("b", 300, "offset_frames = 0.103\n"))
    assert had(tmp_path, app, fair(tick_us=4000), 2, 90_000) == [
        [0, 10300, 10600, 30300],
        [10300, 10600],
    ]


def test_who_wakes_comes_after_those_whose_deadlines_are_before_its_own(tmp_path: Path) -> None:
    """At 3.2 ms a is past the mean and b is not: b's deadline is 2.5 ms of virtual time, that of c
    2.6 ms. So a goes on to its own, since c is not the one to go first, then comes b, then c."""
    app = app_of(job("c", 300, "offset_frames = 0.032\n"), job("a", 9000), job("b", 9000))
    c, a, b = had(tmp_path, app, fair(), 3, 90_000)
    assert a[:6] == [0, 500, 1000, 2000, 3000, 4000]
    assert b[:6] == [500, 1000, 2000, 3000, 4000, 5000]
    assert c == [5000, 5300]


def test_who_slept_comes_back_as_far_behind_as_it_was(tmp_path: Path) -> None:
    """c sleeps at 1 ms, when the others have had half a one each, so it is 1/3 ms behind the mean
    of the three. At 3.2 ms that of a and b is 1.6 ms: c is placed at 1.1, to be 1/3 ms behind the
    mean again, with the deadline 2.1 ms, before that of b."""
    app = app_of(job("a", 9000), job("b", 9000), job("c", 1200, "offset_frames = 0.032\n"))
    a, b, c = had(tmp_path, app, fair(), 3, 90_000)
    assert a[:6] == [0, 500, 1000, 2000, 3000, 3200]
    assert c[:2] == [3200, 4200]
    # Then a is at 1.7 ms, b at 1.5 and c at 2.1, and only b is not past the mean.
    assert b[:6] == [500, 1000, 2000, 3000, 4200, 5200]


def test_a_more_urgent_task_goes_before_all_shares(tmp_path: Path) -> None:
    urgent = job("u", 300, "priority = 20\nnice = 19\noffset_frames = 0.012\n")
    a, b, u = had(tmp_path, app_of(job("a", 3000), job("b", 3000), urgent), fair(), 3, 90_000)
    assert u == [1200, 1500]
    # What is left of a's slice ends where b's deadline is the earlier one.
    assert a[:4] == [0, 500, 1000, 1200]
    assert served(a, 6300) == served(b, 6300) == 3000


def test_a_checkpoint_that_lets_a_more_urgent_task_run_gives_up_no_slice(tmp_path: Path) -> None:
    """A run of b ends at the very moment at which u wakes, and its end is a checkpoint. b has had a
    quarter of its slice by then, and has the rest of it after u."""
    runs = '{ run = 750000 }, { loop = "forever", do = [{ run = 1000000 }] }'
    urgent = job("u", 300, "priority = 20\noffset_frames = 0.0825\n")
    a, b, u = had(tmp_path, app_of(busy("a"), script("b", runs), urgent), fair(), 3, 90_000)
    assert u == [8250, 8550]
    assert b[8:12] == [8000, 8250, 8550, 9300]
    assert a[8:12] == [7000, 8000, 9300, 10300]


def test_who_has_another_priority_for_no_time_is_ahead_as_before(tmp_path: Path) -> None:
    """When it has it at 3.4 ms, a is at 1.9 ms and b at 1.5. So b has its slice next."""
    turn = "{ run = 1900000 }, { priority = 9 }, { priority = 8 }"
    toggles = f'{{ loop = "forever", do = [{turn}] }}'
    a, b = had(tmp_path, app_of(script("a", toggles), busy("b")), fair(), 2, 90_000)
    assert a[:10] == [0, 500, 1000, 2000, 3000, 3400, 4400, 5400, 6400, 7300]
    assert b[:10] == [500, 1000, 2000, 3000, 3400, 4400, 5400, 6400, 7300, 8300]


def test_who_inherits_a_priority_is_ahead_as_before_when_it_gives_it_back(tmp_path: Path) -> None:
    """At 11 ms a is at 7 ms and b at 4, and h waits for the mutex that a holds. a gives it back
    500 us later. At 20 ms a is at 11 ms and b at 8.5, so that b has the next tick."""
    holds = '{ lock = "m" }, { run = 7500000 }, { unlock = "m" }, { run = 100000000 }'
    waits = '{ delay = "11ms" }, { lock = "m" }, { unlock = "m" }'
    tasks = app_of(script("a", holds), busy("b"), script("h", waits, "priority = 9\n"))
    app = tasks + '[[mutex]]\nname = "m"\n'
    a, b, _ = had(tmp_path, app, fair(tick_us=4000), 3, 90_000)
    assert a[:6] == [0, 4000, 8000, 11500, 16000, 20000]
    assert b[:6] == [4000, 8000, 11500, 16000, 20000, 24000]


# ---- Shares -------------------------------------------------------------------------------------


@pytest.mark.parametrize("nice", [1, 5, -5, 19])
def test_shares_are_as_the_weights(nice: int, tmp_path: Path) -> None:
    """A step of nice is a quarter more or less, for as long as one looks."""
    until = 900_000
    app = app_of(busy("a"), busy("b", nice))
    a, b = had(tmp_path, app, fair(), 2, until)
    weight = 1.25**-nice
    assert served(a, until) + served(b, until) == until
    # Weights are whole numbers, that of nice 19 is 15 instead of 14.76.
    assert served(b, until) == pytest.approx(until * weight / (1 + weight), rel=0.02, abs=SLICE_US)


def test_nobody_gains_by_sleeping(tmp_path: Path) -> None:
    """Who sleeps for a moment after each burst comes back where it was: ahead, if it was ahead."""
    sleeps = '{ loop = "forever", do = [{ run = 1900000 }, { sleep = "100us" }] }'
    until = 900_000
    a, b = had(tmp_path, app_of(busy("a"), script("b", sleeps)), fair(), 2, until)
    assert served(b, until) <= until / 2 + SLICE_US
    # Nor does it lose more than it slept for.
    assert served(b, until) > until / 2 - 100 * until / 3800 - SLICE_US
    assert served(a, until) + served(b, until) == until


def test_nobody_loses_by_waits_that_are_over_at_once(tmp_path: Path) -> None:
    """On Linux such a wait returns without a call of the scheduler."""
    a = 'name = "a"\nentry = "free_job"\nperiod_us = 1000000\ncycles = 250000\n'
    b = 'name = "b"\nentry = "hasty"\ncycles = 250000\n'
    head = f'[app]\nname = "made"\nmodule = "{LOCKS}"\n\n[params]\na = [400]\n\n'
    app = f"{head}[[task]]\n{a}\n[[task]]\n{b}"
    hardware = fair() + '\n[costs.claim]\ntime_us = 1\nsource = "ours: a test"\n'
    until = 90_000
    for times in had(tmp_path, app, hardware, 2, until):
        assert abs(served(times, until) - until / 2) <= SLICE_US


@pytest.mark.parametrize("run_us", [100, 900, 1900])
def test_nobody_gains_by_changes_of_its_priority(run_us: int, tmp_path: Path) -> None:
    turn = f"{{ run = {run_us}000 }}, {{ priority = 9 }}, {{ priority = 8 }}"
    toggles = f'{{ loop = "forever", do = [{turn}] }}'
    until = 900_000
    a, b = had(tmp_path, app_of(script("a", toggles), busy("b")), fair(), 2, until)
    assert served(a, until) + served(b, until) == until
    assert abs(served(a, until) - until / 2) <= SLICE_US


def test_who_sleeps_for_long_has_nothing_to_make_good(tmp_path: Path) -> None:
    """When it comes back it shares from there on."""
    late = script("b", '{ delay = "300ms" }, { loop = "forever", do = [{ run = 10000000 }] }')
    a, b = had(tmp_path, app_of(busy("a"), late), fair(), 2, 900_000)
    assert served(a, 300_000) == 300_000
    for until in range(310_000, 900_000, 10_000):
        assert abs(served(b, until) - (until - 300_000) / 2) <= SLICE_US


def test_two_hundred_random_sets_are_no_further_from_their_shares_than_the_bound(
    tmp_path: Path,
) -> None:
    """Theorem 1 of TR-95-22: the lag is within the longest request, which is a slice. One that is
    longer by what is left until the next tick makes a task be ahead by so much, and all the others
    together behind by that."""
    until = 120_000
    for seed in range(200):
        chance = random.Random(seed)
        slice_us, tick_us = chance.choice([500, 1400, 3000]), chance.choice([0, 0, 1000, 4000])
        nices = [chance.randint(-10, 10) for _ in range(chance.randint(2, 8))]
        weights = [round(1024 / 1.25**nice) for nice in nices]
        app = app_of(*(busy(f"t{n}", nice) for n, nice in enumerate(nices)))
        all_had = had(tmp_path, app, fair(slice_us, tick_us), len(nices), until)
        moments = sorted({time for times in all_had for time in times if time <= until})
        assert moments[0] == 0
        for at in moments:
            now = [served(times, at) for times in all_had]
            assert sum(now) == pytest.approx(at), f"seed {seed}: the core is idle before {at}"
            for got, weight in zip(now, weights, strict=True):
                lag = at * weight / sum(weights) - got
                behind = slice_us if tick_us == 0 else (len(nices) - 1) * (slice_us + tick_us)
                assert -slice_us - tick_us - 0.01 <= lag <= behind + 0.01, f"seed {seed} at {at}"


def test_random_tasks_that_sleep_and_lock_do_all_their_work(tmp_path: Path) -> None:
    """Nobody is lost who sleeps, waits for a mutex, inherits a priority by it or has another one,
    and the core does nothing twice."""
    for seed in range(40):
        chance = random.Random(seed)
        tasks, runs = [], []
        for n in range(chance.randint(2, 9)):
            loops, run, sleep = (chance.randint(1, top) for top in (30, 3000, 4000))
            runs.append(loops * run)
            turn = f'{{ run = {run}000 }}, {{ sleep = "{sleep}us" }}'
            if chance.random() < 0.4:
                turn = f'{{ lock = "m" }}, {{ run = {run}000 }}, {{ unlock = "m" }}'
                turn += f', {{ sleep = "{sleep}us" }}' if chance.random() < 0.5 else ""
            if chance.random() < 0.3:
                turn = f"{{ priority = 9 }}, {turn}, {{ priority = 8 }}"
            turn += ", { yield = true }" if chance.random() < 0.3 else ""
            more = f"nice = {chance.randint(-20, 19)}\npriority = {chance.choice([8, 8, 8, 9])}\n"
            tasks.append(script(f"t{n}", f"{{ loop = {loops}, do = [{turn}] }}", more))
        app = app_of(*tasks) + '[[mutex]]\nname = "m"\n'
        hardware = fair(1400, chance.choice([0, 4000]))
        all_had = had(tmp_path, app, hardware, len(runs), 10**7)
        assert [served(times, 10**9) for times in all_had] == pytest.approx(runs), seed
        pairs = [zip(times[::2], times[1::2], strict=True) for times in all_had]
        turns = sorted(turn for of_task in pairs for turn in of_task)
        assert all(before[1] <= after[0] for before, after in pairwise(turns)), seed


def test_tasks_that_move_between_fair_cores_do_all_their_work(tmp_path: Path) -> None:
    """Awake and asleep, ahead and behind; one core is fair and the other is not, too."""
    way = ("fair", "fair", "preemptive")
    for seed in range(30):
        chance = random.Random(seed)
        tasks, total = [], 0
        for n in range(chance.randint(2, 7)):
            loops, run, sleep = (chance.randint(1, top) for top in (30, 3000, 2000))
            total += 2 * loops * run
            turn = [f"{{ run = {run}000 }}", "{ migrate = 1 }", f'{{ sleep = "{sleep}us" }}']
            turn += [f"{{ run = {run}000 }}", "{ migrate = 0 }"]
            more = f'nice = {chance.randint(-20, 19)}\nmove = "waits"\n'
            tasks.append(script(f"t{n}", f"{{ loop = {loops}, do = [{', '.join(turn)}] }}", more))
        cores = [f'scheduling = "{chance.choice(way)}"\n' for _ in range(2)]
        summary = simulate(tmp_path, app_of(*tasks), platform(*cores))
        busy = sum(core["busy_ns"] for core in summary["cores"])
        assert busy == pytest.approx(total * 1000), f"seed {seed}"


def test_a_thousand_tasks_share_a_core(tmp_path: Path) -> None:
    app = app_of('name = "t"\ncount = 1000\nheap = 4096\nscript = [{ run = 1000000 }]\n')
    summary = simulate(tmp_path, app, fair(100), "--duration", "2s")
    assert summary["time_ns"] == pytest.approx(10**9, abs=10**6)


# ---- Slack of timers ----------------------------------------------------------------------------


def period_us(folder: Path, scheduling: str, priority: int) -> float:
    core = f'scheduling = "{scheduling}"\ntimer_slack_us = 50\n'
    turns = '{ loop = 10, do = [{ run = 100000 }, { sleep = "1ms" }] }'
    app = app_of(script("a", turns, f"priority = {priority}\n"))
    told: Json = simulate(folder, app, platform(core))["tasks"][0]["script"]
    return told["period_us"]


@pytest.mark.parametrize("scheduling", ["cooperative", "preemptive", "fair"])
def test_sleeps_end_later_by_the_slack_of_timers(scheduling: str, tmp_path: Path) -> None:
    assert period_us(tmp_path, scheduling, 8) == pytest.approx(100 + 1000 + 50)
    assert period_us(tmp_path, scheduling, 0) == pytest.approx(100 + 1000 + 50)


@pytest.mark.parametrize("scheduling", ["cooperative", "preemptive", "fair"])
def test_real_time_tasks_have_no_slack_of_timers(scheduling: str, tmp_path: Path) -> None:
    assert period_us(tmp_path, scheduling, 9) == pytest.approx(100 + 1000)
