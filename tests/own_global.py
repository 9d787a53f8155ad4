# SPDX-License-Identifier: Apache-2.0
"""An own schedule of periodic tasks on cores that share a scheduler, to compare the simulator with.

Written from what docs/platform-toml.md says; it shares no code with the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from task_sets import Span, Task


@dataclass(eq=False)
class Job:
    """The current job of a task."""

    of: Task
    core: int  # that the task had last
    number: int = 0
    left: int = 0
    has_begun: bool = False  # it has had a core for some time
    spans: list[Span] = field(default_factory=list)

    @property
    def release(self) -> int:
        return self.of.offset + self.number * self.of.period

    def urgency(self, scheduling: str) -> int:
        """The less, the more urgent."""
        return self.release + self.of.period if scheduling == "edf" else -self.of.priority


@dataclass
class Cores:
    number: int
    scheduling: str
    restricted: bool
    have: dict[int, Job] = field(default_factory=dict)

    def urgency(self, job: Job) -> int:
        return job.urgency(self.scheduling)

    def choose(self, ready: list[Job]) -> None:
        """Who has a core and is to have one keeps it. Of the others each has its last core if that
        is vacant; the rest have the first ones."""
        last_of = {id(job): -core for core, job in self.have.items()}  # equals: who has one stays
        jobs = sorted(ready, key=lambda job: (self.urgency(job), last_of.get(id(job), 1)))
        chosen = self.restrict(jobs) if self.restricted else jobs[: self.number]
        before, self.have = self.have, {}
        for job in chosen:
            waits_here = any(one.has_begun and one.core == job.core for one in jobs if one != job)
            is_next = self.restricted and not job.has_begun and waits_here
            if (self.restricted and job.has_begun) or (before.get(job.core) is job and not is_next):
                self.have[job.core] = job
        moving = [job for job in chosen if self.have.get(job.core) is not job]
        for job in moving:
            self.have.setdefault(job.core, job)
        for job in moving:
            if self.have[job.core] is not job:
                job.core = min(core for core in range(self.number) if core not in self.have)
                self.have[job.core] = job

    def restrict(self, jobs: list[Job]) -> list[Job]:
        """A job that has begun waits for its core; another one takes a free core, or that of the
        least urgent job, if that is less urgent."""
        bound: dict[int, Job] = {}
        for job in jobs:
            if job.has_begun:
                bound.setdefault(job.core, job)
        chosen: list[Job] = []
        for job in jobs:
            if job.has_begun:
                continue
            if len(chosen) + len(bound) == self.number:
                held = [(self.urgency(one), -one.core, one) for one in bound.values()]
                least = max(held, default=(0, 0, None))[2]
                if least is None or self.urgency(least) <= self.urgency(job):
                    break
                del bound[least.core]
            chosen.append(job)
        return [*bound.values(), *chosen]


def schedule(tasks: list[Task], cores: Cores, places: list[int], until: int) -> list[list[Span]]:
    """When each task had which core, of jobs that were released before `until`; `places`: the cores
    that they had before."""
    jobs = [Job(task, core, left=task.computes) for task, core in zip(tasks, places, strict=True)]
    now = 0
    while True:
        live = [job for job in jobs if job.release < until]
        if not live:
            return [job.spans for job in jobs]
        cores.choose([job for job in live if job.release <= now])
        ends = [now + job.left for job in cores.have.values()]
        then = min(ends + [job.release for job in live if job.release > now])
        for core, job in list(cores.have.items()):
            if job.spans and job.spans[-1].end == now and job.spans[-1].core == core:
                job.spans[-1] = Span(job.spans[-1].begin, then, core)
            else:
                job.spans.append(Span(now, then, core))
            job.left -= then - now
            job.has_begun = True
            if job.left == 0:
                job.number, job.left, job.has_begun = job.number + 1, job.of.computes, False
                if job.release > then:
                    del cores.have[core]
        now = then
