# SPDX-License-Identifier: Apache-2.0
"""Graphs of SDF3 by its own semantics: random ones, their files, and a self-timed exploration of
their states.

A firing begins as soon as there are its tokens and the space for what it puts, takes both, and puts
its tokens and frees the space of what it took when it ends. Firings of an actor overlap as they may
(A. H. Ghamarian et al.: "Throughput Analysis of Synchronous Data Flow Graphs", ACSD 2006; S.
Stuijk, M. Geilen, T. Basten: "Exploring Trade-Offs in Buffer Requirements and Throughput
Constraints for Synchronous Dataflow Graphs", DAC 2006).
"""

from __future__ import annotations

import math
import random
from collections import deque
from dataclasses import dataclass, field

# Where a file gives no size, a channel holds the tokens of so many iterations more than it has.
ENOUGH = 60


# A number for all firings, or one for each phase.
Phases = int | tuple[int, ...]


def at(phases: Phases, firing: int) -> int:
    """The number of a firing, counted from 0."""
    return phases if isinstance(phases, int) else phases[firing % len(phases)]


def length(phases: Phases) -> int:
    """How many phases there are."""
    return 1 if isinstance(phases, int) else len(phases)


def text(phases: Phases) -> str:
    """The phases as SDF3 writes them."""
    return str(phases) if isinstance(phases, int) else ",".join(map(str, phases))


@dataclass(frozen=True)
class Edge:
    """A channel; `size` is its `bufferSize`, None: it has none."""

    source: int
    target: int
    produce: Phases
    consume: Phases
    initial: int = 0
    size: int | None = None


@dataclass
class Graph:
    """Actors by the times of their firings, and channels between them."""

    times: list[Phases]
    edges: list[Edge]

    def phases(self, actor: int) -> int:
        """After so many firings an actor begins anew."""
        puts = [length(edge.produce) for edge in self.edges if edge.source == actor]
        takes = [length(edge.consume) for edge in self.edges if edge.target == actor]
        return math.lcm(length(self.times[actor]), *puts, *takes)

    def is_cyclic(self) -> bool:
        """True if firings differ by phase."""
        return any(self.phases(actor) > 1 for actor in range(len(self.times)))

    def xml(self) -> str:
        """The graph as a file of SDF3."""
        ports = ["" for _ in self.times]
        channels = sizes = ""
        for n, edge in enumerate(self.edges):
            ports[edge.source] += f'<port name="o{n}" type="out" rate="{text(edge.produce)}"/>'
            ports[edge.target] += f'<port name="i{n}" type="in" rate="{text(edge.consume)}"/>'
            ends = (
                f'srcActor="a{edge.source}" srcPort="o{n}" dstActor="a{edge.target}" dstPort="i{n}"'
            )
            channels += f'<channel name="c{n}" {ends} initialTokens="{edge.initial}"/>\n'
            if edge.size is not None:
                size = f'<bufferSize sz="{edge.size}"/>'
                sizes += f'<channelProperties channel="c{n}">{size}</channelProperties>\n'
        actors = "".join(
            f'<actor name="a{n}" type="A">{own}</actor>\n' for n, own in enumerate(ports)
        )
        times = "".join(
            f'<actorProperties actor="a{n}"><processor type="p" default="true">'
            f'<executionTime time="{text(time)}"/></processor></actorProperties>\n'
            for n, time in enumerate(self.times)
        )
        kind = "csdf" if self.is_cyclic() else "sdf"
        return (
            f'<sdf3 type="{kind}" version="1.0"><applicationGraph name="g">\n'
            f'<{kind} name="g" type="G">\n{actors}{channels}</{kind}>\n'
            f"<{kind}Properties>\n{times}{sizes}</{kind}Properties>\n</applicationGraph></sdf3>\n"
        )

    def after(self, actor: int) -> set[int]:
        """The actors that wait, by whichever way, for firings of one to end."""
        reached: set[int] = set()
        later = [actor]
        while later:
            here = later.pop()
            ends = [edge.target for edge in self.edges if edge.source == here]
            ends += [e.source for e in self.edges if e.target == here and e.size is not None]
            later += {end for end in ends if end not in reached}
            reached.update(ends)
        return reached

    def is_bounded(self, actor: int) -> bool:
        """True if an actor waits for its own firings."""
        return actor in self.after(actor)

    def is_last(self, actor: int) -> bool:
        """True if an actor waits for all who wait for it."""
        return all(actor in self.after(other) for other in self.after(actor))

    def feeds_forward(self) -> bool:
        """True if tokens may pile up without an end in a channel that has no size."""
        return any(e.size is None and e.source not in self.after(e.target) for e in self.edges)


@dataclass
class Explored:
    """What became of a graph: when each firing of each actor ended; None: it gets stuck. From a
    state to the same state, `period` passes, and each actor ends so many `firings`."""

    ends: list[list[int]]
    period: int | None = None
    firings: list[int] = field(default_factory=list)
    most: list[int] = field(default_factory=list)  # at once


class Exploration:
    """Goes from state to state until one comes again."""

    def __init__(self, graph: Graph, repetitions: list[int]) -> None:
        self.graph = graph
        self.tokens = [edge.initial for edge in graph.edges]
        self.space = [
            (
                edge.initial
                + ENOUGH * sum(at(edge.produce, n) for n in range(repetitions[edge.source]))
                if edge.size is None
                else edge.size
            )
            - edge.initial
            for edge in graph.edges
        ]
        self.ends: list[list[int]] = [[] for _ in graph.times]
        self.begun = [0 for _ in graph.times]
        self.running: list[deque[int]] = [deque() for _ in graph.times]
        self.most = [0 for _ in graph.times]
        self.now = 0

    def begins(self, actor: int) -> bool:
        """Begins a firing, if it can."""
        needs: list[tuple[list[int], int, int]] = []
        firing = self.begun[actor]
        for n, edge in enumerate(self.graph.edges):
            if edge.target == actor:
                needs.append((self.tokens, n, at(edge.consume, firing)))
            if edge.source == actor:
                needs.append((self.space, n, at(edge.produce, firing)))
        if any(there[n] < count for there, n, count in needs):
            return False
        for there, n, count in needs:
            there[n] -= count
        self.begun[actor] += 1
        end = self.now + at(self.graph.times[actor], firing)
        # Firings end in the order in which they began.
        self.running[actor].append(max([end, *list(self.running[actor])[-1:]]))
        self.most[actor] = max(self.most[actor], len(self.running[actor]))
        return True

    def end(self, actor: int) -> None:
        """Ends the oldest firing."""
        firing = len(self.ends[actor])
        self.ends[actor].append(self.running[actor].popleft())
        for n, edge in enumerate(self.graph.edges):
            if edge.source == actor:
                self.tokens[n] += at(edge.produce, firing)
            if edge.target == actor:
                self.space[n] += at(edge.consume, firing)

    def advance(self) -> bool:
        """Begins what can, and moves on to the next end; False: nothing goes on."""
        while any([self.begins(actor) for actor in range(len(self.running))]):
            pass
        ends = [running[0] for running in self.running if running]
        if not ends:
            return False
        self.now = min(ends)
        for actor, running in enumerate(self.running):
            while running and running[0] == self.now:
                self.end(actor)
        return True

    def state(self) -> tuple[object, ...]:
        """What the future depends on."""
        left = tuple(tuple(end - self.now for end in running) for running in self.running)
        phases = tuple(n % self.graph.phases(actor) for actor, n in enumerate(self.begun))
        return (tuple(self.tokens), tuple(self.space), left, phases)

    def explore(self, until: int) -> Explored:
        """Explores until a state comes again, and time is `until` at least."""
        seen: dict[tuple[object, ...], tuple[int, list[int]]] = {}
        found = Explored(self.ends, most=self.most)
        while found.period is None or self.now < until:
            if not self.advance():
                return Explored(self.ends)
            if found.period is None:
                counts = [len(ends) for ends in self.ends]
                then, before = seen.setdefault(self.state(), (self.now, counts))
                if then != self.now:
                    found.period = self.now - then
                    found.firings = [n - m for n, m in zip(counts, before, strict=True)]
        return found


def random_cyclic(seed: int) -> tuple[Graph, list[int]]:
    """A random graph whose firings differ by phase, in the mean as they were."""
    graph, repetitions = random_graph(seed)
    draw = random.Random(seed)
    counts = [draw.choice((1, 2, 2, 3)) for _ in graph.times]

    def uneven(rate: Phases, actor: int) -> Phases:
        assert isinstance(rate, int)
        if counts[actor] == 1:
            return rate
        shift = draw.randint(0, rate)
        return (rate - shift, rate + shift, *(rate for _ in range(counts[actor] - 2)))

    def cyclic(edge: Edge) -> Edge:
        assert isinstance(edge.produce, int)
        assert isinstance(edge.consume, int)
        if edge.source == edge.target:
            return edge
        more = draw.choice((0, edge.consume)) if edge.initial else 0
        return Edge(
            edge.source,
            edge.target,
            uneven(edge.produce, edge.source),
            uneven(edge.consume, edge.target),
            edge.initial + more,
            None if edge.size is None else edge.size + more + edge.produce + edge.consume,
        )

    def times(actor: int) -> Phases:
        each = tuple(draw.randint(0, 40) for _ in range(counts[actor]))
        return each if sum(each) else 7

    edges = [cyclic(edge) for edge in graph.edges]
    firings = [n * count for n, count in zip(repetitions, counts, strict=True)]
    return Graph([times(actor) for actor in range(len(counts))], edges), firings


def random_graph(seed: int) -> tuple[Graph, list[int]]:
    """A connected graph whose rates balance, and how often each actor fires in an iteration."""
    draw = random.Random(seed)
    count = draw.randint(2, 5)
    repetitions = [draw.randint(1, 3) for _ in range(count)]
    overlap = draw.random() < 0.6

    def edge(source: int, target: int) -> Edge:
        a, b = repetitions[source], repetitions[target]
        factor = draw.choice((1, 1, 2))
        produce, consume = factor * b // math.gcd(a, b), factor * a // math.gcd(a, b)
        initial = draw.choice((0, 0, 1, 2)) if source < target else a * produce
        initial += draw.choice((0, 0, 0, 1, 3)) - (draw.random() < 0.1)
        initial = max(initial, 0)
        size = initial + produce + consume - draw.randint(0, 2) + draw.choice((0, 0, 1, 4))
        return Edge(
            source,
            target,
            *(produce, consume, initial),
            max(size, initial, 1) if draw.random() < 0.75 else None,
        )

    edges = [edge(draw.randrange(n), n) for n in range(1, count)]
    for _ in range(draw.randint(0, 2)):
        source, target = draw.randrange(count), draw.randrange(count)
        if source != target:
            edges.append(edge(source, target))
    for n in range(count):
        if not overlap or draw.random() < 0.5:
            rate = draw.choice((1, 1, 1, 2))
            tokens = rate * (draw.choice((1, 1, 2, 3)) if overlap else 1)
            edges.append(Edge(n, n, rate, rate, tokens))
    return Graph([draw.randint(1, 40) for _ in range(count)], edges), repetitions
