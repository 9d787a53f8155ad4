# SPDX-License-Identifier: Apache-2.0
"""A simulation that is saved goes on in another process as if nothing had been."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

from simulated import platform, simulate

ROOT = Path(__file__).resolve().parent.parent
RADIO = ["apps/fm_radio/app.toml", "--platform", "mpsoc3", "--compute", "model"]
MOVING = ["--set", "output=", "--shuttle", "demodulator=1,0@450ms", "--json", "--quiet"]
# What happened before is known to the run that was saved.
ONLY_SINCE = {"migrations", "migration_latency"}


def sim(*options: str) -> subprocess.CompletedProcess[str]:
    """Runs `whimbrel sim` on the radio."""
    command = ["bin/whimbrel", "sim", *RADIO, *MOVING, *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


def totals(result: subprocess.CompletedProcess[str]) -> dict[str, object]:
    """The summary without what only a whole run has."""
    assert result.returncode == 0, result.stderr
    return {k: v for k, v in json.loads(result.stdout).items() if k not in ONLY_SINCE}


def test_a_saved_run_goes_on_as_if_nothing_had_been(tmp_path: Path) -> None:
    whole = sim()
    state, later = tmp_path / "state", tmp_path / "later"
    assert totals(sim("--save", f"{state}@2s")) == totals(whole)
    assert totals(sim("--resume", str(state), "--save", f"{later}@3s")) == totals(whole)
    assert totals(sim("--resume", str(later))) == totals(whole)


def test_so_does_one_whose_tasks_are_replicated(tmp_path: Path) -> None:
    state = tmp_path / "state"
    whole = sim("--mode", "replicate", "--save", f"{state}@2s")
    assert totals(sim("--mode", "replicate", "--resume", str(state))) == totals(whole)


# At 30 us its cores are asleep, and the end wakes them; tasks end when they are released next.
ASLEEP = """
[app]
name = "asleep"
frame_rate = 5000

[[task]]
name = "source"
cycles = 1000
distribution = "uniform"
spread = 0.9
periodic = true

[[task]]
name = "sink"
cycles = 10

[[task]]
name = "late"
core = 1
cycles = 300
periodic = true
offset_frames = 2

[[task]]
name = "beside"
cycles = 5000
periodic = true
offset_frames = 2

[[channel]]
from = "source.out"
to = "sink.in"
slot_bytes = 64
"""


def test_a_save_at_the_moment_of_the_end_changes_nothing_and_no_sleep_begins_then(
    tmp_path: Path,
) -> None:
    cores = platform("count = 2\n")
    whole = simulate(tmp_path, ASLEEP, cores, "--duration", "30us")
    saves = ("--duration", "30us", "--save", f"{tmp_path}/state@30us")
    assert simulate(tmp_path, ASLEEP, cores, *saves) == whole
    # Until 30, 200 and 400 us, and until 30 and 400 us: none begins when the run is over.
    assert [core["sleeps"] for core in whole["cores"]] == [3, 2]


def test_a_saved_run_is_refused_with_other_options(tmp_path: Path) -> None:
    state = tmp_path / "state"
    totals(sim("--save", f"{state}@2s"))
    refused = sim("--resume", str(state), "--seed", "7")
    assert refused.returncode == 2
    assert "other options" in refused.stderr


def test_what_is_no_saved_run_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    totals(sim("--save", f"{state}@2s"))
    whole = state.read_bytes()
    for damaged in (b"", b"nonsense", whole[: len(whole) // 2], whole[:8] + b"x" + whole[9:]):
        state.write_bytes(damaged)
        refused = sim("--resume", str(state))
        assert refused.returncode == 2
        assert f"--resume {state}" in refused.stderr
    for at in random.Random(7).sample(range(len(whole)), 12):
        state.write_bytes(whole[:at] + bytes([whole[at] ^ 16]) + whole[at + 1 :])
        assert sim("--resume", str(state)).returncode == 2
    missing = sim("--resume", str(tmp_path / "nothing"))
    assert missing.returncode == 2
    assert "cannot be read" in missing.stderr


def test_a_saved_run_is_code_and_nobody_elses(tmp_path: Path) -> None:
    state = tmp_path / "state"
    totals(sim("--save", f"{state}@2s"))
    assert state.stat().st_mode & 0o777 == 0o600
    state.chmod(0o620)
    refused = sim("--resume", str(state))
    assert refused.returncode == 2
    assert "other users may write it: a saved simulation is code" in refused.stderr
    state.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(state, 65534, 65534)
        refused = sim("--resume", str(state))
        assert refused.returncode == 2
        assert "it belongs to another user: a saved simulation is code" in refused.stderr


def test_a_place_where_nothing_can_be_saved_is_an_error(tmp_path: Path) -> None:
    refused = sim("--save", f"{tmp_path}/no/such/folder@2s")
    assert refused.returncode == 2
    assert "cannot be written" in refused.stderr


def test_a_moment_that_does_not_come_is_an_error(tmp_path: Path) -> None:
    state, later = tmp_path / "state", tmp_path / "later"
    refused = sim("--save", f"{state}@1h")
    assert refused.returncode == 2
    assert "not between the start and the end of the run" in refused.stderr
    totals(sim("--save", f"{state}@2s"))
    assert sim("--resume", str(state), "--save", f"{later}@1s").returncode == 2
    assert not later.exists()


def test_what_a_link_leads_to_is_written_and_what_is_no_file_stays_what_it_is(
    tmp_path: Path,
) -> None:
    state, link, loose, pipe = (tmp_path / name for name in ("state", "link", "loose", "pipe"))
    state.write_bytes(b"old")
    link.symlink_to(state)
    loose.symlink_to(tmp_path / "new")
    totals(sim("--save", f"{link}@2s"))
    totals(sim("--save", f"{loose}@2s"))
    assert link.is_symlink() and loose.is_symlink()
    assert state.stat().st_size == (tmp_path / "new").stat().st_size > 3
    os.mkfifo(pipe)
    with subprocess.Popen(["wc", "-c", str(pipe)], stdout=subprocess.PIPE) as reader:
        totals(sim("--save", f"{pipe}@2s"))
        assert int(reader.communicate(timeout=600)[0].split()[0]) == state.stat().st_size
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "link",
        "loose",
        "new",
        "pipe",
        "state",
    ]
