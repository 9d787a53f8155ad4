# SPDX-License-Identifier: Apache-2.0
"""Whatever happens, everything is as it was afterwards: the fixture `guest` compares."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from contextlib import ExitStack

import pytest
from machine import Guest, occupation, until, wait_for_guardians
from neighbours import pinned, service

KILLS = int(os.environ.get("GUEST_KILLS", "2"))
SEED = int(os.environ.get("GUEST_SEED", "1"))
PROGRAM = "sleep 0.05"
IN_EACH = pytest.mark.also_in("v1", "none")


def kill(guest: Guest, signal: int, whom: str, when: str, program: str) -> str:
    """What became of the tool; waits until it and its guardian are gone."""
    command = f"whimbrel-occupy --cpu 3 -q -- {program} 2>/tmp/said"
    return guest.check(f"rig kill {signal} {whom} {when} {command}").strip()


def kill_running(guest: Guest, signal: int, whom: str, then: str = "exec sleep 600") -> str:
    """The same, once the program runs; what it does then."""
    program = f"sh -c 'echo >/tmp/runs; {then}'"
    return kill(guest, signal, whom, "/tmp/runs", program)


def test_a_normal_end_passes_the_status_on(guest: Guest) -> None:
    assert guest.run("whimbrel-occupy --cpu 3 -- sh -c 'exit 7'").status == 7
    assert guest.run("whimbrel-occupy --cpu 3 -- sh -c 'kill -9 $$'").status == 137
    assert guest.run("whimbrel-occupy --cpu 3 -- nothing-of-this-name").status == 127


@pytest.mark.parametrize(
    ("signal", "whom", "ended"),
    [(2, "group", "status 130"), (15, "tool", "status 143"), (1, "tool", "status 129")],
    ids=["ctrl-c", "sigterm", "sighup"],
)
def test_a_signal_ends_program_and_occupation(
    guest: Guest, signal: int, whom: str, ended: str
) -> None:
    assert kill_running(guest, signal, whom).startswith(ended)


def test_a_killed_tool_leaves_its_program_and_nothing_else(guest: Guest) -> None:
    kill_running(guest, 9, "tool")
    program = guest.check("until pidof sleep; do usleep 50000; done").strip()
    assert f"task {program}@" not in "\n".join(guest.snapshot().movable_on(3, alone=True))
    guest.check(f"kill {program}")


def test_a_killed_guardian_is_noticed_by_the_tool(guest: Guest) -> None:
    noticed = "until grep -q guardian /tmp/said; do usleep 50000; done"
    assert kill_running(guest, 9, "guardian", noticed).startswith("status 0")


@IN_EACH
def test_both_killed_are_undone_by_the_next_status(guest: Guest) -> None:
    kill_running(guest, 9, "both")
    assert guest.snapshot().movable_on(0) != guest.snapshot().movable_on(3)
    said = guest.check("whimbrel-occupy status 2>&1")
    guest.check("until kill $(pidof sleep) 2>/dev/null; do usleep 50000; done")
    assert "had lost its guardian" in said


@pytest.mark.parametrize("first", [pytest.param(0, marks=IN_EACH), 1])
def test_two_occupations_end_in_either_order(guest: Guest, first: int) -> None:
    for cpu in (2, 3):
        guest.check(f"sh -c 'exec sleep 600' & echo $! >/tmp/pid{cpu}")
        guest.check(f"whimbrel-occupy --cpu {cpu} --pid $(cat /tmp/pid{cpu})")
    assert len(guest.status()["occupations"]) == 2
    order = (2, 3) if first == 0 else (3, 2)
    guest.check(f"kill $(cat /tmp/pid{order[0]})")
    wait_for_guardians(guest, 1)
    until(lambda there: there == [], lambda: guest.snapshot().movable_on(order[0], alone=True))
    until(lambda there: len(there) == 1, lambda: guest.snapshot().movable_on(order[1]))
    guest.check(f"kill $(cat /tmp/pid{order[1]})")


@pytest.mark.also_in("v1")
def test_a_task_born_meanwhile_is_not_left_narrowed(guest: Guest) -> None:
    with occupation(guest, "--cpu 3", "sleep 600"):
        guest.check("sh -c 'sleep 601' & echo $! >/tmp/busy")
    born = guest.check("cat /tmp/busy").strip()
    after = guest.snapshot()
    assert any(f"task {born}@" in task for task in after.movable_on(3))


@pytest.mark.parametrize(
    "neighbours", [False, pytest.param(True, marks=IN_EACH)], ids=["bare", "neighbours"]
)
def test_after_kills_at_random_instants_nothing_differs(guest: Guest, neighbours: bool) -> None:
    """`GUEST_KILLS` of them; `make soak` has a thousand."""
    with ExitStack() as stack:
        if neighbours:
            stack.enter_context(pinned(guest))
            stack.enter_context(service(guest, "service", "2-3"))
        kill_often(guest, random.Random(f"{SEED} {guest.cgroup} {neighbours}"))


def kill_often(guest: Guest, chance: random.Random) -> None:
    """Kills the tool, its guardian or both within the time that a whole occupation takes."""
    began = time.monotonic()
    guest.check(f"whimbrel-occupy --cpu 3 -q -- {PROGRAM}")
    whole_us = int((time.monotonic() - began) * 1_200_000)
    before = guest.snapshot()
    ends: Counter[str] = Counter()
    for number in range(KILLS):
        whom, after_us = chance.choice(["tool", "guardian", "both"]), chance.randrange(whole_us)
        ends[kill(guest, 9, whom, str(after_us), PROGRAM).split(" after")[0]] += 1
        if whom == "both":
            guest.check("whimbrel-occupy status >/dev/null 2>&1")
        differ = guest.differences(before)
        assert differ == [], f"kill {number}: {whom} after {after_us} us: {differ}"
    print(f"{KILLS} kills within {whole_us} us, 0 differences; the tool: {dict(ends)}")


@pytest.mark.parametrize("booted", ["v2"], indirect=True)
def test_a_journal_of_another_boot_is_dropped_and_told(booted: Guest) -> None:
    state = "export WHIMBREL_OCCUPY_STATE=/disk/occupy"
    booted.check(
        f"{state}; whimbrel-occupy --cpu 3 -- sh -c 'echo >/tmp/runs; sleep 600' >/dev/null 2>&1 &"
    )
    booted.check("until [ -e /tmp/runs ]; do usleep 50000; done")
    assert booted.check("cat /disk/occupy/journal") != ""
    booted.reboot()
    booted.check("whimbrel-occupy status")
    fresh = booted.snapshot()
    said = booted.check(f"({state}; whimbrel-occupy status 2>&1)")
    assert "a reboot has undone" in said
    assert booted.check("ls /disk/occupy").strip() == "lock"
    assert booted.differences(fresh) == []
