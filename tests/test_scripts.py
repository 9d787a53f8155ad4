# SPDX-License-Identifier: Apache-2.0
"""Scripts of tasks: what their events come to, here and simulated, and what ends a run of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from running import move_enough, wait_for_totals
from scripted import EXAMPLE, LOOPS, app, barrier_of_one, deadlock, loops
from simulated import WHIMBREL, Json, command, events, platform, simulate
from test_crash import summary_after_a_kill

CORES = "{0},{0}".format(min(os.sched_getaffinity(0)))
ONE = platform("")
TWO = platform("", "")


def of_task(summary: Json, name: str) -> Json:
    """What a summary says of the firings of a task."""
    return next(task["script"] for task in summary["tasks"] if task["task"] == name)


def run(file: Path, *options: str) -> Json:
    """Runs an application on two cores of one processor and returns its summary."""
    words = [str(WHIMBREL), "run", str(file), "--json", "--cores", CORES, *options]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ---- What events come to ------------------------------------------------------------------------


def test_a_firing_takes_what_its_events_take(tmp_path: Path) -> None:
    turn = '{ loop = 5, do = [{ run = 2000000 }, { sleep = "1ms" }, { timer = "10ms" }] }'
    script = of_task(simulate(tmp_path, app("", a=turn), ONE), "a")
    assert script == {
        "loops": 5,
        "period_us": 10000,
        "run_us": 2000,
        "slack_us": 7000,
        "wakeup_us": 0,
    }


def test_a_timer_that_is_late_counts_as_a_miss(tmp_path: Path) -> None:
    turn = "{ run = 15000000 }" + ', { timer = "10ms", mode = "MODE" }' * 2
    for mode, end_ms in (("relative", 25), ("absolute", 20)):
        summary = simulate(tmp_path, app("", a=turn.replace("MODE", mode)), ONE)
        (task,) = summary["tasks"]
        assert (task["jobs"], task["misses"], task["worst_late_ns"]) == (2, 1, 5e6)
        assert summary["time_ns"] == end_ms * 1e6


def test_a_timer_that_is_late_gives_way_to_an_earlier_deadline(tmp_path: Path) -> None:
    """From 22 ms on, `a` is due at 32 ms, and `b`, which has waited since 15 ms, at 30 ms."""
    turns = {
        "a": '{ timer = "10ms" }, { run = 12000000 }, { timer = "10ms" }, { run = 5000000 }',
        "b": '{ timer = "15ms" }, { run = 1000000 }',
    }
    summary = simulate(tmp_path, app("", **turns), platform('scheduling = "edf"\n'))
    assert of_task(summary, "b")["wakeup_us"] == 7000


def test_run_goes_by_the_frequency_and_runtime_by_the_clock(tmp_path: Path) -> None:
    slow = platform("[[core.point]]\nmhz = 200\nactive_mw = 100\n")
    turn = '{ run = 1000000 }, { runtime = "3ms" }'
    assert of_task(simulate(tmp_path, app("", a=turn), ONE), "a")["run_us"] == 4000
    assert of_task(simulate(tmp_path, app("", a=turn), slow), "a")["run_us"] == 8000


def test_a_delay_is_where_timers_begin(tmp_path: Path) -> None:
    turn = '{ delay = "3ms" }, { timer = "10ms" }, { timer = "10ms" }'
    assert simulate(tmp_path, app("", a=turn), ONE)["time_ns"] == 23e6


def test_memory_is_copied_within_16_kib_of_the_heap(tmp_path: Path) -> None:
    (task,) = simulate(tmp_path, app("", a='{ memory = "64KiB" }'), ONE)["tasks"]
    assert 16 << 10 <= task["heap_peak_bytes"] < 18 << 10


def test_a_shared_timer_is_gone_on_with_by_whoever_comes(tmp_path: Path) -> None:
    turn = '{ timer = "10ms", name = "t" }'
    shared = app('[[timer]]\nname = "t"\n', a=turn, b=turn)
    assert simulate(tmp_path, shared, ONE)["time_ns"] == 20e6


def test_a_mutex_keeps_its_holders_apart(tmp_path: Path) -> None:
    held = '{ lock = "m" }, { run = 1000 }, { sleep = "1ms" }, { unlock = "m" }'
    turn = f"{{ loop = 3, do = [{held}] }}"
    summary = simulate(tmp_path, app('[[mutex]]\nname = "m"\n', a=turn, b=turn), TWO)
    assert summary["time_ns"] == pytest.approx(6 * 1_001_000)


def test_a_suspended_task_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    sleeper = "{ loop = 3, do = [{ suspend = true }, { run = 1000 }] }"
    waker = '{ loop = 3, do = [{ sleep = "5ms" }, { resume = "a" }] }'
    summary = simulate(tmp_path, app("", a=sleeper, b=waker), ONE)
    assert loops(summary) == {"a": 3, "b": 3}
    assert of_task(summary, "a")["period_us"] == pytest.approx(5001, abs=2)


def test_a_script_says_its_core_and_its_priority(tmp_path: Path) -> None:
    turn = "{ migrate = [1, 2] }, { priority = 20 }, { run = 1000 }, { migrate = [0, 1] }"
    (task,) = simulate(tmp_path, app("", a=turn), platform("", "", ""))["tasks"]
    assert (task["core"], task["migrations"], task["state"]) == (1, 1, "ended")


def test_actors_and_scripts_meet_at_a_channel(tmp_path: Path) -> None:
    text = app("", a='{ loop = 10, do = [{ send = "out", count = 3 }, { run = 1000 }] }')
    text += '[[task]]\nname = "b"\ncycles = 500\n[[channel]]\nfrom = "a.out"\nto = "b.in"\n'
    summary = simulate(tmp_path, text + "slot_bytes = 8\nslots = 4\nconsume = 2\n", TWO)
    assert [task["firings"] for task in summary["tasks"]] == [10, 15]


EVERY = app(
    """
[[mutex]]
name = "m"

[[condition]]
name = "c"

[[barrier]]
name = "b"
tasks = 2

[[semaphore]]
name = "s"

[[timer]]
name = "t"
""",
    a="""{ delay = "1ms" }, { run = 1000 }, { runtime = "1ms" }, { memory = "64KiB" },
    { yield = true }, { checkpoint = true }, { priority = 9 }, { take = "s" }, { barrier = "b" },
    { lock = "m" },
    { signal = "c" }, { unlock = "m" }, { sleep = "1ms" }, { timer = "3ms", name = "t" },
    { migrate = 1 }, { broadcast = "c" }, { exit = true }""",
    b="""{ give = "s" }, { lock = "m" }, { barrier = "b" }, { wait = "c", mutex = "m" },
    { unlock = "m" }, { timer = "1ms", mode = "absolute" }""",
)


def test_each_kind_of_event_is_done_here_and_simulated(tmp_path: Path) -> None:
    summary = simulate(tmp_path, EVERY, TWO)
    assert [task["state"] for task in summary["tasks"]] == ["ended"] * 2
    assert [task["state"] for task in run(tmp_path / "app.toml")["tasks"]] == ["ended"] * 2


# ---- The example, here and simulated ------------------------------------------------------------


def test_the_example_fires_as_often_as_it_says() -> None:
    done = command(EXAMPLE, "--platform", "mpsoc3")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert loops(summary) == LOOPS
    assert of_task(summary, "camera")["period_us"] == pytest.approx(4000, abs=1)


def test_scripts_are_mapped_by_load_steered_explored_and_reported(tmp_path: Path) -> None:
    recorded = (
        "--record",
        str(tmp_path / "run"),
        "--agent-period",
        "5ms",
        "--policy",
        "consolidate",
    )
    done = command(EXAMPLE, "--platform", "mpsoc3", "--map", "load", *recorded)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert loops(summary) == LOOPS
    assert {task["core"] for task in summary["tasks"]} != {0}
    for words in (
        ("report", str(tmp_path / "run"), "-o", str(tmp_path / "run.html")),
        ("graph", str(EXAMPLE), "-o", str(tmp_path / "app.dot")),
        ("explore", str(EXAMPLE), "--platform", "davinci", "--duration", "20ms", "--quiet"),
    ):
        told = subprocess.run(
            [str(WHIMBREL), *words], capture_output=True, text=True, timeout=600, check=False
        )
        assert told.returncode == 0, told.stderr


MOVES = ("camera=1,0@11ms", "decoder=1,0@7ms", "control=1,0@13ms", "worker.0=1,0@17ms")


@pytest.mark.parametrize(
    "options", [(), ("--migration-points", "waits")], ids=["checkpoints", "waits"]
)
@pytest.mark.parametrize("mode", ["handoff", "replicate", "recreate"])
def test_scripts_move_and_lose_nothing(mode: str, options: tuple[str, ...], tmp_path: Path) -> None:
    moving = tmp_path / "app.toml"
    text = EXAMPLE.read_text().replace("[[task]]\n", "[[task]]\nrestart = true\n")
    moving.write_text(text)
    shuttles = [word for move in MOVES for word in ("--shuttle", move)]

    def shuttle() -> Json:
        summary = run(moving, "--mode", mode, *options, *shuttles)
        assert loops(summary) == LOOPS
        return summary

    move_enough(shuttle, 8)


PIPELINE = app(
    "",
    a='{ loop = 200, do = [{ run = 1000 }, { send = "out" }, { timer = "5ms" }] }',
    b='{ loop = "forever", do = [{ receive = "in" }, { run = 1000 }, { send = "out" }] }',
    c='{ loop = "forever", do = [{ receive = "in" }, { run = 1000 }] }',
) + "".join(
    f'\n[[channel]]\nfrom = "{a}.out"\nto = "{b}.in"\nslot_bytes = 8\n' for a, b in ("ab", "bc")
)


@pytest.mark.parametrize("keeps", ["restart = true", "checkpoint_every = 3"])
def test_scripts_outlive_their_kernel_and_lose_no_message(keeps: str, tmp_path: Path) -> None:
    application = tmp_path / "app.toml"
    application.write_text(PIPELINE.replace("[[task]]\n", f"[[task]]\n{keeps}\ncore = 1\n"))
    summary = summary_after_a_kill(application, CORES)
    assert [channel["sent"] for channel in summary["channels"]] == [200, 200]


# ---- What tasks wait for ------------------------------------------------------------------------

BLOCK = 3
HELD = '{ loop = 3, do = [{ lock = "m" }, { run = 1000 }, { sleep = "1ms" }, { unlock = "m" }] }'
MEETS = '{ loop = 3, do = [{ receive = "in" }, { take = "s" }] }'
TELLS = (
    '{ sleep = "1ms" }, { loop = 3, do = [{ send = "out" }, { sleep = "1ms" }, { give = "s" }] }'
)
WAITING = app(
    '[[mutex]]\nname = "m"\n\n[[semaphore]]\nname = "s"\n',
    **{"a": HELD, "b": HELD, "c": MEETS, "d": TELLS},
)
WAITING += '[[channel]]\nfrom = "d.out"\nto = "c.in"\nslot_bytes = 8\nslots = 4\n'
OBJECT, CHANNEL = 1 << 28, 2 << 28


def waits(folder: Path, summary: Json) -> dict[str, set[str]]:
    """What each task of a recorded run has waited for on core 0, by its name."""
    names = [f"{thing['kind']} {thing['name']}" for thing in summary["objects"]]
    found: dict[str, set[str]] = {task["task"]: set() for task in summary["tasks"]}
    for event in events(folder, 0):
        kind, number = event.object & -OBJECT, event.object % OBJECT
        if event.kind == BLOCK and kind != 0:
            name = names[number] if kind == OBJECT else summary["channels"][number]["channel"]
            found[summary["tasks"][event.task]["task"]].add(name)
    return found


WAITS = {
    "a": set(),
    "b": {"mutex m"},
    "c": {"semaphore s", "d_c"},
    "d": set(),
}


def test_a_recorded_run_says_what_its_tasks_wait_for(tmp_path: Path) -> None:
    summary = simulate(tmp_path, WAITING, ONE, "--record", str(tmp_path / "simulated"))
    assert waits(tmp_path / "simulated", summary) == WAITS
    trace, page = tmp_path / "trace", tmp_path / "page.html"
    for words in (
        ("trace", str(tmp_path / "simulated"), "--format", "perfetto", "-o", str(trace)),
        ("report", str(tmp_path / "simulated"), "-o", str(page)),
    ):
        subprocess.run([str(WHIMBREL), *words], check=True, timeout=600, capture_output=True)
    assert b"waits for mutex m" in trace.read_bytes()
    assert "semaphore s" in page.read_text()


def test_a_real_run_says_it_too(tmp_path: Path) -> None:
    """Who has to wait is Linux's to say: again until they had to."""
    (tmp_path / "app.toml").write_text(WAITING)
    for turn in range(20):
        summary = run(tmp_path / "app.toml", "--record", str(tmp_path / str(turn)))
        found = waits(tmp_path / str(turn), summary)
        assert all(found[task] <= WAITS[task] for task in "bcd") and found["a"] <= {"mutex m"}
        if "mutex m" in found["a"] | found["b"] and "semaphore s" in found["c"]:
            return
    raise AssertionError(found)


# ---- What ends a run ----------------------------------------------------------------------------


def refused(folder: Path, text: str, *words: str) -> None:
    """What the run of an application ends with."""
    (folder / "app.toml").write_text(text)
    (folder / "platform.toml").write_text(TWO)
    done = command(folder / "app.toml", "--platform", str(folder / "platform.toml"))
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in " ".join(done.stderr.split()), done.stderr


def test_a_deadlock_is_told_with_task_phase_and_event(tmp_path: Path) -> None:
    text, words = deadlock()
    refused(tmp_path, text, *words)


def test_a_barrier_whose_tasks_end_is_told_with_task_phase_and_event(tmp_path: Path) -> None:
    text, words = barrier_of_one()
    refused(tmp_path, text, *words)


def test_a_core_that_is_not_there_is_told_with_task_and_event(tmp_path: Path) -> None:
    refused(tmp_path, app("", a="{ migrate = 5 }"), "`a`", "migrate", "core")


def test_a_run_whose_tasks_wait_for_each_other_ends_when_its_user_says_so(tmp_path: Path) -> None:
    common = '[[condition]]\nname = "c"\n\n[[mutex]]\nname = "m"\n'
    turn = '{ lock = "m" }, { wait = "c", mutex = "m" }, { unlock = "m" }'
    waiter = f'{{ loop = "forever", do = [{turn}] }}'
    giver = '{ loop = "forever", do = [{ signal = "c" }, { sleep = "1ms" }] }'
    (tmp_path / "app.toml").write_text(app(common, a=waiter, b=giver))
    words = [str(WHIMBREL), "run", str(tmp_path / "app.toml"), "--cores", CORES, "--json"]
    with TemporaryDirectory(dir="/tmp") as runtime:  # the path of a socket has 107 bytes at most
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(words, **pipes, env={**os.environ, "XDG_RUNTIME_DIR": runtime})
        wait_for_totals(Path(runtime), lambda now: now["tasks"][0]["script"]["loops"] > 10)
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=600)
    summary = json.loads(out)
    assert (process.returncode, summary["ended"]) == (0, "stopped"), said
    assert of_task(summary, "a")["loops"] > 10
