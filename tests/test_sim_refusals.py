# SPDX-License-Identifier: Apache-2.0
"""What `whimbrel sim` refuses: a clear error, at its line where there is one, exit status 2."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from simulated import ROOT, WHIMBREL, command, platform, simulate

MODULE = ROOT / "build/test-apps/tasks.so"
IMPORTS = ROOT / "crates/import/tests/files"

PIPE = """
[app]
name = "pipe"

[[task]]
name = "a"
cycles = { arm = 1000 }
firings = 10

[[task]]
name = "b"
cycles = 1000

[[channel]]
from = "a.out"
to = "b.in"
slot_bytes = 8
"""
KINDS = platform('kind = "arm"\n', 'kind = "dsp"\n')


def of_module(tables: str) -> str:
    return f"""
[app]
name = "module"
module = "{MODULE}"

[params]
messages = 1
step_ms = 1
{tables}"""


def refused(folder: Path, app: str, hardware: str, *options: str, **environment: str) -> str:
    """What is said of an application that has to be refused."""
    (folder / "app.toml").write_text(app)
    (folder / "platform.toml").write_text(hardware)
    options = ("--platform", str(folder / "platform.toml"), *options)
    done = command(folder / "app.toml", *options, **environment)
    assert done.returncode == 2, done.stderr
    return done.stderr


def test_operating_points_out_of_order(tmp_path: Path) -> None:
    points = "".join(f"[[core.point]]\nmhz = {mhz}\nactive_mw = 9\n" for mhz in (200, 100))
    told = refused(tmp_path, PIPE, platform(points))
    assert "platform.toml:" in told
    assert "100" in told


def test_cycles_that_are_negative(tmp_path: Path) -> None:
    told = refused(tmp_path, PIPE.replace("cycles = 1000\n", "cycles = -1\n"), KINDS)
    assert "app.toml:13" in told or "app.toml:12" in told


def test_a_task_that_starts_on_a_kind_of_core_it_does_not_run_on(tmp_path: Path) -> None:
    told = refused(tmp_path, PIPE.replace('name = "a"\n', 'name = "a"\ncore = 1\n'), KINDS)
    assert "`a` starts on core 1, which is of kind `dsp`, and does not run there" in told
    assert "app.toml:7" in told


@pytest.mark.parametrize("option", [("--move", "a=1@1us"), ("--shuttle", "a=0,1@1ms")])
def test_a_move_to_a_kind_of_core_that_the_task_does_not_run_on(
    option: tuple[str, str], tmp_path: Path
) -> None:
    told = refused(tmp_path, PIPE, KINDS, *option)
    assert f"{option[0]}: `a` does not run on core 1" in told
    assert "it is not for the kind `dsp`" in told
    assert "app.toml:6" in told


def test_no_policy_moves_a_task_to_a_kind_of_core_it_does_not_run_on(tmp_path: Path) -> None:
    app = PIPE.replace("firings = 10", "firings = 5000").replace("1000", "100000")
    app = app.replace('name = "a"\n', 'name = "a"\nperiod_us = 200\n')
    summary = simulate(tmp_path, app, KINDS, "--policy", "spread", "--agent-period", "5ms")
    assert summary["advice"] == [], "the policy passes it over by itself"
    assert all(move["task"] != "a" for move in summary["migrations"])
    assert summary["tasks"][0]["core"] == 0


MUTUAL = """
[[task]]
name = "a"
entry = "mutual"

[[task]]
name = "b"
entry = "mutual"

[[mailbox]]
from = ["a.out"]
to = "b.in"
slot_bytes = 8

[[mailbox]]
from = ["b.out"]
to = "a.in"
slot_bytes = 8
"""


@pytest.mark.parametrize("verb", ["sim", "run"])
def test_a_deadlock_is_told_as_its_cycle(verb: str, tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(of_module(MUTUAL))
    cpu = str(min(os.sched_getaffinity(0)))
    cores = {"sim": ("--platform", "ca9x4"), "run": ("--cores", cpu)}[verb]
    words = [WHIMBREL, verb, tmp_path / "app.toml", "--quiet", *cores]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 2
    cycle = (
        "waits for a message in b_in (empty), whose sender a waits for a message in a_in (empty)"
    )
    assert f"b {cycle}, whose sender is b" in done.stderr
    assert "of channel a_in" in done.stderr
    assert "of channel b_in" in done.stderr


def test_a_run_that_does_not_end_meets_its_limits(tmp_path: Path) -> None:
    endless = PIPE.replace("firings = 10\n", "")
    for options, said in (
        (("--max-time", "2ms"), "it has not ended after 0.002 s of virtual time"),
        (
            ("--max-time", "2ms", "--duration", "1s"),
            "it has not ended after 0.002 s of virtual time",
        ),
        (("--max-events", "50"), "it has not ended after 50 events"),
    ):
        told = refused(tmp_path, endless, platform('kind = "arm"\n'), *options)
        assert said in told


@pytest.mark.parametrize(
    ("task", "options", "said"),
    [
        # Nothing but time passes in it.
        ("cycles = 1", ("--max-events", "5000"), "it has not ended after 5000 events"),
        # A firing of nine years at 1 MHz, and a first job after 213 days: never.
        (f"cycles = {2**48}", (), "it has not ended after 3600 s of virtual time"),
        ("period_us = 1000000000\noffset_frames = 18447\ncycles = 9", (), "after 3600 s"),
    ],
)
def test_time_that_cannot_be_told_never_comes(
    task: str, options: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    app = f'[app]\nname = "long"\n\n[[task]]\nname = "long"\nfirings = 4000000\n{task}\n'
    slow = platform("[[core.point]]\nmhz = 1\nactive_mw = 1\n")
    assert said in refused(tmp_path, app, slow, *options)


def test_a_time_that_virtual_time_cannot_count(tmp_path: Path) -> None:
    hardware = platform('kind = "arm"\n')
    for option, value in (("--duration", "600years"), ("--save", "F@600years")):
        told = refused(tmp_path, PIPE, hardware, option, value)
        assert f"{option}: 600years is longer than virtual time can be" in told
        assert "at most 200days" in told


def test_limits_hold_to_the_event(tmp_path: Path) -> None:
    hardware = platform('kind = "arm"\n')
    summary = simulate(tmp_path, PIPE, hardware)
    limit = f"{summary['time_ns'] + 1}ns"
    assert simulate(tmp_path, PIPE, hardware, "--max-time", limit)["ok"]
    refused(tmp_path, PIPE, hardware, "--max-time", f"{summary['time_ns'] - 1}ns")


def test_nothing_happens_after_a_task_has_failed(tmp_path: Path) -> None:
    pipe = PIPE.replace("firings = 10\n", "")[PIPE.index("[[task]]") :]
    pipe = pipe.replace('name = "', 'entry = "firing"\nname = "')
    (tmp_path / "app.toml").write_text(of_module(f'{pipe}[[task]]\nname = "unhappy"\ncore = 1\n'))
    (tmp_path / "platform.toml").write_text(platform('kind = "arm"\ncount = 2\n'))
    done = command(tmp_path / "app.toml", "--platform", str(tmp_path / "platform.toml"))
    assert done.returncode == 2
    assert "the antenna is unplugged" in done.stderr
    assert json.loads(done.stdout)["time_ns"] == 0


def test_a_task_that_lets_no_time_pass_is_named(tmp_path: Path) -> None:
    app = of_module('[[task]]\nname = "paced"\n')
    patience = {"WHIMBREL_SIM_PATIENCE_MS": "300"}
    told = refused(tmp_path, app, platform(""), "--set", "step_ms=60000", **patience)
    assert "`paced` makes no progress on core 0: no virtual time has passed in 0.3 s" in told
    assert "this task" in told


def test_a_task_that_computes_for_long_but_lets_time_pass_may(tmp_path: Path) -> None:
    app = of_module('[[task]]\nname = "slow"\n')
    options = ("--duration", "200us", "--set", "step_ms=0.01")
    (tmp_path / "app.toml").write_text(app)
    (tmp_path / "platform.toml").write_text(platform(""))
    done = command(tmp_path / "app.toml", "--platform", str(tmp_path / "platform.toml"), *options)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("cores", ["0", "3"])
def test_a_number_of_cores_that_the_platform_does_not_have(cores: str, tmp_path: Path) -> None:
    assert "--core-count: the platform made has 2 cores" in refused(
        tmp_path, PIPE, KINDS, "--core-count", cores
    )


def test_platforms_that_do_not_exist_or_have_no_cores(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(PIPE)
    told = command(tmp_path / "app.toml", "--platform", "nowhere")
    assert told.returncode == 2
    assert "no platform is called `nowhere`" in told.stderr
    config = str(tmp_path / "config")
    told = command(tmp_path / "app.toml", "--platform", "host", XDG_CONFIG_HOME=config)
    assert told.returncode == 2
    assert "this machine was not measured" in told.stderr
    assert "calibrate" in told.stderr


def test_ways_of_computing_that_do_not_exist(tmp_path: Path) -> None:
    assert "write one of real, model" in refused(tmp_path, PIPE, KINDS, "--compute", "fast")
    told = refused(tmp_path, PIPE, KINDS, "--compute", "real")
    assert "nothing to compute really" in told


@pytest.mark.parametrize("file", ["cd2dat.xml", "player.json"])
def test_files_of_other_tools_are_simulated_and_run(file: str) -> None:
    for verb, cores in (("sim", ("--platform", "ca9x4")), ("run", ("--cores", "0,0"))):
        words = [WHIMBREL, verb, IMPORTS / file, "--json", "--quiet", "--duration", "50ms", *cores]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert sum(task["runs"] for task in summary["tasks"]) > 0
        assert (summary["clock"] == "virtual") == (verb == "sim")


def test_a_file_of_another_tool_that_is_wrong_is_shown_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "app.json").write_text('{\n"tasks": {\n"t": { "rin": 100 }\n}\n}\n')
    done = command(tmp_path / "app.json", "--platform", "ca9x4")
    assert done.returncode == 2
    assert "app.json:3" in done.stderr
