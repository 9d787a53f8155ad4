# SPDX-License-Identifier: Apache-2.0
"""What AXI4-Lite ports of both units must do, one sentence per test."""

import sys
from collections import Counter
from itertools import count, pairwise
from pathlib import Path

import cocotb
from axi_lite import Answer, Axi, on_the_bus, start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp
from reference import Access
from regs import HW_RTOS as R
from regs import LOCK_UNIT as L

sys.path.append(str(Path(__file__).resolve().parents[2] / "reproduce/common"))

from stated import check

PAGE = "docs/rtl/axi_lite.md"
CORES = len(cocotb.top.req_o) // 2
LONG = 40  # cycles


class Granted:
    """The accesses of each port that its unit carried out."""

    def __init__(self, dut: SimHandleBase) -> None:
        self.dut = dut
        self.of: list[list[Access]] = [[] for _ in range(2 * CORES)]
        self.asked: Counter[int] = Counter()
        self.cycles: list[int] = []  # when port 0 was granted
        cocotb.start_soon(self.watch())

    async def watch(self) -> None:
        for cycle in count():
            await RisingEdge(self.dut.clk_i)
            await ReadOnly()
            accesses, granted = on_the_bus(self.dut, range(2 * CORES))
            self.cycles += [cycle] * (accesses[0] is not None and granted[0])
            for port, access in enumerate(accesses):
                self.asked[port] += access is not None
                if access is not None and granted[port]:
                    self.of[port].append(access)


async def message(port: Axi, number: int, word: int) -> None:
    await port.write(R.RegSendNow + 4 * number, word)


@cocotb.test()
async def an_address_waits_for_its_data_and_data_for_their_address(dut: SimHandleBase) -> None:
    ports, granted = await start(dut), Granted(dut)
    slice_to = [Access(R.RegSlice, True, data) for data in (7, 9)]
    for late, access in ((ports[0].w, slice_to[0]), (ports[0].aw, slice_to[1])):
        late.pause = True
        ports[0].offer(access)
        await ClockCycles(dut.clk_i, LONG)
        assert granted.asked[0] == len(granted.of[0])
        assert access not in granted.of[0]
        late.pause = False
        assert await ports[0].answer(access) == Answer(0, error=False)
        assert await ports[0].read(R.RegSlice) == access.data


@cocotb.test()
async def what_is_not_there_is_an_error_and_changes_nothing(dut: SimHandleBase) -> None:
    ports = await start(dut)
    nothing = ((ports[0], (0x02C, 0xA00, 0xFFC)), (ports[CORES], (0x020, 0xFFC)))
    for port, addresses in nothing:
        for address in addresses:
            assert (await port.access(Access(address))).error
            assert (await port.access(Access(address, True, 1))).error
    # What can only be written is not read, and what can only be read is not written.
    assert (await ports[0].access(Access(R.RegSaved))).error
    assert (await ports[0].access(Access(R.RegInfo, True, 1))).error
    await ports[0].write(R.RegSlice, 3)
    await ports[CORES].write(L.RegRequest, 0x80)
    for be in range(15):
        assert (await ports[0].access(Access(R.RegSlice, True, 9, be))).error
        assert (await ports[CORES].access(Access(L.RegRelease, True, 0x80, be))).error
    for odd in (1, 2, 3):
        assert (await ports[0].access(Access(R.RegSlice + odd))).error
        assert (await ports[0].access(Access(R.RegSlice + odd, True, 9))).error
    assert await ports[0].read(R.RegSlice) == 3
    assert await ports[CORES].read(L.RegGrant) == 1


@cocotb.test()
async def a_master_of_bytes_gets_errors(dut: SimHandleBase) -> None:
    await start(dut)
    master = AxiLiteMaster(
        AxiLiteBus.from_prefix(dut, "s_axi", array_idx=1), dut.clk_i, dut.rst_ni, False
    )
    whole = await master.write(R.RegSlice, (5).to_bytes(4, "little"))
    part = await master.write(R.RegSlice, (6).to_bytes(2, "little"))
    read = await master.read(R.RegSlice, 4)
    assert (whole.resp, part.resp, read.resp) == (AxiResp.OKAY, AxiResp.SLVERR, AxiResp.OKAY)
    assert int.from_bytes(read.data, "little") == 5


@cocotb.test()
async def a_slow_master_takes_one_message_with_one_read(dut: SimHandleBase) -> None:
    ports, granted = await start(dut), Granted(dut)
    await message(ports[1], 3, 0xAAAA)
    await message(ports[1], 3, 0xBBBB)
    receive = Access(R.RegReceive + 4 * 3)
    ports[0].r.pause = True
    ports[0].offer(receive)
    await ClockCycles(dut.clk_i, LONG)
    assert granted.of[0] == [receive]
    assert granted.asked[0] == 1
    ports[0].r.pause = False
    assert await ports[0].answer(receive) == Answer(0xAAAA, error=False)
    assert await ports[0].read(receive.addr) == 0xBBBB
    await ports[0].read(receive.addr)
    assert await ports[0].read(R.RegStatus) == R.StatusEmpty


@cocotb.test()
async def a_read_that_is_offered_ahead_waits_until_the_answer_before_is_taken(
    dut: SimHandleBase,
) -> None:
    ports, granted = await start(dut), Granted(dut)
    await message(ports[1], 3, 0xAAAA)
    await message(ports[1], 3, 0xBBBB)
    receive = Access(R.RegReceive + 4 * 3)
    ports[0].r.pause = True
    for _ in range(3):
        ports[0].offer(receive)
    await ClockCycles(dut.clk_i, LONG)
    assert granted.of[0] == [receive]
    ports[0].r.pause = False
    words = [(await ports[0].answer(receive)).data for _ in range(3)]
    assert words[:2] == [0xAAAA, 0xBBBB]
    assert granted.of[0] == [receive] * 3


@cocotb.test()
async def a_write_that_is_not_answered_holds_no_read_up(dut: SimHandleBase) -> None:
    ports = await start(dut)
    ports[0].b.pause = True
    write = Access(R.RegPatience, True, 5)
    ports[0].offer(write)
    await ClockCycles(dut.clk_i, LONG)
    assert await ports[0].read(R.RegPatience) == 5
    ports[0].b.pause = False
    assert await ports[0].answer(write) == Answer(0, error=False)


@cocotb.test()
async def a_core_waits_for_a_lock_on_its_own_port(dut: SimHandleBase) -> None:
    ports, granted = await start(dut), Granted(dut)
    first, second = ports[CORES], ports[CORES + 1]
    await first.write(L.RegAcquire, 0x80)
    acquire = Access(L.RegAcquire, True, 0x80)
    second.offer(acquire)
    second.offer(Access(L.RegGrant))  # behind it, or before
    await ClockCycles(dut.clk_i, LONG)
    assert acquire not in granted.of[CORES + 1]
    assert await first.read(L.RegGrant) == 1
    await first.write(L.RegRelease, 0x80)
    assert await second.answer(acquire) == Answer(0, error=False)
    await second.answer(Access(L.RegGrant))
    assert granted.of[CORES + 1].count(acquire) == 1


@cocotb.test()
async def reads_and_writes_take_turns(dut: SimHandleBase) -> None:
    ports, granted = await start(dut), Granted(dut)
    kinds = [Access(R.RegStatus), Access(R.RegSlice, True, 1)]
    for _ in range(LONG):
        for access in kinds:
            ports[0].offer(access)
    for _ in range(LONG):
        for access in kinds:
            await ports[0].answer(access)
    done = granted.of[0]
    assert len(done) == 2 * LONG
    assert all(one != other for one, other in pairwise(done))


async def until(dut: SimHandleBase, signal: str) -> int:
    """How many cycles pass until port 0 has the signal."""
    for cycle in count(1):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if int(getattr(dut, f"s_axi_{signal}")[0].value):
            return cycle
    raise AssertionError


@cocotb.test()
async def an_access_takes_the_cycles_that_the_page_states(dut: SimHandleBase) -> None:
    ports, granted = await start(dut), Granted(dut)
    for name, access, offered, answered in (
        ("write", Access(R.RegSlice, True, 1), "awvalid", "bvalid"),
        ("read", Access(R.RegSlice), "arvalid", "rvalid"),
    ):
        await RisingEdge(dut.clk_i)
        ports[0].offer(access)
        await until(dut, offered)
        cycles = await until(dut, answered)
        await ports[0].answer(access)
        granted.cycles.clear()
        for _ in range(LONG + 1):
            ports[0].offer(access)
        for _ in range(LONG + 1):
            await ports[0].answer(access)
        between = (granted.cycles[-1] - granted.cycles[0]) / LONG
        check(PAGE, [name], [cycles, between], 0)
