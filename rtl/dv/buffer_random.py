# SPDX-License-Identifier: Apache-2.0
"""A buffer gives back the word that was written last, from flip-flops and from a RAM."""

import json
import os
import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge

WORDS = json.loads(os.environ["RTL_PARAMETERS"])["NumWords"]


@cocotb.test()
async def words_are_those_of_the_model(dut: SimHandleBase) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    rng, words, seen = random.Random(2007), {}, Counter()
    await FallingEdge(dut.clk_i)
    for _ in range(2500 * int(os.environ["RTL_TIMES"])):
        where, word, writes = rng.randrange(WORDS), rng.getrandbits(32), rng.random() < 0.5
        reads = not writes and where in words
        dut.we_i.value, dut.waddr_i.value, dut.wdata_i.value = writes, where, word
        dut.re_i.value, dut.raddr_i.value = reads, where
        await FallingEdge(dut.clk_i)
        if writes:
            words[where] = word
            seen["written"] += 1
        if reads:
            seen["read"] += 1
            assert int(dut.rdata_o.value) == words[where]
    cocotb.log.info(f"coverage: {dict(seen)}, {len(words)} of {WORDS} words")
    assert len(words) == WORDS
    assert min(seen["written"], seen["read"]) > 1000
