# SPDX-License-Identifier: Apache-2.0
"""The cocotb tests of each module, for several sizes, and what they find."""

import os
from pathlib import Path

import pytest
from lines import check_lines
from mutants import HAZARDS, Mutant, apply_on_demand

from bench import BUILD, RTL, Failed, build, listed, run, simulate

SMALL = {"NumCores": 2, "NumTasks": 16, "NumPorts": 16}
OF_WORDS = {"NumCores": 2, "NumTasks": 8, "NumPorts": 8, "WordsPerPort": 4}

long = pytest.mark.skipif("RTL_LONG" not in os.environ, reason="`make soak` runs it")


def test_hw_rtos_directed() -> None:
    simulate("hw_rtos", "hw_rtos_directed", SMALL)


@pytest.mark.parametrize(
    "size",
    [
        # Two cores are those of `hazardous` in `make test`.
        pytest.param(SMALL, marks=long),
        {"NumCores": 1, "NumTasks": 8, "NumPorts": 8},
        {"NumCores": 4, "NumTasks": 64, "NumPorts": 40, "WordsPerPort": 4, "BuffersInRam": 1},
    ],
    ids=lambda size: "_".join(map(str, size.values())),
)
def test_hw_rtos_random(size: dict[str, int]) -> None:
    where = build("hw_rtos", size)
    run(where, "hw_rtos", "hw_rtos_random", size)
    check_lines(where, "hw_rtos")


def test_lock_unit_directed() -> None:
    simulate("lock_unit", "lock_unit_directed", {"NumCores": 2})


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_lock_unit_random(cores: int) -> None:
    where = build("lock_unit", {"NumCores": cores})
    run(where, "lock_unit", "lock_unit_random", {"NumCores": cores})
    if cores > 1:  # one has nothing to order
        check_lines(where, "lock_unit")


def test_fair_arbiter_random() -> None:
    simulate("fair_arbiter", "arbiter_random", {"NumReqs": 4}, [RTL / "common/fair_arbiter.sv"])


@pytest.mark.parametrize(
    ("top", "files", "size"),
    [
        ("timer", ("timer",), {"NumCores": 2}),
        ("uart", ("byte_fifo", "uart"), {"CyclesPerByte": 4, "Depth": 8}),
        ("ram_bus", ("bus_arbiter", "ram_bus"), {"NumCores": 2}),
    ],
)
def test_a_device_of_the_soc_random(top: str, files: tuple[str, ...], size: dict[str, int]) -> None:
    simulate(top, f"{top}_random", size, [RTL / f"soc/{name}.sv" for name in files])


@pytest.mark.parametrize("in_ram", [0, 1])
def test_buffer_random(in_ram: int) -> None:
    names = ("common/flops_1r1w.sv", "common/ram_1r1w.sv", "hw_rtos/hw_rtos_buffer.sv")
    parameters = {"NumWords": 32, "InRam": in_ram}
    simulate("hw_rtos_buffer", "buffer_random", parameters, [RTL / name for name in names])


@pytest.fixture(scope="module")
def hazardous() -> Path:
    """A model in which each of the design's hazards can be brought about."""
    faulty = apply_on_demand(HAZARDS, BUILD / "hazards")
    return build("hw_rtos", OF_WORDS, listed(faulty / "hw_rtos/hw_rtos.f"))


def test_without_a_hazard_the_tests_pass(hazardous: Path) -> None:
    run(hazardous, "hw_rtos", "hw_rtos_random", OF_WORDS)
    run(hazardous, "hw_rtos", "hw_rtos_directed", OF_WORDS)


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.name)
def test_the_tests_find_what(hazardous: Path, hazard: Mutant) -> None:
    with pytest.raises(Failed):
        run(hazardous, "hw_rtos", "hw_rtos_random", OF_WORDS, (f"+{hazard.name}",))
