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
from simulated import ROOT, Json, command
from test_helper import PATIENCE_S, Helper

APP = ROOT / "apps/synthetic/app.toml"
OPTIONS = ("--platform", str(ROOT / "platforms/mpsoc3.toml"), "--duration", "100ms")


def plan(folder: Path) -> Json:
    """The plan that `whimbrel sim` makes: what stands in for its helper notes it, and ends."""
    (folder / "bin").mkdir()
    (folder / "build").symlink_to(ROOT / "build")
    noting = folder / "bin/whimbrel-sim"
    noting.write_text(f"#!/bin/sh\nhead -n 1 <&3 >{folder}/plan.json\n")
    noting.chmod(0o755)
    command(APP, *OPTIONS, "--agents", "5ms", "--policy", "static", libexec=noting.parent)
    return json.loads((folder / "plan.json").read_text())["plan"]


@contextmanager
def asking(folder: Path) -> Iterator[Helper]:
    """A simulation that has asked for its first decision."""
    ours, theirs = socket.socketpair()
    told = {**plan(folder), "policy": {"name": "asked", "params": []}}
    with subprocess.Popen(
        ["bash", "-c", f"exec {ROOT}/bin/whimbrel-sim 3<&{theirs.fileno()}"],
        pass_fds=[theirs.fileno()],
    ) as process:
        theirs.close()
        run = Helper(ours)
        run.say("plan", **told)
        run.hear("decide")
        try:
            yield run
        finally:
            ours.close()
            run.lines.close()
            process.wait(PATIENCE_S)


@pytest.mark.parametrize(
    ("moves", "why"),
    [
        ([{"task": "one", "core": 1}], "decision.moves[0].task is no whole number"),
        ([{"task": 1}], "decision.moves[0].core is missing"),
        (7, "decision.moves is no list"),
    ],
)
def test_a_malformed_decision_is_told_and_decides_nothing(
    moves: object, why: str, tmp_path: Path
) -> None:
    with asking(tmp_path) as run:
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
        run.say("dance")  # passed over
        assert "rate.millihz is no whole number" in run.rate("1", "fast")["why"]
        run.say("migrate", id="2", task="work", index="first", core=1, timeout_ms=1)
        assert "migrate.index is no whole number" in run.hear("migrated", id="2")["why"]
        run.say("decision", moves=[], points=[])
        run.hear("decide")
        run.say("kill")
        assert run.hear("end")
