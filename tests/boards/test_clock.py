# SPDX-License-Identifier: Apache-2.0
"""The clock of the sabrelite, compiled for this machine: its devices are variables."""

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

extern unsigned char ccm[256], gpt[256];
void clock_begin(void);
uint64_t clock_counts(void);
uint32_t clock_hz(void);
uint64_t board_now_ns(void);
_Noreturn void board_failed(uint32_t core, const char *task, const char *text);
"""
PROGRAM = """
#include <stdlib.h>

#include "arm_board.h"

_Alignas(8) unsigned char ccm[256], gpt[256];
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
    printf("%s, the time goes on: %d", text, board_now_ns() > 1000000000);
    exit(2);
}

int main(void)
{
    clock_begin();
    printf("%u", clock_hz());
    return 0;
}
"""


def begin(folder: Path, per_reference: int, read_counts: int) -> subprocess.CompletedProcess[str]:
    (folder / "arm_board.h").write_text(DEVICES)
    (folder / "mpcore_clock.h").write_text("")
    (folder / "main.c").write_text(PROGRAM)
    clock = folder / "clock.c"  # a copy: what it includes by name is in its folder first
    clock.write_bytes((emulated.ROOT / "boards/sabrelite/clock.c").read_bytes())
    numbers = [f"-DPER_REFERENCE={per_reference}", f"-DREAD_COUNTS={read_counts}"]
    command = ["cc", "-O1", *numbers, "-I", folder, "-o", folder / "clock"]
    subprocess.run([*command, clock, folder / "main.c"], check=True)
    return subprocess.run([folder / "clock"], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("mhz", [99, 396, 498])
def test_the_rate_is_measured_to_the_mhz(tmp_path: Path, mhz: int) -> None:
    begun = begin(tmp_path, per_reference=mhz // 3, read_counts=7)
    assert (begun.returncode, begun.stdout) == (0, str(mhz * 1_000_000))


def test_a_reference_that_does_not_count_ends_the_run_with_an_error(tmp_path: Path) -> None:
    begun = begin(tmp_path, per_reference=0, read_counts=1000)
    assert begun.returncode == 2
    assert begun.stdout.startswith("the General Purpose Timer does not count")
    assert begun.stdout.endswith("the time goes on: 1")
