# SPDX-License-Identifier: Apache-2.0
"""How large the hardware is."""

import os
import sys
from pathlib import Path

import pytest
from synth import AXI_LITE_PORT, SIZES, Size, count, rtos, synthesize

sys.path.append(str(Path(__file__).resolve().parents[2] / "reproduce/common"))

from stated import check, check_words

PAGE = "docs/rtl/README.md"
PAPER = 20_000  # nacul2007, for two cores: "about 20k gates"


@pytest.fixture(scope="module")
def counted() -> dict:
    """Of two cores with 16 tasks and 16 ports."""
    return count((Size(),))[0]


def test_two_cores_with_16_tasks_and_16_ports_take_less_than_the_papers(counted: dict) -> None:
    print(counted)
    assert counted["flip_flops"] > 2 * 16 * 32  # the buffers are counted
    assert counted["with_buffers"] < PAPER


def check_row(row: dict) -> None:
    """The page states what was counted, to the gate."""
    size = [str(row[key]) for key in ("cores", "tasks", "ports", "words")]
    gates = ("hw_rtos", "buffers", "lock_unit", "with_buffers", "without_buffers")
    check(PAGE, size, [row[key] for key in gates], within=0)


def test_the_page_states_the_gates_of_the_papers_size(counted: dict) -> None:
    check_row(counted)


heavy = pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")


@pytest.fixture(scope="module")
def every() -> dict[Size, dict]:
    return dict(zip(SIZES, count(SIZES), strict=True))


@heavy
def test_the_page_states_the_gates_of_every_size(every: dict[Size, dict]) -> None:
    for row in every.values():
        check_row(row)


@heavy
def test_the_page_states_what_a_task_a_port_and_a_core_add(every: dict[Size, dict]) -> None:
    def each(few: Size, many: Size, number: str) -> float:
        more = every[many]["with_buffers"] - every[few]["with_buffers"]
        return more / (getattr(many, number) - getattr(few, number))

    words = "by {} gates for each between 8 and 64"
    check_words(PAGE, words, [each(Size(tasks=8), Size(tasks=64), "tasks")], within=0.005)
    words = "A port takes {} gates, most of them in its two words of buffer, a further core {},"
    port = each(Size(ports=8), Size(ports=64), "ports")
    core = each(Size(cores=1), Size(cores=4), "cores")
    check_words(PAGE, words, [port, core], within=0.005)


@heavy
def test_the_pages_state_the_gates_with_gated_clocks() -> None:
    gates = [count((Size(),), gated=True)[0]["with_buffers"]]
    check_words(PAGE, "as synthesis tools offer, that size takes {}.", gates, within=0)
    paper = "reproduce/nacul2007/README.md"
    words = "{} where registers that are written together have a gated clock"
    check_words(paper, words, gates, within=0)


def test_the_readme_states_the_gates_of_the_papers_size(counted: dict) -> None:
    gates = [counted[key] for key in ("with_buffers", "buffers", "lock_unit")]
    words = "ports take {}, the buffers in flip-flops ({}) and the Lock Unit ({}) counted"
    check_words("reproduce/nacul2007/README.md", words, gates, within=0)


MODULES = (
    "`hw_rtos`",
    "`hw_rtos_ports`",
    "`hw_rtos_buffer`",
    "`hw_rtos_tasks`",
    "`hw_rtos_sched` (one for each core)",
    "`hw_rtos_select`",
    "`hw_rtos_slice`",
    "`hw_rtos_errors`",
    "`hw_rtos_decode`",
    "`fair_arbiter`",
)


@heavy
def test_the_page_states_the_gates_of_every_module() -> None:
    apart = synthesize(rtos(Size(), in_ram=False, flat=False)).modules
    for label in MODULES:
        check(PAGE, (label,), [apart[label.split("`")[1]]], within=0.0005)


def test_the_page_states_the_gates_of_a_port_of_axi_lite() -> None:
    label = "`axi_lite_port` (one for each core of a unit that has AXI4-Lite)"
    check(PAGE, (label,), [synthesize(AXI_LITE_PORT).gates], within=0)
