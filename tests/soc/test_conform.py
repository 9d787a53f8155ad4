# SPDX-License-Identifier: Apache-2.0
"""The conformance suite on the kernel of the SoC, in its model: tasks are scheduled by software, or
by the HW-RTOS."""

from __future__ import annotations

import re

import pytest
import soc

# Why a case is skipped.
CANNOT = {
    "it wants more cores than this board has",
    "this kernel has no private memory",
    "no program can be loaded here",
    "no program was built for this processor",
    "nothing of this kernel can be held",
    "this processor has no modes of floating point",
    "a recreated task does not get its own process here",
    "a kernel's memory cannot be limited here",
    "the program has no re-entry",
}
BY_SOFTWARE = {
    "the software's lists take any task",
    "software schedules",
    "these kernels do not share tasks",
}
# Cases that take so many cycles that only `make soak` runs them.
LONG = {
    "a_barrier_goes_on_with_the_next_life_of_a_task_killed_at_any_time",
    "a_kernel_killed_at_any_time_takes_no_signal_along",
    "a_killed_caller_holds_up_nobody_and_calls_again_in_its_next_life",
    "a_lost_receiver_is_gone_for_its_sender",
    "modelled_computing_takes_time_in_proportion_to_its_cycles",
    "scripts_go_on_where_they_were_when_a_kernel_is_killed_at_any_time",
    "the_call_that_a_killed_service_had_begun_ends_with_an_error_and_the_rest_is_served",
}
# Of the middleware, with tasks that are scheduled in other cases too: where the HW-RTOS schedules,
# only `make soak` runs them.
LONG_OF_THE_MIDDLEWARE = {
    "a_lost_sender_leaves_all_that_was_accepted_and_an_end",
    "a_mailbox_keeps_the_order_of_each_sender_while_all_ends_move",
    "a_message_that_does_not_come_when_it_should_rings",
    "a_receiver_that_waits_goes_by_a_new_bell_at_once",
    "a_wait_by_a_bell_ends_at_its_own_time_limit_with_what_is_there",
    "balance_moves_a_task_off_an_overloaded_kernel",
    "every_message_to_a_receiver_that_polls_is_delivered_in_order",
    "every_message_to_an_adaptive_receiver_is_delivered_in_order_and_within_its_bound",
    "kernels_that_gossip_need_no_coordinator",
    "so_it_is_with_a_bound_that_nobody_can_keep",
    "so_it_is_with_batches_that_fill_the_channel",
}
# Who asks a task to stay where it is moves one that several cores share.
OF_ONE_CORE = frozenset({"no_task_moves_to_a_core_that_does_not_exist_nor_after_its_end"})
# The memory of tests is as quick as can be; test_run.py has the usual one.
OPTIONS = ("--wait-states", "0")


def check(variant: str, *words: str, but: frozenset[str] = frozenset()) -> None:
    """Runs every case but some, with these words besides its name."""
    image = soc.BOARDS / variant / "conform"
    cases = soc.run("--list", options=OPTIONS, image=image).text.split()
    assert len(cases) > 100, cases
    if float(soc.SCALE) < soc.LONG_SCALE:
        left_out = LONG | (LONG_OF_THE_MIDDLEWARE if variant == "rv32_soc_hardware" else set())
        print(f"only in make soak: {left_out}")
        assert left_out <= set(cases)
        cases = [case for case in cases if case not in left_out]
    cases = [case for case in cases if case not in but]
    runs = soc.run_each(cases, f"scale={soc.SCALE}", *words, options=OPTIONS, image=image)
    failures = "\n".join(
        f"{case}: status {run.status}\n{run.text}"
        for case, run in runs.items()
        if run.status != 0 or "1 passed, 0 failed" not in run.text
    )
    skipped = {
        case: why for case, run in runs.items() for why in re.findall("# skipped: (.*)", run.text)
    }
    for case, why in skipped.items():
        print(f"not on this board: {case}: {why}")
    print(f"{len(runs)} cases, {len(skipped)} of them not on this board")
    assert not failures, failures
    assert set(skipped.values()) <= CANNOT | (BY_SOFTWARE if variant == "rv32_soc" else set())
    assert len(skipped) < 67


def test_no_memory_is_where_the_linker_likes() -> None:
    """Each variable that is not zeroed has a section of its own, which the script must name."""
    assert b".noinit." not in soc.CONFORM.read_bytes()


@pytest.mark.parametrize("variant", ["rv32_soc", "rv32_soc_hardware"])
def test_every_case(variant: str) -> None:
    check(variant)


@pytest.mark.skipif(float(soc.SCALE) < soc.LONG_SCALE, reason="only in make soak")
def test_every_case_with_tasks_that_both_cores_share() -> None:
    check("rv32_soc_hardware", "shared", but=OF_ONE_CORE)
