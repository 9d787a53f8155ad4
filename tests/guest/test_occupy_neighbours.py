# SPDX-License-Identifier: Apache-2.0
"""Other tools' cpusets and pinned tasks: moved aside, and put back."""

from __future__ import annotations

import pytest
from machine import Guest, occupation, until
from neighbours import FOLDERS, pinned, service


@pytest.mark.also_in("v1", "none")
def test_pinned_tasks_move_aside_and_come_back(guest: Guest) -> None:
    with pinned(guest):
        before = guest.snapshot()
        with occupation(guest, "--cpu 3", "sleep 600"):
            until(lambda there: len(there) == 1, lambda: guest.snapshot().movable_on(3))
        assert guest.differences(before) == []


@pytest.mark.also_in("v1")
def test_sets_of_others_are_narrowed_and_widened(guest: Guest) -> None:
    with service(guest, "service", "2-3"):
        before = guest.snapshot()
        with occupation(guest, "--cpu 3", "sleep 600"):
            until(lambda there: len(there) == 1, lambda: guest.snapshot().movable_on(3))
        assert guest.differences(before) == []


@pytest.mark.also_in("v1")
def test_an_exclusive_set_of_another_tool_is_left_alone(guest: Guest) -> None:
    if guest.cgroup not in FOLDERS:
        pytest.skip("this guest has no sets")
    with service(guest, "service", "3", exclusive=True):
        before = guest.snapshot()
        refused = guest.run("whimbrel-occupy --cpu 3 -- true 2>&1")
        assert refused.status == 2 and "/service has processor 3" in refused.output
        assert guest.differences(before) == []


@pytest.mark.also_in("none")
def test_a_task_that_moves_itself_back_is_moved_again(guest: Guest) -> None:
    guest.check("rig back 3 200000 >/tmp/back 2>&1 & echo $! >/tmp/busy")
    mover = guest.check("cat /tmp/busy").strip()

    def there() -> bool:
        return any(f"task {mover}@" in task for task in guest.snapshot().movable_on(3, alone=True))

    def told() -> bool:
        kept = guest.status()["occupations"][0]["kept"]
        return any(f"task {mover} " in thing["what"] for thing in kept)

    until(bool, there)
    with occupation(guest, "--cpu 3", "sleep 600"):
        until(lambda still: not still, there)
        if guest.cgroup == "none":
            until(bool, told)
