# SPDX-License-Identifier: Apache-2.0
"""What hardware needs of a program's start, as far as an emulator shows it."""

from __future__ import annotations

import re
import subprocess
import threading

import emulated
import pytest
from running import WHIMBREL

NUMBERS = 100  # of fault_injection


# ---- No debugger answers ------------------------------------------------------------------------


@pytest.mark.parametrize("board", [emulated.VEXPRESS, emulated.VIRT], ids=lambda board: board.name)
def test_without_a_debugger_a_program_has_no_files_and_prints_on_the_uart(
    board: emulated.Board,
) -> None:
    command = [board.qemu, *board.machine, "-smp", "4", "-serial", "stdio"]
    command += ["-kernel", str(board.build / "ordinary")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
        limit = threading.Timer(emulated.LIMIT_S, running.kill)
        limit.start()
        try:
            lines = (line for line in running.stdout if not line.startswith(b"audio:"))
            assert next(lines, b"") == b"no files\r\n"
            # Of a fault inside of a print.
            said = rb"core 0: the kernel crashed at address 0x10, instruction 0x[0-9a-f]+\r\n"
            assert re.fullmatch(said, next(lines, b""))
        finally:
            limit.cancel()
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


# ---- Zynq-7000 ----------------------------------------------------------------------------------

CRYSTAL_HZ = 33_333_333
ARM_PLL_CTRL, ARM_CLK_CTRL = 0xF8000100, 0xF8000120


def test_an_application_runs_on_the_first_core_of_a_zynq() -> None:
    board = emulated.patient("zynq_7000")
    app = emulated.ROOT / "apps/hello/app.toml"
    done = subprocess.run(
        [WHIMBREL, "run", app, "--board", board],
        capture_output=True,
        text=True,
        timeout=2 * emulated.LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "200 messages, then the bird was gone" in done.stdout + done.stderr

    image = emulated.ZYNQ.build / "hello.elf"
    listed = subprocess.run(
        ["arm-none-eabi-nm", image], capture_output=True, text=True, check=True
    ).stdout
    at = {name: int(value, 16) for value, name in re.findall(r"^(\w+) \S (\S+)$", listed, re.M)}
    with emulated.Watched(emulated.ZYNQ, "hello.elf") as watched:
        # The registers say how fast its timers would count.
        factor, divisor = watched.word(ARM_PLL_CTRL) >> 12, watched.word(ARM_CLK_CTRL) >> 8 & 0x3F
        watched.wait_for(at["rate"], CRYSTAL_HZ * factor // divisor // 2)
        # A second core would begin there.
        assert watched.word(0xFFFFFFF0) == at["_start"]
