# SPDX-License-Identifier: Apache-2.0
"""Cores that lock, wait and release at random, few addresses: in every cycle the Lock Unit shows
what its model does, and all that may happen must have happened."""

import json
import os
import random
from collections import Counter

import cocotb
from bus import start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ReadOnly, RisingEdge
from regs import LOCK_UNIT as R

CORES = json.loads(os.environ["RTL_PARAMETERS"])["NumCores"]
CYCLES = 8000 * int(os.environ["RTL_TIMES"])
ADDRESSES = (0x8000_0000, 0x8000_0004, 0x8000_1000, 0)

Access = tuple[bool, int, int, int]  # write, address, data, byte enables


class Model:
    """Who has asked for what, in which order."""

    def __init__(self) -> None:
        self.queue: list[tuple[int, int]] = []  # core and address; the first of an address has it
        self.acquiring: set[int] = set()
        self.status = [R.StatusOk] * CORES
        self.errors = 0
        self.seen: Counter[str] = Counter()

    def address(self, core: int) -> int | None:
        return next((address for c, address in self.queue if c == core), None)

    def holds(self, core: int) -> bool:
        mine = self.address(core)
        first = next((c for c, address in self.queue if address == mine), None)
        return mine is not None and first == core

    def step(self, accesses: list[Access | None]) -> dict[int, tuple[int, bool]]:
        """Carries out one cycle: who is granted, with the data and whether it is an error."""
        before = list(self.queue)
        asks, drops, granted = [], [], {}
        refused, errors, cleared = 0, self.errors, False
        waiting = [c for c in range(CORES) if self.address(c) is not None and not self.holds(c)]
        self.seen["two wait"] += len(waiting) > 1
        for c, access in enumerate(accesses):
            if access is None:
                continue
            write, address, data, be = access
            pending, holds = self.address(c) is not None, self.holds(c)
            status, value, known, stalls = None, 0, True, False
            register = (write, address) if not write or be == 15 else None
            if register == (True, R.RegAcquire):
                if not pending:
                    asks.append((c, data))
                    self.acquiring.add(c)
                stalls = not pending or (c in self.acquiring and not holds)
                status = R.StatusOk if c in self.acquiring else R.StatusHeld
            elif register == (True, R.RegRequest):
                status = R.StatusHeld if pending else R.StatusOk
                asks += [] if pending else [(c, data)]
            elif register == (False, R.RegGrant):
                value = holds
            elif register == (False, R.RegWait):
                stalls, value = pending and not holds, holds
                status = R.StatusOk if pending else R.StatusNotHeld
            elif register == (True, R.RegRelease):
                right = holds and self.address(c) == data
                status = R.StatusOk if right else R.StatusNotHeld
                drops += [c] if right else []
                self.seen["released a wrong address"] += holds and not right
            elif register == (True, R.RegCancel):
                status = R.StatusOk if pending else R.StatusNotHeld
                drops += [c] if pending else []
                self.seen["cancelled while it waits"] += pending and not holds
            elif register == (False, R.RegStatus):
                value = self.status[c]
            elif register == (False, R.RegErrors):
                value = errors
            elif register == (True, R.RegErrors):
                cleared = True
            else:
                known = False
            if stalls:
                self.seen["waited"] += 1
                continue
            self.acquiring.discard(c)
            granted[c] = (int(value), not known)
            self.seen["bus error"] += not known
            if status is not None:
                self.status[c] = status
                self.seen[f"status {status} of {address:#05x}"] += 1
                refused += status != R.StatusOk
        self.seen["two ask in one cycle"] += len({a for _, a in asks}) < len(asks)
        self.seen["several are refused in one cycle"] += refused > 1
        self.queue = [one for one in before if one[0] not in drops] + asks
        self.errors = 0 if cleared else min(255, self.errors + refused)
        self.seen["the counter is full"] += self.errors == 255
        return granted


class Software:
    def __init__(self, core: int, model: Model, rng: random.Random) -> None:
        self.core, self.model, self.rng = core, model, rng

    def next_access(self, careless: bool) -> Access:
        """Mostly acquire and release, in turns."""
        rng, mine = self.rng, self.model.address(self.core)
        chance = rng.random()
        if careless or chance < 0.15:
            registers = (R.RegGrant, R.RegWait, R.RegStatus, R.RegErrors, R.RegCancel, R.RegRelease)
            address = rng.choice((*registers, R.RegAcquire, R.RegRequest, 4 * rng.randrange(12)))
            # With one or two cores few accesses are refused: a count that is cleared is never full.
            counts = address == R.RegErrors and self.model.errors < 255 and rng.random() < 0.99
            write = rng.random() < 0.6 and not counts
            return write, address, rng.choice(ADDRESSES), rng.choice((15, 15, 15, 15, 3))
        if mine is None:
            register = R.RegAcquire if chance < 0.6 else R.RegRequest
            return True, register, rng.choice(ADDRESSES[:2]), 15
        return (True, R.RegRelease, mine, 15) if chance < 0.8 else (False, R.RegWait, 0, 15)


def bins() -> list[str]:
    """All that must have happened."""
    names = {
        0: ("Acquire", "Request", "Wait", "Release", "Cancel"),
        1: ("Wait", "Release", "Cancel"),
        2: ("Acquire", "Request"),
    }
    wanted = [
        *(f"status {s} of {getattr(R, 'Reg' + name):#05x}" for s in names for name in names[s]),
        "waited",
        "released a wrong address",
        "the counter is full",
        "bus error",
    ]
    if CORES > 1:
        wanted += ["two ask in one cycle", "several are refused in one cycle"]
        wanted += ["cancelled while it waits"]
    if CORES > 2:
        wanted += ["two wait"]  # and a third one holds the lock
    return wanted


def drive(dut: SimHandleBase, accesses: list[Access | None]) -> None:
    words = {"req_i": 0, "we_i": 0, "be_i": 0, "addr_i": 0, "wdata_i": 0}
    for c, access in enumerate(accesses):
        if access is not None:
            write, address, data, be = access
            words["req_i"] |= 1 << c
            words["we_i"] |= write << c
            words["be_i"] |= be << 4 * c
            words["addr_i"] |= address << 12 * c
            words["wdata_i"] |= data << 32 * c
    for name, value in words.items():
        getattr(dut, name).value = value


@cocotb.test()
async def every_cycle_is_as_in_the_model(dut: SimHandleBase) -> None:
    await start(dut)
    model, rng = Model(), random.Random(2007)
    software = [Software(c, model, rng) for c in range(CORES)]
    accesses: list[Access | None] = [None] * CORES
    answers: dict[int, tuple[int, bool]] = {}
    for cycle in range(CYCLES):
        for c in range(CORES):
            if accesses[c] is None and rng.random() < 0.7:
                accesses[c] = software[c].next_access(careless=cycle > CYCLES * 3 // 4)
        drive(dut, accesses)
        holders = sum(model.holds(c) << c for c in range(CORES))
        pending = sum((model.address(c) is not None) << c for c in range(CORES))
        granted = model.step(accesses)
        await ReadOnly()
        assert int(dut.gnt_o.value) == sum(1 << c for c in granted), f"cycle {cycle}: gnt_o"
        assert int(dut.granted_o.value) == holders, f"cycle {cycle}: granted_o"
        assert int(dut.pending_o.value) == pending, f"cycle {cycle}: pending_o"
        assert int(dut.rvalid_o.value) == sum(1 << c for c in answers), f"cycle {cycle}: rvalid_o"
        for c, (data, error) in answers.items():
            assert int(dut.err_o.value) >> c & 1 == error, f"cycle {cycle}: err_o of core {c}"
            found = int(dut.rdata_o.value) >> 32 * c & 0xFFFF_FFFF
            assert error or found == data, f"cycle {cycle}: core {c} reads {found}, {data=}"
        await RisingEdge(dut.clk_i)
        answers = granted
        accesses = [None if c in granted else one for c, one in enumerate(accesses)]
    wanted = bins()
    for name in wanted:
        cocotb.log.info(f"coverage: {model.seen[name]:6} {name}")
    missed = [name for name in wanted if model.seen[name] == 0]
    cocotb.log.info(f"coverage: {len(wanted) - len(missed)} of {len(wanted)}, {CYCLES} cycles")
    assert missed == []
