# SPDX-License-Identifier: Apache-2.0
"""What the HW-RTOS does, cycle by cycle: the reference that the hardware is compared with.

Written from the registers' description: tasks, ports and cores as objects, messages as lists.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from regs import HW_RTOS as R

NONE = 1 << 31
HALT, PICK, OFFER, RUN = "halt", "pick", "offer", "run"
COUNTED = (
    (R.StatusFull, R.StatusBusy, R.StatusTooLong),
    (R.StatusBadPort, R.StatusBadTask),
    (R.StatusOrder, R.StatusNoTask),
)
PRIORITIES, SLICE_WIDTH, PATIENCE_WIDTH = 8, 20, 12
OLD_ENOUGH = 2


@dataclass(frozen=True)
class Access:
    """What a core has on its port."""

    addr: int
    write: bool = False
    data: int = 0
    be: int = 15

    def is_word(self) -> bool:
        return self.addr % 4 == 0 and (not self.write or self.be == 15)


@dataclass(eq=False)
class Task:
    """Of a slot that is configured anew, another object: who has sent is a task, not a slot."""

    valid: bool = False
    prefers_last: bool = False
    priority: int = 0
    affinity: int = 0
    waits_for: int | None = None
    last: int = 0
    age: int = 0


@dataclass
class Port:
    immediate: bool = False
    state: int = R.SendEmpty
    sender: Task | Core | None = None
    sent: list[int] = field(default_factory=list)  # the send buffer
    received: list[int] = field(default_factory=list)  # the receive buffer: what is left of it

    def deliver(self) -> None:
        """The message that is due goes into the receive buffer, once that is empty."""
        if self.state == R.SendDue and not self.received:
            self.received, self.sent, self.state = self.sent, [], R.SendEmpty


@dataclass
class Core:
    state: str = HALT
    current: int = 0
    before: int = 0
    unsaved: bool = False
    idle: bool = False
    due: bool = False
    slice_end: int | None = None  # cycles until the slice is over; 0: it is
    by_priority: bool = False
    by_slice: bool = False
    wait_port: int | None = None
    status: int = R.StatusOk

    def runs(self) -> bool:
        return self.state in (OFFER, RUN)


class Arbiter:
    """All who ask at the same time are served, the lowest first, before who asks later."""

    def __init__(self) -> None:
        self.batch: list[int] = []

    def grant(self, asking: list[int]) -> int | None:
        batch = [one for one in self.batch if one in asking] or sorted(asking)
        self.batch = batch[1:]
        return batch[0] if batch else None


@dataclass
class Outputs:
    """Of one cycle."""

    granted: int | None
    irq: list[bool]
    running: list[int | None]
    answers: dict[int, tuple[int, bool]]  # of the access before: data, bus error


class Model:
    def __init__(self, cores: int, tasks: int, ports: int, words: int) -> None:
        self.words = words
        self.cores = [Core() for _ in range(cores)]
        self.tasks = [Task() for _ in range(tasks)]
        self.ports = [Port() for _ in range(ports)]
        self.errors = [0, 0, 0]
        self.slice = self.patience = self.patience_left = 0
        self.access_arbiter, self.pick_arbiter = Arbiter(), Arbiter()
        self.answers: dict[int, tuple[int, bool]] = {}
        self.seen: Counter[str] = Counter()

    # ---- Who may run ----------------------------------------------------------------------------

    def running(self) -> set[int]:
        return {core.current for core in self.cores if core.runs()}

    def has_context_of(self, task: int) -> list[int]:
        return [c for c, core in enumerate(self.cores) if core.unsaved and core.before == task]

    def ready(self) -> list[int]:
        running = self.running()
        return [
            t
            for t, task in enumerate(self.tasks)
            if task.valid
            and t not in running
            and (task.waits_for is None or self.ports[task.waits_for].received)
        ]

    def eligible(self, c: int, ready: list[int]) -> list[int]:
        chosen = []
        for t in ready:
            task = self.tasks[t]
            if not task.affinity >> c & 1:
                continue
            holders = self.has_context_of(t)
            patient = task.prefers_last and task.age < OLD_ENOUGH and self.patience > 0
            if holders and holders != [c]:
                self.seen["waits for its context to be saved elsewhere"] += 1
            elif patient and task.last != c:
                self.seen["waits for its last core"] += 1
            else:
                chosen.append(t)
        return chosen

    def pick(self, c: int, eligible: list[int]) -> int:
        """The highest priority; among equals the next one after the task of before."""
        top = max(self.tasks[t].priority for t in eligible)
        equals = [t for t in eligible if self.tasks[t].priority == top]
        later = [t for t in equals if t > self.cores[c].current]
        return (later or equals)[0]

    # ---- A cycle --------------------------------------------------------------------------------

    def step(self, accesses: list[Access | None]) -> Outputs:
        """What the unit shows in this cycle; then its state is that of the next one."""
        ready = self.ready()
        eligible = [self.eligible(c, ready) for c in range(len(self.cores))]
        picking = [c for c, core in enumerate(self.cores) if core.state == PICK and eligible[c]]
        wants_next = [a is not None and not a.write and a.addr == R.RegNextTask for a in accesses]
        asking = [
            c
            for c, access in enumerate(accesses)
            if access is not None and not (wants_next[c] and self.must_wait(c, picking))
        ]
        granted = self.access_arbiter.grant(asking)
        picker = self.pick_arbiter.grant(picking)
        self.note_conflicts(asking, picking)
        outputs = Outputs(
            granted,
            [self.irq(core) for core in self.cores],
            [core.current if core.runs() else None for core in self.cores],
            self.answers,
        )
        picked = None if picker is None else self.pick(picker, eligible[picker])
        due = [self.is_due(c, core, eligible[c]) for c, core in enumerate(self.cores)]
        leaving = {c for c, core in enumerate(self.cores) if wants_next[c] and self.acked(core)}
        before = [core.state for core in self.cores]
        self.grow_old(ready)
        self.count_slices()
        self.answers = {}
        calls: set[int] = set()
        if granted is not None:
            access = accesses[granted]
            assert access is not None
            self.answers = {granted: self.carry_out(granted, access, calls)}
        for c, core in enumerate(self.cores):
            self.advance(c, core, before[c], c in calls, c in leaving, granted == c, wants_next[c])
            core.due = due[c]
        if picker is not None and picked is not None:
            self.take(picker, picked)
        for port in self.ports:
            port.deliver()
        return outputs

    def must_wait(self, c: int, picking: list[int]) -> bool:
        return c in picking or self.acked(self.cores[c])

    def acked(self, core: Core) -> bool:
        return core.state == RUN and core.due

    def irq(self, core: Core) -> bool:
        return (core.state == OFFER and core.idle) or self.acked(core)

    def is_due(self, c: int, core: Core, eligible: list[int]) -> bool:
        """Whether this core's task is to be interrupted, from the next cycle on."""
        if core.state != RUN or core.unsaved:
            return False
        task = self.tasks[core.current]
        if not (task.valid and task.affinity >> c & 1):
            self.seen["interrupted: may not run here any more"] += 1
            return True
        best = max((self.tasks[t].priority for t in eligible), default=-1)
        if core.by_priority and best > task.priority:
            self.seen["interrupted by priority"] += 1
            return True
        over = core.by_slice and core.slice_end == 0 and best >= task.priority
        self.seen["interrupted by slice"] += over
        return over

    def grow_old(self, ready: list[int]) -> None:
        tick = self.patience_left == 0
        left = self.patience if tick else self.patience_left - 1
        self.seen["patience is shortened"] += left > self.patience
        self.patience_left = min(left, self.patience)
        for t, task in enumerate(self.tasks):
            if t not in ready:
                task.age = 0
            elif tick and task.age < OLD_ENOUGH:
                task.age += 1

    def count_slices(self) -> None:
        for core in self.cores:
            if core.state == OFFER:
                core.slice_end = self.slice or None
            elif core.slice_end:
                core.slice_end -= 1

    def advance(
        self, c: int, core: Core, was: str, called: bool, left: bool, granted: bool, wanted: bool
    ) -> None:
        """The scheduling module of one core."""
        if granted and wanted:
            core.idle = was in (HALT, PICK)
            if was == OFFER:
                core.state = RUN
        if was == RUN and (called or left):
            core.state, core.before, core.unsaved = PICK, core.current, True
        if was == HALT and called:
            core.state = PICK

    def take(self, c: int, task: int) -> None:
        core, taken = self.cores[c], self.tasks[task]
        self.seen["migrates"] += taken.last != c
        self.seen["goes on in its own context"] += core.unsaved and core.before == task
        core.state, core.current = OFFER, task
        core.unsaved = core.unsaved and core.before != task
        taken.waits_for, taken.last = None, c

    def note_conflicts(self, asking: list[int], picking: list[int]) -> None:
        self.seen["several cores in one cycle"] += len(asking) > 1
        self.seen["several picks in one cycle"] += len(picking) > 1

    # ---- Accesses -------------------------------------------------------------------------------

    def carry_out(self, c: int, access: Access, calls: set[int]) -> tuple[int, bool]:
        """The data that is read, and whether it is a bus error."""
        group, index = access.addr & 0xF00, access.addr >> 2 & 63
        groups = {
            R.RegTaskConfig: self.task_config,
            R.RegTaskState: None if access.write else self.task_state,
            R.RegPortConfig: self.port_config,
            R.RegReceive: None if access.write else self.receive,
            R.RegPortState: None if access.write else self.port_state,
        }
        for send in (R.RegSend, R.RegSendMore, R.RegSendNow, R.RegSendNowMore):
            groups[send] = self.send if access.write else None
        if not access.is_word():
            self.seen["bus error: not a whole word"] += 1
            return 0, True
        if group == 0:
            return self.register(c, access, calls)
        handler = groups.get(group)
        if handler is None:
            self.seen["bus error: no such register"] += 1
            return 0, True
        is_task = group in (R.RegTaskConfig, R.RegTaskState)
        if index >= len(self.tasks if is_task else self.ports):
            self.say(c, R.StatusBadTask if is_task else R.StatusBadPort)
            return 0, False
        data, status = handler(c, index, access)
        self.say(c, status)
        return data, False

    def say(self, c: int, status: int) -> None:
        self.cores[c].status = status
        self.seen[f"status {status}"] += 1
        for kind, statuses in enumerate(COUNTED):
            if status in statuses:
                self.errors[kind] = min(self.errors[kind] + 1, 255)

    def register(self, c: int, access: Access, calls: set[int]) -> tuple[int, bool]:
        core, data = self.cores[c], access.data
        reads = {
            R.RegNextTask: core.current if core.runs() else NONE,
            R.RegCurrent: core.current if core.runs() else NONE,
            R.RegStatus: core.status,
            R.RegErrors: self.errors[0] | self.errors[1] << 8 | self.errors[2] << 16,
            R.RegControl: core.by_priority | core.by_slice << 1,
            R.RegSlice: self.slice,
            R.RegPatience: self.patience,
            R.RegInfo: len(self.cores)
            | len(self.tasks) << 8
            | len(self.ports) << 16
            | self.words << 24,
        }
        if not access.write:
            self.seen[f"read {access.addr:#05x}"] += access.addr in reads
            return reads.get(access.addr, 0), access.addr not in reads
        writes = {
            R.RegCallRtos: lambda: self.call(c, data & 3, calls),
            R.RegWaitPort: lambda: self.wait_port(c, data),
            R.RegSaved: lambda: self.saved(c),
            R.RegErrors: lambda: self.errors.__setitem__(slice(None), [0, 0, 0]),
            R.RegControl: lambda: self.control(core, data),
            R.RegSlice: lambda: setattr(self, "slice", data % 2**SLICE_WIDTH),
            R.RegPatience: lambda: setattr(self, "patience", data % 2**PATIENCE_WIDTH),
        }
        if access.addr not in writes:
            return 0, True
        self.seen[f"write {access.addr:#05x}"] += 1
        writes[access.addr]()
        return 0, False

    def control(self, core: Core, data: int) -> None:
        core.by_priority, core.by_slice = bool(data & 1), bool(data & 2)

    def wait_port(self, c: int, port: int) -> None:
        known = port < len(self.ports)
        self.cores[c].wait_port = port if known else None
        self.say(c, R.StatusOk if known else R.StatusBadPort)

    def saved(self, c: int) -> None:
        self.say(c, R.StatusOk if self.cores[c].unsaved else R.StatusNoTask)
        self.cores[c].unsaved = False

    def call(self, c: int, call: int, calls: set[int]) -> None:
        core = self.cores[c]
        port = core.wait_port
        refused = core.runs() and (core.state == OFFER or core.unsaved)
        self.seen["a refused call keeps the port to wait for"] += refused and port is not None
        if refused:
            return self.say(c, R.StatusOrder)
        if core.runs() and call == R.CallBlock and port is None:
            return self.say(c, R.StatusBadPort)
        core.wait_port = None
        self.say(c, R.StatusOk)
        calls.add(c)
        self.seen[f"call {call} {'of a task' if core.runs() else 'of an idle core'}"] += 1
        if core.runs():
            task = self.tasks[core.current]
            if call == R.CallBlock:
                task.waits_for = port
            if call == R.CallExit:
                task.valid = False
            if call != R.CallPreempt:
                self.give_up(task, call == R.CallExit)
            self.seen["called while an interrupt is due"] += core.due
        return None

    def give_up(self, task: Task, ends: bool) -> None:
        """What it has sent becomes visible; what it has not finished is dropped if it ends."""
        for port in self.ports:
            if port.sender is not task:
                continue
            if port.state == R.SendHeld:
                port.state = R.SendDue
            elif port.state == R.SendOpen and ends:
                self.seen["an unfinished message is dropped"] += 1
                port.state, port.sent = R.SendEmpty, []

    def task_config(self, c: int, index: int, access: Access) -> tuple[int, int]:
        task, data = self.tasks[index], access.data
        if not access.write:
            if not task.valid:
                return 0, R.StatusOk
            bits = 1 | task.prefers_last << 1 | task.priority << 8 | task.affinity << 16
            return bits, R.StatusOk
        in_use = index in self.running() or bool(self.has_context_of(index))
        if in_use and data & 1 and not task.valid:
            return 0, R.StatusBusy
        if task.valid and not data & 1:
            self.seen["a task is retired"] += 1
            self.give_up(task, True)
        if not task.valid and data & 1:
            task = self.tasks[index] = Task()
        task.valid, task.prefers_last = bool(data & 1), bool(data & 2)
        task.priority = data >> 8 & (PRIORITIES - 1)
        task.affinity = data >> 16 & (2 ** len(self.cores) - 1)
        return 0, R.StatusOk

    def task_state(self, c: int, index: int, access: Access) -> tuple[int, int]:
        task = self.tasks[index]
        state = (index in self.running()) << 1 | bool(self.has_context_of(index)) << 3
        if task.valid:
            state |= 1 | task.last << 16
            if task.waits_for is not None:
                state |= 4 | task.waits_for << 8
        return state, R.StatusOk

    def port_config(self, c: int, index: int, access: Access) -> tuple[int, int]:
        port = self.ports[index]
        if access.write:
            port.immediate = bool(access.data & 1)
            return 0, R.StatusOk
        return int(port.immediate), R.StatusOk

    def port_state(self, c: int, index: int, access: Access) -> tuple[int, int]:
        port = self.ports[index]
        return port.state | bool(port.received) << 2 | len(port.received) << 8, R.StatusOk

    def send(self, c: int, index: int, access: Access) -> tuple[int, int]:
        port, core = self.ports[index], self.cores[c]
        more, now = bool(access.addr & 0x100), bool(access.addr & 0x200)
        by_task = core.runs() and not now
        task = self.tasks[core.current]  # the slot is not configured anew while it runs
        sender = task if by_task else core
        if by_task and not task.valid:
            self.seen["a retired task sends"] += 1
            return 0, R.StatusNoTask
        self.seen[f"send to a port in state {port.state}"] += 1
        if port.state in (R.SendHeld, R.SendDue):
            return 0, R.StatusFull
        if port.state == R.SendOpen and port.sender is not sender:
            return 0, R.StatusBusy
        if more and len(port.sent) + 1 >= self.words:
            return 0, R.StatusTooLong
        port.sent.append(access.data)
        port.sender = sender
        if more:
            port.state = R.SendOpen
        elif by_task and not port.immediate:
            port.state = R.SendHeld
        else:
            port.state = R.SendDue
        return 0, R.StatusOk

    def receive(self, c: int, index: int, access: Access) -> tuple[int, int]:
        port = self.ports[index]
        if not port.received:
            return 0, R.StatusEmpty
        return port.received.pop(0), R.StatusOk
