# SPDX-License-Identifier: Apache-2.0
"""A recorded simulation drops nothing, however much happens; recording changes nothing else."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING

from simulated import ROWS, TURNS, Event, Json, command, events, platform

if TYPE_CHECKING:
    from pathlib import Path

RUN, BLOCK, POWER = 1, 3, 15
SLOTS = 1 << 16  # of the ring of a core
CASES = int(os.environ.get("SIM_CASES", "60")) // 30


def task(name: str, script: str, more: str = "") -> str:
    return f'\n[[task]]\nname = "{name}"\nscript = [{script}]\n{more}'


def recorded(folder: Path, app: str, hardware: str, *options: str) -> tuple[Json, list[Event]]:
    """The summary, which is the same without a record, and what the first core did."""
    folder.mkdir(exist_ok=True)
    (folder / "app.toml").write_text(f'[app]\nname = "made"\n{app}')
    (folder / "platform.toml").write_text(hardware)
    words = (folder / "app.toml", "--platform", str(folder / "platform.toml"), *options)
    plain, kept = command(*words), command(*words, "--record", str(folder / "record"))
    assert (plain.returncode, plain.stderr) == (0, "")
    assert (kept.returncode, kept.stderr) == (0, "")
    told, expected = json.loads(kept.stdout), json.loads(plain.stdout)
    for summary in (told, expected):
        assert summary.pop("gvm_bytes") > 0  # the rings of a record are part of them
    assert told == expected
    dropped = {key: value for key, value in told.items() if key.startswith("dropped")}
    assert len(dropped) == 3
    assert set(dropped.values()) == {0}
    return told, events(folder / "record", 0)


def of_task(kind: int, number: int, found: list[Event]) -> int:
    return sum(event.kind == kind and event.task == number for event in found)


def test_four_scripts_of_a_timer_are_recorded_whole(tmp_path: Path) -> None:
    """10 s of them: 34,663 events of a ring of 65,536 were once dropped."""
    turns = 10_000
    script = f'{{ loop = {turns}, do = [{{ timer = "1ms" }}] }}'
    app = "".join(task(f"t{n}", script) for n in range(4))
    summary, found = recorded(tmp_path, app, platform(""))
    assert summary["time_ns"] >= 10_000_000_000
    assert len(found) > SLOTS
    for n in range(4):
        assert (of_task(BLOCK, n, found), of_task(RUN, n, found)) == (turns, turns + 1)


def test_an_instant_with_more_events_than_a_ring_has_slots_is_recorded_whole(
    tmp_path: Path,
) -> None:
    laps = 50_000
    semaphores = (
        '\n[[semaphore]]\nname = "a"\ninitial = 1\n[[semaphore]]\nname = "b"\ninitial = 0\n'
    )
    ping = f'{{ loop = {laps}, do = [{{ take = "a" }}, {{ give = "b" }}] }}'
    pong = f'{{ loop = {laps}, do = [{{ take = "b" }}, {{ give = "a" }}] }}'
    app = semaphores + task("ping", ping) + task("pong", pong)
    summary, found = recorded(tmp_path, app, platform(""))
    assert summary["time_ns"] < 1_000_000  # looks at the clock, and nothing else
    assert len(found) > 2 * SLOTS
    assert of_task(RUN, 0, found) >= laps


def test_migrations_of_an_instant_are_told_whole(tmp_path: Path) -> None:
    """The ring of a core has room for 2048 of them, and a move takes no time here."""
    laps = 5_000
    app = task("mover", f"{{ loop = {laps}, do = [{{ migrate = 1 }}, {{ migrate = 0 }}] }}")
    summary, _ = recorded(tmp_path, app, platform("", ""))
    assert len(summary["migrations"]) == 2 * laps


def test_random_scripts_are_recorded_whole(tmp_path: Path) -> None:
    """Each turn of a timer is a block and a run, on whichever core, with whatever costs."""
    for seed in range(CASES):
        draw = random.Random(seed)
        cores, tasks = draw.randint(1, 3), draw.randint(2, 8)
        ways = ("", 'scheduling = "preemptive"\n', 'scheduling = "fair"\n', 'scheduling = "edf"\n')
        hardware = platform(*(draw.choice(ways) for _ in range(cores)))
        if draw.random() < 0.5:
            hardware += '\n[costs.switch]\ncycles = 300\nsource = "ours: a test"\n'
        app, turns = "", []
        for n in range(tasks):
            turns.append(draw.randrange(80_000, 120_000) // tasks)
            do = [f'{{ timer = "{draw.choice((20, 30, 50))}us" }}']
            if draw.random() < 0.5:
                do.append(f"{{ run = {draw.choice((10, 1000))} }}")
            core = f"core = {draw.randrange(cores)}\n"
            app += task(f"t{n}", f"{{ loop = {turns[-1]}, do = [{', '.join(do)}] }}", core)
        recorded(tmp_path / str(seed), app, hardware)
        streams = [events(tmp_path / str(seed) / "record", core) for core in range(cores)]
        found = [event for stream in streams for event in stream]
        assert len(found) > SLOTS, seed
        for n, count in enumerate(turns):
            # A turn that comes too late does not wait.
            assert of_task(RUN, n, found) >= of_task(BLOCK, n, found), seed
            assert of_task(BLOCK, n, found) <= count, seed


def energy_uj(found: list[Event], until_ns: int) -> float:
    """By what was recorded of a core's power, in microwatts."""
    power = [event for event in found if event.kind == POWER]
    ends = [event.time_ns for event in power[1:]] + [until_ns]
    parts = zip(power, ends, strict=True)
    return sum(event.value * (end - event.time_ns) for event, end in parts) / 1e9


SLEEPY = """
[[core.point]]
mhz = 1000
active_mw = 100
idle_mw = 50
[[core.idle_state]]
name = "wfi"
power_mw = 5
after_us = 200000
enter_us = 1000
exit_us = 1
source = "ours: a test"
"""


def test_recorded_power_adds_up_to_the_energy_also_of_a_core_that_is_off(tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(ROWS)
    rates = ("--frame-rate-change", "20@1s", "--frame-rate-change", "10@2s")
    agents = ("--table", str(tmp_path / "table.toml"), "--agent-period", "10ms")
    summary, _ = recorded(
        tmp_path, TURNS, platform(SLEEPY, SLEEPY), *agents, "--duration", "3s", *rates
    )
    until_ns = summary["start_ns"] + summary["time_ns"]
    for number, core in enumerate(summary["cores"]):
        told = energy_uj(events(tmp_path / "record", number), until_ns)
        assert abs(told - core["energy_uj"]) <= 2, number
