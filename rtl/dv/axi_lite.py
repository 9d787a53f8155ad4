# SPDX-License-Identifier: Apache-2.0
"""A master's port of AXI4-Lite, and what the wrapper makes of it on the units' own buses."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiLiteBus
from cocotbext.axi.axil_channels import (
    AxiLiteARSource,
    AxiLiteARTransaction,
    AxiLiteAWSource,
    AxiLiteAWTransaction,
    AxiLiteBSink,
    AxiLiteRSink,
    AxiLiteWSource,
    AxiLiteWTransaction,
)
from reference import Access

OKAY, SLVERR = 0, 2


@dataclass(frozen=True)
class Answer:
    data: int  # of a write: 0
    error: bool


class Axi:
    """The five channels of one port of `axi_lite_bench`."""

    def __init__(self, dut: SimHandleBase, port: int) -> None:
        bus = AxiLiteBus.from_prefix(dut, "s_axi", array_idx=port)
        self.aw = AxiLiteAWSource(bus.write.aw, dut.clk_i, dut.rst_ni, reset_active_level=False)
        self.w = AxiLiteWSource(bus.write.w, dut.clk_i, dut.rst_ni, reset_active_level=False)
        self.b = AxiLiteBSink(bus.write.b, dut.clk_i, dut.rst_ni, reset_active_level=False)
        self.ar = AxiLiteARSource(bus.read.ar, dut.clk_i, dut.rst_ni, reset_active_level=False)
        self.r = AxiLiteRSink(bus.read.r, dut.clk_i, dut.rst_ni, reset_active_level=False)

    def stall(self, rng: random.Random) -> None:
        """Each channel pauses at random, at times not at all and at times mostly."""

        def pauses() -> Iterator[bool]:
            while True:
                chance = rng.choice((0, 0.3, 0.8))
                yield from (rng.random() < chance for _ in range(rng.randrange(200)))

        for channel in (self.aw, self.w, self.b, self.ar, self.r):
            channel.set_pause_generator(pauses())

    def offer(self, access: Access) -> None:
        if access.write:
            self.aw.send_nowait(AxiLiteAWTransaction(awaddr=access.addr))
            self.w.send_nowait(AxiLiteWTransaction(wdata=access.data, wstrb=access.be))
        else:
            self.ar.send_nowait(AxiLiteARTransaction(araddr=access.addr))

    async def answer(self, access: Access) -> Answer:
        if access.write:
            data, resp = 0, int((await self.b.recv()).bresp)
        else:
            taken = await self.r.recv()
            data, resp = int(taken.rdata), int(taken.rresp)
        assert resp in (OKAY, SLVERR)
        return Answer(data, resp == SLVERR)

    async def access(self, access: Access) -> Answer:
        self.offer(access)
        return await self.answer(access)

    async def read(self, addr: int) -> int:
        answer = await self.access(Access(addr))
        assert not answer.error
        return answer.data

    async def write(self, addr: int, data: int) -> None:
        assert not (await self.access(Access(addr, True, data))).error


def on_the_bus(dut: SimHandleBase, ports: range) -> tuple[list[Access | None], list[bool]]:
    """What each port asks its unit for in this cycle, and whether it is granted."""
    names = ("req_o", "gnt_o", "we_o", "be_o", "addr_o", "wdata_o")
    req, gnt, we, be, addr, wdata = (int(getattr(dut, name).value) for name in names)
    accesses: list[Access | None] = []
    for p in ports:
        write = bool(we >> p & 1)
        data = wdata >> 32 * p & 0xFFFF_FFFF if write else 0
        access = Access(addr >> 12 * p & 0xFFF, write, data, be >> 4 * p & 15)
        accesses.append(access if req >> p & 1 else None)
    return accesses, [bool(gnt >> p & 1) for p in ports]


async def start(dut: SimHandleBase) -> list[Axi]:
    """Starts the clock, resets both units, and returns their ports."""
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0
    ports = [Axi(dut, p) for p in range(len(dut.req_o))]
    await ClockCycles(dut.clk_i, 2)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
    return ports
