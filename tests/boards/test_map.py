# SPDX-License-Identifier: Apache-2.0
"""The memory of the board, which three files say: for the processor, the linker and the command."""

from __future__ import annotations

import re
import subprocess
import tomllib

import emulated
import pytest

BOARD = emulated.ROOT / "boards/vexpress_a9"


@pytest.mark.parametrize("name", ["vexpress_a9", "virt_a64"])
def test_the_linker_script_and_the_board_file_have_the_memory_of_the_map(name: str) -> None:
    folder = emulated.ROOT / "boards" / name
    found = re.findall(r"^#define MAP_(\w+) (\w+)", (folder / "map.h").read_text(), re.MULTILINE)
    at = {name: int(value, 0) for name, value in found}
    parts = {"code": "CODE_MB", "private": "KERNEL_MB", "gvm": "GVM_MB"}
    linked = (folder / "link.ld").read_text()
    regions = dict(re.findall(r"^ +(\w+) \(\w+\) : (ORIGIN.*)$", linked, re.MULTILINE))
    assert regions == {
        name: f"ORIGIN = {at[name.upper()]:#x}, LENGTH = {at[size]}M"
        for name, size in parts.items()
    }
    board = tomllib.loads((folder / "board.toml").read_text())
    assert board["board"]["cores"] == at["CORES"]
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
    launcher_mb = re.search(r"MAP_LAUNCHER_MB (\d+)", (BOARD / "map.h").read_text())[1]
    assert 0 <= at["gvm_end"] - at["gvm_begin"] - (int(launcher_mb) << 20) < 64 << 10
