# SPDX-License-Identifier: Apache-2.0
"""The timing diagrams of docs/rtl are so: their inputs are driven, and their outputs compared."""

import json
import os
import re

import cocotb
import regs
from bus import Bus, start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ReadOnly, RisingEdge
from waves import diagrams, values

TOP = json.loads(os.environ["RTL_PARAMETERS"])["Top"]
PACKAGE = regs.HW_RTOS if TOP == "hw_rtos" else regs.LOCK_UNIT


def number(text: str) -> int:
    """`CallRtos`, `Receive+5`, `0x12`, `7`: a register, that of a port or task, or a number."""
    name, _, index = text.partition("+")
    known = vars(PACKAGE).get(f"Reg{name}", vars(PACKAGE).get(name))
    return int(text, 0) if known is None else known + 4 * int(index or 0)


async def play(dut: SimHandleBase, bus: Bus, content: dict) -> None:
    """`setup` has accesses before the first cycle: core, register, and what is written, if so."""
    for core, register, *data in content.get("setup", []):
        if data:
            await bus.write(core, number(register), number(str(data[0])))
        else:
            await bus.read(core, number(register))
    signals = {one["name"]: values(one) for one in content["signal"] if "name" in one}
    signals.pop("clk_i")
    for cycle in range(len(next(iter(signals.values())))):
        for name, shown in signals.items():
            found = re.fullmatch(r"(\w+_i)\[(\d)\]", name)
            if found:
                text = shown[cycle]
                bus.drive(int(found[2]), **{found[1]: 0 if text == "x" else number(text)})
        await ReadOnly()
        for name, shown in signals.items():
            found = re.fullmatch(r"(\w+_o)\[(\d)\]", name)
            if found and shown[cycle] != "x":
                output = getattr(dut, found[1])
                width = len(output) // bus.cores
                value = int(output.value) >> width * int(found[2]) & (2**width - 1)
                wanted = number(shown[cycle])
                assert value == wanted, f"{name} in cycle {cycle}: {value:#x}, not {wanted:#x}"
        await RisingEdge(dut.clk_i)


@cocotb.test()
@cocotb.parametrize(diagram=[one for one in diagrams() if one.content()["unit"] == TOP])
async def is_what_the_hardware_does(dut: SimHandleBase, diagram: object) -> None:
    bus = await start(dut)
    for core in range(bus.cores):
        bus.drive(core, req_i=0, we_i=0, be_i=15, addr_i=0, wdata_i=0)
    await play(dut, bus, diagram.content())
