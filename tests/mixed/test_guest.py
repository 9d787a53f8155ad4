# SPDX-License-Identifier: Apache-2.0
"""A guest under QEMU: kernels of FreeRTOS on AArch64 in a system that a program here lays out."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LAUNCHER = ROOT / "build/release/mixed_launcher"
IMAGE = ROOT / "build/boards/virt_a64_guest/exchange.elf"
MACHINE = ("-M", "virt,gic-version=2", "-cpu", "cortex-a53", "-m", "256M")
QUIET = ("-display", "none", "-monitor", "none", "-serial", "none", "-nic", "none")
LIMIT_S = 300
NOWHERE, OVERFLOW = 1, 2  # enum fault of exchange.h
UP, OVER = "3", "4"  # enum wb_guest_state
EXCHANGED = "20000"  # exchange.h
MOVES = 40  # launcher.c
BOOTS = 10  # of a machine whose atomics fail now and then


@pytest.fixture(scope="module", autouse=True)
def _qemu_is_there() -> None:
    if shutil.which("qemu-system-aarch64") is None:
        pytest.fail("the guest cannot be emulated: qemu-system-aarch64 is missing")


def launch(cores: tuple[int, int], smp: str, megabytes: int = 16, fault: int = 0) -> dict[str, str]:
    """What the launcher finds; `cores`: the board's that are the system's second and third."""
    command = ["qemu-system-aarch64", *MACHINE, "-smp", smp, *QUIET]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(IMAGE)]
    run = subprocess.run(
        [LAUNCHER, *map(str, (megabytes, *cores, fault)), *command],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    print(run.stdout, run.stderr)
    lines = (line.partition(" ") for line in run.stdout.splitlines())
    return {key: value for key, _, value in lines}


def check(found: dict[str, str]) -> None:
    assert "failed" not in found and "fault" not in found
    assert (found["layout"], found["plan"]) == ("1", "exchange")
    assert found["lost"] == "0"
    assert (found["state"], found["status"]) == (OVER, "0")
    assert found["exchanged"] == EXCHANGED
    assert (found["out_of_order"], found["out_of_time"]) == ("0", "0")
    assert found["lives"] == str(1 + MOVES)


def test_tasks_of_a_guest_run_to_their_end_with_those_of_the_launcher() -> None:
    """Messages between two of its cores, calls from here and their answers, and re-entries."""
    found = launch((0, 1), "4")
    check(found)
    assert found["cores"] == "4"


def test_a_guest_need_not_take_part_by_its_first_core() -> None:
    check(launch((1, 3), "4"))


@pytest.mark.parametrize("cores", [(0, 1), (1, 0)])
def test_a_fault_of_any_core_ends_the_machine(cores: tuple[int, int]) -> None:
    found = launch(cores, "4", fault=NOWHERE)
    assert found["fault"] == "it touched memory that is not its at address 0x10"
    assert (found["state"], found["status"]) == (UP, "2")


@pytest.mark.parametrize("megabytes", [16, 1024])
def test_a_stack_that_overflows_is_told(megabytes: int) -> None:
    """There are guards below stacks in blocks of both sizes."""
    found = launch((0, 1), "4", megabytes, OVERFLOW)
    assert found["fault"] == "it overflowed its stack of 32768 bytes"


def test_memory_may_be_larger_than_what_the_board_has() -> None:
    check(launch((1, 0), "2", 2048))


def test_a_machine_with_one_processor_of_many_is_exact() -> None:
    """And has a core too few."""
    found = launch((0, 1), "1,maxcpus=2")
    assert found["lost"] == "0"
    assert found["cores"] == "1"
    assert found["error"].startswith("its machine has fewer cores than the plan names")
    assert found["early_status"] == "2"


def test_a_machine_whose_atomics_are_not_is_found_out() -> None:
    """By counting together: QEMU with a single processor is not atomic towards anybody else."""
    assert any(launch((0, 1), "1")["lost"] != "0" for _ in range(BOOTS))


def test_a_guest_without_memory_of_a_system_says_so() -> None:
    command = ["qemu-system-aarch64", *MACHINE, "-smp", "2", *QUIET]
    command += ["-semihosting-config", "enable=on,target=native", "-kernel", str(IMAGE)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert run.returncode == 2
    assert "this machine has no ivshmem-doorbell" in run.stdout + run.stderr
