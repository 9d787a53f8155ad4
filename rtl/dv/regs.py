# SPDX-License-Identifier: Apache-2.0
"""The numbers of the packages, as Python names: read from the SystemVerilog."""

import re
from pathlib import Path
from types import SimpleNamespace

RTL = Path(__file__).resolve().parent.parent


def package(path: str) -> SimpleNamespace:
    """Constants of `localparam` and of enumerations with explicit values."""
    text = re.sub(r"//.*", "", (RTL / path).read_text())
    found = {}
    for name, value in re.findall(r"localparam logic \[11:0\] (\w+)\s*= 12'h(\w+);", text):
        found[name] = int(value, 16)
    for name, value in re.findall(r"localparam int unsigned (\w+)\s*= (\d+);", text):
        found[name] = int(value)
    for name, value in re.findall(r"^\s+(\w+)\s*= \d+'d(\d+)", text, re.MULTILINE):
        found[name] = int(value)
    return SimpleNamespace(**found)


HW_RTOS = package("hw_rtos/rtos_pkg.sv")
LOCK_UNIT = package("lock_unit/lock_pkg.sv")
