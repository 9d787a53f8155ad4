# SPDX-License-Identifier: Apache-2.0
"""Software and hardware have the same registers: the headers for C are those of the packages."""

import re

import pytest
from regs import HW_RTOS, LOCK_UNIT, RTL

# What the header names of a register's bits, which the package only describes.
FIELDS = re.compile(r"HW_RTOS_(NO_TASK|CONTROL_|TASK_(VALID|PRE|PRI|AFF)|STATE_|PORT_(IMM|MES))")


def c_name(unit: str, name: str) -> str:
    words = re.findall(r"[A-Z][a-z]*", name.removeprefix("Reg"))
    return "_".join([unit, *words]).upper()


def header(path: str) -> dict[str, int]:
    text = (RTL / path).read_text()
    defines = re.findall(r"#define (\w+) (0x\w+)U", text)
    members = re.findall(r"^    (\w+) = (\d+)", text, re.MULTILINE)
    return {name: int(value, 0) for name, value in [*defines, *members] if not FIELDS.match(name)}


@pytest.mark.parametrize(
    ("unit", "package", "path"),
    [
        ("HW_RTOS", HW_RTOS, "hw_rtos/hw_rtos_regs.h"),
        ("LOCK_UNIT", LOCK_UNIT, "lock_unit/lock_unit_regs.h"),
    ],
)
def test_the_header_for_c_has_the_numbers_of_the_package(
    unit: str, package: object, path: str
) -> None:
    wanted = {c_name(unit, name): value for name, value in vars(package).items()}
    assert header(path) == wanted
    assert len(wanted) >= 11
