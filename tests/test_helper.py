# SPDX-License-Identifier: Apache-2.0
"""Who decides on moves: the messages of a helper, from the plan to the end of a run."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HELPER = ROOT / "bin/whimbrel-linux"
MODULE = ROOT / "build/test-apps/policies.so"
PATIENCE_S = 600
CPU = min(os.sched_getaffinity(0))

Json = dict[str, Any]


class Helper:
    """A helper under test: objects go in and come out."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.end.settimeout(PATIENCE_S)
        self.lines = end.makefile("r")

    def say(self, name: str, **members: object) -> None:
        self.end.sendall((json.dumps({name: members}) + "\n").encode())

    def hear(self, kind: str, **wanted: object) -> Json:
        """The next object of this kind that has these members; others are passed over."""
        deadline = time.monotonic() + PATIENCE_S
        heard = []
        while time.monotonic() < deadline:
            line = self.lines.readline()
            assert line, f"the helper ended after {heard[-3:]}"
            heard.append(line)
            name, members = next(iter(json.loads(line).items()))
            if name == kind and all(members[key] == value for key, value in wanted.items()):
                return members
        raise AssertionError(f"no {kind} {wanted} among {heard[-3:]}")

    def policy(self, identity: str, name: str | None = None, *params: str) -> Json:
        policy = None if name is None else {"name": name, "params": list(params)}
        self.say("policy", id=identity, policy=policy)
        return self.hear("set", id=identity)

    def rate(self, identity: str, millihz: object) -> Json:
        self.say("rate", id=identity, millihz=millihz)
        return self.hear("set", id=identity)

    def status(self) -> Json:
        self.say("status")
        return self.hear("status")

    def wait_for_core(self, core: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.status()["tasks"][0]["core"] != core:
            assert time.monotonic() < deadline
            time.sleep(0.01)


TASK: Json = {
    "name": "t",
    "mode": "handoff",
    "priority": 8,
    "stack_bytes": 65536,
    "heap_bytes": 65536,
    "migratable": True,
}


def policy(name: str, *params: str) -> Json:
    return {"name": name, "params": list(params)}


def rows(*rows: tuple[int, list[int], list[int]]) -> list[Json]:
    return [{"rate_millihz": r, "points": points, "cores": cores} for r, points, cores in rows]


@contextmanager
def helper(
    entry: str = "spinner", task: Json | None = None, starts: bool = True, **members: object
) -> Iterator[Helper]:
    """Two kernels that share a processor, and one task on the first."""
    ours, theirs = socket.socketpair()
    plan = {
        "version": 2,
        "module": str(MODULE),
        "spin_ns": 20000,
        "offer_ns": 60_000_000_000,
        "cores": [{"cpu": CPU}, {"cpu": CPU}],
        "tasks": [{**TASK, "entry": entry, **(task or {})}],
        **members,
    }
    command = f"exec {HELPER} 3<&{theirs.fileno()}"
    process = subprocess.Popen(["bash", "-c", command], pass_fds=[theirs.fileno()])
    theirs.close()
    try:
        end = Helper(ours)
        end.say("plan", **plan)
        if starts:
            end.hear("started")
        yield end
    finally:
        ours.close()
        end.lines.close()
        process.wait(PATIENCE_S)


def finish(run: Helper) -> Json:
    run.say("stop")
    return run.hear("end")


def test_a_policy_of_the_module_decides_and_may_be_changed() -> None:
    with helper(agents_ns=2000000, coordinator=1, policy=policy("mine", "core=1")) as run:
        run.wait_for_core(1)
        status = run.status()
        assert (status["policy"], status["coordinator"]) == ("mine", 1)
        assert run.policy("7", "mine", "core=0")["ok"]
        # It sends nothing, so its migration is told when it moves on.
        moved = run.hear("migration", status="ok")
        assert (moved["target"], moved["by"]) == (1, "policy")
        run.wait_for_core(0)
        assert run.policy("8")["ok"]
        status = run.status()
        assert (status["policy"], status["coordinator"]) == ("", None)
        assert finish(run)["ok"]


def test_nonsense_is_told_as_advice() -> None:
    with helper(agents_ns=2000000, policy=policy("mine")) as run:
        advice = run.hear("advice")
        assert (advice["policy"], advice["core"]) == ("mine", 0)
        assert "77" in advice["text"]
        assert finish(run)["ok"]


def test_what_cannot_decide_is_refused_and_changes_nothing() -> None:
    with helper(agents_ns=2000000, policy=policy("balance")) as run:
        for words, why in {
            ("nobody",): "no policy of this name",
            ("hollow",): "no policy of this name",
            ("bare", "core=1"): "no policy of this name",
            ("mine", "to=1"): "has no parameter `to`",
            ("mine", "core=2"): "a number from 0 to 1",
            ("mine", "core"): "not KEY=VALUE",
        }.items():
            answer = run.policy("1", *words)
            assert not answer["ok"]
            assert why in answer["why"]
        for rate in ("fast", 4294967296, -1, 0.5, None):
            answer = run.rate("2", rate)
            assert not answer["ok"]
            assert "rate.millihz is not a whole number" in answer["why"]
        assert run.status()["policy"] == "balance"
        assert finish(run)["ok"]


def test_a_plan_whose_policy_is_unknown_is_an_error() -> None:
    with helper(agents_ns=2000000, policy=policy("nobody"), starts=False) as run:
        error = run.hear("error")
        assert (error["kind"], error["key"]) == ("policy", "nobody")


def test_without_agents_no_policy_decides() -> None:
    with helper() as run:
        answer = run.policy("1", "mine")
        assert not answer["ok"]
        assert "agents" in answer["why"]
        assert run.policy("2")["ok"]
        assert finish(run)["ok"]


def test_agents_report_loads_and_memory() -> None:
    with helper(agents_ns=5000000) as run:
        deadline = time.monotonic() + PATIENCE_S
        while not (
            (status := run.status())["tasks"][0]["load_ppm"] > 0
            and status["tasks"][0]["context_bytes"] > 0
            and status["cores"][0]["load_ppm"] > 0
        ):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert status["cores"][0]["hz"] == 0
        assert finish(run)["ok"]


def test_the_table_follows_the_frame_rate() -> None:
    table = rows((10000, [0, 0], [0]), (30000, [0, 0], [1]))
    with helper(agents_ns=2000000, rows=table, policy=policy("table"), rate_millihz=5000) as run:
        run.wait_for_core(0)
        assert run.status()["rate_millihz"] == 5000
        assert run.rate("1", 25000)["ok"]
        run.wait_for_core(1)
        assert run.rate("2", 10000)["ok"]
        run.wait_for_core(0)
        assert finish(run)["ok"]


def test_periods_follow_the_frame_rate() -> None:
    frame = {"period_ns": 100000000, "deadline_ns": 100000000, "follows_rate": True}
    with helper(rate_millihz=10000, entry="ticker", task=frame) as run:
        assert run.rate("1", 1000000)["ok"]
        deadline = time.monotonic() + PATIENCE_S
        while (status := run.status())["tasks"][0]["jobs"] < 200:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert status["rate_millihz"] == 1000000
        assert finish(run)["ok"]


def test_operating_points_follow_the_frame_rate() -> None:
    points = [{"hz": hz, "active_uw": 1000, "idle_uw": 100} for hz in (400000000, 500000000)]
    with helper(
        cores=[{"cpu": CPU, "points": points, "start": 1}] * 2,
        frequency="emulate",
        rows=rows((10000, [0, 1], [0]), (30000, [1, 0], [0])),
        agents_ns=2000000,
        policy=policy("table"),
        rate_millihz=5000,
    ) as run:
        for rate, wanted in ((5000, [400000000, 500000000]), (25000, [500000000, 400000000])):
            assert run.rate(str(rate), rate)["ok"]
            deadline = time.monotonic() + PATIENCE_S
            while [core["hz"] for core in run.status()["cores"]] != wanted:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert finish(run)["ok"]


def test_agents_and_a_policy_hide_no_deadlock() -> None:
    port = {"task": 0, "channel": 0, "rate": 1}
    with helper(
        channels=[{"name": "c", "slots": 1, "slot_bytes": 4}],
        ports=[{**port, "direction": name, "name": name} for name in ("in", "out")],
        agents_ns=2000000,
        policy=policy("mine", "core=1"),
        entry="waiter",
    ) as run:
        assert run.hear("error")["kind"] == "deadlock"
        assert not run.hear("end")["ok"]


def test_a_task_that_waits_for_a_file_is_no_deadlock() -> None:
    with helper(entry="file_waiter") as run:
        assert run.hear("end")["ok"]


def test_a_damaged_plan_is_an_error_that_names_what_is_wrong() -> None:
    for members, key in (
        ({"task": {"priority": 32}}, "plan.tasks[0].priority"),
        ({"version": 1}, "plan"),
        ({"coordinator": 2}, "plan.coordinator"),
    ):
        with helper(starts=False, **members) as run:  # type: ignore[arg-type]
            error = run.hear("error")
            assert (error["kind"], error["key"]) == ("plan", key)


def test_an_unknown_command_is_passed_over() -> None:
    with helper() as run:
        run.say("dance", id="1")
        assert run.policy("2")["ok"]
        assert finish(run)["ok"]
