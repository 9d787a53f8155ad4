# SPDX-License-Identifier: Apache-2.0
"""The timer under random accesses, every output in every cycle as a model has it."""

import json
import os
import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, Timer

CORES = json.loads(os.environ["RTL_PARAMETERS"])["NumCores"]
SOFTWARE, COMPARE, TIME = 0x0000, 0x4000, 0xBFF8
NEVER = (1 << 64) - 1


class Model:
    """What the timer is after so many cycles."""

    def __init__(self) -> None:
        self.time = 0
        self.software, self.compare = [0] * CORES, [NEVER] * CORES
        self.late = [False] * CORES

    def read(self, address: int) -> int | None:
        """None: no register."""
        for core in range(CORES):
            if address == SOFTWARE + 4 * core:
                return self.software[core]
            if address in (COMPARE + 8 * core, COMPARE + 8 * core + 4):
                return self.compare[core] >> 8 * (address & 4) & 0xFFFFFFFF
        if address in (TIME, TIME + 4):
            return self.time >> 8 * (address & 4) & 0xFFFFFFFF
        return None

    def step(self, write: tuple[int, int] | None) -> None:
        """A cycle, with a write to an address."""
        self.late = [self.time >= at for at in self.compare]
        self.time += 1
        for core in range(CORES):
            if write and write[0] == SOFTWARE + 4 * core:
                self.software[core] = write[1] & 1
            if write and write[0] in (COMPARE + 8 * core, COMPARE + 8 * core + 4):
                shift = 8 * (write[0] & 4)
                kept = self.compare[core] & ~(0xFFFFFFFF << shift)
                self.compare[core] = kept | write[1] << shift
                self.late[core] = False


def bits(values: list) -> int:
    return sum(bool(value) << place for place, value in enumerate(values))


@cocotb.test()
async def every_output_is_that_of_the_model(dut: SimHandleBase) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    rng, model, seen = random.Random(2007), Model(), Counter()
    addresses = [SOFTWARE + 4 * core for core in range(CORES + 1)]
    addresses += [COMPARE + 4 * half for half in range(2 * CORES + 1)]
    addresses += [TIME, TIME + 4, 0x8000]
    dut.rst_ni.value, dut.sel_i.value, dut.we_i.value = 0, 0, 0
    dut.addr_i.value, dut.wdata_i.value = 0, 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(8000):
        selected, writes, address = rng.random() < 0.4, rng.random() < 0.5, rng.choice(addresses)
        # Times that come soon, have passed, or are far away.
        data = rng.choice((0, 1, (model.time + rng.randrange(-20, 60)) & 0xFFFFFFFF, 0xFFFFFFFF))
        dut.sel_i.value, dut.we_i.value = selected, writes
        dut.addr_i.value, dut.wdata_i.value = address, data
        await Timer(1, "ns")
        there = model.read(address)
        bad = there is None or (writes and address in (TIME, TIME + 4))
        assert int(dut.err_o.value) == bad
        assert int(dut.rdata_o.value) == (there or 0)
        assert int(dut.irq_timer_o.value) == bits(model.late)
        assert int(dut.irq_software_o.value) == bits(model.software)
        seen["a refused access"] += selected and bad
        seen["a time in force"] += any(model.late)
        seen["all late"] += all(model.late)
        seen["another core is rung"] += any(model.software)
        before = list(model.late)
        model.step((address, data) if selected and writes and not bad else None)
        seen["a write ends an interrupt"] += bits(before) & ~bits(model.late) != 0
        await FallingEdge(dut.clk_i)
    cocotb.log.info(f"coverage: {dict(seen)}")
    wanted = ("a refused access", "a time in force", "all late", "another core is rung")
    assert [name for name in (*wanted, "a write ends an interrupt") if seen[name] == 0] == []
