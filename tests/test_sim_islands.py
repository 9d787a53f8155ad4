# SPDX-License-Identifier: Apache-2.0
"""Islands come to the same bytes in one process and in several."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from random_sims import BETWEEN, SOURCE, Case, table
from simulated import PATIENCE_S, WHIMBREL, command, platform, recorded_bytes

CASES = int(os.environ.get("SIM_ISLANDS", "10"))
# A run is parted after this number of events.
LONG = 1 << 18
EVENTS = re.compile(r"([0-9.]+) million events")


def pipeline(island: int, core: int, case: Case) -> str:
    """Actors on two cores, of which one divides and one joins; they end by themselves or not."""
    firings = case.pick(None, 4000, 60000)
    source = {"period_us": case.pick(10, 16, 20), "firings": firings}
    spread = {"distribution": case.pick("uniform", "normal", "exponential"), "spread": None}
    spread["spread"] = 0.3 if spread["distribution"] != "exponential" else None
    parts = []
    for stage in range(4):
        more = source if stage == 0 else {"priority": case.pick(7, 8, 9)}
        cycles = case.pick(100, 400, 900)
        place = {"name": f"p{island}_{stage}", "core": core + stage % 2, "cycles": cycles}
        parts.append(table("[task]", **place, **more, **spread))
    for at, to in ((0, 1), (0, 2), (1, 3), (2, 3)):
        ends = {"from": f"p{island}_{at}.o{to}", "to": f"p{island}_{to}.i{at}"}
        parts.append(table("[channel]", **ends, slots=case.pick(1, 2, 5), slot_bytes=8))
    return "\n".join(parts)


def scripts(island: int, core: int, case: Case) -> str:
    """Two scripts on two cores that have a semaphore, a mutex, a barrier or a condition."""
    name = f"o{island}"
    times = case.pick('"forever"', '"forever"', 5000, 60000)
    pause, cycles = case.pick(4, 7, 11), [case.pick(200, 900) for _ in range(2)]
    kind, tables, first, second = case.pick(
        ("semaphore", "initial = 1", '{ give = "@" }', '{ take = "@" }'),
        ("barrier", "tasks = 2", '{ barrier = "@" }', '{ barrier = "@" }'),
        ("mutex", "", *['{ lock = "@" }, { run = 300 }, { unlock = "@" }'] * 2),
    )
    text = f'\n[[{kind}]]\nname = "{name}"\n{tables}\n'
    for n, event in enumerate((first, second)):
        steps = f'{{ run = {cycles[n]} }}, {event}, {{ sleep = "{pause}us" }}'
        script = f"[{{ loop = {times}, do = [{steps}] }}]".replace("@", name)
        text += f'\n[[task]]\nname = "s{island}_{n}"\ncore = {core + n}\nscript = {script}\n'
    return text


def drawn(seed: int, folder: Path) -> list[str]:
    """Writes an application of one to five islands and a platform; the options."""
    case = Case(seed)
    islands = 2 + seed % 4 if seed else 1
    cores = [case.a_core() for _ in range(2 * islands)]
    apps = [case.pick(pipeline, scripts)(n, 2 * n, case) for n in range(islands)]
    costs = [
        table(f"costs.{action}", cycles=case.pick(1, 50)) + f"\n{SOURCE}"
        for action in BETWEEN
        if case.maybe(0.15)
    ]
    costs += [case.a_doorbell()] if case.maybe(0.3) else []
    parts = [table("platform", name="made"), *cores, *costs]
    (folder / "platform.toml").write_text("\n".join(parts) + "\n")
    (folder / "app.toml").write_text('[app]\nname = "made"\n' + "\n".join(apps) + "\n")
    period = ["--agent-period", "1ms"] if case.maybe(0.3) else []
    return ["--duration", case.pick("2s", "1500ms", "1777777ns") if seed % 5 else "1s", *period]


def told(folder: Path, options: list[str], processors: int) -> tuple[object, str]:
    """All that a run tells and records; and what it says besides."""
    place = folder / f"recorded-{processors}"
    files = ["--platform", str(folder / "platform.toml"), "--record", str(place)]
    chosen = {"WHIMBREL_PROCESSORS": str(processors)}
    done = command(folder / "app.toml", *files, *options, quiet=False, **chosen)
    recorded = recorded_bytes(place)
    errors = re.findall(r"^ +(?:×|│|help:).*$", done.stderr, re.M)
    return (done.returncode, done.stdout, recorded, errors), done.stderr


def test_random_islands_come_to_the_same_bytes(tmp_path: Path) -> None:
    wrong, long, ok = [], 0, 0
    for seed in range(CASES):
        folder = tmp_path / str(seed)
        folder.mkdir()
        options = drawn(seed, folder)
        one, said = told(folder, options, 1)
        for processors in (2, 3):
            several, _ = told(folder, options, processors)
            if several != one:
                wrong.append(f"{folder} {' '.join(options)}: {processors} processors")
        events = EVENTS.search(said)
        long += events is not None and float(events[1]) * 1e6 > LONG
        ok += one[0] == 0  # type: ignore[index]
    assert not wrong, "\n".join(wrong)
    assert long > CASES // 2, "hardly any was long enough to be parted"
    assert ok > CASES // 2


ENDLESS = """
[app]
name = "endless"

[[task]]
name = "a"
core = 0
script = [{ loop = "forever", do = [{ run = 100 }, { sleep = "1us" }] }]

[[task]]
name = "b"
core = 1
script = [{ loop = "forever", do = [{ run = 70 }, { sleep = "1us" }] }]
"""
STUCK = """
[[semaphore]]
name = "s"

[[task]]
name = "c"
core = 2
script = [{ loop = 90000, do = [{ run = 10 }, { sleep = "1us" }] }, { take = "s" }, { give = "s" }]
"""


def begun(folder: Path, app: str, *options: str) -> tuple[subprocess.Popen[str], list[str]]:
    """Starts a long run, and waits until its islands have processes of their own: which."""
    (folder / "app.toml").write_text(app)
    (folder / "platform.toml").write_text(platform(*[""] * 3))
    words = [WHIMBREL, "sim", folder / "app.toml", "--platform", folder / "platform.toml", *options]
    run = subprocess.Popen(
        [*map(str, words), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "WHIMBREL_PROCESSORS": "2"},
    )
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        helpers = children(run.pid)
        workers = [pid for helper in helpers for pid in children(int(helper))]
        if len(workers) == 2:
            return run, workers
        assert run.poll() is None, run.communicate()
        time.sleep(0.01)
    raise AssertionError("its islands stay in one process")


def children(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


def test_a_killed_process_of_an_island_is_told(tmp_path: Path) -> None:
    run, workers = begun(tmp_path, ENDLESS, "--duration", "10000s", "--max-time", "20000s")
    os.kill(int(workers[1]), signal.SIGKILL)
    _, error = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 2
    assert "a process that simulates islands was killed by signal 9" in error
    assert "WHIMBREL_PROCESSORS=1" in error
    assert not Path(f"/proc/{workers[0]}").exists()


def test_the_processes_end_with_the_helper(tmp_path: Path) -> None:
    run, workers = begun(tmp_path, ENDLESS, "--duration", "10000s", "--max-time", "20000s")
    os.kill(int(children(run.pid)[0]), signal.SIGKILL)
    run.communicate(timeout=PATIENCE_S)
    end = time.monotonic() + PATIENCE_S
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_its_user_can_end_it(tmp_path: Path) -> None:
    run, _ = begun(tmp_path, ENDLESS, "--duration", "10000s", "--max-time", "20000s")
    run.send_signal(signal.SIGINT)
    out, error = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, error
    assert json.loads(out)["ended"] in ("stopped", "forced")


@pytest.mark.parametrize(
    ("app", "options", "says"),
    [
        (ENDLESS, ("--max-time", "300ms"), "it has not ended after 0.3 s of virtual time"),
        (ENDLESS + STUCK, ("--max-time", "500ms"), "it has not ended after 0.5 s"),
        (ENDLESS.replace('"forever"', "90000") + STUCK, (), "every task waits"),
    ],
)
def test_errors_are_those_of_one_process(
    app: str, options: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "app.toml").write_text(app)
    (tmp_path / "platform.toml").write_text(platform(*[""] * 3))
    one, several = (told(tmp_path, list(options), processors)[0] for processors in (1, 2))
    assert one == several
    assert says in str(one)


def test_a_word_that_is_no_number_of_processors_means_one(tmp_path: Path) -> None:
    (tmp_path / "app.toml").write_text(ENDLESS)
    (tmp_path / "platform.toml").write_text(platform(*[""] * 3))
    words = (tmp_path / "app.toml", "--platform", str(tmp_path / "platform.toml"))
    runs = [
        command(*words, "--duration", "300ms", WHIMBREL_PROCESSORS=given)
        for given in ("1", "many", "-1", "0", "")
    ]
    assert all(done.returncode == 0 for done in runs)
    assert len({done.stdout for done in runs}) == 1


@pytest.mark.parametrize(
    ("islands", "more", "hardware"),
    [
        ([1, 2, 0], "", ""),
        ([1, 1, 0], '[[channel]]\nfrom = "a.out"\nto = "b.in"\nslots = 1\nslot_bytes = 8\n', ""),
        (None, "", '[bus]\nmhz = 100\nwidth_bytes = 4\nburst_bytes = 32\nsource = "ours"\n'
         '[[memory]]\nname = "ddr"\nkind = "shared"\nsize = "64MiB"\nlatency_ns = 60\n'
         'mb_per_s = 800\nsource = "ours"\n'),
    ],
)  # fmt: skip
def test_check_names_islands(
    islands: list[int] | None, more: str, hardware: str, tmp_path: Path
) -> None:
    actor = '[[task]]\nname = "{}"\ncore = {}\ncycles = 10\nperiod_us = 10\n'
    tasks = actor.format("a", 0) + actor.format("b", 1)
    if more:
        tasks = tasks.replace("core = 1\ncycles = 10\nperiod_us = 10", "core = 1\ncycles = 10")
    (tmp_path / "app.toml").write_text('[app]\nname = "two"\n' + tasks + more)
    (tmp_path / "platform.toml").write_text(platform(*[""] * 3, rest=hardware))
    words = [WHIMBREL, "check", tmp_path / "app.toml", "--platform", tmp_path / "platform.toml"]
    done = subprocess.run(
        [*map(str, words), "--json"], capture_output=True, text=True, check=True, timeout=600
    )
    told = [core.get("island") for core in json.loads(done.stdout)["cores"]]
    several = islands is not None and max(islands) > 1
    assert told == (islands if several else [None] * 3)
