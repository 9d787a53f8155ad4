# SPDX-License-Identifier: Apache-2.0
"""An own schedule of scripts, to compare the simulator with.

Written from what docs/simulator.md, docs/app-toml.md and docs/platform-toml.md say; it shares no
code with the simulator. Nothing but computing takes time. At one instant, in this order: the task
that has a core does what takes no time; cores that it has notes for look; what else happens at that
instant; then cores choose their tasks, in the order in which they came to do so.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Event = dict[str, Any]
LEAST_DEADLINE = 2**63 // 1  # of a task that has timers before it has set one
NO_DEADLINE = 2**64


@dataclass
class CoreOf:
    """A core as the platform describes it."""

    scheduling: str = "cooperative"
    mhz: int = 1000  # divides 1000: a cycle is a whole number of nanoseconds
    slice_ns: int = 0
    tick_ns: int = 0


@dataclass
class TaskOf:
    """A task as app.toml describes it: one after the other, as there."""

    core: int
    priority: int
    script: list[Event]


@dataclass
class Program:
    cores: list[CoreOf]
    tasks: list[TaskOf]
    barriers: dict[str, int] = field(default_factory=dict)  # how many tasks meet
    semaphores: dict[str, tuple[int, int]] = field(default_factory=dict)  # initial, most
    mutexes: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)


# What a task that runs asks of its core.
@dataclass
class Run:
    cycles: int


@dataclass
class Wait:
    until_ns: int | None = None  # None: it is to be woken


WOKE = "it has woken tasks, or changed its urgency"
CHECKPOINT = "it is at a checkpoint"
Request = Run | Wait | str


class Task:
    def __init__(self, number: int, of: TaskOf) -> None:
        self.number, self.of = number, of
        self.gate: str | None = None  # what it waits at, and has not been chosen at
        self.blocked = self.over = False
        self.timer = 0  # the event that ends its sleep
        self.left_ns: int | None = None  # to compute before it goes on
        self.had_of_slice_ns = 0
        self.deadline_ns = NO_DEADLINE
        self.priority = of.priority  # the effective one
        self.held: list[str] = []
        self.ended_ns: int | None = None
        # Of shares.
        self.virtual_ns = self.due_ns = self.keeps_ns = 0
        self.is_known = self.sleeps = self.competes = False
        self.level = 0
        self.lags_ns: dict[int, int] = {}
        self.steps: Iterator[Request] = iter(())


class Core:
    def __init__(self, number: int, of: CoreOf) -> None:
        self.number, self.of = number, of
        self.ready: dict[int, list[Task]] = {}
        self.current: Task | None = None
        self.notes: set[int] = set()
        self.rung = self.chooses = self.pends = False
        self.computes_until_ns: int | None = None
        self.event = self.slice_event = 0
        self.slice_from_ns = 0
        self.slice_is_over = False
        # Of shares.
        self.competing: list[Task] = []
        self.chosen: Task | None = None
        self.has_it = self.is_due = False
        self.since_ns = 0

    @property
    def preempts(self) -> bool:
        return self.of.scheduling != "cooperative"

    @property
    def is_fair(self) -> bool:
        return self.of.scheduling == "fair"

    def most_urgent(self) -> int:
        """The priority of the most urgent task that is ready; -1: there is none."""
        return max((p for p, tasks in self.ready.items() if tasks), default=-1)

    def is_ready(self, task: Task) -> bool:
        return any(task in tasks for tasks in self.ready.values())


class Schedule:
    """Computes when each task of a program ends."""

    def __init__(self, program: Program) -> None:
        self.now_ns = 0
        self.of = program
        self.tasks = [Task(n, of) for n, of in enumerate(program.tasks)]
        self.cores = [Core(n, of) for n, of in enumerate(program.cores)]
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.taken_back: set[int] = set()
        self.number = 0
        self.rings: deque[Core] = deque()
        self.choices: deque[Core] = deque()
        self.here: Core | None = None
        self.permits = {name: initial for name, (initial, _) in program.semaphores.items()}
        self.holders: dict[str, Task | None] = dict.fromkeys(program.mutexes)
        self.rounds = dict.fromkeys(program.barriers, 0)
        self.arrived: dict[str, set[int]] = {name: set() for name in program.barriers}

    # ---- Time -----------------------------------------------------------------------------------

    def at(self, ns: int, act: Callable[[], None]) -> int:
        self.number += 1
        heapq.heappush(self.events, (ns, self.number, act))
        return self.number

    def take_back(self, event: int) -> None:
        if event:
            self.taken_back.add(event)

    def ends(self) -> list[int | None]:
        """When each task ended; None: it waits for ever."""
        for task in self.tasks:
            task.steps = self.body(task)
            self.queue(self.core_of(task), task)
        for core in self.cores:
            if core.ready:
                self.choose_later(core)
        while True:
            while self.events and self.events[0][1] in self.taken_back:
                heapq.heappop(self.events)
            if self.rings:
                self.answer(self.rings.popleft())
            elif self.events and self.events[0][0] == self.now_ns:
                heapq.heappop(self.events)[2]()
            elif self.choices:
                self.reconsider(self.choices.popleft())
            elif self.events:
                self.now_ns = self.events[0][0]
            else:
                return [task.ended_ns for task in self.tasks]

    # ---- Waking ---------------------------------------------------------------------------------

    def core_of(self, task: Task) -> Core:
        return self.cores[task.of.core]

    def choose_later(self, core: Core) -> None:
        if not core.chooses:
            core.chooses = True
            self.choices.append(core)

    def ring(self, core: Core, task: Task) -> None:
        """A note about a task, to another core than the one that acts."""
        core.notes.add(task.number)
        if not core.rung:
            core.rung = True
            self.rings.append(core)

    def wake(self, tasks: list[Task]) -> None:
        """By a task. All are ready before anything is chosen; other cores hear of it in order."""
        for task in sorted(tasks, key=lambda task: task.of.core):
            core = self.core_of(task)
            if core is self.here:
                self.unblock(core, task)
            else:
                self.ring(core, task)

    def unblock(self, core: Core, task: Task) -> None:
        if not task.blocked:
            return
        task.blocked = False
        self.take_back(task.timer)
        task.timer = 0
        self.make_ready(core, task)

    def make_ready(self, core: Core, task: Task) -> None:
        self.queue(core, task)
        if core.current is None:
            self.choose_later(core)
        else:
            self.time_slice(core)

    def serve(self, core: Core) -> None:
        for number in sorted(core.notes):
            self.follow(self.tasks[number])
            self.unblock(core, self.tasks[number])
        core.notes.clear()

    def answer(self, core: Core) -> None:
        """Its doorbell. A kernel that does not preempt looks when its task lets it."""
        core.rung = False
        if core.current is None:
            self.serve(core)
        elif core.preempts:
            core.pends = True
            self.choose_later(core)

    def sleep_is_over(self, task: Task) -> None:
        core = self.core_of(task)
        task.timer = 0
        self.unblock(core, task)
        if core.current is not None and core.preempts and self.is_outdone(core):
            core.pends = True
            self.choose_later(core)

    # ---- Choosing -------------------------------------------------------------------------------

    def is_outdone(self, core: Core) -> bool:
        current = core.current
        if current is None:
            return False
        top = core.most_urgent()
        if top != current.priority:
            return top > current.priority or core.is_due
        earlier = core.ready[top][0].deadline_ns < current.deadline_ns
        return core.is_due or (core.of.scheduling == "edf" and earlier)

    def reconsider(self, core: Core) -> None:
        core.chooses = False
        if core.current is not None:
            if not core.pends and not self.is_outdone(core):
                return
            self.interrupt(core)
        self.choose(core)

    def interrupt(self, core: Core) -> None:
        """What it computes it goes on with when it has the core again."""
        task = core.current
        assert task is not None
        if core.computes_until_ns is not None:
            self.take_back(core.event)
            task.left_ns = core.computes_until_ns - self.now_ns
            core.computes_until_ns = None
        self.leave(core, task, ready=True, interrupted=True)

    def leave(self, core: Core, task: Task, *, ready: bool, interrupted: bool = False) -> None:
        core.current = None
        core.pends = False
        keeps = interrupted and not core.slice_is_over
        if core.of.slice_ns:
            had_ns = self.now_ns - core.slice_from_ns
            task.had_of_slice_ns = had_ns % core.of.slice_ns if keeps else 0
            self.take_back(core.slice_event)
            core.slice_event = 0
            core.slice_is_over = False
        if ready:
            self.queue(core, task, first=keeps)
        elif core.is_fair:
            self.stop_sharing(core, task)

    def choose(self, core: Core) -> None:
        core.chooses = True  # what it makes ready now it need not come back for
        self.serve(core)
        core.chooses = False
        top = core.most_urgent()
        if top < 0:
            return
        task = self.pop_fairly(core, top) if core.is_fair else core.ready[top].pop(0)
        core.current = task
        core.pends = False
        if core.of.slice_ns:
            core.slice_from_ns = self.now_ns - task.had_of_slice_ns
            self.time_slice(core)
        if task.left_ns is not None:
            self.compute(core, task.left_ns)
            task.left_ns = None
        else:
            self.go_on(core)

    def queue(self, core: Core, task: Task, *, first: bool = False) -> None:
        queue = core.ready.setdefault(task.priority, [])
        if core.is_fair:
            self.queue_fairly(core, task)
        elif core.of.scheduling == "edf":
            due = task.deadline_ns
            later = (n for n, t in enumerate(queue) if t.deadline_ns > due - first)
            queue.insert(next(later, len(queue)), task)
        elif first:
            queue.insert(0, task)
        else:
            queue.append(task)

    # ---- Slices ---------------------------------------------------------------------------------

    def has_equals(self, core: Core) -> bool:
        if core.is_fair:
            return self.has_rivals(core)
        return core.current is not None and bool(core.ready.get(core.current.priority))

    def time_slice(self, core: Core) -> None:
        if not core.of.slice_ns or core.current is None or core.slice_event or core.slice_is_over:
            return
        if not self.has_equals(core):
            return
        if core.is_fair:
            at_ns = self.next_look(core)
        else:
            had_ns = (self.now_ns - core.slice_from_ns) % core.of.slice_ns
            at_ns = self.now_ns + core.of.slice_ns - had_ns
        core.slice_event = self.at(at_ns, lambda: self.slice_ends(core))

    def slice_ends(self, core: Core) -> None:
        core.slice_event = 0
        if not self.has_equals(core):
            return
        if core.is_fair and not self.look(core):
            self.time_slice(core)
            return
        core.slice_is_over = True
        core.pends = True
        self.choose_later(core)

    # ---- A task that runs -----------------------------------------------------------------------

    def compute(self, core: Core, ns: int) -> None:
        core.computes_until_ns = self.now_ns + ns
        core.event = self.at(core.computes_until_ns, lambda: self.computed(core))

    def computed(self, core: Core) -> None:
        core.computes_until_ns = None
        self.go_on(core)

    def go_on(self, core: Core) -> None:
        """What its task does until it computes, waits or has to leave."""
        task = core.current
        assert task is not None
        while True:
            self.here = core
            request = next(task.steps, None)
            self.here = None
            if request is None:
                task.over, task.ended_ns = True, self.now_ns
                self.leave(core, task, ready=False)
                break
            if isinstance(request, Run):
                self.compute(core, request.cycles * 1000 // core.of.mhz)
                return
            if isinstance(request, Wait):
                if core.notes:
                    self.serve(core)
                    if core.most_urgent() >= task.priority and request.until_ns == self.now_ns:
                        raise AssertionError("no wait is over at once")
                if self.has_to_wait(task, request):
                    task.blocked = True
                    if request.until_ns is not None:
                        task.timer = self.at(request.until_ns, lambda: self.sleep_is_over(task))
                    self.leave(core, task, ready=False)
                    break
            elif request == WOKE:
                if core.preempts and (core.pends or self.is_outdone(core)) and not core.chooses:
                    self.leave(core, task, ready=True, interrupted=True)
                    break
            elif core.notes or core.most_urgent() > task.priority:  # at a checkpoint
                self.serve(core)
                if core.most_urgent() > task.priority:
                    self.leave(core, task, ready=True)
                    break
        self.serve(core)
        if core.most_urgent() >= 0:
            self.choose_later(core)

    def has_to_wait(self, task: Task, wait: Wait) -> bool:
        return wait.until_ns is not None or task.gate is not None

    # ---- Scripts --------------------------------------------------------------------------------

    def body(self, task: Task) -> Generator[Request, None, None]:
        timers: dict[str, int] = {}
        start_ns = self.now_ns
        if any("timer" in event for event in flat(task.of.script)):
            task.deadline_ns = LEAST_DEADLINE
        for event in unrolled(task.of.script):
            if "run" in event:
                yield Run(event["run"])
            elif "sleep" in event:
                yield Wait(self.now_ns + event["sleep"])
            elif "timer" in event:
                yield from self.timer(task, event, timers, start_ns)
            elif "barrier" in event:
                yield from self.meet(task, event["barrier"])
            elif "take" in event:
                yield from self.take(task, event["take"])
            elif "give" in event:
                most = self.of.semaphores[event["give"]][1]
                if self.permits[event["give"]] < most:
                    self.permits[event["give"]] += 1
                    yield from self.wake_one(event["give"])
            elif "lock" in event:
                yield from self.lock(task, event["lock"])
            elif "unlock" in event:
                yield from self.unlock(task, event["unlock"])
            elif "wait" in event:
                task.gate = event["wait"]
                yield from self.unlock(task, event["mutex"])
                while task.gate is not None:
                    yield Wait()
                yield from self.lock(task, event["mutex"])
            elif "signal" in event:
                yield from self.wake_one(event["signal"])
            elif "broadcast" in event:
                self.wake([self.chosen(t) for t in self.waiters(event["broadcast"])])
                yield WOKE
            yield CHECKPOINT

    def waiters(self, gate: str) -> list[Task]:
        return [task for task in self.tasks if task.gate == gate]

    def chosen(self, task: Task) -> Task:
        task.gate = None
        return task

    def wake_one(self, gate: str) -> Iterator[Request]:
        """The most urgent, of equals the first in app.toml."""
        waiters = self.waiters(gate)
        if waiters:
            self.wake([self.chosen(max(waiters, key=lambda task: task.priority))])
        yield WOKE

    def wait_at(self, task: Task, gate: str) -> Iterator[Request]:
        task.gate = gate
        yield from self.press(gate)
        yield Wait()
        task.gate = None

    def timer(
        self, task: Task, event: Event, timers: dict[str, int], start_ns: int
    ) -> Iterator[Request]:
        until_ns = timers.get(event["name"], start_ns) + event["timer"]
        is_late = self.now_ns >= until_ns
        late_ns = self.now_ns if event.get("mode", "relative") == "relative" else until_ns
        timers[event["name"]] = max(until_ns, late_ns)
        task.deadline_ns = timers[event["name"]] + event["timer"]
        if is_late:
            yield WOKE
        else:
            yield Wait(until_ns)

    def meet(self, task: Task, name: str) -> Iterator[Request]:
        arrived = self.arrived[name]
        arrived.add(task.number)
        if len(arrived) < self.of.barriers[name]:
            yield from self.wait_at(task, name)
            return
        arrived.clear()
        self.wake([self.chosen(t) for t in self.waiters(name)])
        yield WOKE

    def take(self, task: Task, name: str) -> Iterator[Request]:
        """Who takes one and leaves others has the next waiter try, too."""
        while self.permits[name] == 0:
            yield from self.wait_at(task, name)
        self.permits[name] -= 1
        if self.permits[name] > 0:
            yield from self.wake_one(name)

    # ---- Mutexes --------------------------------------------------------------------------------

    def lock(self, task: Task, name: str) -> Iterator[Request]:
        """Who is woken for it tries again; another may have been quicker."""
        while self.holders[name] is not None:
            yield from self.wait_at(task, name)
        self.holders[name] = task
        task.held.append(name)
        self.follow(task)
        yield WOKE

    def unlock(self, task: Task, name: str) -> Iterator[Request]:
        self.holders[name] = None
        task.held.remove(name)
        yield from self.wake_one(name)
        self.follow(task)
        yield WOKE

    def press(self, gate: str) -> Iterator[Request]:
        """The holder of a mutex is as urgent as who waits for it."""
        holder = self.holders.get(gate)
        if holder is not None and self.wanted(holder) != holder.priority:
            core = self.core_of(holder)
            if core is self.here:
                core.notes.add(holder.number)
                if core.preempts:
                    core.pends = True
                yield WOKE
            else:
                self.ring(core, holder)

    def wanted(self, task: Task) -> int:
        waiters = [t.priority for name in task.held for t in self.waiters(name)]
        return max([task.of.priority, *waiters])

    def follow(self, task: Task) -> None:
        """It has the priority that it ought to have. One that is ready goes behind its equals."""
        priority, core = self.wanted(task), self.core_of(task)
        if priority == task.priority:
            return
        is_ready = core.is_ready(task)
        if is_ready:
            core.ready[task.priority].remove(task)
        task.priority = priority
        if is_ready:
            self.queue(core, task)

    # ---- Shares ---------------------------------------------------------------------------------
    # Of tasks of one weight, so virtual time passes as time does. It is whole nanoseconds.

    def mean(self, core: Core, level: int) -> tuple[int, int]:
        """Of those that compete in a priority, rounded down; and how many they are."""
        rivals = [t.virtual_ns for t in core.competing if t.level == level]
        return (int(Fraction(sum(rivals), len(rivals)) // 1) if rivals else 0, len(rivals))

    def place(self, core: Core, task: Task) -> None:
        task.level = task.priority
        mean_ns, number = self.mean(core, task.level)
        if number:
            scaled = Fraction(task.lags_ns.get(task.level, 0) * (number + 1), number)
            task.virtual_ns = mean_ns - int(scaled)
        part = 1 if task.is_known else 2
        task.due_ns = task.virtual_ns + core.of.slice_ns // part
        task.is_known = True
        task.competes = True
        core.competing.append(task)

    def lag(self, core: Core, task: Task) -> int:
        most_ns = max(2 * core.of.slice_ns, core.of.tick_ns)
        return max(-most_ns, min(most_ns, self.mean(core, task.level)[0] - task.virtual_ns))

    def retire(self, core: Core, task: Task) -> None:
        lag_ns = self.lag(core, task)
        task.lags_ns[task.level] = min(lag_ns, 0) if task.sleeps else lag_ns
        task.sleeps = task.competes = False
        core.competing.remove(task)
        if core.chosen is task:
            core.chosen = None

    def count(self, core: Core) -> None:
        """What the task that has the core has had of it up to now."""
        task = core.chosen
        ns = self.now_ns - core.since_ns
        if not core.has_it or ns == 0 or task is None:
            return
        core.since_ns = self.now_ns
        task.virtual_ns += ns
        if task.virtual_ns >= task.due_ns:
            task.due_ns = task.virtual_ns + core.of.slice_ns
        if task.virtual_ns >= task.keeps_ns and self.has_rivals(core):
            core.is_due = True

    def has_rivals(self, core: Core) -> bool:
        chosen = core.chosen
        return chosen is not None and any(
            t is not chosen and t.level == chosen.level for t in core.competing
        )

    def look(self, core: Core) -> bool:
        self.count(core)
        return core.is_due

    def next_look(self, core: Core) -> int:
        if core.of.tick_ns:
            return (self.now_ns // core.of.tick_ns + 1) * core.of.tick_ns
        assert core.chosen is not None
        at_ns = core.since_ns + core.chosen.due_ns - core.chosen.virtual_ns
        return max(at_ns, self.now_ns + 1)

    def first(self, core: Core, level: int) -> Task:
        """The earliest deadline of those that are eligible; who has been chosen keeps the core up
        to its deadline while it is."""
        mean_ns, _ = self.mean(core, level)
        eligible = [t for t in core.competing if t.level == level and t.virtual_ns <= mean_ns]
        chosen = core.chosen
        if chosen not in eligible:
            chosen = None
        if chosen is not None and not chosen.sleeps and chosen.virtual_ns < chosen.keeps_ns:
            return chosen
        others = [t for t in eligible if t is not chosen]
        best = min(others, key=lambda t: t.due_ns, default=None)
        if chosen is not None and (best is None or chosen.due_ns < best.due_ns):
            return chosen
        assert best is not None
        return best

    def pop_fairly(self, core: Core, level: int) -> Task:
        while (task := self.first(core, level)).sleeps:
            self.retire(core, task)
        core.ready[level].remove(task)
        if task is not core.chosen:
            task.keeps_ns = task.due_ns
        core.chosen = task
        core.has_it, core.is_due, core.since_ns = True, False, self.now_ns
        return task

    def put_back(self, core: Core, task: Task) -> None:
        self.count(core)
        core.has_it = False
        core.competing.remove(task)
        core.competing.append(task)

    def queue_fairly(self, core: Core, task: Task) -> None:
        if core.has_it and core.chosen is task:
            self.put_back(core, task)
        if task.competes and task.sleeps:
            if self.lag(core, task) > 0:
                self.retire(core, task)
                self.place(core, task)
            task.sleeps = False
        elif not task.competes:
            self.count(core)
            self.place(core, task)
        core.ready[task.priority].append(task)
        if not core.has_it or core.chosen is None or core.chosen.level != task.level:
            return
        self.count(core)
        if self.first(core, task.level) is task:
            core.is_due = True

    def stop_sharing(self, core: Core, task: Task) -> None:
        self.put_back(core, task)
        core.chosen = None
        task.sleeps = not task.over and task.virtual_ns > self.mean(core, task.level)[0]
        if not task.sleeps:
            self.retire(core, task)
        for other in list(core.competing):
            if other.sleeps and core.most_urgent() < other.level:
                self.retire(core, other)
                other.lags_ns[other.level] = 0


def flat(script: list[Event]) -> Iterator[Event]:
    for event in script:
        yield from flat(event["do"]) if "loop" in event else [event]


def unrolled(script: list[Event]) -> Iterator[Event]:
    for event in script:
        if "loop" in event:
            for _ in range(event["loop"]):
                yield from unrolled(event["do"])
        else:
            yield event
