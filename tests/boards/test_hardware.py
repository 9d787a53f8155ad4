# SPDX-License-Identifier: Apache-2.0
"""What hardware needs of a program's start, as far as an emulator shows it."""

from __future__ import annotations

import subprocess

import emulated
import pytest

NUMBERS = 100  # of fault_injection


# ---- No debugger answers ------------------------------------------------------------------------


@pytest.mark.parametrize("board", [emulated.VEXPRESS, emulated.VIRT], ids=lambda board: board.name)
def test_without_a_debugger_a_program_prints_on_the_uart(board: emulated.Board) -> None:
    command = [board.qemu, *board.machine, "-smp", "4", "-serial", "stdio"]
    command += ["-kernel", str(board.build / "ordinary")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        # Without words on its command line it has no case to run.
        lines = (line for line in running.stdout if not line.startswith(b"audio:"))
        assert next(lines) == b"no case \r\n"
        running.kill()


def test_without_a_debugger_the_launcher_serves_its_line_to_the_end() -> None:
    with emulated.Launched("fault_injection", semihosting=False) as board:
        board.start()
        board.hear("started")
        end = board.hear("end")
    assert end["ok"]
    received = {c["channel"]: c["received"] for c in end["status"]["channels"]}
    assert received["source_sink"] == NUMBERS


# ---- The L2 cache -------------------------------------------------------------------------------


def test_the_first_core_enables_the_l2_cache() -> None:
    with emulated.Watched(emulated.VEXPRESS, "ordinary", "-smp", "4") as watched:
        watched.wait_for(0x1E00A100, 1)  # the control register of its PL310
