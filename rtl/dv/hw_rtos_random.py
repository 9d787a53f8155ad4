# SPDX-License-Identifier: Apache-2.0
"""Cores that mostly do what software does, and sometimes what it must not: in every cycle the
HW-RTOS shows what its model does. What happened is counted, and all that may happen must have."""

import json
import os
import random

import cocotb
from bus import start
from cocotb.handle import SimHandleBase
from cocotb.triggers import ReadOnly, RisingEdge
from reference import HALT, OFFER, PICK, RUN, Access, Model, Outputs, Task
from regs import HW_RTOS as R

SIZE = json.loads(os.environ["RTL_PARAMETERS"])
CYCLES = 12000 * int(os.environ["RTL_TIMES"])
HOT_PORTS = 5  # those that most messages go through


class Software:
    """What one core asks for next."""

    def __init__(self, core: int, model: Model, rng: random.Random) -> None:
        self.core, self.model, self.rng = core, model, rng
        self.sent = 0

    def port(self) -> int:
        count = len(self.model.ports)
        return self.rng.randrange(HOT_PORTS if self.rng.random() < 0.9 else count)

    def task(self) -> int:
        """Any; sometimes the one whose context may not be saved yet."""
        if self.rng.random() < 0.2:
            return self.model.cores[self.core].before
        return self.rng.randrange(len(self.model.tasks))

    def next_access(self) -> Access:
        core = self.model.cores[self.core]
        if core.runs() and not self.model.tasks[core.current].valid and self.rng.random() < 0.4:
            return self.send()
        if self.rng.random() < 0.03:
            return self.wrong()
        if self.rng.random() < 0.12:
            return self.configure()
        if core.state in (OFFER, PICK) or core.due:
            return self.switching()
        if core.state == HALT:
            return Access(R.RegCallRtos, True, R.CallYield)
        if core.unsaved and self.rng.random() < 0.6:
            return Access(R.RegSaved, True)
        return self.working()

    def switching(self) -> Access:
        return Access(R.RegNextTask) if self.rng.random() < 0.8 else self.working()

    def working(self) -> Access:
        rng, core = self.rng, self.model.cores[self.core]
        chance = rng.random()
        if chance < 0.3:
            return self.send()
        if chance < 0.55:
            return Access(R.RegReceive + 4 * self.port())
        if chance < 0.75 or core.wait_port is None:
            return Access(R.RegWaitPort, True, self.port())
        calls = (R.CallBlock, R.CallYield, R.CallPreempt, R.CallExit)
        (call,) = rng.choices(calls, (12, 3, 3, 2))
        return Access(R.RegCallRtos, True, call)

    def send(self) -> Access:
        self.sent += 1
        more = self.rng.random() < (0.5 if self.model.words > 1 else 0.05)
        now = self.rng.random() < 0.25
        address = R.RegSend + 0x100 * more + 0x200 * now + 4 * self.port()
        return Access(address, True, self.core << 28 | self.sent)

    def configure(self) -> Access:
        rng = self.rng
        mask = 2 ** len(self.model.cores)
        config = (rng.random() < 0.93) | (rng.random() < 0.3) << 1
        config |= rng.randrange(8) * rng.randrange(2) << 8
        config |= (mask - 1 if rng.random() < 0.7 else rng.randrange(mask)) << 16
        return rng.choice(
            (
                *[Access(R.RegTaskConfig + 4 * self.task(), True, config)] * 8,
                *[Access(R.RegTaskConfig + 4 * rng.choice(self.model.cores).current, True)] * 2,
                Access(R.RegTaskConfig + 4 * self.task()),
                *[Access(R.RegTaskState + 4 * self.task())] * 2,
                Access(R.RegPortConfig + 4 * self.port(), True, rng.randrange(4) == 0),
                Access(R.RegPortConfig + 4 * self.port()),
                *[Access(R.RegPortState + 4 * self.port())] * 2,
                Access(R.RegControl, True, rng.choice((0, 1, 2, 3, 3))),
                Access(R.RegSlice, True, rng.choice((0, 5, 5, 20))),
                Access(R.RegPatience, True, rng.choice((0, 3, 10, 40))),
                *[Access(a) for a in (R.RegControl, R.RegSlice, R.RegPatience, R.RegInfo)],
                *[Access(a) for a in (R.RegCurrent, R.RegStatus, R.RegErrors)],
                Access(R.RegErrors, True) if rng.random() < 0.2 else Access(R.RegStatus),
            )
        )

    def wrong(self) -> Access:
        """Nothing that software should do."""
        rng = self.rng
        anywhere = 4 * rng.randrange(1024)
        return rng.choice(
            (
                Access(anywhere),
                Access(anywhere, True, rng.getrandbits(32)),
                Access(anywhere | rng.randrange(4), rng.random() < 0.5),
                Access(anywhere, True, rng.getrandbits(32), rng.randrange(16)),
                Access(R.RegSend + 4 * self.port(), True, 1, rng.randrange(15)),
                Access(R.RegSend + 4 * (len(self.model.ports) + rng.randrange(8)) % 256, True),
                Access(R.RegWaitPort, True, rng.getrandbits(32)),
                Access(R.RegTaskState + 4 * rng.randrange(64)),
                Access(R.RegCallRtos, True, rng.randrange(4)),
                Access(R.RegSaved, True),
            )
        )


class Bench:
    """The unit and its model, side by side."""

    def __init__(self, dut: SimHandleBase, seed: int) -> None:
        self.dut = dut
        self.model = Model(
            SIZE["NumCores"], SIZE["NumTasks"], SIZE["NumPorts"], SIZE.get("WordsPerPort", 1)
        )
        self.rng = random.Random(seed)
        cores = range(SIZE["NumCores"])
        self.software = [Software(c, self.model, self.rng) for c in cores]
        self.accesses: list[Access | None] = [None for _ in cores]
        self.task_width = (SIZE["NumTasks"] - 1).bit_length()

    def choose(self) -> None:
        """Whoever has no access begins one, or waits a little."""
        for c, access in enumerate(self.accesses):
            if access is None and self.rng.random() < 0.6:
                self.accesses[c] = self.software[c].next_access()

    def drive(self) -> None:
        words = {"req_i": 0, "we_i": 0, "be_i": 0, "addr_i": 0, "wdata_i": 0}
        for c, access in enumerate(self.accesses):
            if access is not None:
                words["req_i"] |= 1 << c
                words["we_i"] |= access.write << c
                words["be_i"] |= access.be << 4 * c
                words["addr_i"] |= access.addr << 12 * c
                words["wdata_i"] |= access.data << 32 * c
        for name, value in words.items():
            getattr(self.dut, name).value = value

    def compare(self, cycle: int, expected: Outputs) -> None:
        dut = self.dut
        granted = 0 if expected.granted is None else 1 << expected.granted
        running = sum(1 << c for c, task in enumerate(expected.running) if task is not None)
        irq = sum(1 << c for c, one in enumerate(expected.irq) if one)
        answered = sum(1 << c for c in expected.answers)
        errors = sum(1 << c for c, (_, error) in expected.answers.items() if error)
        for name, value in (
            ("gnt_o", granted),
            ("running_o", running),
            ("irq_o", irq),
            ("rvalid_o", answered),
            ("err_o", errors),
        ):
            found = int(getattr(dut, name).value)
            assert found == value, f"cycle {cycle}: {name} is {found:#b}, not {value:#b}"
        for c, (data, error) in expected.answers.items():
            found = int(dut.rdata_o.value) >> 32 * c & 0xFFFF_FFFF
            assert error or found == data, (
                f"cycle {cycle}: core {c} reads {found:#x}, not {data:#x}"
            )
        tasks = int(dut.task_o.value)
        for c, task in enumerate(expected.running):
            found = tasks >> self.task_width * c & (2**self.task_width - 1)
            assert task is None or found == task, (
                f"cycle {cycle}: core {c} runs {found}, not {task}"
            )

    async def run(self, cycles: int) -> None:
        for cycle in range(cycles):
            self.choose()
            self.drive()
            due = [core.due and core.state == RUN for core in self.model.cores]
            expected = self.model.step(self.accesses)
            await ReadOnly()
            self.compare(cycle, expected)
            self.check_senders(cycle)
            self.note(due)
            await RisingEdge(self.dut.clk_i)
            if expected.granted is not None:
                self.accesses[expected.granted] = None

    def check_senders(self, cycle: int) -> None:
        """No port is kept by what does not exist any more."""
        model = self.model
        for number, port in enumerate(model.ports):
            kept = port.state in (R.SendHeld, R.SendOpen)
            there = port.sender in model.cores or port.sender in model.tasks
            retired = isinstance(port.sender, Task) and not port.sender.valid
            assert not kept or (there and not retired), (
                f"cycle {cycle}: port {number} is kept by a task that ended"
            )

    def note(self, was_due: list[bool]) -> None:
        """What the core had on its port when its interrupt became due."""
        for c, core in enumerate(self.model.cores):
            if core.due and core.state == RUN and not was_due[c]:
                access = self.accesses[c]
                doing = "nothing" if access is None else f"{access.addr & 0xF00:#05x}"
                self.model.seen[f"becomes due during {doing}"] += 1


def bins() -> list[str]:
    """All that must have happened."""
    statuses = set(range(9)) - ({R.StatusBadPort} if SIZE["NumPorts"] == 0 else set())
    states = {R.SendEmpty, R.SendHeld, R.SendDue}
    if SIZE.get("WordsPerPort", 1) > 1:
        states.add(R.SendOpen)
    wanted = [f"status {status}" for status in statuses]
    if SIZE["NumTasks"] == 64:
        wanted.remove(f"status {R.StatusBadTask}")  # every number is one of a task
    wanted += [f"send to a port in state {state}" for state in states]
    wanted += [f"call {call} of a task" for call in range(4)]
    reads = ("NextTask", "Current", "Status", "Errors", "Control", "Slice", "Patience", "Info")
    wanted += [f"read {getattr(R, 'Reg' + name):#05x}" for name in reads]
    writes = ("CallRtos", "WaitPort", "Saved", "Errors", "Control", "Slice", "Patience")
    wanted += [f"write {getattr(R, 'Reg' + name):#05x}" for name in writes]
    wanted += ["interrupted by slice", "interrupted by priority", "a task is retired"]
    wanted += ["interrupted: may not run here any more", "goes on in its own context"]
    wanted += ["a retired task sends", "a refused call keeps the port to wait for"]
    wanted += ["patience is shortened"]
    wanted += ["called while an interrupt is due", "becomes due during nothing"]
    wanted += [f"becomes due during {R.RegSend:#05x}", f"becomes due during {R.RegReceive:#05x}"]
    wanted += ["becomes due during 0x000"]
    wanted += ["bus error: not a whole word", "bus error: no such register"]
    if SIZE.get("WordsPerPort", 1) > 1:
        wanted += ["an unfinished message is dropped"]
    if SIZE["NumCores"] > 1:
        wanted += ["several cores in one cycle", "several picks in one cycle", "migrates"]
        wanted += ["waits for its context to be saved elsewhere", "waits for its last core"]
    return wanted


@cocotb.test()
async def every_cycle_is_as_in_the_model(dut: SimHandleBase) -> None:
    await start(dut)
    bench = Bench(dut, seed=2007)
    await bench.run(CYCLES)
    wanted = bins()
    for name in wanted:
        cocotb.log.info(f"coverage: {bench.model.seen[name]:7} {name}")
    missed = [name for name in wanted if bench.model.seen[name] == 0]
    cocotb.log.info(f"coverage: {len(wanted) - len(missed)} of {len(wanted)}, {CYCLES} cycles")
    assert missed == []
