# SPDX-License-Identifier: Apache-2.0
"""Graphs of SDF3 in the simulator have the periods, and the deadlocks, that they have in SDF3: what
an exploration of their states says."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from sdf3 import Edge, Exploration, Explored, Graph, random_graph
from simulated import RECEIVE, SEND, WHIMBREL, command, events, platform

CASES = int(os.environ.get("SDF3_CASES", "60"))
CORES = 256
# A cycle is a nanosecond.
FREE = platform(f"count = {CORES}\n")
LATE = 20_000
# A run begins that late, because 0 stands for no time.
START = 1


@dataclass
class Simulated:
    """When the firings of each actor ended, or for one that sends nothing, took their tokens."""

    ends: list[list[int]]
    tasks: int


def imported(folder: Path, graph: Graph) -> subprocess.CompletedProcess[str]:
    """Writes the graph and what `whimbrel import` makes of it into a folder."""
    (folder / "graph.xml").write_text(graph.xml())
    words = [WHIMBREL, "import", folder / "graph.xml", "-o", folder / "app.toml"]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)


def run(folder: Path, until: int) -> subprocess.CompletedProcess[str]:
    """Simulates what was imported, each task on a core of its own."""
    (folder / "platform.toml").write_text(FREE)
    hardware = ("--platform", str(folder / "platform.toml"), "--map", "round-robin")
    record = ("--record", str(folder / "recorded"), "--duration", f"{START + until}ns")
    return command(folder / "app.toml", *hardware, *record)


def simulated(folder: Path, graph: Graph, until: int) -> Simulated:
    """The firings of the graph up to a time."""
    done = run(folder, until)
    assert done.returncode == 0, done.stderr
    app = tomllib.loads((folder / "app.toml").read_text())
    summary = json.loads(done.stdout)
    ends: list[list[int]] = [[] for _ in graph.times]
    for number, task in enumerate(app["task"]):
        name, core = task["name"], summary["tasks"][number]["core"]
        links = app.get("channel", [])
        puts = [link.get("produce", 1) for link in links if link["from"].split(".")[0] == name]
        takes = [link.get("consume", 1) for link in links if link["to"].split(".")[0] == name]
        kind, each = (SEND, sum(puts)) if puts else (RECEIVE, sum(takes))
        mine = [e for e in events(folder / "recorded", core) if e.task == number and e.kind == kind]
        ended = [event.time_ns - START for event in mine][each - 1 :: each]
        ends[int(name.removeprefix("a").split("_")[0])] += [end for end in ended if end <= until]
    return Simulated([sorted(each) for each in ends], len(app["task"]))


def has_period(ends: list[int], firings: int, period: int) -> bool:
    """True if, late enough, so many firings take so long."""
    late = [b - a for a, b in zip(ends, ends[firings:], strict=False) if a > ends[-1] // 2]
    assert late
    return set(late) == {period}


def check(folder: Path, graph: Graph, repetitions: list[int], until: int = LATE) -> Explored:
    """Compares the simulation of a graph with its exploration, whatever becomes of it."""
    explored = Exploration(graph, repetitions).explore(until)
    made = imported(folder, graph)
    if explored.period is None:
        assert made.returncode == 0, made.stderr
        stuck = run(folder, until)
        assert stuck.returncode == 2, stuck.stdout
        assert "blocks" in stuck.stderr
        return explored
    if not all(graph.is_bounded(actor) for actor in range(len(graph.times))):
        assert made.returncode == 2
        assert "nothing says how often" in made.stderr
        return explored
    assert made.returncode == 0, made.stderr
    found = simulated(folder, graph, until)
    for actor, (theirs, ours) in enumerate(zip(explored.ends, found.ends, strict=True)):
        # Others may be ahead of it, for a time, as far as there is room: SDF3 has no end of that.
        if graph.is_last(actor) or not graph.feeds_forward():
            assert has_period(ours, explored.firings[actor], explored.period), actor
        sends = any(edge.source == actor and edge.target != actor for edge in graph.edges)
        if sends and not graph.feeds_forward():
            assert ours == [end for end in theirs if end <= until], actor
    return explored


def test_space_is_claimed_when_a_firing_begins_and_freed_when_it_ends(tmp_path: Path) -> None:
    for size, period in ((1, 2000), (2, 1000)):
        loops = [Edge(n, n, 1, 1, 1) for n in range(2)]
        graph = Graph([1000, 1000], [Edge(0, 1, 1, 1, 0, size), *loops])
        folder = tmp_path / str(size)
        folder.mkdir()
        assert check(folder, graph, [1, 1], 200_000).period == period


def test_an_actor_that_may_overlap_itself_does(tmp_path: Path) -> None:
    # Three tokens go round a and b, of which a takes 90 and b 10.
    graph = Graph([90, 10], [Edge(0, 1, 1, 1), Edge(1, 0, 1, 1, 3), Edge(1, 1, 1, 1, 1)])
    explored = check(tmp_path, graph, [1, 1])
    assert explored.most == [3, 1]
    assert explored.ends[1][-1] - explored.ends[1][-4] == 100


@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_a_channel_to_itself_bounds_how_often_an_actor_fires_at_once(
    tokens: int, tmp_path: Path
) -> None:
    graph = Graph([60, 1], [Edge(0, 0, 1, 1, tokens), Edge(0, 1, 1, 1, 0, 9), Edge(1, 1, 1, 1, 1)])
    explored = check(tmp_path, graph, [1, 1])
    assert explored.most[0] == tokens
    names = [task["name"] for task in tomllib.loads((tmp_path / "app.toml").read_text())["task"]]
    assert len([name for name in names if name.startswith("a0")]) == tokens


def test_what_nothing_bounds_is_refused_at_its_actor(tmp_path: Path) -> None:
    graph = Graph([10, 10], [Edge(0, 1, 1, 1), Edge(1, 1, 1, 1, 1)])
    told = imported(tmp_path, graph)
    assert told.returncode == 2
    assert "nothing says how often `a0` fires at once" in told.stderr
    assert "graph.xml:3" in told.stderr
    assert not (tmp_path / "app.toml").exists()


def test_more_tasks_than_can_be_are_refused_with_how_many(tmp_path: Path) -> None:
    graph = Graph([10, 10], [Edge(0, 1, 1, 1, 0, 5000), Edge(1, 1, 1, 1, 1)])
    told = imported(tmp_path, graph)
    assert told.returncode == 2
    assert "`a0` fires up to 5000 times at once" in told.stderr
    assert "10000 tasks, of at most 4096" in told.stderr


@pytest.mark.parametrize("seed", range(CASES))
def test_random_graphs_have_the_schedule_of_their_exploration(seed: int, tmp_path: Path) -> None:
    check(tmp_path, *random_graph(seed))
