# SPDX-License-Identifier: Apache-2.0
"""What docs/platforms.md compares with measurements, and docs/policies.md says of energy."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from simulated import ROOT, command, simulate

sys.path.append(str(ROOT / "reproduce/common"))

from stated import check

PAGE, POLICIES = "docs/platforms.md", "docs/policies.md"
IDLE = """
[app]
name = "idle"
frame_rate = 1

[[task]]
name = "idle"
periodic = true
cycles = 1000
"""
BUSY = """
[app]
name = "busy"

[[task]]
name = "busy"
count = {count}
core = {cores}
cycles = 100000000
"""
WARM_S = 60


def at(platform: str, **start_mhz: int) -> str:
    """A platform whose cores of a kind begin at a frequency."""
    text = (ROOT / "platforms" / f"{platform}.toml").read_text()
    for kind, mhz in start_mhz.items():
        text, made = re.subn(f'(kind = "{kind}"\n)(?!cycles)', rf"\1start_mhz = {mhz}\n", text)
        assert made == 1
    return text


def milliwatts(folder: Path, app: str, hardware: str) -> tuple[float, float]:
    """The mean power of a run, and the highest temperature at its end."""
    run = simulate(folder, app, hardware, "--duration", f"{WARM_S}s", "--compute", "model")
    hottest = max((core["temperature_mc"] or 0 for core in run["cores"]), default=0)
    return run["energy"]["cores_uj"] / WARM_S / 1000, hottest / 1000


def above_idle(folder: Path, cores: range, idle: str, busy: str) -> tuple[float, float]:
    app = BUSY.format(count=len(cores), cores=list(cores))
    power_mw, celsius = milliwatts(folder, app, busy)
    return power_mw - milliwatts(folder, IDLE, idle)[0], celsius


@pytest.mark.parametrize(
    ("label", "mhz", "wall_mw"),
    [
        ("four A15 at 500 MHz", 500, 5125 - 3890),
        ("four A15 at 1000 MHz", 1000, 6415 - 3890),
        ("four A15 at 1400 MHz", 1400, 7910 - 3890),
        ("four A15 at 2000 MHz", 2000, 12640 - 3890),
    ],
)
def test_the_big_cores_of_xu4_at_the_wall(
    label: str, mhz: int, wall_mw: float, tmp_path: Path
) -> None:
    idle = at("xu4", a7=200, a15=200)
    power_mw, celsius = above_idle(tmp_path, range(4, 8), idle, at("xu4", a7=200, a15=mhz))
    check(PAGE, ["xu4", label], [wall_mw, round(power_mw), power_mw / wall_mw], 0.006)
    if mhz == 2000:
        check(PAGE, ["xu4", "temperature of that"], [63.5, celsius, celsius / 63.5], 0.01)


def test_the_little_cores_of_xu4_at_the_wall_and_beside_the_big_ones(tmp_path: Path) -> None:
    idle = at("xu4", a7=200, a15=200)
    little, _ = above_idle(tmp_path, range(4), idle, at("xu4", a7=1300, a15=200))
    big, _ = above_idle(tmp_path, range(4, 8), idle, at("xu4", a7=200, a15=1300))
    check(PAGE, ["xu4", "four A7 at 1300 MHz"], [1305, round(little), little / 1305], 0.006)
    published = (7440 - 3890) / 1305
    row = ["xu4", "four A15 over four A7, both at 1300 MHz"]
    check(PAGE, row, [published, big / little, big / little / published], 0.006)


@pytest.mark.parametrize(
    ("platform", "label", "published_mw", "board_mw"),
    [
        ("rpi4", "a compute module in HPL at 1500 MHz", 5200, 2700),
        ("zynqmp", "ResNet-50 on four A53, above idle", 833, 0),
    ],
)
def test_other_boards(
    platform: str, label: str, published_mw: float, board_mw: float, tmp_path: Path
) -> None:
    # No core of a measured system sleeps as long as these would without an application.
    hardware = re.sub(r"\[\[core\.idle_state\]\].*?\n\n", "", at(platform), flags=re.DOTALL)
    above_mw, _ = above_idle(tmp_path, range(4), hardware, hardware)
    power_mw = board_mw + above_mw
    check(PAGE, [platform, label], [published_mw, round(power_mw), power_mw / published_mw], 0.006)


RADIO, PLAYED_S = ROOT / "apps/fm_radio/app.toml", 20


def radio(platform: str, rate: int, policy: str) -> tuple[float, float, int]:
    """Joules, degrees at the end and misses of the radio for a while."""
    words = ["--platform", platform, "--policy", policy, "--frame-rate", str(rate), "--map"]
    words += ["round-robin", "--compute", "model", "--duration", f"{PLAYED_S}s"]
    done = command(RADIO, *words, "--set", "output=", "--set", "plays=1000000")
    assert done.returncode in (0, 1), done.stderr
    run = json.loads(done.stdout)
    hottest = max((core["temperature_mc"] or 0 for core in run["cores"]), default=0)
    misses = sum(task["misses"] for task in run["tasks"])
    return run["energy"]["cores_uj"] / 1e6, hottest / 1000, misses


@pytest.mark.parametrize("rate", [50, 1500])
@pytest.mark.parametrize("policy", ["balance", "thermal", "consolidate", "leakage"])
def test_the_energy_of_the_radio_on_xu4_by_policies(policy: str, rate: int) -> None:
    joules, celsius, misses = radio("xu4", rate, policy)
    label = f"`{policy}`"
    check(POLICIES, ["xu4", f"{rate} frames/s", label], [joules, celsius, misses], 0.01)


@pytest.mark.parametrize("policy", ["balance", "thermal", "consolidate", "leakage"])
def test_the_energy_of_the_radio_on_mpsoc3_by_policies(policy: str) -> None:
    joules, _, misses = radio("mpsoc3", 900, policy)
    check(POLICIES, ["mpsoc3", "900 frames/s", f"`{policy}`"], [joules, misses], 0.01)


HOT = """
[app]
name = "hot"
frame_rate = 100

[[task]]
name = "hot"
periodic = true
kinds = ["a15"]
core = 4
cycles = 14000000
"""


@pytest.mark.parametrize(
    ("label", "policy"),
    [
        ("`balance`", "balance"),
        ("`thermal`", "thermal"),
        ("`leakage`", "leakage"),
        ("`leakage:gain_ppm=1000`", "leakage:gain_ppm=1000"),
    ],
)
def test_a_task_that_follows_the_coolest_core_saves_nothing(
    label: str, policy: str, tmp_path: Path
) -> None:
    """In surroundings of 60 degrees."""
    hardware = at("xu4").replace("ambient_c = 25", "ambient_c = 60")
    words = ("--duration", f"{WARM_S}s", "--policy", policy)
    run = simulate(tmp_path, HOT, hardware, *words)
    hottest = max(core["temperature_mc"] for core in run["cores"]) / 1000
    moves = sum(task["migrations"] for task in run["tasks"])
    joules = run["energy"]["cores_uj"] / 1e6
    check(POLICIES, ["xu4 at 60 °C", "one task", label], [joules, hottest, moves], 0.01)


def test_work_of_a_kind_of_core_goes_before_that_of_all(tmp_path: Path) -> None:
    app = """
[app]
name = "kinds"

[[task]]
name = "t"
count = 3
core = [0, 1, 2]
cycles = { a = 7, host = 9 }
firings = 10
"""
    point = "[[core.point]]\nmhz = 1000\nactive_mw = 100\n"
    hardware = '[platform]\nname = "made"\n'
    hardware += "".join(f'[[core]]\nkind = "{kind}"\n{point}' for kind in "abc")
    for keys in (
        "cycles = 2000",
        'kind = "b"\ncycles = 5000',
        'index = 2\nkind = "c"\ncycles = 300',
    ):
        hardware += f'[[work]]\napp = "kinds"\ntask = "t"\n{keys}\nsource = "made"\n'
    run = simulate(tmp_path, app, hardware)
    assert [task["busy_ns"] for task in run["tasks"]] == [20_000, 50_000, 3_000]
