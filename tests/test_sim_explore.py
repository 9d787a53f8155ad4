# SPDX-License-Identifier: Apache-2.0
"""Candidates of an exploration know nothing of each other."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

from simulated import ROOT, WHIMBREL, platform

MODULE = ROOT / "build/test-apps/cpp.so"
APP = f"""
[app]
name = "newborn"
module = "{MODULE}"

[[task]]
name = "newborn"
cycles = 1000
"""


def test_each_candidate_finds_the_variables_of_its_module_new(tmp_path: Path) -> None:
    points = "".join(f"[[core.point]]\nmhz = {mhz}\nactive_mw = 9\n" for mhz in (100, 200, 300))
    (tmp_path / "app.toml").write_text(APP)
    (tmp_path / "platform.toml").write_text(platform(points))
    command = [str(WHIMBREL), "explore", str(tmp_path / "app.toml"), "--platform"]
    command += [str(tmp_path / "platform.toml"), "--points", "all", "--duration", "1ms"]
    command += ["--output", str(tmp_path / "found"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    (table,) = (tmp_path / "found").glob("*.csv")
    with table.open() as file:
        assert len(list(csv.DictReader(file))) == 3


SLOW_AND_QUICK = """
[app]
name = "two"

[[task]]
name = "long"
period_us = 10000
cycles = 5000000

[[task]]
name = "short"
priority = 9
period_us = 1000
cycles = 200000
"""


def test_cores_that_are_scheduled_differently_are_not_taken_for_alike(tmp_path: Path) -> None:
    """Both tasks on the core that preempts meet their deadlines, and on the other one they do not:
    of two cores that are alike one of these candidates would be left out."""
    (tmp_path / "app.toml").write_text(SLOW_AND_QUICK)
    (tmp_path / "platform.toml").write_text(platform('scheduling = "preemptive"\n', ""))
    command = [str(WHIMBREL), "explore", str(tmp_path / "app.toml"), "--platform"]
    command += [str(tmp_path / "platform.toml"), "--duration", "50ms"]
    command += ["--output", str(tmp_path / "found"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "found/explore.csv").open() as file:
        misses = {row["mapping"]: int(row["misses"]) for row in csv.DictReader(file)}
    assert len(misses) == 4
    assert misses["long=0 short=0"] == 0
    assert misses["long=1 short=1"] > 0
