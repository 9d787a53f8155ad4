# SPDX-License-Identifier: Apache-2.0
"""Policies in Python: what they see, what becomes of what they decide, and what goes wrong."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import whimbrel
from whimbrel import Move, SetPoint, Snapshot

DURATION_S = 1.0


def simulate(player: whimbrel.Application, policy: Any, **more: Any) -> whimbrel.Run:
    return whimbrel.simulate(
        player, "mpsoc3", duration=DURATION_S, agent_period="50ms", policy=policy, **more
    )


def test_a_policy_sees_cores_and_tasks_and_moves_them(player: whimbrel.Application) -> None:
    seen: list[Snapshot] = []

    def decide(snapshot: Snapshot) -> list[Move]:
        seen.append(snapshot)
        busy = [place for place, task in enumerate(snapshot.tasks) if task.name == "work"]
        return [Move(place, 1 + number) for number, place in enumerate(busy)][
            : len(seen) == 1 and 2
        ]

    run = simulate(player, decide)
    moves = [(move["task"], move["target"], move["status"]) for move in run.moves.to_pylist()]
    assert moves == [("work", 1, "ok"), ("work", 2, "ok")]
    first, last = seen[0], seen[-1]
    assert [task.name for task in first.tasks] == ["source", "work", "work", "sink"]
    assert [task.core for task in last.tasks] == [0, 1, 2, 0]
    assert first.period_ns == 50_000_000 and last.now_ns > first.now_ns
    assert len(first.cores) == 3 and first.cores[0].points_hz[-1] == 500_000_000
    assert first.cores[0].load_ppm > 0 and first.cores[0].temperature_mc is None


def test_operating_points_are_set(player: whimbrel.Application) -> None:
    run = simulate(player, lambda s: [SetPoint(core, 0) for core in range(len(s.cores))])
    assert {core["hz"] for core in run.cores.to_pylist()} == {100_000_000}


def test_the_same_decisions_are_those_of_the_middleware(player: whimbrel.Application) -> None:
    """A policy that spends no time in virtual time changes nothing but who decides."""
    static = simulate(player, "static").summary
    python = simulate(player, lambda _: None).summary
    for same in ("frames", "energy", "latency_ns", "cores", "channels", "tasks"):
        assert python[same] == static[same], same


def test_what_cannot_be_carried_out_is_advice(player: whimbrel.Application) -> None:
    run = simulate(player, lambda _: [Move(9, 0), Move(0, 7)])
    texts = run.summary["advice"][0]["text"]
    assert "task 9, of which there are 4" in texts and "core 7, of which there are 3" in texts


def test_places_may_be_numbers_of_numpy(player: whimbrel.Application) -> None:
    run = simulate(player, lambda _: [Move(1, np.argmax([0, 0, 5]))])
    assert [move["target"] for move in run.moves.to_pylist()] == [2]


def broken(_: Snapshot) -> list[Move]:
    return [Move(0, 1 // 0)]


WRONG: list[tuple[Callable[[Snapshot], Any], str]] = [
    (broken, "ZeroDivisionError"),
    (lambda _: [3], "decided 3"),
    (lambda _: 3, "the policy decided 3"),
    (lambda _: Move(0, 0), "decided Move(task=0, core=0)"),
    (lambda _: [Move(0, statistics.mean([]))], "StatisticsError"),
    (lambda: None, "TypeError"),  # type: ignore[misc, arg-type]
    (lambda _: [Move(-1, 0)], "task=-1"),
    (lambda _: [Move(0, 2**32)], "core=4294967296"),
    (lambda _: [Move("lpf", 0)], "task='lpf'"),  # type: ignore[arg-type]
    (lambda _: [SetPoint(0, True)], "point=True"),
]


@pytest.mark.parametrize(("policy", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_policy_that_is_wrong_ends_the_run_with_its_place(
    player: whimbrel.Application, policy: Callable[[Snapshot], Any], said: str
) -> None:
    with pytest.raises(whimbrel.PolicyError) as told:
        simulate(player, policy)
    assert said in told.value.message and told.value.cure
    assert "whimbrel/policies.py" not in told.value.cure
    if said in ("TypeError", "StatisticsError"):
        assert "test_py_policies.py, line" in told.value.cure
    if policy is broken:
        assert "test_py_policies.py, line" in str(told.value)
        assert isinstance(told.value.__cause__, ZeroDivisionError)


def test_ctrl_c_within_a_policy_ends_the_run(player: whimbrel.Application) -> None:
    def decide(_: Snapshot) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(player, decide)


def test_the_command_has_nobody_to_ask(command: Any) -> None:
    app = "apps/synthetic/fork_join.toml"
    command("sim", app, "--quiet", "--policy", "asked", status=2)
