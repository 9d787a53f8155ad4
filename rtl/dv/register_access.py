# SPDX-License-Identifier: Apache-2.0
"""Every word of a unit is read and written as its description says; all others are bus errors."""

import json
import os

import cocotb
from bus import Bus, BusError, start
from cocotb.handle import SimHandleBase
from registers import access, units

TOP = json.loads(os.environ["RTL_PARAMETERS"])["Top"]
(UNIT,) = [one for one in units() if one.name == TOP]
KNOWN = {
    register.raw_address_offset + 4 * index: access(register)
    for register in UNIT.registers
    for index in range(register.n_elements)
}


async def answers(bus: Bus, address: int, data: int | None) -> bool:
    try:
        await bus.access(0, address, data)
    except BusError:
        return False
    return True


@cocotb.test()
async def each_word_has_its_access(dut: SimHandleBase) -> None:
    bus = await start(dut)
    found = {}
    for address in range(0, 0x1000, 4):
        read = await answers(bus, address, None)
        written = await answers(bus, address, 0)
        if read or written:
            found[address] = "r" * read + "w" * written
    assert found == KNOWN
