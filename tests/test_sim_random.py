# SPDX-License-Identifier: Apache-2.0
"""Random simulations come to the same with steps and without, recorded or not, saved or not."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from random_sims import SOURCE, Case, table
from simulated import command, recorded_bytes

CASES = int(os.environ.get("SIM_CASES", "60"))
# It takes no time, but the simulator does not know that, so no step is taken.
APART = table("costs.job", cycles_per_unit=1e-9) + f"\n{SOURCE}\n"
KINDS = ("active_ns", "idle_ns")
ERROR = re.compile(r"^ +(?:×|│).*$", re.M)


def told(folder: Path, case: Case, platform: str, *more: str, preempts: int = 0) -> dict[str, Any]:
    """All that was told and recorded, without what is of this call alone."""
    place = folder / f"{platform}.toml"
    options = [*case.options, *more]
    if case.table:
        options += ["--table", str(folder / "table.toml")]
    seed = {"WHIMBREL_SIM_PREEMPTS": str(preempts)}
    done = command(folder / "app.toml", "--platform", str(place), *options, **seed)
    assert "cannot be started" not in done.stderr, "the simulator is being built meanwhile"
    events = recorded_bytes(folder / "recorded")
    events.pop("summary.json", None)
    shutil.rmtree(folder / "recorded", ignore_errors=True)
    summary = json.loads(done.stdout or "{}")
    summary.pop("gvm_bytes", None)
    errors = [line.replace(str(place), "") for line in ERROR.findall(done.stderr)]
    return {"status": done.returncode, "errors": errors, "summary": summary, "events": events}


def accounts(case: Case, summary: dict[str, Any]) -> list[str]:
    """Cores whose load, times at their points and energy do not agree."""
    described = tomllib.loads(case.platform)
    plain = not any(part in described for part in ("costs", "doorbell", "memory"))
    found = []
    for core, made in zip(summary.get("cores", []), described["core"], strict=False):
        points = core["points"]
        active_ns, idle_ns = (sum(point[key] for point in points) for key in KINDS)
        # Each is rounded down to a nanosecond.
        off_ns = summary["time_ns"] - active_ns - idle_ns
        # The kernel's work and waking up are the core's activity, but no task's. Each run of a task
        # is between two moments that are rounded down.
        more_ns = active_ns - core["busy_ns"] - core["polling_ns"]
        rounded_ns = core["switches"] + 1
        free = plain and not any(part in made for part in ("transition", "idle_state", "cache"))
        if (
            not 0 <= off_ns <= 2 * len(points)
            or more_ns < -rounded_ns
            or (free and more_ns > rounded_ns)
        ):
            found.append(f"times of core {core['core']}")
        if "idle_state" in made or "transition" in made or "thermal" in described:
            continue
        power = {point["mhz"] * 1_000_000: point for point in made["point"]}
        idle = 0 if made.get("idle") == "off" else 1
        picojoules = sum(
            point["active_ns"] * power[point["hz"]]["active_mw"]
            + point["idle_ns"] * power[point["hz"]]["idle_mw"] * idle
            for point in points
        )
        if abs(picojoules / 1e6 - core["energy_uj"]) > 1:
            found.append(f"energy of core {core['core']}")
    return found


def from_there(run: dict[str, Any]) -> dict[str, Any]:
    """The summary without what a resumed run has only from where it was saved."""
    hidden = ("migrations", "migration_latency")
    return {key: value for key, value in run["summary"].items() if key not in hidden}


def differences(folder: Path, case: Case) -> tuple[list[str], str]:
    """What is not as it should be; and how the run ended."""
    folder.mkdir()
    (folder / "app.toml").write_text(case.app)
    (folder / "table.toml").write_text(case.table)
    (folder / "steps.toml").write_text(case.platform)
    (folder / "stacks.toml").write_text(case.platform + APART)
    record = ("--record", str(folder / "recorded"))
    steps, stacks = (told(folder, case, way, *record) for way in ("steps", "stacks"))
    found = accounts(case, steps["summary"])
    if steps != stacks:
        found.append("steps and stacks")
    if told(folder, case, "steps") != {**steps, "events": {}}:
        found.append("recording")
    state = folder / "state"
    if told(folder, case, "steps", "--save", f"{state}@30us")["status"] == 0:
        resumed = told(folder, case, "steps", "--resume", str(state))
        if steps["status"] == 0 and from_there(resumed) != from_there(steps):
            found.append("saving")
    return found, "finished" if steps["status"] == 0 else "failed"


def test_nothing_depends_on_how_it_is_simulated(tmp_path: Path) -> None:
    ends: Counter[str] = Counter()
    for seed in range(CASES):
        found, end = differences(tmp_path / str(seed), Case(seed))
        assert found == [], f"seed {seed}: {tmp_path / str(seed)}"
        ends[end] += 1
    print(f"{CASES} cases: {dict(ends)}")
    assert ends["finished"] > CASES / 4


# Whose agents' ticks are due while a task computes.
TICKS = (97, 205)
SET_POINTS = {"consolidate", "leakage", "thermal", "table"}
POINT = "[[core.point]]"
UNUSED = f"{POINT}\nmhz = 1\nactive_mw = 1\n\n{POINT}"


def with_unused(platform: str) -> str:
    """A platform whose cores of one operating point have another one."""
    cores = re.split(r"(?=\n\[\[core\]\])", platform)
    return "".join(
        core.replace(POINT, UNUSED) if core.count(POINT) == 1 else core for core in cores
    )


def without_points(run: dict[str, Any]) -> dict[str, Any]:
    cores = run["summary"].get("cores", [])
    told = [{key: value for key, value in core.items() if key != "points"} for core in cores]
    return {**run, "summary": {**run["summary"], "cores": told}}


def test_an_operating_point_that_nobody_uses_changes_nothing(tmp_path: Path) -> None:
    compared = 0
    for seed in (*TICKS, *range(3000, 3000 + CASES // 2)):
        case, folder = Case(seed), tmp_path / str(seed)
        more = with_unused(case.platform)
        if SET_POINTS & set(case.options) or "thermal" in case.platform or more == case.platform:
            continue
        folder.mkdir()
        (folder / "app.toml").write_text(case.app)
        (folder / "table.toml").write_text(case.table)
        (folder / "one.toml").write_text(case.platform)
        (folder / "two.toml").write_text(more)
        one, two = (without_points(told(folder, case, name)) for name in ("one", "two"))
        assert one == two, folder
        compared += 1
    assert compared > CASES / 8


def messages(run: dict[str, Any]) -> list[int]:
    """What was received from each channel."""
    return [channel["received"] for channel in run["summary"]["channels"]]


# In which a task of a loop ends a round earlier when it is preempted, or not.
ENDS_EARLY = (2163,)


def other_messages(case: Case, *runs: dict[str, Any]) -> list[str]:
    """Channels of which another number was received, which no order of execution changes. But what
    goes back begins with the messages of a round: who receives it needs no more in the last one,
    and whether others still send to a task that has ended is a matter of time."""
    pairs = zip(*map(messages, runs), case.a_round, strict=True)
    return [
        f"channel {n}: {one} and {other}"
        for n, (one, other, a_round) in enumerate(pairs)
        if abs(one - other) > a_round * case.loops
    ]


def ends_by_itself(case: Case) -> None:
    """Only what has to do with time could make the messages differ."""
    timed = {"--duration", "--max-time"}
    pairs = zip(case.options[::2], case.options[1::2], strict=True)
    kept = [word for pair in pairs if pair[0] not in timed for word in pair]
    case.options = [*kept, "--max-time", "100ms"]


def test_tasks_that_are_preempted_anywhere_lose_double_and_reorder_nothing(tmp_path: Path) -> None:
    # Each message has its number, and a receiver that misses one fails the run.
    preempted, compared = 0, 0
    for seed in (*range(1000, 1000 + CASES // 2), *ENDS_EARLY):
        case, folder = Case(seed), tmp_path / str(seed)
        ends_by_itself(case)
        folder.mkdir()
        (folder / "app.toml").write_text(case.app)
        (folder / "table.toml").write_text(case.table)
        (folder / "steps.toml").write_text(case.platform)
        plain = told(folder, case, "steps")
        record = ("--record", str(folder / "recorded"))
        run = told(folder, case, "steps", *record, preempts=seed)
        assert run == told(folder, case, "steps", *record, preempts=seed), folder
        wrong = [line for line in run["errors"] if "ended the run" in line or "failed" in line]
        assert wrong == [], folder
        preempted += run["summary"] != plain["summary"]
        # What a source or a loop without an end sends to others is a matter of time as well.
        if plain["status"] == run["status"] == 0 and not case.endless:
            assert other_messages(case, run, plain) == [], folder
            compared += 1
    print(f"{preempted} went another way, {compared} ended with the same messages")
    assert preempted > CASES / 4
    assert compared > CASES / 8
