# SPDX-License-Identifier: Apache-2.0
"""The bus to the RAM under random transfers: who is served when, and what is read and written."""

import json
import os
import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, Timer
from reference import Arbiter

CORES = json.loads(os.environ["RTL_PARAMETERS"])["NumCores"]
MASTERS, LINE, WORDS = 2 * CORES, 4, 64


class Transfer:
    """What a master asks for."""

    def __init__(self, rng: random.Random, master: int) -> None:
        self.word, self.more = rng.randrange(WORDS), rng.randrange(LINE)
        self.writes = master < CORES and rng.random() < 0.5
        self.data = [rng.getrandbits(32) for _ in range(LINE)]
        self.enabled = [rng.getrandbits(4) for _ in range(LINE)]

    def place(self, beat: int) -> int:
        """It wraps in its line."""
        return self.word - self.word % LINE + (self.word + beat) % LINE


def packed(values: list[int], width: int) -> int:
    return sum(value << width * place for place, value in enumerate(values))


def merged(old: int, new: int, enabled: int) -> int:
    mask = packed([0xFF * (enabled >> byte & 1) for byte in range(4)], 8)
    return old & ~mask | new & mask


def drive(dut: SimHandleBase, asking: dict[int, Transfer], held: dict[int, Transfer]) -> None:
    """All stay until they are done, but for the requests."""
    shown = [held.get(master) or asking.get(master) for master in range(MASTERS)]
    dut.req_i.value = packed([master in asking for master in range(MASTERS)], 1)
    dut.word_i.value = packed([one.word if one else 0 for one in shown], 22)
    dut.more_i.value = packed([one.more if one else 0 for one in shown], 2)
    cores = shown[:CORES]
    dut.we_i.value = packed([bool(one and one.writes) for one in cores], 1)
    dut.wdata_i.value = packed([packed(one.data, 32) if one else 0 for one in cores], 32 * LINE)
    dut.be_i.value = packed([packed(one.enabled, 4) if one else 0 for one in cores], 4 * LINE)


@cocotb.test()
async def transfers_are_those_of_the_model(dut: SimHandleBase) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    rng, model, seen = random.Random(2007), Arbiter(), Counter()
    memory = [rng.getrandbits(32) for _ in range(WORDS)]
    asking: dict[int, Transfer] = {}
    held: dict[int, Transfer] = {}  # the one that is under way
    waits, beat, wait_states = 0, 0, 4
    dut.rst_ni.value, dut.ram_rdata_i.value, dut.wait_states_i.value = 0, 0, wait_states
    drive(dut, asking, held)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for cycle in range(4000 * int(os.environ["RTL_TIMES"])):
        busy = (0.02, 0.1, 0.5)[cycle // 500 % 3]
        if cycle % 500 == 0:
            wait_states = rng.choice((0, 1, 4, 10))
            dut.wait_states_i.value = wait_states
        for master in range(MASTERS):
            if master not in asking and master not in held and rng.random() < busy:
                asking[master] = Transfer(rng, master)
        drive(dut, asking, held)
        owner, transfer = next(iter(held.items()), (None, None))
        on = transfer is not None and waits == 0
        place = transfer.place(beat) if on else 0
        dut.ram_rdata_i.value = memory[place]
        last = on and beat == transfer.more
        granted = model.grant(sorted(asking)) if not held or last else None
        await Timer(1, "ns")
        assert int(dut.may_gnt_o.value) == (not held or last)
        assert int(dut.gnt_o.value) == (0 if granted is None else 1 << granted)
        assert int(dut.beat_o.value) == (1 << owner if on else 0)
        assert int(dut.done_o.value) == (1 << owner if last else 0)
        assert int(dut.ram_we_o.value) == (on and transfer.writes)
        assert int(dut.snoop_o.value) == (1 << owner if last and transfer.writes else 0)
        if on:
            assert int(dut.ram_word_o.value) == place
            assert int(dut.rdata_o.value) == memory[place]
        if on and transfer.writes:
            word = place % LINE
            assert int(dut.ram_wdata_o.value) == transfer.data[word]
            assert int(dut.ram_be_o.value) == transfer.enabled[word]
            memory[place] = merged(memory[place], transfer.data[word], transfer.enabled[word])
        if last and transfer.writes:
            assert int(dut.snoop_line_o.value) == place // LINE
        seen[f"{len(asking)} ask"] += 1
        seen["back to back"] += last and granted is not None
        seen["a write"] += last and transfer.writes
        seen["it wraps"] += on and beat > 0 and place % LINE == 0
        if held:
            beat, waits = (beat + 1, 0) if on else (beat, waits - 1)
        if last:
            held.clear()
        if granted is not None:
            held[granted], beat, waits = asking.pop(granted), 0, wait_states
        await FallingEdge(dut.clk_i)
    cocotb.log.info(f"coverage: {dict(seen)}")
    wanted = [f"{count} ask" for count in range(MASTERS)]
    assert [n for n in (*wanted, "back to back", "a write", "it wraps") if seen[n] == 0] == []
