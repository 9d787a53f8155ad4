# SPDX-License-Identifier: Apache-2.0
"""Simulations: what the command says, and wrong parameters."""

from __future__ import annotations

import re
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import whimbrel

ROOT = Path(__file__).resolve().parents[2]
RADIO = ROOT / "apps/fm_radio/app.toml"
FORK_JOIN = ROOT / "apps/synthetic/fork_join.toml"


def test_a_simulation_says_what_the_command_says(summary: Any) -> None:
    run = whimbrel.simulate(FORK_JOIN, "mpsoc3", seed=7, map={"worker": [0, 1, 2, 1]})
    words = [
        "--platform",
        "mpsoc3",
        "--seed=7",
        "--map=worker.0=0,worker.1=1,worker.2=2,worker.3=1",
    ]
    assert run.summary == summary(FORK_JOIN, *words)
    assert run.frames == 2000 and run.misses == 0 and run.energy_mj > 0 and run.latency_ms


def test_every_parameter_is_an_option_of_the_command(summary: Any) -> None:
    run = whimbrel.simulate(
        RADIO,
        duration=timedelta(seconds=1),
        compute="model",
        set={"output": "", "plays": 3, "band_gains": [1.0, 0.5, 1.0]},
        policy=("balance", {"settle_ms": 50}),
        agent_period="20ms",
        moves="demodulator=1@100ms",
        shuttles=["bpf.1=1,0@200ms"],
        frame_rate_changes=["60@500ms"],
        frame_rate=50,
        mode="handoff",
        migration_points="waits",
        coordinator=1,
        max_time=10,
        max_events=10**9,
        core_count=2,
    )
    words = (
        "--duration=1s --compute=model --set=output= --set=plays=3 --policy=balance:settle_ms=50"
    )
    words += " --agent-period=20ms --move=demodulator=1@100ms --shuttle=bpf.1=1,0@200ms"
    words += " --frame-rate=50 --frame-rate-change=60@500ms --mode=handoff --max-time=10s"
    words += " --migration-points=waits --coordinator=1 --core-count=2"
    more = ["--set=band_gains=[1.0, 0.5, 1.0]", "--max-events=1000000000"]
    assert run.summary == summary(RADIO, *words.split(), *more)


def test_parameters_have_their_former_names_for_a_version(summary: Any) -> None:
    former: dict[str, Any] = {"cores": 2, "agents": "20ms", "limit": 10, "move_at": "waits"}
    with pytest.warns(DeprecationWarning, match="is core_count= now"):
        run = whimbrel.simulate(FORK_JOIN, **former)
    words = "--core-count=2 --agent-period=20ms --max-time=10s --migration-points=waits"
    assert run.summary == summary(FORK_JOIN, *words.split())
    with pytest.raises(TypeError, match="give one of the two"):
        whimbrel.simulate(FORK_JOIN, core_count=2, **former)


def test_an_application_of_objects_runs_on_a_platform_of_objects(player: Any) -> None:
    point = whimbrel.Point(mhz=500, active_mw=100)
    platform = whimbrel.Platform(name="two", core=(whimbrel.Core(count=2, point=(point,)),))
    run = whimbrel.simulate(player, platform, duration=1)
    assert run.summary["platform"] == "two" and run.seconds == pytest.approx(1, rel=0.02)
    assert run.cores.num_rows == 2


def test_progress_is_told_and_others_run_meanwhile() -> None:
    told: list[tuple[float, float | None]] = []
    counted = [0]
    over = threading.Event()

    def count() -> None:
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        whimbrel.simulate(
            RADIO,
            compute="model",
            duration=10_000,
            progress=lambda at, of: told.append((at, of)),
            set={"plays": 10**6, "output": ""},
        )
    finally:
        over.set()
        thread.join()
    assert told and told == sorted(told) and told[-1][1] == 10_000
    assert counted[0] > 20


def test_ctrl_c_ends_a_simulation() -> None:
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.5, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    since = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        whimbrel.simulate(
            RADIO,
            compute="model",
            duration="100days",
            max_time="150days",
            set={"plays": 10**9, "output": ""},
        )
    assert time.monotonic() - since < 60


def test_what_progress_raises_ends_the_simulation() -> None:
    def tell(_at: float, _of: float | None) -> None:
        raise ZeroDivisionError("told")

    with pytest.raises(ZeroDivisionError, match="told"):
        whimbrel.simulate(
            RADIO,
            compute="model",
            duration="100days",
            max_time="150days",
            set={"plays": 10**9, "output": ""},
            progress=tell,
        )


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"duration": -1}, whimbrel.InputError, "duration="),
    ({"duration": float("nan")}, whimbrel.InputError, "duration="),
    ({"duration": "soon"}, whimbrel.InputError, "duration="),
    ({"duration": 0}, whimbrel.InputError, "must not be zero"),
    ({"duration": "1000days"}, whimbrel.InputError, "200days"),
    ({"duration": [1]}, TypeError, "duration="),
    ({"map": {"lpf": "0"}}, TypeError, "map="),
    ({"map": {"nobody": 0}}, whimbrel.InputError, "nobody"),
    ({"map": {"lpf": 9}}, whimbrel.InputError, "9"),
    ({"map": 3}, TypeError, "map="),
    ({"core_count": 9}, whimbrel.InputError, "has 3 cores"),
    ({"core_count": 1.5}, TypeError, "core_count="),
    ({"core_count": -1}, whimbrel.InputError, "core_count="),
    ({"seed": -1}, whimbrel.InputError, "seed="),
    ({"seed": 2**64}, whimbrel.InputError, "seed="),
    ({"seed": True}, TypeError, "seed="),
    ({"policy": "nobody"}, whimbrel.RunError, "nobody"),
    ({"policy": "balance:x=1"}, whimbrel.RunError, "no parameter `x`"),
    ({"policy": 5}, TypeError, "policy="),
    ({"policy": "asked"}, whimbrel.InputError, "asked"),
    ({"policy": "table"}, whimbrel.InputError, "table="),
    ({"table": "none.toml"}, whimbrel.InputError, "none.toml"),
    ({"frame_rate": 0}, whimbrel.InputError, "frame_rate="),
    ({"frame_rate": 50, "fast": True}, whimbrel.InputError, "fast="),
    ({"fast": 1}, TypeError, "fast="),
    ({"set": {"nothing": 1}}, whimbrel.InputError, "nothing"),
    ({"set": {"plays": "many"}}, whimbrel.InputError, "plays"),
    ({"set": {"plays": object()}}, TypeError, "set="),
    ({"set": "plays=1"}, TypeError, "set="),
    ({"compute": "guess"}, whimbrel.InputError, "compute="),
    ({"mode": "jump"}, whimbrel.InputError, "mode="),
    ({"moves": "lpf=1"}, whimbrel.InputError, "moves="),
    ({"moves": [1]}, TypeError, "moves="),
    ({"frame_rate_changes": "1@2@3"}, whimbrel.InputError, "frame_rate_changes="),
    ({"coordinator": 7}, whimbrel.InputError, "coordinator="),
    ({"agent_period": 1e-6}, whimbrel.InputError, "agent_period="),
    ({"record": 5}, TypeError, "record="),
    ({"record": "/proc/none"}, whimbrel.RunError, "record="),
    ({"resume": "none.state"}, whimbrel.RunError, "none.state"),
    ({"platform": "nothing"}, whimbrel.InputError, "no platform is called `nothing`"),
    ({"platform": 5}, TypeError, "platform="),
    ({"app": None}, TypeError, "app="),
    ({"app": "none.toml"}, whimbrel.InputError, "none.toml"),
    ({"progress": 5}, TypeError, "progress="),
    ({"max_events": 10}, whimbrel.RunError, "10 events"),
    ({"max_time": 0.1, "duration": 1}, whimbrel.RunError, "0.1 s"),
]


@pytest.mark.parametrize(("given", "kind", "said"), WRONG, ids=lambda value: str(value)[:40])
def test_what_makes_no_sense_is_told(
    given: dict[str, Any], kind: type[Exception], said: str
) -> None:
    known: dict[str, Any] = {"app": RADIO, "compute": "model", "set": {"output": ""}, **given}
    with pytest.raises(kind) as told:
        whimbrel.simulate(known.pop("app"), known.pop("platform", "mpsoc3"), **known)
    assert said in str(told.value)
    # But for commands, no option is named.
    assert "--" not in re.sub("`whimbrel [^`]*`|---", "", str(told.value))


def test_a_deadlock_is_told_with_its_place() -> None:
    tasks = tuple(whimbrel.Task(name=name, cycles=1000) for name in "ab")
    loop = (
        whimbrel.Channel(from_="a.out", to="b.in", slot_bytes=8),
        whimbrel.Channel(from_="b.out", to="a.in", slot_bytes=8),
    )
    stuck = whimbrel.Application(name="stuck", tasks=tasks, channels=loop)
    with pytest.raises(whimbrel.InputError, match=r"stuck\.toml"):
        whimbrel.simulate(stuck, duration=1)


# Files of other tools. Of the rest one is for a processor that mpsoc3 has not, and one is a trace
# whose threads have to be named.
IMPORTED = ["cd2dat.xml", "csdf.xml", "mp3.dot", "periodic.json", "player.json", "sobel.graphml"]


@pytest.mark.parametrize("name", IMPORTED)
def test_tasks_of_another_tool_are_consolidated(name: str) -> None:
    file = ROOT / "crates/import/tests/files" / name
    run = whimbrel.simulate(file, "mpsoc3", map="load", policy="consolidate", duration="500ms")
    assert run.summary["ended"] == "duration" and run.summary["policy"] == "consolidate"
    if name == "player.json":  # whose load one core can carry
        assert len({task["core"] for task in run.tasks.to_pylist()}) == 1


def test_numbers_of_numpy_are_taken_wherever_numbers_are() -> None:
    def simulate(number: Any, real: Any, truth: Any, some: Any) -> whimbrel.Run:
        return whimbrel.simulate(
            RADIO,
            duration=real(0.5),
            compute="model",
            set={"output": "", "plays": number(3), "band_gains": some([1.0, 0.5, 1.0])},
            policy=("balance", {"settle_ms": number(50)}),
            map={"bpf": some([0, 1, 1]), "lpf": number(1)},
            fast=truth(False),
            frame_rate=real(50),
            seed=number(3),
            core_count=number(2),
            coordinator=number(1),
            agent_period=real(0.02),
            max_time=number(10),
            max_events=number(10**9),
            record=truth(False),
        )

    own = simulate(int, float, bool, list).summary
    assert simulate(np.int64, np.float64, np.bool_, np.array).summary == own
    assert simulate(np.uint32, np.float32, np.bool_, np.array).summary == own
    assert simulate(np.array, np.array, np.array, np.array).summary == own


@pytest.mark.parametrize("value", [np.timedelta64(5, "ms"), np.datetime64(5, "s"), 1j, True])
def test_what_is_no_number_of_seconds_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="duration="):
        whimbrel.simulate(FORK_JOIN, duration=value)
    with pytest.raises(TypeError, match="seed="):
        whimbrel.simulate(FORK_JOIN, seed=value)
