# SPDX-License-Identifier: Apache-2.0
"""The messages of a simulation that asks for decisions, when they are not right."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from simulated import ROOT, Json, command, platform
from test_helper import PATIENCE_S, Helper

APP = ROOT / "apps/synthetic/app.toml"
HARDWARE = ROOT / "platforms/mpsoc3.toml"


def plan(folder: Path, app: Path, hardware: Path) -> Json:
    """The plan that `whimbrel sim` makes: what stands in for its helper notes it, and ends."""
    (folder / "bin").mkdir()
    (folder / "build").symlink_to(ROOT / "build")
    noting = folder / "bin/whimbrel-sim"
    noting.write_text(f"#!/bin/sh\nhead -n 1 <&3 >{folder}/plan.json\n")
    noting.chmod(0o755)
    options = ("--platform", str(hardware), "--duration", "100ms")
    command(app, *options, "--agent-period", "5ms", "--policy", "static", libexec=noting.parent)
    return json.loads((folder / "plan.json").read_text())["plan"]


@contextmanager
def asking(folder: Path, app: Path = APP, hardware: Path = HARDWARE) -> Iterator[Helper]:
    """A simulation that is about to ask for its first decision."""
    ours, theirs = socket.socketpair()
    told = {**plan(folder, app, hardware), "policy": {"name": "asked", "params": []}}
    with subprocess.Popen(
        ["bash", "-c", f"exec {ROOT}/bin/whimbrel-sim 3<&{theirs.fileno()}"],
        pass_fds=[theirs.fileno()],
    ) as process:
        theirs.close()
        run = Helper(ours)
        run.say("plan", **told)
        try:
            yield run
        finally:
            ours.close()
            run.lines.close()
            process.wait(PATIENCE_S)


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        ([{"task": "one", "core": 1}], "decision.moves[0].task is not a whole number"),
        ([{"task": 1}], "decision.moves[0].core is missing"),
        (7, "decision.moves is not a list"),
    ],
)
def test_a_malformed_decision_is_told_and_decides_nothing(
    moves: object, why: str, tmp_path: Path
) -> None:
    with asking(tmp_path) as run:
        run.hear("decide")
        run.say("decision", moves=moves, points=[])
        advice = run.hear("advice")
        assert (advice["policy"], advice["core"]) == ("asked", 0)
        assert why in advice["text"] and "ignored" in advice["text"]
        run.hear("decide")
        run.say("kill")
        end = run.hear("end")
        assert [task["migrations"] for task in end["status"]["tasks"]] == [0] * 6


def test_what_is_malformed_is_answered_while_a_decision_is_waited_for(tmp_path: Path) -> None:
    with asking(tmp_path) as run:
        run.hear("decide")
        run.say("dance")  # passed over
        assert "rate.millihz is not a whole number" in run.rate("1", "fast")["why"]
        run.say("migrate", id="2", task="work", index="first", core=1, timeout_ms=1)
        assert "migrate.index is not a whole number" in run.hear("migrated", id="2")["why"]
        run.say("decision", moves=[], points=[])
        run.hear("decide")
        run.say("kill")
        assert run.hear("end")


def test_a_decision_about_any_number_of_tasks_is_asked_for_and_taken(tmp_path: Path) -> None:
    """From 1200 tasks on, what it was asked by had no members."""
    tasks = 4000
    app, hardware = tmp_path / "many.toml", tmp_path / "hardware.toml"
    hardware.write_text(platform("", "", ""))
    app.write_text(
        f'[app]\nname = "many"\n\n[[task]]\nname = "many"\ncount = {tasks}\ncycles = 100\n'
        'period_us = 10000\nmove = "waits"\n'
    )
    with asking(tmp_path, app, hardware) as run:
        seen = run.hear("decide")
        assert [task["index"] for task in seen["tasks"]] == list(range(tasks))
        assert {task["core"] for task in seen["tasks"]} == {0}
        moves = [{"task": n, "core": 1 + n % 2} for n in range(tasks)]
        run.say("decision", moves=moves, points=[])
        for _ in range(10):  # each moves at its next checkpoint
            seen = run.hear("decide")
            if all(task["core"] for task in seen["tasks"]):
                break
            run.say("decision", moves=[], points=[])
        assert [task["core"] for task in seen["tasks"]] == [move["core"] for move in moves]
        run.say("kill")
        assert run.hear("end")
