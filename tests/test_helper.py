# SPDX-License-Identifier: Apache-2.0
"""Who decides on moves: the helper's lines and answers, from the plan to the end of a run."""

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
PATIENCE_S = 60
CPU = min(os.sched_getaffinity(0))

Json = dict[str, Any]


class Helper:
    """A helper under test: lines go in, objects come out."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.end.settimeout(PATIENCE_S)
        self.lines = end.makefile("r")

    def say(self, *lines: str) -> None:
        self.end.sendall("".join(f"{line}\n" for line in lines).encode())

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

    def ask(self, line: str) -> Json:
        verb, identity = line.split(" ")[:2]
        self.say(line)
        assert verb in ("policy", "rate")
        return self.hear("set", id=identity)

    def status(self) -> Json:
        self.say("status")
        return self.hear("status")

    def wait_for_core(self, core: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.status()["tasks"][0]["core"] != core:
            assert time.monotonic() < deadline
            time.sleep(0.01)


def task(name: str, entry: str, rest: str) -> str:
    return (
        f"task {name} 0 entry {entry} mode handoff core 0 priority 8 stack 65536 heap 65536 "
        f"migratable 1 restart 0 {rest} image 0 replay 0"
    )


@contextmanager
def helper(
    *lines: str,
    entry: str = "spinner",
    rest: str = "period 0 deadline 0 offset 0 frame 0",
    starts: bool = True,
) -> Iterator[Helper]:
    """Two kernels that share a processor, and one task on the first."""
    ours, theirs = socket.socketpair()
    plan = [
        "whimbrel 1",
        f"core {CPU}",
        f"core {CPU}",
        f"module {MODULE}",
        "memory 0",
        "spin 20000",
        "offer 60000000000",
        task("t", entry, rest),
        *lines,
        "start",
    ]
    command = f"exec {HELPER} 3<&{theirs.fileno()}"
    process = subprocess.Popen(["bash", "-c", command], pass_fds=[theirs.fileno()])
    theirs.close()
    try:
        end = Helper(ours)
        end.say(*plan)
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
    with helper("agents 2000000", "coordinator 1", "policy mine core=1") as run:
        run.wait_for_core(1)
        status = run.status()
        assert (status["policy"], status["coordinator"]) == ("mine", 1)
        assert run.ask("policy 7 mine core=0")["ok"]
        # It sends nothing, so its migration is told when it moves on.
        moved = run.hear("migration", status="ok")
        assert (moved["target"], moved["by"]) == (1, "policy")
        run.wait_for_core(0)
        assert run.ask("policy 8")["ok"]
        status = run.status()
        assert (status["policy"], status["coordinator"]) == ("", None)
        assert finish(run)["ok"]


def test_nonsense_is_told_as_advice() -> None:
    with helper("agents 2000000", "policy mine") as run:
        advice = run.hear("advice")
        assert (advice["policy"], advice["core"]) == ("mine", 0)
        assert "77" in advice["text"]
        assert finish(run)["ok"]


def test_what_cannot_decide_is_refused_and_changes_nothing() -> None:
    with helper("agents 2000000", "policy balance") as run:
        for line, why in {
            "policy 1 nobody": "no policy of this name",
            "policy 2 hollow": "no policy of this name",
            "policy 3 mine to=1": "has no parameter `to`",
            "policy 4 mine core=2": "a number from 0 to 1",
            "policy 5 mine core": "no KEY=VALUE",
            "rate 6 fast": "no frame rate",
            "rate 7 4294967296": "no frame rate",
        }.items():
            answer = run.ask(line)
            assert not answer["ok"]
            assert why in answer["why"]
        assert run.status()["policy"] == "balance"
        assert finish(run)["ok"]


def test_a_plan_whose_policy_is_unknown_is_an_error() -> None:
    with helper("agents 2000000", "policy nobody", starts=False) as run:
        error = run.hear("error")
        assert (error["kind"], error["key"]) == ("policy", "nobody")


def test_without_agents_no_policy_decides() -> None:
    with helper() as run:
        answer = run.ask("policy 1 mine")
        assert not answer["ok"]
        assert "agents" in answer["why"]
        assert run.ask("policy 2")["ok"]
        assert finish(run)["ok"]


def test_agents_report_loads_and_memory() -> None:
    with helper("agents 5000000") as run:
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
    rows = ["row 10000 0 0 0", "row 30000 0 0 1"]
    with helper("agents 2000000", *rows, "policy table", "rate 5000") as run:
        run.wait_for_core(0)
        assert run.status()["rate_millihz"] == 5000
        assert run.ask("rate 1 25000")["ok"]
        run.wait_for_core(1)
        assert run.ask("rate 2 10000")["ok"]
        run.wait_for_core(0)
        assert finish(run)["ok"]


def test_periods_follow_the_frame_rate() -> None:
    frame = "period 100000000 deadline 100000000 offset 0 frame 1"
    with helper("rate 10000", entry="ticker", rest=frame) as run:
        assert run.ask("rate 1 1000000")["ok"]
        deadline = time.monotonic() + PATIENCE_S
        while (status := run.status())["tasks"][0]["jobs"] < 200:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert status["rate_millihz"] == 1000000
        assert finish(run)["ok"]


def test_operating_points_follow_the_frame_rate() -> None:
    points = [f"point {core} {hz} 1000 100" for core in (0, 1) for hz in (400000000, 500000000)]
    rows = ["row 10000 0 1 0", "row 30000 1 0 0"]
    lines = [*points, "frequency emulate", *rows, "agents 2000000", "policy table", "rate 5000"]
    with helper(*lines) as run:
        for rate, wanted in ((5000, [400000000, 500000000]), (25000, [500000000, 400000000])):
            assert run.ask(f"rate {rate} {rate}")["ok"]
            deadline = time.monotonic() + PATIENCE_S
            while [core["hz"] for core in run.status()["cores"]] != wanted:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert finish(run)["ok"]


def test_agents_and_a_policy_hide_no_deadlock() -> None:
    ports = [
        "channel c slots 1 bytes 4 initial 0 mailbox 0",
        "port t 0 in in 0 c",
        "port t 0 out out 0 c",
    ]
    with helper(*ports, "agents 2000000", "policy mine core=1", entry="waiter") as run:
        assert run.hear("error")["kind"] == "deadlock"
        assert not run.hear("end")["ok"]
