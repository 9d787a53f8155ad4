# SPDX-License-Identifier: Apache-2.0
"""What an occupation gives: a processor, alone, whatever else runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from machine import Guest, Thread, occupation, until

SHARE = 0.95


def alone(*cpus: int) -> Callable[[list[Thread]], bool]:
    """Whether threads had these processors, each one for itself."""
    return lambda threads: (
        {thread.cpu for thread in threads} == set(cpus)
        and min(thread.share for thread in threads) >= SHARE
    )


@pytest.fixture
def load(guest: Guest) -> Guest:
    """Six busy processes, one and a half for each processor."""
    guest.check(
        "for i in 1 2 3 4 5 6; do sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!;"
        " done >/tmp/busy"
    )
    return guest


@pytest.mark.also_in("v1", "none")
def test_a_busy_program_has_its_processor_to_itself(load: Guest) -> None:
    thread = load.spin("whimbrel-occupy --cpu 3 -- rig spin 1 1", alone(3))[0]
    print(f"share of a processor: {thread.share}")
    busy, shells = (set(load.check(words).split()) for words in ("cat /tmp/busy", "pidof sh"))
    assert len(busy) == 6 and busy <= shells


def test_each_thread_of_a_program_has_a_processor(load: Guest) -> None:
    load.spin("whimbrel-occupy --cpus 2-3 -- rig spin 1 2", alone(2, 3))


@pytest.mark.also_in("none")
def test_children_stay_with_the_program_and_all_others_away(load: Guest) -> None:
    with occupation(load, "--cpu 2", "sh -c 'rig spin 600 1 & rig spin 600 1; :'") as program:
        # The shell, and two threads of each child.
        until(
            lambda there: (
                len(there) == 5
                and all("(rig)" in task or f"task {program}@" in task for task in there)
            ),
            lambda: load.snapshot().movable_on(2),
        )


def test_others_run_while_a_soft_program_sleeps_and_never_while_it_computes(load: Guest) -> None:
    with occupation(load, "--cpu 3 --soft", "sleep 600"):
        load.spin("taskset 8 rig spin 1 1", lambda one: one[0].cpu == 3 and one[0].share > 0.1)
    # The kernel keeps 5 % of each second from programs with a real-time priority.
    soft = "whimbrel-occupy --cpu 3 --soft -- rig spin 1 1"
    load.spin(soft, lambda one: one[0].cpu == 3 and one[0].share >= 0.75)


@pytest.mark.parametrize("booted", ["none"], indirect=True)
@pytest.mark.also_in("none")
def test_another_users_process_is_no_child_of_the_program(guest: Guest) -> None:
    """By affinities alone, where it can bind itself to the processor."""
    with occupation(guest, "--cpu 3 --fifo 5", "sleep 600") as program:
        word = guest.check(f"tr '\\0' '\\n' </proc/{program}/environ | grep ^WHIMBREL_OCCUPY=")
        number, _, token = word.strip().partition(":")
        assert len(token) == 32
        for mark in (number, word.strip()):
            # A stranger before it is bound: of root's own it would be a child of the program.
            attack = f"{mark} rig user 65534 taskset 8 sleep 601"
            stranger = guest.check(f"env {attack} >/dev/null 2>&1 & echo $!").strip()
            # Bound when it begins, and moved away by the next sweep.
            until(
                lambda state, task=f"task {stranger}@": any(
                    key.startswith(task) and "cpus=0,1,2 policy=0 " in value
                    for key, value in state.values.items()
                ),
                guest.snapshot,
            )
            guest.check(f"kill {stranger}")
        # Who may open a file may lock it.
        for name in ("lock", "journal"):
            refused = guest.run(f"rig user 65534 cat /run/whimbrel-occupy/{name} 2>&1")
            assert refused.status != 0 and "Permission denied" in refused.output


@pytest.mark.also_in("v1", "none")
def test_a_running_program_is_taken_with_all_its_threads(guest: Guest) -> None:
    guest.check("rig spin 600 2 >/dev/null 2>&1 & echo $! >/tmp/pid")
    guest.check('until [ "$(ls /proc/$(cat /tmp/pid)/task | wc -l)" = 3 ]; do usleep 50000; done')
    guest.check("whimbrel-occupy --cpu 3 --pid $(cat /tmp/pid)")
    until(lambda there: len(there) == 3, lambda: guest.snapshot().movable_on(3))
    guest.check("whimbrel-occupy release --pid $(cat /tmp/pid)")
    until(lambda there: there == [], lambda: guest.snapshot().movable_on(3, alone=True))
    guest.check("whimbrel-occupy --cpu 3 --pid $(cat /tmp/pid); kill $(cat /tmp/pid)")


def test_interrupts_and_workqueues_leave_and_come_back(guest: Guest) -> None:
    before = guest.snapshot()
    with occupation(guest, "--cpu 3", "sleep 600"):
        during = guest.snapshot().values
        on_it = {
            key: value
            for key, value in during.items()
            if key.startswith("/proc/irq/") and key.endswith("_list") and "3" in value
        }
        # An interrupt moves when it comes for the next time.
        guest.check("dd if=/dev/hwrng of=/dev/null bs=64 count=2 2>/dev/null")
        counts = guest.interrupts(3)
        guest.check("dd if=/dev/hwrng of=/dev/null bs=64 count=200 2>/dev/null")
        assert guest.interrupts(3)["virtio1-input"] == counts["virtio1-input"]
        assert during["/sys/devices/virtual/workqueue/cpumask"] == "7"
        assert during["/proc/irq/default_smp_affinity"] == "7"
        # A disk's queue has its processor for good; it is told, with the reason.
        status = guest.status()["occupations"][0]["kept"]
        queue = next(kept for kept in status if "virtio2-req.3" in kept["what"])
        assert queue["why"]
        assert len(on_it) == 1 or set(on_it.values()) <= {"0-3", "3"}
    assert guest.differences(before) == []


def test_a_processor_that_is_off_line_is_refused(guest: Guest) -> None:
    guest.check("echo 0 >/sys/devices/system/cpu/cpu2/online")
    refused = guest.run("whimbrel-occupy --cpu 2 -- true 2>&1")
    guest.check("echo 1 >/sys/devices/system/cpu/cpu2/online")
    assert refused.status == 2 and "processor 2 is not on-line" in refused.output


def test_the_last_processor_is_refused(guest: Guest) -> None:
    refused = guest.run("whimbrel-occupy --cpus 0-3 -- true 2>&1")
    assert refused.status == 2 and "no processor" in refused.output
