# SPDX-License-Identifier: Apache-2.0
"""The memory of the board, which three files say: for the processor, the linker and the command."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import emulated
import pytest


def addresses(folder: Path) -> dict[str, int]:
    """What the board's map says, of which a part may be in the folder of its processor."""
    include = ["-I", emulated.ROOT / "boards/cortex_a9", "-include", folder / "map.h"]
    names = "CORES CODE CODE_MB PRIVATE PRIVATE_MB KERNEL_MB GVM GVM_MB LAUNCHER_MB GLOBALS_KB"
    asked = "".join(f"{name} MAP_{name}\n" for name in f"{names} STACKS_MB".split())
    said = subprocess.run(
        ["arm-none-eabi-cpp", "-P", *include, "-"],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {
        name: sum(int(part, 0) for part in value.strip("()").split(" + "))
        for name, value in re.findall(r"^(\w+) (.+)$", said, re.MULTILINE)
    }


# Of its cores.
IN_QEMU = {"zynq_7000": 1}


@pytest.mark.parametrize(
    "name", ["vexpress_a9", "realview_pbx_a9", "sabrelite", "zynq_7000", "virt_a64"]
)
def test_the_linker_script_and_the_board_file_have_the_memory_of_the_map(name: str) -> None:
    folder = emulated.ROOT / "boards" / name
    at = addresses(folder)
    parts = {"code": "CODE_MB", "private": "KERNEL_MB", "gvm": "GVM_MB"}
    linked = (folder / "link.ld").read_text()
    regions = dict(re.findall(r"^ +(\w+) \(\w+\) : (ORIGIN.*)$", linked, re.MULTILINE))
    assert regions == {
        name: f"ORIGIN = {at[name.upper()]:#x}, LENGTH = {at[size]}M"
        for name, size in parts.items()
    }
    board = tomllib.loads((folder / "board.toml").read_text())
    assert board["board"]["cores"] == IN_QEMU.get(name, at["CORES"])
    gvm_kb = (at["GVM_MB"] - at["LAUNCHER_MB"]) * 1024 - at["GLOBALS_KB"]
    parts_of_memory = {key: board["memory"][key] for key in ("gvm", "stacks", "private")}
    assert parts_of_memory == {
        "gvm": f"{gvm_kb}KiB",
        "stacks": f"{at['STACKS_MB']}MiB",
        "private": f"{at['PRIVATE_MB'] - at['KERNEL_MB']}MiB",
    }


def test_the_launcher_takes_no_more_than_the_map_has_for_it() -> None:
    """With the globals of an application that has next to none."""
    listed = subprocess.run(
        ["arm-none-eabi-nm", emulated.BUILD / "fault_injection"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    at = {name: int(value, 16) for value, name in re.findall(r"^(\w+) \S (gvm_\w+)$", listed, re.M)}
    launcher_mb = addresses(emulated.ROOT / "boards/vexpress_a9")["LAUNCHER_MB"]
    assert 0 <= at["gvm_end"] - at["gvm_begin"] - (launcher_mb << 20) < 64 << 10
