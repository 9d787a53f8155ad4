# SPDX-License-Identifier: Apache-2.0
"""Ordinary tasks of FreeRTOS that move between kernels, on four emulated cores."""

from __future__ import annotations

import re

import emulated
import pytest

CASES = ["keeps", "moves_asleep", "refuses", "outcomes", "deletes", "mixes", "asks"]

# Calls of FreeRTOS on core 0 for a task that core 2 has, each with the name that it is told by.
MISUSES = {
    "vTaskPrioritySet": "",
    "vTaskSuspend": "",
    "vTaskResume": "",
    "xTaskResumeFromISR": "",
    "xTaskAbortDelay": "",
    "vTaskDelete": "",
    "eTaskGetState": "",
    "xTaskNotify": "",
    "xTaskNotifyAndQueryIndexed": "xTaskNotify",
    "xTaskNotifyFromISR": "",
    "vTaskNotifyGiveFromISR": "",
    "xTaskNotifyStateClear": "",
    "ulTaskNotifyValueClear": "",
    "xQueueSend/xSemaphoreGive": "",
    "xSemaphoreTake": "",
    "xEventGroupSetBits": "",
    "xStreamBufferSend": "xTaskNotify",
}


on_each_board = pytest.mark.parametrize(
    "board", [emulated.VEXPRESS, emulated.VIRT], ids=lambda board: board.name
)


def expect_ok(
    case: str, *words: str, mode: tuple[str, ...], board: emulated.Board = emulated.VEXPRESS
) -> None:
    run = emulated.run(case, *words, mode=mode, board=board, program="ordinary")
    assert (run.status, run.text.splitlines()[-1:]) == (0, [f"ok {case}"]), run.text


@on_each_board
@pytest.mark.parametrize("case", CASES)
def test_as_threads_of_the_host(case: str, board: emulated.Board) -> None:
    expect_ok(case, mode=emulated.THREADS, board=board)


@pytest.mark.parametrize("case", CASES)
def test_by_counted_instructions(case: str) -> None:
    expect_ok(case, "exact", mode=emulated.COUNTED)


@on_each_board
def test_a_warm_reset_boots(board: emulated.Board) -> None:
    run = emulated.run("resets", mode=emulated.COUNTED, board=board, program="ordinary")
    assert (run.status, run.text) == (0, "# begins again\nok resets\n")


@on_each_board
@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("asserts", r"core 0: observer: configASSERT fails in line \d+ of tasks\.c"),
        ("crashes", "core 1: crasher: it touched memory that is not its at address 0x10"),
    ],
)
def test_what_goes_wrong_is_told_though_there_is_no_launcher(
    case: str, said: str, board: emulated.Board
) -> None:
    run = emulated.run(case, board=board, program="ordinary")
    assert run.status == 2 and re.fullmatch(said, run.text.strip()), run


def expect_failure(kind: str, said: str) -> None:
    run = emulated.run("misused", kind, mode=emulated.COUNTED, program="ordinary")
    assert (run.status, run.text.strip()) == (2, f"core 0: observer: {said}")


@pytest.mark.parametrize("kind", MISUSES)
def test_a_call_of_freertos_for_a_task_that_has_moved_names_call_task_and_cores(kind: str) -> None:
    call = MISUSES[kind] or kind
    expect_failure(kind, f"{call}() for task mover of core 2: call it there, or wb_freertos_*()")


def test_a_call_of_freertos_for_a_task_that_is_deleted_says_so() -> None:
    expect_failure("deleted", "vTaskSuspend() for a deleted task")
