# SPDX-License-Identifier: Apache-2.0
"""Clocks whose rate a board finds out, compiled for this machine: its devices are variables."""

from __future__ import annotations

import subprocess
from pathlib import Path

import emulated
import pytest

# The reference counts once in so many reads of the clock, or never.
DEVICES = """
#pragma once
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define WB_CORE_NONE UINT32_MAX
#define MAP_CCM ((uintptr_t)ccm)
#define MAP_GPT ((uintptr_t)gpt)
#define MAP_SLCR ((uintptr_t)slcr)
#define MAP_CRYSTAL_HZ 33333333

extern unsigned char ccm[256], gpt[256], slcr[512];
void clock_begin(void);
uint32_t clock_find_hz(const char **wrong);
uint64_t clock_counts(void);
uint32_t clock_hz(void);
uint64_t board_now_ns(void);
_Noreturn void board_failed(uint32_t core, const char *task, const char *text);
"""
PROGRAM = """
#include <stdlib.h>

#include "arm_board.h"

_Alignas(8) unsigned char ccm[256], gpt[256], slcr[512];
static uint64_t clock;

uint64_t clock_counts(void)
{
    clock += READ_COUNTS;
    if (PER_REFERENCE != 0)
        *(volatile uint32_t *)(gpt + 0x24) = (uint32_t)(clock / PER_REFERENCE);
    return clock;
}

void board_failed(uint32_t core, const char *task, const char *text)
{
    const uint64_t before_ns = board_now_ns();
    printf("%s|%d|%u", text, board_now_ns() > before_ns, clock_hz());
    exit(2);
}

int main(void)
{
    *(uint32_t *)(slcr + 0x100) = FACTOR << 12;
    *(uint32_t *)(slcr + 0x120) = DIVISOR << 8;
    clock_begin();
    printf("%u", clock_hz());
    return 0;
}
"""


def begin(folder: Path, board: str, **numbers: int) -> subprocess.CompletedProcess[str]:
    (folder / "arm_board.h").write_text(DEVICES)
    (folder / "mpcore_clock.h").write_text('#include "arm_board.h"')
    (folder / "main.c").write_text(PROGRAM)
    for name in (f"{board}/clock.c", "cortex_a9/found_clock.c"):
        # A copy: what it includes by name is in its folder first.
        path = emulated.ROOT / "boards" / name
        (folder / path.name).write_bytes(path.read_bytes())
    numbers = {"per_reference": 1, "read_counts": 1, "factor": 0, "divisor": 0} | numbers
    defines = [f"-D{name.upper()}={number}" for name, number in numbers.items()]
    sources = [folder / name for name in ("main.c", "clock.c", "found_clock.c")]
    subprocess.run(["cc", "-O1", *defines, "-o", folder / "clock", *sources], check=True)
    return subprocess.run([folder / "clock"], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("mhz", [99, 396, 498])
def test_the_rate_is_measured_to_the_mhz(tmp_path: Path, mhz: int) -> None:
    begun = begin(tmp_path, "sabrelite", per_reference=mhz // 3, read_counts=7)
    assert (begun.returncode, begun.stdout) == (0, str(mhz * 1_000_000))


def test_the_rate_is_read_from_the_registers(tmp_path: Path) -> None:
    begun = begin(tmp_path, "zynq_7000", factor=40, divisor=2)
    assert (begun.returncode, begun.stdout) == (0, str(33_333_333 * 40 // 2 // 2))


@pytest.mark.parametrize(
    ("board", "why", "hz", "numbers"),
    [
        (
            "sabrelite",
            "the General Purpose Timer does not count",
            396_000_000,
            {"per_reference": 0},
        ),
        ("zynq_7000", "the frequency of the cores is not set", 333_333_333, {"factor": 40}),
        ("zynq_7000", "the frequency of the cores is not set", 333_333_333, {"divisor": 2}),
        ("zynq_7000", "count at less than 4 MHz", 4_000_000, {"factor": 1, "divisor": 5}),
    ],
)
def test_a_clock_that_cannot_be_found_out_ends_the_run_with_an_error(
    tmp_path: Path, board: str, why: str, hz: int, numbers: dict[str, int]
) -> None:
    begun = begin(tmp_path, board, **{"read_counts": 1000} | numbers)
    assert begun.returncode == 2
    said, goes_on, told = begun.stdout.split("|")
    # The message is sent by a clock that goes, at about the rate that it usually has.
    assert why in said and goes_on == "1" and int(told) == hz
