# SPDX-License-Identifier: Apache-2.0
"""Who asks at the same time is a batch, and is served before who asks later, the lowest first."""

import json
import os
import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, Timer
from reference import Arbiter

ASKERS = json.loads(os.environ["RTL_PARAMETERS"])["NumReqs"]


@cocotb.test()
async def grants_are_those_of_the_model(dut: SimHandleBase) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    rng, model, seen = random.Random(2007), Arbiter(), Counter()
    asking: set[int] = set()
    dut.rst_ni.value, dut.req_i.value = 0, 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(5000):
        busy = rng.random()
        asking |= {one for one in range(ASKERS) if rng.random() < busy}
        dut.req_i.value = sum(1 << one for one in asking)
        granted = model.grant(sorted(asking))
        # The grant is of the cycle of the request: it is there before the next edge.
        await Timer(1, "ns")
        assert int(dut.gnt_o.value) == (0 if granted is None else 1 << granted)
        seen[f"{len(asking)} ask"] += 1
        seen["an older batch goes first"] += granted is not None and granted != min(asking)
        asking.discard(granted)
        await FallingEdge(dut.clk_i)
    wanted = [*(f"{count} ask" for count in range(ASKERS + 1)), "an older batch goes first"]
    cocotb.log.info(f"coverage: {dict(seen)}")
    assert [name for name in wanted if seen[name] == 0] == []
