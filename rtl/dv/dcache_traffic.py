# SPDX-License-Identifier: Apache-2.0
"""Two data caches and their bus under random and chosen traffic, against a model of memory."""

import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.handle import SimHandleBase
from cocotb.triggers import ClockCycles, FallingEdge, Timer
from memory_model import Load, Memory

WIDTHS = {"req_i": 1, "we_i": 1, "uncached_i": 1, "be_i": 4, "word_i": 10, "wdata_i": 32}
WORDS_OF_LINE = 4
LINES_OF_CACHE = 16  # of the 256 bytes that the tests give it
Access = tuple[bool, int, int, int]  # is it a store, the word, its bytes, the data


class Pair:
    """Both caches. Signals change at the falling edge, and are read before the rising one."""

    def __init__(self, dut: SimHandleBase) -> None:
        self.dut, self.memory, self.now = dut, Memory(), 0
        self.asked: list[Access | None] = [None, None]  # what each core asks for
        self.loads: list[Load | None] = [None, None]
        self.busy = [False, False]  # its access is granted, and not answered
        self.read: list[list[int]] = [[], []]
        self.stores = 0
        self.seen: Counter[str] = Counter()
        # The words of a transfer, which all see at once; and those that reached the RAM.
        self.beats: list[tuple[int, int, int]] = []
        self.order: list[int] = []

    async def reset(self, wait_states: int, strict: bool, snooping: bool = True) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, "ns").start())
        for name in [*WIDTHS, "flush_i"]:
            getattr(self.dut, name).value = 0
        for word in self.dut.u_ram.words:
            word.value = 0
        self.dut.wait_states_i.value = wait_states
        self.dut.strict_i.value = int(strict)
        self.dut.snooping_i.value = int(snooping)
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await Timer(1, "ns")

    def fresh(self) -> int:
        """A word no byte of which was stored lately: so it is known whose store arrives."""
        self.stores += 1
        n = self.stores & 0xFF
        return n | (n ^ 0x55) << 8 | (n + 0x33 & 0xFF) << 16 | (n ^ 0xFF) << 24

    def ask(self, core: int, access: Access) -> None:
        assert self.asked[core] is None
        self.asked[core] = access

    def _drive(self) -> None:
        fields = {name: 0 for name in WIDTHS}
        for core, access in enumerate(self.asked):
            if access is not None:
                store, word, be, data = access
                values = {"req_i": 1, "we_i": int(store), "be_i": be, "word_i": word}
                values["wdata_i"] = data
                for name, value in values.items():
                    fields[name] |= value << WIDTHS[name] * core
        for name, value in fields.items():
            if name != "uncached_i":
                getattr(self.dut, name).value = value

    def _bit(self, name: str, core: int) -> bool:
        return bool(int(getattr(self.dut, name).value) >> core & 1)

    async def cycle(self) -> None:
        """To the end of the next cycle: what is answered, written and granted in it."""
        await FallingEdge(self.dut.clk_i)
        self._drive()
        await Timer(1, "ns")
        self.now += 1
        if int(self.dut.ram_we_o.value):
            be, data = int(self.dut.ram_be_o.value), int(self.dut.ram_wdata_o.value)
            self.beats.append((int(self.dut.ram_word_o.value), be, data))
        if int(self.dut.ram_done_o.value):
            for beat in self.beats:
                self.memory.written(self.now, *beat)
                self.order.append(beat[0])
            self.beats.clear()
        for core in (0, 1):
            self._answer(core)
        for core in (0, 1):
            self._grant(core)

    def _answer(self, core: int) -> None:
        for name in ("hit_o", "miss_o", "stall_o"):
            self.seen[name] += self._bit(name, core)
        if not self._bit("rvalid_o", core):
            return
        assert self.busy[core], f"core {core} is answered, and did not ask"
        self.busy[core] = False
        load = self.loads[core]
        if load is not None:
            data = int(self.dut.rdata_o.value) >> 32 * core & 0xFFFF_FFFF
            self.memory.end(self.now, load, data)
            self.read[core].append(data)
            self.loads[core] = None

    def _grant(self, core: int) -> None:
        access = self.asked[core]
        if access is None or not self._bit("gnt_o", core):
            return
        self.asked[core] = None
        self.busy[core] = True
        store, word, be, data = access
        if store:
            self.memory.store(core, word, be, data)
        else:
            self.loads[core] = self.memory.begin(self.now, core, word)

    async def until(self, core: int) -> None:
        """Until a core has its answer."""
        for _ in range(1000):
            if self.asked[core] is None and not self.busy[core]:
                return
            await self.cycle()
        raise AssertionError(f"core {core} waits for ever")

    async def load(self, core: int, word: int) -> int:
        self.ask(core, (False, word, 15, 0))
        await self.until(core)
        return self.read[core][-1]

    async def store(self, core: int, word: int, data: int) -> None:
        self.ask(core, (True, word, 15, data))
        await self.until(core)

    async def drain(self, core: int) -> None:
        for _ in range(1000):
            if self._bit("drained_o", core):
                return
            await self.cycle()
        raise AssertionError("the write buffer never gets empty")


async def traffic(
    pair: Pair, seed: int, cycles: int, lines: list[int], uncached: bool = False
) -> None:
    """Both cores load and store at random in a few lines, more or less densely in turns."""
    random_ = random.Random(seed)
    for cycle in range(cycles):
        density = (0.9, 0.3, 0.05)[cycle // 200 % 3]
        for core in (0, 1):
            if pair.asked[core] is None and random_.random() < density:
                word = random_.choice(lines) * WORDS_OF_LINE + random_.randrange(WORDS_OF_LINE)
                be = random_.choice([15, 15, 15, 1, 2, 4, 8, 3, 12])
                store = random_.random() < 0.4
                pair.ask(core, (store, word, be if store else 15, pair.fresh()))
        if uncached:
            pair.dut.uncached_i.value = random_.getrandbits(2)
        if random_.random() < 0.005:
            pair.dut.flush_i.value = random_.getrandbits(2)
        else:
            pair.dut.flush_i.value = 0
        await pair.cycle()
    pair.dut.flush_i.value = 0
    for core in (0, 1):
        await pair.until(core)
        await pair.drain(core)
    assert pair.memory.pending == [[], []], "a store was lost"


# Some share a place in the cache.
FEW, CLASHING = [1, 2, 3], [1, 1 + LINES_OF_CACHE, 1 + 2 * LINES_OF_CACHE, 2]


@cocotb.test()
async def no_load_of_random_traffic_is_stale(dut: SimHandleBase) -> None:
    pair = Pair(dut)
    for seed, (wait_states, strict, lines) in enumerate(
        [(0, False, FEW), (4, False, CLASHING), (10, False, FEW), (1, True, CLASHING)]
    ):
        pair.memory = Memory() if seed == 0 else pair.memory
        if seed == 0:
            await pair.reset(wait_states, strict)
        dut.wait_states_i.value = wait_states
        dut.strict_i.value = int(strict)
        await traffic(pair, seed, 3000, lines)
    dut._log.info("%d bytes checked; %s", pair.memory.checked, dict(pair.seen))
    assert pair.memory.checked > 5_000
    assert min(pair.seen[name] for name in ("hit_o", "miss_o", "stall_o")) > 100


@cocotb.test()
async def without_snooping_some_load_is_stale(dut: SimHandleBase) -> None:
    """The check is one that can fail."""
    pair = Pair(dut)
    await pair.reset(4, strict=False, snooping=False)
    try:
        await traffic(pair, 1, 3000, FEW)
    except AssertionError as error:
        assert "it may be" in str(error)
        return
    raise AssertionError("no stale load was found")


@cocotb.test()
async def a_hit_takes_one_cycle_and_a_miss_two_more_than_the_wait_states(
    dut: SimHandleBase,
) -> None:
    pair = Pair(dut)
    await pair.reset(0, strict=False)
    for wait_states in (0, 4, 10):
        dut.wait_states_i.value = wait_states
        word = 4 * WORDS_OF_LINE * wait_states
        for expected in (wait_states + 2, 1):
            for _ in range(4):  # until the rest of the line is there
                await pair.cycle()
            begin = pair.now + 1  # the cycle of the grant
            await pair.load(0, word)
            assert pair.now - begin == expected


@cocotb.test()
async def a_load_sees_the_store_before_it(dut: SimHandleBase) -> None:
    """A miss waits for the own store to its line, whatever is in the buffer before that."""
    pair = Pair(dut)
    await pair.reset(10, strict=False)
    for line in (4, 5, 6):
        await pair.store(0, line * WORDS_OF_LINE, line)
    assert await pair.load(0, 6 * WORDS_OF_LINE) == 6
    assert await pair.load(0, 6 * WORDS_OF_LINE + 1) == 0
    assert pair.order == [16, 20, 24]


@cocotb.test()
async def a_load_overtakes_stores_to_other_lines_unless_strict(dut: SimHandleBase) -> None:
    pair = Pair(dut)
    await pair.reset(10, strict=False)
    for line in (4, 5, 6):
        await pair.store(0, line * WORDS_OF_LINE, pair.fresh())
    await pair.load(0, 7 * WORDS_OF_LINE)
    assert len(pair.order) < 3
    dut.strict_i.value = 1
    for line in (4, 5, 6):
        await pair.store(0, line * WORDS_OF_LINE, pair.fresh())
    await pair.load(0, 8 * WORDS_OF_LINE)
    assert len(pair.order) == 6


@cocotb.test()
async def a_store_of_another_core_drops_the_line(dut: SimHandleBase) -> None:
    pair = Pair(dut)
    await pair.reset(4, strict=False)
    assert await pair.load(0, 8) == 0
    await pair.store(1, 9, 0x1234)
    await pair.drain(1)
    assert await pair.load(0, 9) == 0x1234
    assert pair.seen["miss_o"] == 2


@cocotb.test()
async def a_line_that_is_written_while_two_cores_fill_it_is_not_kept(dut: SimHandleBase) -> None:
    """The store waits for the bus while both fills are carried out, in every alignment."""
    pair = Pair(dut)
    await pair.reset(2, strict=False)
    for gap in range(12):
        word = (20 + gap) * WORDS_OF_LINE
        pair.ask(0, (False, word, 15, 0))
        for _ in range(gap):
            await pair.cycle()
        await pair.store(1, word, gap + 1)
        await pair.until(0)
        await pair.drain(1)
        assert await pair.load(0, word) == gap + 1


@cocotb.test()
async def a_core_keeps_its_line_when_it_stores_to_it(dut: SimHandleBase) -> None:
    pair = Pair(dut)
    await pair.reset(4, strict=False)
    await pair.load(0, 8)
    await pair.store(0, 8, 77)
    await pair.drain(0)
    assert await pair.load(0, 8) == 77
    assert pair.seen["miss_o"] == 1


@cocotb.test()
async def stores_to_one_line_are_one_transfer_and_stores_to_two_keep_their_order(
    dut: SimHandleBase,
) -> None:
    pair = Pair(dut)
    await pair.reset(10, strict=False)
    for word in (100, 40, 41, 42, 43, 44, 40):
        await pair.store(0, word, pair.fresh())
    await pair.drain(0)
    assert pair.order == [100, 40, 41, 42, 43, 44, 40]


@cocotb.test()
async def what_is_stored_before_the_buffer_is_empty_is_seen_by_all(dut: SimHandleBase) -> None:
    """What a release of a lock waits for: then the other core's cached copies are gone."""
    pair = Pair(dut)
    await pair.reset(4, strict=False)
    words = [8, 12, 16, 20, 24, 28]
    for word in words:
        await pair.load(1, word)
    for word in words:
        await pair.store(0, word, word + 1)
    await pair.drain(0)
    for word in words:
        assert await pair.load(1, word) == word + 1


@cocotb.test()
async def an_uncached_word_is_fetched_each_time_and_alone(dut: SimHandleBase) -> None:
    pair = Pair(dut)
    await pair.reset(4, strict=False)
    dut.uncached_i.value = 3
    begin = pair.now
    await pair.load(0, 8)
    once = pair.now - begin
    await pair.store(0, 8, 5)
    assert await pair.load(0, 8) == 5
    assert pair.seen["miss_o"] == 2
    dut.uncached_i.value = 0
    begin = pair.now
    await pair.load(0, 8)
    await pair.load(0, 12)  # which waits for the rest of the line before
    assert pair.now - begin > 2 * once


@cocotb.test()
async def a_flush_drops_all_lines_also_the_one_that_comes(dut: SimHandleBase) -> None:
    pair = Pair(dut)
    await pair.reset(4, strict=False)
    await pair.load(0, 8)
    pair.ask(0, (False, 12, 15, 0))
    for _ in range(6):  # the rest of the line before, and the beginning of this one
        await pair.cycle()
    dut.flush_i.value = 1
    await pair.cycle()
    dut.flush_i.value = 0
    await pair.until(0)
    for _ in range(4):
        await pair.cycle()
    for word in (8, 12):
        await pair.load(0, word)
    assert pair.seen["miss_o"] == 4
