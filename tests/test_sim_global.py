# SPDX-License-Identifier: Apache-2.0
"""Cores that share a scheduler: global EDF, global fixed priority and restricted migration, against
SimSo, an own schedule, bounds and examples of the literature.

Where nothing but computing takes time, all is exact: a job that is late by a nanosecond fails.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from beside_simso import in_simso
from own_global import Cores, schedule
from running import WHIMBREL
from simulated import Json, command, events, platform, simulate
from task_sets import Span, Task, completions, in_whimbrel, shares_of, spans, task_set

ATTACH = 9
UNTIL_US = 40_000


def shared(cores: int, migration: str = "full", more: str = "") -> str:
    return f'count = {cores}\nmigration = "{migration}"\n{more}'


def simulated(
    folder: Path, tasks: list[Task], scheduling: str, cores: int, migration: str
) -> tuple[Json, list[list[Span]], list[int]]:
    folder.mkdir()
    options = ("--record", str(folder / "record"))
    more = shared(cores, migration)
    summary = in_whimbrel(folder, tasks, scheduling, UNTIL_US, *options, cores=more)
    return summary, *spans(folder / "record", cores, len(tasks))


def before_the_end(all_spans: list[list[Span]]) -> list[list[Span]]:
    """Sources end then, and a run ends as soon as it can."""
    end = UNTIL_US * 1000
    return [
        [Span(begin, min(stop, end), core) for begin, stop, core in had if begin < end]
        for had in all_spans
    ]


def continued(had: list[Span], job_ns: int) -> tuple[int, int]:
    """How often a job went on after it had been preempted; how often on another core."""
    times = moves = done = 0
    for before, span in pairwise(had):
        done += before.end - before.begin
        times += done % job_ns != 0
        moves += done % job_ns != 0 and span.core != before.core
    return times, moves


# ---- Beside other schedules ---------------------------------------------------------------------


@pytest.mark.parametrize("scheduling", ["edf", "preemptive"])
def test_jobs_are_complete_and_are_preempted_as_in_simso(
    scheduling: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SimSo gives a job another core than we do at times, so migrations differ a little; how often
    jobs go on after a preemption, on any core, does not."""
    jobs = misses = ours_moved = theirs_moved = 0
    for seed in range(100):
        cores = 2 + seed % 3
        tasks = task_set(seed, cores)
        summary, had, _ = simulated(tmp_path / str(seed), tasks, scheduling, cores, "full")
        model = in_simso(tasks, scheduling, UNTIL_US, cores)
        model.run_model()
        capsys.readouterr()  # its global EDF writes what it decides
        late = 0
        for task, spans_of, theirs in zip(tasks, had, model.task_list, strict=True):
            ended = completions([span[:2] for span in spans_of], task.computes * 1000)
            ends = [job.end_date for job in theirs.jobs if job.end_date is not None]
            assert [at for at in ended if at < UNTIL_US * 1000] == [
                end * 1000 for end in ends if end < UNTIL_US
            ], f"seed {seed}: {task} of {tasks}"
            found = model.results.tasks[theirs]
            times, moves = continued(*before_the_end([spans_of]), task.computes * 1000)
            assert times == found.preemption_inter_count + found.migration_count, f"seed {seed}"
            ours_moved, theirs_moved = ours_moved + moves, theirs_moved + found.migration_count
            late += sum(
                end > (task.offset + (n + 1) * task.period) * 1000 for n, end in enumerate(ended)
            )
            jobs += len(ended)
        assert summary["deadline_misses"] == late
        misses += late
    print(f"{jobs} jobs, {misses} misses, {ours_moved} migrations, {theirs_moved} in SimSo")
    assert jobs > 5000
    assert misses > 20
    assert ours_moved > 500
    assert abs(ours_moved - theirs_moved) < ours_moved / 50


@pytest.mark.parametrize("migration", ["full", "restricted"])
@pytest.mark.parametrize("scheduling", ["edf", "preemptive"])
def test_each_job_has_the_cores_of_an_own_schedule(
    scheduling: str, migration: str, tmp_path: Path
) -> None:
    moved = 0
    for seed in range(200, 225):
        cores = 2 + seed % 4
        tasks = task_set(seed, cores)
        _, had, places = simulated(tmp_path / str(seed), tasks, scheduling, cores, migration)
        made = Cores(cores, scheduling, migration == "restricted")
        expected = schedule(tasks, made, places, UNTIL_US)
        in_ns = [[Span(b * 1000, e * 1000, core) for b, e, core in of_one] for of_one in expected]
        assert before_the_end(had) == before_the_end(in_ns), f"seed {seed}: {tasks}"
        moved += sum(
            continued(one, task.computes * 1000)[1] for one, task in zip(had, tasks, strict=True)
        )
    assert (moved == 0) == (migration == "restricted")


# ---- What is counted ----------------------------------------------------------------------------


@pytest.mark.parametrize("migration", ["full", "restricted"])
def test_moves_preemptions_and_busy_time_are_those_of_the_events(
    migration: str, tmp_path: Path
) -> None:
    """A set that keeps its deadlines, so that no job follows another without a wait."""
    tasks = [Task(1000, 300, 0, 9), Task(1400, 600, 0, 8), Task(2200, 1100, 100, 7)]
    summary, had, _ = simulated(tmp_path / "run", tasks, "edf", 2, migration)
    assert summary["deadline_misses"] == 0
    recorded = [event for core in range(2) for event in events(tmp_path / "run/record", core)]
    for number, (task, row) in enumerate(zip(tasks, summary["tasks"], strict=True)):
        times, moves = continued(had[number], task.computes * 1000)
        attached = [e for e in recorded if (e.kind, e.task) == (ATTACH, number)]
        assert all(event.object != event.core for event in attached)
        assert row["chosen"] == len(attached)
        assert row["preemptions"] == times
        assert row["busy_ns"] == sum(span.end - span.begin for span in had[number])
        assert row["migrations"] == 0
        assert (moves > 0) <= (migration == "full")
    for core, row in enumerate(summary["cores"]):
        mine = [span for of_task in had for span in of_task if span.core == core]
        assert row["busy_ns"] == sum(span.end - span.begin for span in mine)
    assert sum(row["chosen"] for row in summary["tasks"]) > 10


COSTS = """
[costs.switch]
time_us = 10
source = "ours: a test"

[costs.attach]
time_us = 7
source = "ours: a test"
"""


def test_a_migration_costs_a_switch_and_an_attach(tmp_path: Path) -> None:
    """The two urgent tasks come at 500 and 600 us, `low` at 0 on core 0, where `first` comes. When
    `short`, on core 1, has ended, `low` goes on there."""
    task = 'name = "{}"\npriority = {}\nperiod_us = 50000\noffset_frames = {}\ncycles = {}\n'
    tables = (
        task.format("low", 1, 0, 1_000_000),
        task.format("short", 5, 0, 600_000),
        task.format("first", 9, 0.01, 1_000_000),
    )
    app = '[app]\nname = "made"\n' + "\n".join(f"[[task]]\n{one}" for one in tables)
    hardware = platform('scheduling = "preemptive"\n' + shared(2), rest=COSTS)
    summary = simulate(
        tmp_path, app, hardware, "--duration", "40ms", "--record", str(tmp_path / "record")
    )
    had, _ = spans(tmp_path / "record", 2, 3)
    low, short, first = had
    # `first` had core 0 at the start too, to sleep until its release.
    assert summary["tasks"][0]["preemptions"] == 1
    assert first == [Span(510_000, 1_510_000, first[0].core)]
    assert low[0].core == first[0].core != short[0].core
    assert low[1].core == short[0].core
    assert low[1].begin == short[0].end + 17_000
    assert low[0].end - low[0].begin + low[1].end - low[1].begin == 1_000_000


# ---- The literature -----------------------------------------------------------------------------


@pytest.mark.parametrize("cores", [2, 4, 8])
def test_global_edf_misses_at_a_utilisation_just_above_one(cores: int, tmp_path: Path) -> None:
    """S. K. Dhall, C. L. Liu, "On a Real-Time Scheduling Problem", Operations Research 26(1), 1978:
    as many light tasks as cores, and one that needs almost a whole core, of a slightly longer
    period. It waits for the light ones and is late. On cores of their own all are in time."""
    light, heavy = Task(1000, 2, 0, 9), Task(1001, 1000, 0, 8)
    tasks = [light] * cores + [heavy]
    utilisation = sum(Fraction(task.computes, task.period) for task in tasks)
    assert utilisation < 1 + Fraction(2 * cores, 1000)
    for scheduling in ("edf", "preemptive"):
        folder = tmp_path / scheduling
        folder.mkdir()
        summary = in_whimbrel(folder, tasks, scheduling, 20_000, cores=shared(cores))
        assert summary["tasks"][-1]["misses"] > 0
        assert summary["deadline_misses"] == summary["tasks"][-1]["misses"]
    alone = in_whimbrel(tmp_path, [light] * cores, "edf", 20_000)
    assert alone["deadline_misses"] == 0, "one core is enough for the light ones"


def bounded_set(seed: int) -> tuple[int, list[Task]]:
    """Of a utilisation of at most, and almost, m - (m - 1) * that of its largest task."""
    chance = random.Random(seed)
    cores = chance.randint(2, 6)
    while True:
        number = chance.randint(cores + 1, 4 * cores)
        shares = shares_of(chance, number, chance.uniform(1, cores))
        periods = [chance.randrange(400, 8000) for _ in shares]
        tasks = [
            Task(period, max(1, int(period * share)), 0, 8)
            for period, share in zip(periods, shares, strict=True)
        ]
        used = [Fraction(task.computes, task.period) for task in tasks]
        bound = cores - (cores - 1) * max(used)
        if bound * Fraction(8, 10) <= sum(used) <= bound:
            return cores, tasks


def test_global_edf_keeps_all_deadlines_within_its_bound(tmp_path: Path) -> None:
    """J. Goossens, S. Funk, S. Baruah, "Priority-Driven Scheduling of Periodic Task Systems on
    Multiprocessors", Real-Time Systems 25, 2003, theorem 5."""
    for seed in range(40):
        cores, tasks = bounded_set(seed)
        summary = in_whimbrel(tmp_path, tasks, "edf", UNTIL_US, cores=shared(cores))
        assert summary["deadline_misses"] == 0, f"seed {seed}: {tasks} on {cores} cores"


def test_three_equal_tasks_on_two_cores_fit_no_partition_and_not_global_edf(tmp_path: Path) -> None:
    """Of a utilisation of two thirds each: they would need all of both cores. The third begins when
    the others have ended, so it ends at 4 of 3: a known example of J. Anderson, V. Bud, U. Devi,
    "An EDF-based Scheduling Algorithm for Multiprocessor Soft Real-Time Systems", ECRTS 2005. By
    it, no job is later than a bound, however long it goes on."""
    tasks = [Task(3000, 2000, 0, 8)] * 3
    summary, had, _ = simulated(tmp_path / "run", tasks, "edf", 2, "full")
    first_ends = sorted(completions([span[:2] for span in one], 2_000_000)[0] for one in had)
    assert first_ends == [2_000_000, 2_000_000, 4_000_000]
    assert summary["deadline_misses"] > 0
    # U. Devi, J. Anderson, RTSS 2005: (sum of the m - 1 largest computing times - the least one) /
    # (m - sum of the m - 2 largest utilisations), and one computing time.
    bound_ns = (2000 - 2000) / 2 * 1000 + 2_000_000
    assert max(task["worst_late_ns"] for task in summary["tasks"]) <= bound_ns


def test_restricted_migration_waits_for_the_core_where_full_migration_goes_on(
    tmp_path: Path,
) -> None:
    """`low` begins on core 0, is preempted there by a job of 2 ms, and core 1 is free after 1 ms:
    with full migration it goes on there, with restricted migration it waits."""
    tasks = [
        Task(20_000, 5000, 0, 1),
        Task(20_000, 2000, 0, 5),
        Task(20_000, 2000, 1000, 9),
    ]
    for migration, low_ends in (("full", 6_000_000), ("restricted", 7_000_000)):
        _, had, _ = simulated(tmp_path / migration, tasks, "preemptive", 2, migration)
        assert completions([span[:2] for span in had[0]], 5_000_000)[0] == low_ends
        assert continued(had[0][:3], 5_000_000)[1] == (migration == "full")


# ---- Not one group alone ------------------------------------------------------------------------


def test_clusters_and_other_cores_beside_each_other_do_not_share(tmp_path: Path) -> None:
    """Two groups of two cores and a core of its own: clustered EDF. Tasks stay in their cluster."""
    table = '[[task]]\nname = "t{}"\ncore = {}\nperiod_us = {}\ncycles = {}\n'
    rows = [(n, (0, 2, 4)[n % 3], 900 + 170 * n, 380_000 + 20_000 * n) for n in range(9)]
    app = '[app]\nname = "made"\n' + "\n".join(table.format(*row) for row in rows)
    group = 'scheduling = "edf"\n' + shared(2)
    hardware = platform(group, group.replace("full", "restricted"), 'scheduling = "fair"\n')
    record = tmp_path / "record"
    simulate(tmp_path, app, hardware, "--duration", "40ms", "--record", str(record))
    had, _ = spans(record, 5, 9)
    used = [{span.core for span in had[task]} for task in range(9)]
    assert used == [{0, 1}, {2, 3}, {4}] * 3


def test_scripts_that_wait_for_each_other_go_on_on_any_core(tmp_path: Path) -> None:
    """A mutex passes its waiters' priority on; each of six scripts computes 30 times for 1 us of
    it, on three cores, beside tasks that preempt them."""
    script = (
        '[{ loop = 30, do = [{ lock = "m" }, { run = 1000 }, { unlock = "m" }, { run = 500 },'
        ' { sleep = "3us" }] }]'
    )
    tables = [f'name = "s{n}"\npriority = {n + 1}\nscript = {script}\n' for n in range(6)]
    tables += [f'name = "p{n}"\npriority = 9\nperiod_us = {7 + n}\ncycles = 2000\n' for n in (0, 1)]
    head = '[app]\nname = "made"\n[[mutex]]\nname = "m"\n'
    app = head + "\n".join(f"[[task]]\n{one}" for one in tables)
    for migration in ("full", "restricted"):
        hardware = platform('scheduling = "preemptive"\n' + shared(3, migration))
        summary = simulate(tmp_path, app, hardware, "--duration", "3ms")
        rows = summary["tasks"][:6]
        assert [row["busy_ns"] for row in rows] == [30 * 1500] * 6
        assert [row["state"] for row in rows] == ["ended"] * 6


def test_a_core_that_only_serves_gives_its_task_back(tmp_path: Path) -> None:
    """Messages come from other cores, and agents report each millisecond, both for nothing: each
    interrupts a core, whose task goes on there. So agents change nothing but how cores sleep."""
    app = '[app]\nname = "made"\n'
    for n in range(4):
        app += (
            f'[[task]]\nname = "a{n}"\npriority = {n + 3}\nperiod_us = {1000 + 130 * n}\n'
            f"cycles = {300_000 + n * 20_000}\n"
            f'[[task]]\nname = "b{n}"\npriority = {n + 5}\ncycles = 150_000\n'
            f'[[channel]]\nfrom = "a{n}.out"\nto = "b{n}.in"\nslot_bytes = 8\nslots = 2\n'
        )
    for migration in ("full", "restricted"):
        hardware = platform('scheduling = "preemptive"\n' + shared(3, migration))
        without, reporting = (
            simulate(tmp_path, app, hardware, "--duration", "50ms", "--agent-period", period)
            for period in ("10s", "1ms")
        )
        counted = ("busy_ns", "firings", "jobs", "misses", "preemptions", "chosen")
        for one, other in zip(without["tasks"], reporting["tasks"], strict=True):
            assert [one[key] for key in counted] == [other[key] for key in counted]
        assert sum(row["preemptions"] for row in without["tasks"]) > 0
        assert sum(row["chosen"] for row in without["tasks"]) > 50


def test_a_saved_run_goes_on_as_it_would_have(tmp_path: Path) -> None:
    tasks = task_set(7, 3)
    folders = [tmp_path / name for name in ("a", "b", "c")]
    summaries = []
    saved = tmp_path / "saved"
    for folder, options in zip(
        folders, ((), ("--save", f"{saved}@11ms"), ("--resume", str(saved))), strict=True
    ):
        folder.mkdir()
        summaries.append(
            in_whimbrel(folder, tasks, "edf", UNTIL_US, *options, cores=shared(3))["tasks"]
        )
    assert summaries[0] == summaries[1] == summaries[2]


# ---- Bad input ----------------------------------------------------------------------------------


def refusal(folder: Path, core: str, app: str = "", *options: str) -> str:
    one = '[[task]]\nname = "t"\nperiod_us = 1000\ncycles = 1000\n'
    (folder / "app.toml").write_text(app or f'[app]\nname = "made"\n{one}')
    (folder / "platform.toml").write_text(platform(core))
    done = command(folder / "app.toml", "--platform", str(folder / "platform.toml"), *options)
    assert done.returncode == 2, done.stderr
    assert "help: " in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("core", "words"),
    [
        ('scheduling = "edf"\nmigration = "full"\n', "needs `count` of at least 2"),
        ('scheduling = "edf"\ncount = 2\nmigration = "job"\n', "`migration` of [[core]] must be"),
        ('count = 2\nmigration = "full"\n', 'needs `scheduling = "preemptive"` or `"edf"`'),
        (
            'count = 2\nscheduling = "fair"\nmigration = "full"\n',
            "tasks share one core by their weights, not several",
        ),
        (
            'count = 2\nscheduling = "preemptive"\nslice_us = 9\nmigration = "full"\n',
            '`slice_us` of [[core]] needs `migration = "none"`',
        ),
    ],
)
def test_cores_that_cannot_share_a_scheduler_are_refused(
    core: str, words: str, tmp_path: Path
) -> None:
    assert words in refusal(tmp_path, core)


GROUP = 'scheduling = "edf"\n' + shared(2)
TASK = '[app]\nname = "made"\n[[task]]\nname = "t"\n'


@pytest.mark.parametrize(
    ("app", "options", "words"),
    [
        ("", ("--policy", "balance"), "the policy balance moves tasks as well"),
        ("", ("--move", "t=1@1ms"), "`--move` and `--shuttle` move tasks as well"),
        (TASK + "script = [{ migrate = 1 }]\n", (), "a `migrate` of a script moves tasks"),
        (TASK + "cycles = 1000\n", ("--mode", "replicate"), "`t` is copied when it moves"),
    ],
)
def test_what_else_moves_tasks_is_refused(
    app: str, options: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    assert words in refusal(tmp_path, GROUP, app, *options)


def test_tasks_with_code_are_refused(tmp_path: Path) -> None:
    module = WHIMBREL.parent.parent / "build/test-apps/locks.so"
    app = TASK.replace("[[task]]", f'module = "{module}"\n[[task]]') + 'entry = "job"\n'
    assert "the tasks of `made` have code" in refusal(tmp_path, GROUP, app)
