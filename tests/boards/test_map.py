# SPDX-License-Identifier: Apache-2.0
"""The memory of the board, which three files say: for the processor, the linker and the command."""

from __future__ import annotations

import re
import tomllib

import emulated

BOARD = emulated.ROOT / "boards/vexpress_a9"


def test_the_linker_script_and_the_board_file_have_the_memory_of_the_map() -> None:
    found = re.findall(r"^#define MAP_(\w+) (\w+)", (BOARD / "map.h").read_text(), re.MULTILINE)
    at = {name: int(value, 0) for name, value in found}
    parts = {"code": "CODE_MB", "private": "KERNEL_MB", "gvm": "GVM_MB"}
    linked = (BOARD / "link.ld").read_text()
    regions = dict(re.findall(r"^ +(\w+) \(\w+\) : (ORIGIN.*)$", linked, re.MULTILINE))
    assert regions == {
        name: f"ORIGIN = {at[name.upper()]:#x}, LENGTH = {at[size]}M"
        for name, size in parts.items()
    }
    board = tomllib.loads((BOARD / "board.toml").read_text())
    assert board["board"]["cores"] == at["CORES"]
    # Of the gvm the launcher has 2 MiB, and an application's globals what board.toml leaves.
    assert int(board["memory"]["gvm"].removesuffix("KiB")) < (at["GVM_MB"] - 2) * 1024
    assert board["memory"] | {"stack_least": "", "guard": "", "gvm": ""} == {
        "stack_least": "",
        "guard": "",
        "gvm": "",
        "stacks": f"{at['STACKS_MB']}MiB",
        "private": f"{at['PRIVATE_MB'] - at['KERNEL_MB']}MiB",
    }
