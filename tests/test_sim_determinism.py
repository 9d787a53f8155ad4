# SPDX-License-Identifier: Apache-2.0
"""The same seed gives the same bytes, whatever else the machine does meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from simulated import ROOT, WHIMBREL, command, recorded_bytes

SYNTHETIC = ROOT / "apps/synthetic"
FORMATS = ("perfetto", "vcd", "btf")
# On a bus and in a mesh with a floorplan; every draw, moves of a user's and of a policy's.
CASES = {
    "bus": ("app.toml", "mpsoc3", "--mode", "handoff", "--policy", "balance"),
    "copies": ("app.toml", "mpsoc3", "--mode", "replicate", "--policy", "spread"),
    "mesh": ("app.toml", "mesh64", "--policy", "thermal"),
    "fork": ("fork_join.toml", "ca9x4", "--policy", "balance"),
}


def run(case: str, folder: Path | None, *options: str, libexec: Path | None = None) -> bytes:
    """Runs a case, recorded if there is a folder; the bytes of its summary."""
    file, platform, *rest = CASES[case]
    record = () if folder is None else ("--record", str(folder))
    moves = ("--agent-period", "20ms", "--duration", "1s")
    done = command(
        SYNTHETIC / file,
        *("--platform", str(ROOT / f"platforms/{platform}.toml")),
        *(*rest, *moves, *record, *options),
        libexec=libexec,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.encode()


@pytest.mark.parametrize("case", CASES)
def test_the_same_seed_gives_the_same_bytes_and_another_does_not(case: str, tmp_path: Path) -> None:
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        run(case, tmp_path / name, "--seed", seed)
    first, second, other = (recorded_bytes(tmp_path / name) for name in "abc")
    assert first == second
    assert json.loads(first["summary.json"])["clock"] == "virtual"
    changed = {name for name in first if first[name] != other[name]}
    assert {"summary.json", "core-0.events"} <= changed


def test_exported_traces_are_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        run("bus", tmp_path / name)
    for form in FORMATS:
        traces = []
        for name in "ab":
            out = tmp_path / f"{name}.{form}"
            words = [WHIMBREL, "trace", tmp_path / name, "--format", form, "--output", out]
            subprocess.run(words, check=True, timeout=600, capture_output=True)
            traces.append(out.read_bytes())
        assert traces[0] == traces[1] != b""


@pytest.mark.parametrize("case", CASES)
def test_recording_changes_nothing(case: str, tmp_path: Path) -> None:
    summaries = [json.loads(run(case, folder)) for folder in (None, tmp_path / "recorded")]
    # Events lie in globally visible memory until they are written.
    sizes = [summary.pop("gvm_bytes") for summary in summaries]
    assert sizes[0] < sizes[1]
    assert summaries[0] == summaries[1]


def test_a_busy_machine_changes_nothing(tmp_path: Path) -> None:
    quiet = run("bus", tmp_path / "quiet")
    spin = [sys.executable, "-c", "while True: pass"]
    load = [subprocess.Popen(spin) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        assert run("bus", tmp_path / "busy") == quiet
    finally:
        for process in load:
            process.kill()
            process.wait()
    assert recorded_bytes(tmp_path / "quiet") == recorded_bytes(tmp_path / "busy")
