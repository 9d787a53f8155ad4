# SPDX-License-Identifier: Apache-2.0
"""Each register is described once, in SystemRDL: the packages, the headers for C and the pages have
what it says, the hardware does, and PeakRDL gives the same numbers."""

import subprocess
from pathlib import Path

import pytest
from peakrdl_cheader.exporter import CHeaderExporter
from registers import Unit, units
from regs import HW_RTOS

from bench import RTL, build, run

UNITS = {one.name: one for one in units()}


@pytest.mark.parametrize("one", UNITS.values(), ids=lambda one: one.name)
def test_files_have_what_the_description_says(one: Unit) -> None:
    stale = [file.name for file, text in one.files().items() if file.read_text() != text]
    assert stale == [], "write them anew: make rtl-registers"


def test_the_bit_for_no_task_is_that_of_the_description() -> None:
    fields = [
        field
        for register in UNITS["hw_rtos"].registers
        for field in register.fields()
        if field.inst_name == "none"
    ]
    assert [field.low for field in fields] == [HW_RTOS.NoTaskBit] * 2


@pytest.mark.parametrize("one", UNITS.values(), ids=lambda one: one.name)
def test_peakrdl_gives_the_same_numbers(one: Unit, tmp_path: Path) -> None:
    CHeaderExporter().export(one.registers[0].parent, str(tmp_path / "peakrdl.h"))
    lines = ["#include <stddef.h>", '#include "peakrdl.h"', f'#include "{one.name}_regs.h"']
    for register in one.registers:
        offset = one.macro(register.inst_name)
        lines.append(
            f'_Static_assert(offsetof({one.name}_t, {register.inst_name}) == {offset}, "");'
        )
    (tmp_path / "same.c").write_text("\n".join([*lines, ""]))
    subprocess.run(
        ["cc", "-std=c11", "-fsyntax-only", f"-I{RTL / one.name}", str(tmp_path / "same.c")],
        check=True,
    )


@pytest.mark.parametrize("one", UNITS.values(), ids=lambda one: one.name)
def test_the_hardware_has_the_registers_of_the_description(one: Unit) -> None:
    parameters = {"NumCores": 2}
    if one.name == "hw_rtos":
        parameters |= {"NumTasks": 16, "NumPorts": 16}
    where = build(one.name, parameters)
    run(where, one.name, "register_access", {"Top": one.name})
