# SPDX-License-Identifier: Apache-2.0
"""What the HW-RTOS must do, one sentence per test."""

import cocotb
from bus import Bus, start
from cocotb.handle import SimHandleBase
from regs import HW_RTOS as R

NONE = 1 << 31


async def create(
    bus: Bus, task: int, priority: int = 1, affinity: int = 3, prefers: int = 0
) -> None:
    config = 1 | prefers << 1 | priority << 8 | affinity << 16
    await bus.write(0, R.RegTaskConfig + 4 * task, config)


async def begin(bus: Bus, core: int) -> int:
    """Starts a core, and has it take its first task."""
    await bus.write(core, R.RegCallRtos, R.CallYield)
    return await bus.read(core, R.RegNextTask)


async def switch(bus: Bus, core: int, call: int, port: int | None = None) -> int:
    """A whole switch of context."""
    if port is not None:
        await bus.write(core, R.RegWaitPort, port)
    await bus.write(core, R.RegCallRtos, call)
    task = await bus.read(core, R.RegNextTask)
    await bus.write(core, R.RegSaved, 0)
    return task


@cocotb.test()
async def a_message_is_visible_when_its_sender_blocks(dut: SimHandleBase) -> None:
    bus = await start(dut)
    await create(bus, 1)
    await create(bus, 2)
    assert await begin(bus, 0) == 1
    assert await switch(bus, 0, R.CallBlock, port=5) == 2
    await bus.write(0, R.RegSend + 4 * 5, 0xCAFE)
    assert await bus.read(0, R.RegPortState + 4 * 5) & 7 == R.SendHeld
    assert await switch(bus, 0, R.CallBlock, port=6) == 1
    assert await bus.read(0, R.RegReceive + 4 * 5) == 0xCAFE
    assert await bus.read(0, R.RegReceive + 4 * 5) == 0
    assert await bus.read(0, R.RegStatus) == R.StatusEmpty
    assert await switch(bus, 0, R.CallBlock, port=5) == NONE
