# SPDX-License-Identifier: Apache-2.0
"""What the Lock Unit must do, one sentence per test."""

import cocotb
from bus import start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ReadOnly, RisingEdge
from regs import LOCK_UNIT as R

HERE, THERE = 0x8000_0010, 0x8000_0014


@cocotb.test()
async def a_grant_comes_one_cycle_after_the_request(dut: SimHandleBase) -> None:
    bus = await start(dut)
    bus.drive(1, req_i=1, we_i=1, be_i=15, addr_i=R.RegRequest, wdata_i=HERE)
    await ReadOnly()
    assert bus.bit("gnt_o", 1)
    await RisingEdge(dut.clk_i)
    bus.drive(1, req_i=1, we_i=0, addr_i=R.RegGrant)
    await RisingEdge(dut.clk_i)
    bus.drive(1, req_i=0)
    await ReadOnly()
    assert bus.word("rdata_o", 1) == 1
