# SPDX-License-Identifier: Apache-2.0
"""Threads of a trace of Linux, simulated, run for as long as they ran, and at the times at which
they did."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from simulated import ROOT, WHIMBREL, command, platform

TRACE = ROOT / "crates/import/tests/files/mp3.pftrace"
THREADS = ("AudioTick", "AudioOut", "AudioTrack", "mp3.decoder", "OMXCall")


def run_ns(events: list[dict[str, Any]]) -> int:
    """What a script computes in a lap; a cycle is a nanosecond."""
    return sum(event.get("run", 0) + run_ns(event.get("do", [])) for event in events)


def test_a_lap_takes_its_window_and_each_thread_its_runs(tmp_path: Path) -> None:
    app = tmp_path / "app.toml"
    words = [WHIMBREL, "import", TRACE, "--threads", ",".join(THREADS), "-o", app]
    subprocess.run(words, check=True, capture_output=True, timeout=600)
    (tmp_path / "platform.toml").write_text(platform(f"count = {len(THREADS)}\n"))
    hardware = ("--platform", str(tmp_path / "platform.toml"), "--map", "round-robin")
    done = command(app, *hardware, "--duration", "10s")
    assert done.returncode == 0, done.stderr
    simulated = [task["script"] for task in json.loads(done.stdout)["tasks"]]
    made = [task["script"] for task in tomllib.loads(app.read_text())["task"]]
    ticks = [event for event in made[0][0]["do"] if "timer" in event]
    window_us = sum(int(tick["timer"].removesuffix("ns")) for tick in ticks) / 1000
    for ours, theirs in zip(simulated, made, strict=True):
        assert ours["run_us"] == pytest.approx(run_ns(theirs) / 1000, rel=1e-3)
        assert ours["period_us"] == pytest.approx(window_us, rel=0.02)
