# SPDX-License-Identifier: Apache-2.0
"""Cores that read and write both units through AXI4-Lite, with stalls on all channels: in every
cycle the units' own buses do what the models of the units do, each transaction is one access
there, and its answer is the one of the model. What happened is counted, and all that may happen
must have."""

import json
import os
import random
from collections import Counter, deque

import cocotb
import hw_rtos_random
import lock_unit_random
import reference
from axi_lite import Answer, Axi, on_the_bus, start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from reference import Access
from regs import HW_RTOS as R
from regs import LOCK_UNIT as L

SIZE = json.loads(os.environ["RTL_PARAMETERS"])
CORES = SIZE["NumCores"]
CYCLES = 6000 * int(os.environ["RTL_TIMES"])


class HwRtos:
    """The model of the HW-RTOS, and software for it."""

    effects = (
        f"a read of {R.RegNextTask:#05x}",
        f"a read of {R.RegReceive:#05x}",
        f"a write of {R.RegCallRtos:#05x}",
        f"a write of {R.RegSend:#05x}",
    )

    def __init__(self, rng: random.Random) -> None:
        self.model = reference.Model(CORES, SIZE["NumTasks"], SIZE["NumPorts"], 1)
        self.software = [hw_rtos_random.Software(c, self.model, rng) for c in range(CORES)]

    def step(self, accesses: list[Access | None]) -> dict[int, Answer]:
        self.model.step(accesses)
        return {c: Answer(data, error) for c, (data, error) in self.model.answers.items()}

    def next_access(self, core: int) -> Access:
        return self.software[core].next_access()


class LockUnit:
    """The model of the Lock Unit, and software for it."""

    effects = (
        f"a write of {L.RegAcquire:#05x}",
        f"a write of {L.RegRelease:#05x}",
        f"a read of {L.RegWait:#05x}",
    )

    def __init__(self, rng: random.Random) -> None:
        self.model, self.rng = lock_unit_random.Model(), rng
        self.software = [lock_unit_random.Software(c, self.model, rng) for c in range(CORES)]

    def step(self, accesses: list[Access | None]) -> dict[int, Answer]:
        plain = [one and (one.write, one.addr, one.data, one.be) for one in accesses]
        return {c: Answer(data, error) for c, (data, error) in self.model.step(plain).items()}

    def next_access(self, core: int) -> Access:
        write, addr, data, be = self.software[core].next_access(careless=self.rng.random() < 0.2)
        return Access(addr, write, data if write else 0, be if write else 15)


def kind(access: Access) -> str:
    return "write" if access.write else "read"


class Bench:
    """Ports of one unit, its model, and what the two carried out and nobody has compared yet."""

    def __init__(self, dut: SimHandleBase, unit: HwRtos | LockUnit, ports: range) -> None:
        self.dut, self.unit, self.ports = dut, unit, ports
        self.done: list[deque[tuple[Access, Answer]]] = [deque() for _ in ports]
        self.seen: Counter[str] = Counter()

    async def watch(self) -> None:
        """The unit's own bus is granted what the model grants."""
        while True:
            await ReadOnly()
            accesses, granted = on_the_bus(self.dut, self.ports)
            answers = self.unit.step(accesses)
            assert granted == [c in answers for c in range(CORES)], f"{accesses}: {granted}"
            for c, answer in answers.items():
                self.done[c].append((accesses[c], answer))
            self.note(accesses, granted)
            await RisingEdge(self.dut.clk_i)

    def note(self, accesses: list[Access | None], granted: list[bool]) -> None:
        for c, port in enumerate(self.ports):
            names = ("awvalid", "wvalid", "bvalid", "bready", "rvalid", "rready")
            signals = (int(getattr(self.dut, f"s_axi_{name}")[port].value) for name in names)
            awvalid, wvalid, bvalid, bready, rvalid, rready = signals
            self.seen["an address without its data"] += awvalid > wvalid
            self.seen["data without their address"] += wvalid > awvalid
            self.seen["the answer of a write waits"] += bvalid > bready
            self.seen["the answer of a read waits"] += rvalid > rready
            if (access := accesses[c]) is not None and not granted[c]:
                self.seen[f"a {kind(access)} waits for its grant"] += 1

    async def drive(self, core: int, axi: Axi, rng: random.Random) -> None:
        """A core, which sometimes has a write and a read under way."""
        while True:
            accesses = [self.unit.next_access(core)]
            if rng.random() < 0.3:
                other = self.unit.next_access(core)
                accesses += [other] if other.write != accesses[0].write else []
            for access in accesses:
                axi.offer(access)
            answers = {access: await axi.answer(access) for access in accesses}
            done = [self.done[core].popleft() for _ in accesses]
            assert not self.done[core], "an access that nobody has asked for"
            assert {access for access, _ in done} == set(accesses)
            for access, wanted in done:
                found = answers[access]
                assert found.error == wanted.error, f"{access}: {found}, not {wanted}"
                read = not access.write and not wanted.error
                assert not read or found == wanted, f"{access}: {found}, not {wanted}"
                self.seen[f"an error of a {kind(access)}"] += wanted.error
                self.seen[f"a {kind(access)} of {access.addr:#05x}"] += not wanted.error
            self.seen["a transaction"] += len(done)
            if len(done) > 1:
                self.seen[f"of both, the {kind(done[0][0])} is first"] += 1
            await ClockCycles(self.dut.clk_i, 1 + rng.randrange(4))


WANTED = (
    "a transaction",
    "an address without its data",
    "data without their address",
    "the answer of a write waits",
    "the answer of a read waits",
    "a write waits for its grant",
    "a read waits for its grant",
    "an error of a write",
    "an error of a read",
    "of both, the write is first",
    "of both, the read is first",
)


@cocotb.test()
async def each_transaction_is_one_access_of_the_model(dut: SimHandleBase) -> None:
    rng = random.Random(2007)
    axis = await start(dut)
    benches = [
        Bench(dut, HwRtos(rng), range(CORES)),
        Bench(dut, LockUnit(rng), range(CORES, 2 * CORES)),
    ]
    for bench in benches:
        cocotb.start_soon(bench.watch())
        for core, port in enumerate(bench.ports):
            axis[port].stall(rng)
            cocotb.start_soon(bench.drive(core, axis[port], rng))
    await ClockCycles(dut.clk_i, CYCLES)
    for bench in benches:
        wanted = (*WANTED, *bench.unit.effects)
        for name in wanted:
            cocotb.log.info(f"coverage: {bench.seen[name]:6} {name}")
        assert [name for name in wanted if bench.seen[name] == 0] == []
