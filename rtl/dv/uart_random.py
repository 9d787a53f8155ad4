# SPDX-License-Identifier: Apache-2.0
"""The serial line under random accesses and bytes: every output is that of a model."""

import json
import os
import random
from collections import Counter, deque

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, Timer

SIZE = json.loads(os.environ["RTL_PARAMETERS"])
PACE, DEPTH = SIZE["CyclesPerByte"], SIZE["Depth"]
DATA, STATUS, LOST, CONTROL = 0, 4, 8, 12


class Model:
    """Two queues, and what did not fit."""

    def __init__(self) -> None:
        self.pace, self.control = 0, 0
        self.received: deque[int] = deque()
        self.sent: deque[int] = deque()
        self.rx_lost = self.tx_lost = 0

    def read(self, address: int) -> int | None:
        """None: no register."""
        status = (len(self.received) > 0) | (len(self.sent) < DEPTH) << 1
        status |= len(self.received) << 8 | (DEPTH - len(self.sent)) << 16
        return {
            DATA: self.received[0] if self.received else 0,
            STATUS: status,
            LOST: self.tx_lost << 16 | self.rx_lost,
            CONTROL: self.control,
        }.get(address)

    def step(self, access: tuple[int, bool, int] | None, byte: int | None) -> None:
        """A cycle: an address, whether it is written, and with what; a byte that comes."""
        tick, was_full = self.pace == 0, len(self.received) == DEPTH
        self.pace = PACE - 1 if tick else self.pace - 1
        address, writes, data = access or (None, False, 0)
        if address == DATA and not writes and self.received:
            self.received.popleft()
        if byte is not None and not was_full:
            self.received.append(byte)
        self.rx_lost += byte is not None and was_full
        was_full = len(self.sent) == DEPTH
        if tick and self.sent:
            self.sent.popleft()
        if address == DATA and writes and not was_full:
            self.sent.append(data & 0xFF)
        self.tx_lost += address == DATA and writes and was_full
        if address == CONTROL and writes:
            self.control = data & 1


@cocotb.test()
async def every_output_is_that_of_the_model(dut: SimHandleBase) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    rng, model, seen = random.Random(2007), Model(), Counter()
    dut.rst_ni.value, dut.sel_i.value, dut.we_i.value, dut.rx_valid_i.value = 0, 0, 0, 0
    dut.addr_i.value, dut.wdata_i.value, dut.rx_data_i.value = 0, 0, 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for cycle in range(12000):
        # Who reads, who sends and who is outside are each quick for a while, and then slow.
        if cycle % 500 == 0:
            reads, writes, comes = (rng.choice((0.02, 0.2, 0.6)) for _ in range(3))
        kind = rng.random()
        access = None
        if kind < reads:
            access = (rng.choice((DATA, DATA, STATUS, LOST, CONTROL, 16)), False, 0)
        elif kind < reads + writes:
            access = (rng.choice((DATA, DATA, DATA, STATUS, CONTROL)), True, rng.getrandbits(32))
        address, we, data = access or (rng.choice((DATA, STATUS)), False, 0)
        # Mostly when there is room, as the outer side does; sometimes not.
        room = model.pace == 0 and len(model.received) < DEPTH
        byte = rng.getrandbits(8) if rng.random() < (comes if room else comes / 20) else None
        dut.sel_i.value, dut.we_i.value = access is not None, we
        dut.addr_i.value, dut.wdata_i.value = address, data
        dut.rx_valid_i.value, dut.rx_data_i.value = byte is not None, byte or 0
        await Timer(1, "ns")
        there = model.read(address)
        assert int(dut.rdata_o.value) == (there or 0)
        assert int(dut.err_o.value) == (there is None or (we and address in (STATUS, LOST)))
        assert int(dut.irq_o.value) == bool(model.control and model.received)
        assert int(dut.rx_ready_o.value) == room
        assert int(dut.tx_valid_o.value) == (model.pace == 0 and len(model.sent) > 0)
        if int(dut.tx_valid_o.value):
            assert int(dut.tx_data_o.value) == model.sent[0]
        seen["received, full"] += len(model.received) == DEPTH
        seen["sent, full"] += len(model.sent) == DEPTH
        seen["an interrupt"] += int(dut.irq_o.value)
        seen["nothing to read"] += access == (DATA, False, 0) and not model.received
        model.step(access, byte)
        await FallingEdge(dut.clk_i)
    seen["lost, received"], seen["lost, sent"] = model.rx_lost, model.tx_lost
    cocotb.log.info(f"coverage: {dict(seen)}")
    assert len(seen) == 6 and min(seen.values()) > 0
