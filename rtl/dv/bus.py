# SPDX-License-Identifier: Apache-2.0
"""A core's port, as Ibex's load and store unit drives it."""

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge


class Bus:
    """All cores' ports of a unit. Signals are packed arrays, one element per core."""

    def __init__(self, dut: SimHandleBase, cores: int) -> None:
        self.dut, self.cores = dut, cores
        self.fields = {"req_i": 1, "we_i": 1, "be_i": 4, "addr_i": 12, "wdata_i": 32}
        self.values = {name: [0] * cores for name in self.fields}
        for name in self.fields:
            getattr(dut, name).value = 0

    def drive(self, core: int, **fields: int) -> None:
        for name, value in fields.items():
            self.values[name][core] = value
            width = self.fields[name]
            packed = sum(one << (width * c) for c, one in enumerate(self.values[name]))
            getattr(self.dut, name).value = packed

    def bit(self, name: str, core: int) -> int:
        return (int(getattr(self.dut, name).value) >> core) & 1

    def word(self, name: str, core: int) -> int:
        return (int(getattr(self.dut, name).value) >> (32 * core)) & 0xFFFF_FFFF

    async def access(self, core: int, addr: int, data: int | None, be: int = 15) -> tuple[int, int]:
        """One access: the data read, and how many cycles the grant took. Raises on a bus error."""
        write = data is not None
        self.drive(core, req_i=1, we_i=int(write), be_i=be, addr_i=addr, wdata_i=data or 0)
        waited = 0
        while True:
            await ReadOnly()
            granted = self.bit("gnt_o", core)
            await RisingEdge(self.dut.clk_i)
            if granted:
                break
            waited += 1
        self.drive(core, req_i=0)
        await ReadOnly()
        assert self.bit("rvalid_o", core), "no answer one cycle after the grant"
        if self.bit("err_o", core):
            await RisingEdge(self.dut.clk_i)
            raise BusError(f"{addr:#x}")
        value = self.word("rdata_o", core)
        await RisingEdge(self.dut.clk_i)
        return value, waited

    async def read(self, core: int, addr: int) -> int:
        return (await self.access(core, addr, None))[0]

    async def write(self, core: int, addr: int, data: int) -> None:
        await self.access(core, addr, data)


class BusError(Exception):
    """There is no such register."""


async def start(dut: SimHandleBase) -> Bus:
    """Starts the clock, and resets the unit."""
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    bus = Bus(dut, len(dut.req_i))
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
    return bus
