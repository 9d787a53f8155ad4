# SPDX-License-Identifier: Apache-2.0
"""Random programs of scripts that meet at barriers, conditions, semaphores and mutexes."""

from __future__ import annotations

import random

from own_schedule import CoreOf, Event, Program, TaskOf, flat
from simulated import platform


class Maker:
    """Draws a program. It may deadlock: its schedule says so."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        chance = self.chance
        self.cores = [self.core() for _ in range(chance.randint(1, 3))]
        self.is_fair = any(core.scheduling == "fair" for core in self.cores)
        # Where a mutex is, priorities change hands; a task that is fair has one priority then.
        self.locks = chance.random() < 0.6
        one = self.is_fair and self.locks
        urgent = [8] if one else chance.sample(range(2, 30), chance.randint(1, 4))
        number = chance.randint(2, 9)
        self.urgency = [chance.choice(urgent) for _ in range(number)]
        self.rounds, self.timers = chance.randint(1, 4), 0
        self.program = Program(self.cores, [])
        self.meetings = self.barriers(number)
        for name in ("s", "t")[: chance.randint(0, 2)]:
            initial = chance.randint(0, 2)
            self.program.semaphores[name] = (initial, chance.choice([1, 2, 1000]) + initial)
        if self.locks:
            self.program.mutexes.append("m")
            self.program.conditions += ("c", "d")[: chance.randint(0, 2)]
        for n in range(number):
            self.program.tasks.append(self.task(n))

    def core(self) -> CoreOf:
        chance = self.chance
        core = CoreOf(chance.choice(["cooperative", "preemptive", "edf", "fair"]))
        core.mhz = chance.choice([1000, 500, 250])
        if core.scheduling == "fair" or (core.scheduling == "preemptive" and chance.random() < 0.5):
            core.slice_ns = chance.choice([40_000, 150_000, 700_000])
        if core.scheduling == "fair" and chance.random() < 0.4:
            core.tick_ns = chance.choice([100_000, 250_000])
        return core

    def barriers(self, number: int) -> dict[str, list[int]]:
        meetings = {}
        for name in ("b", "e")[: self.chance.randint(0, 2)]:
            meetings[name] = self.chance.sample(range(number), self.chance.randint(2, number))
            self.program.barriers[name] = len(meetings[name])
        return meetings

    # Hardly two things end at one nanosecond by chance.
    def run(self) -> Event:
        return {"run": self.chance.randint(1, 300_007)}

    def sleep(self) -> Event:
        return {"sleep": self.chance.randint(1, 300_007)}

    def under_mutex(self) -> list[Event]:
        chance, conditions = self.chance, self.program.conditions
        events: list[Event] = [{"lock": "m"}]
        for _ in range(chance.randint(0, 2)):
            events.append(self.run())
            if conditions and chance.random() < 0.6:
                name = chance.choice(conditions)
                kind = chance.choice(["wait", "signal", "broadcast", "broadcast"])
                events.append({kind: name, **({"mutex": "m"} if kind == "wait" else {})})
        return [*events, {"unlock": "m"}]

    def some(self) -> list[Event]:
        chance, semaphores = self.chance, list(self.program.semaphores)
        kind = chance.random()
        if kind < 0.35:
            return [self.run()]
        if kind < 0.5:
            return [self.sleep()]
        if kind < 0.7 and semaphores:
            return [{chance.choice(["take", "give", "give"]): chance.choice(semaphores)}]
        if kind < 0.9 and self.locks:
            return self.under_mutex()
        if kind < 0.95:
            mode = chance.choice(["relative", "absolute"])
            self.timers += 1
            name = f"k{self.timers}"
            return [{"timer": chance.randint(10_000, 900_000), "name": name, "mode": mode}]
        conditions = self.program.conditions
        return [{"broadcast": chance.choice(conditions)}] if conditions else [self.run()]

    def task(self, number: int) -> TaskOf:
        chance = self.chance
        body: list[Event] = []
        for _ in range(chance.randint(1, 4)):
            body += self.some()
        for name, tasks in self.meetings.items():
            if number in tasks:
                places = [n for n, event in enumerate(body) if not held(body, n)] + [len(body)]
                body.insert(chance.choice(places), {"barrier": name})
        script: list[Event] = [self.sleep()] if chance.random() < 0.4 else []
        script.append({"loop": self.rounds, "do": [*body, self.run()]})
        for _ in range(chance.randint(0, 1)):
            script += self.some()
        return TaskOf(chance.randrange(len(self.cores)), self.urgency[number], script)


def held(body: list[Event], at: int) -> bool:
    """A mutex is held before event `at`."""
    return sum("lock" in event for event in body[:at]) > sum("unlock" in e for e in body[:at])


def is_told(program: Program) -> bool:
    """Nothing is refused: what is waited for is signalled or given by a task."""
    events = [(n, e) for n, task in enumerate(program.tasks) for e in flat(task.script)]
    used = [{key: event[key] for key in event} for _, event in events]
    for name in program.conditions:
        waits = any(e.get("wait") == name for e in used)
        if waits and not any(name in (e.get("signal"), e.get("broadcast")) for e in used):
            return False
    return all(
        any(e.get("give") == name for e in used) or not any(e.get("take") == name for e in used)
        for name in program.semaphores
    )


# ---- As TOML ------------------------------------------------------------------------------------


def event_of(event: Event) -> str:
    if "loop" in event:
        inner = ", ".join(event_of(e) for e in event["do"])
        return f"{{ loop = {event['loop']}, do = [{inner}] }}"
    told = []
    for key, value in event.items():
        if key in ("sleep", "timer"):
            told.append(f'{key} = "{value}ns"')
        else:
            told.append(f"{key} = {value}" if isinstance(value, int) else f'{key} = "{value}"')
    return "{ " + ", ".join(told) + " }"


def application(program: Program) -> str:
    tables = ['[app]\nname = "made"\n']
    for n, task in enumerate(program.tasks):
        script = ", ".join(event_of(event) for event in task.script)
        head = f'[[task]]\nname = "t{n}"\ncore = {task.core}\npriority = {task.priority}\n'
        tables.append(f"{head}script = [{script}]\n")
    tables += [f'[[barrier]]\nname = "{n}"\ntasks = {k}\n' for n, k in program.barriers.items()]
    tables += [
        f'[[semaphore]]\nname = "{n}"\ninitial = {initial}\nmost = {most}\n'
        for n, (initial, most) in program.semaphores.items()
    ]
    tables += [f'[[mutex]]\nname = "{n}"\n' for n in program.mutexes]
    tables += [f'[[condition]]\nname = "{n}"\n' for n in program.conditions]
    return "\n".join(tables)


def hardware(program: Program) -> str:
    cores = []
    for core in program.cores:
        lines = [f'scheduling = "{core.scheduling}"']
        if core.slice_ns:
            lines.append(f"slice_us = {core.slice_ns // 1000}")
        if core.tick_ns:
            lines.append(f"tick_us = {core.tick_ns // 1000}")
        lines.append(f"[[core.point]]\nmhz = {core.mhz}\nactive_mw = 100\n")
        cores.append("\n".join(lines))
    return platform(*cores)
