# SPDX-License-Identifier: Apache-2.0
"""What the HW-RTOS must do, one sentence per test."""

import json
import os

import cocotb
from bus import Bus, start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles
from regs import HW_RTOS as R

NONE = 1 << 31
WORDS = json.loads(os.environ.get("RTL_PARAMETERS", "{}")).get("WordsPerPort", 1)
SEND, MORE = R.RegSend + 4 * 3, R.RegSendMore + 4 * 3
KEPT = (R.SendOpen, R.SendHeld)


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


async def retire_while_it_runs(bus: Bus) -> None:
    """Task 1 runs on core 1, task 2 on core 0, and core 0 retires task 1."""
    await create(bus, 1)
    assert await begin(bus, 1) == 1
    await create(bus, 2)
    assert await begin(bus, 0) == 2
    await bus.write(0, R.RegTaskConfig + 4, 0)


@cocotb.test()
async def a_retired_task_keeps_no_port(dut: SimHandleBase) -> None:
    bus = await start(dut)
    await retire_while_it_runs(bus)
    errors = await bus.read(1, R.RegErrors)
    await bus.write(1, SEND, 0xDEAD)
    assert await bus.read(1, R.RegStatus) == R.StatusNoTask
    assert await bus.read(1, R.RegErrors) == errors + (1 << 16)
    assert await bus.read(1, R.RegNextTask) == NONE
    await bus.write(1, R.RegSaved, 0)
    assert await bus.read(0, R.RegPortState + 4 * 3) & 3 not in KEPT
    await bus.write(0, SEND, 0xCAFE)
    assert await bus.read(0, R.RegStatus) == R.StatusOk


@cocotb.test(skip=WORDS == 1)
async def words_of_a_retired_task_are_not_in_its_successors_message(dut: SimHandleBase) -> None:
    bus = await start(dut)
    await retire_while_it_runs(bus)
    await bus.write(1, MORE, 0xDEAD)
    assert await bus.read(1, R.RegNextTask) == NONE
    await bus.write(1, R.RegSaved, 0)
    await create(bus, 1)
    assert await bus.read(1, R.RegNextTask) == 1
    await bus.write(1, MORE, 0xCAFE)
    await bus.write(1, SEND, 0xBEEF)
    assert await switch(bus, 1, R.CallBlock, port=5) == NONE
    received = [await bus.read(0, R.RegReceive + 4 * 3) for _ in range(3)]
    assert received == [0xCAFE, 0xBEEF, 0]


@cocotb.test()
async def what_a_task_sent_before_it_was_retired_is_there(dut: SimHandleBase) -> None:
    bus = await start(dut)
    await create(bus, 1)
    assert await begin(bus, 1) == 1
    await bus.write(1, SEND, 0xCAFE)
    await bus.write(0, R.RegTaskConfig + 4, 0)
    assert await bus.read(0, R.RegReceive + 4 * 3) == 0xCAFE


@cocotb.test()
async def a_refused_call_keeps_the_port_to_wait_for(dut: SimHandleBase) -> None:
    bus = await start(dut)
    await create(bus, 1)
    await bus.write(0, R.RegCallRtos, R.CallYield)
    await bus.write(0, R.RegWaitPort, 5)
    await bus.write(0, R.RegCallRtos, R.CallBlock)  # before the offered task is read
    assert await bus.read(0, R.RegStatus) == R.StatusOrder
    assert await bus.read(0, R.RegNextTask) == 1
    await bus.write(0, R.RegCallRtos, R.CallBlock)
    assert await bus.read(0, R.RegStatus) == R.StatusOk
    assert await bus.read(0, R.RegTaskState + 4) >> 8 & 0xFF == 5
    await bus.read(0, R.RegNextTask)
    await bus.write(0, R.RegSaved, 0)
    await bus.write(0, R.RegSendNow + 4 * 5, 1)
    assert await bus.read(0, R.RegNextTask) == 1
    await bus.write(0, R.RegCallRtos, R.CallBlock)  # an accepted call has used it up
    assert await bus.read(0, R.RegStatus) == R.StatusBadPort


@cocotb.test()
async def a_shorter_patience_takes_effect_at_once(dut: SimHandleBase) -> None:
    bus = await start(dut)
    await bus.write(0, R.RegPatience, 4000)
    await ClockCycles(dut.clk_i, 2)
    await create(bus, 1, prefers=1)
    await bus.write(0, R.RegPatience, 20)
    await bus.write(1, R.RegCallRtos, R.CallYield)  # its last core is core 0
    waited = 0
    while await bus.read(1, R.RegCurrent) == NONE:
        waited += 2
    assert waited <= 2 * 21
