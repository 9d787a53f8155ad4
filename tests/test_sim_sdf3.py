# SPDX-License-Identifier: Apache-2.0
"""Graphs of SDF3 in the simulator have the periods, and the deadlocks, that they have in SDF3: what
an exploration of their states says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from sdf3 import Edge, Exploration, Explored, Graph, at, random_cyclic, random_graph
from simulated import RECEIVE, ROOT, SEND, WHIMBREL, command, events, platform

CASES = int(os.environ.get("SDF3_CASES", "30"))
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
    return subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)


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
    if explored.period is None and graph.is_cyclic():
        assert made.returncode == 2
        assert "the graph comes to a stop" in made.stderr
        return explored
    if explored.period is None:
        assert made.returncode == 0, made.stderr
        stuck = run(folder, until)
        assert stuck.returncode == 2, stuck.stdout
        assert "blocks" in stuck.stderr
        return explored
    if not all(graph.is_bounded(actor) for actor in range(len(graph.times))):
        assert made.returncode == 2
        assert "simultaneous firings" in made.stderr
        return explored
    assert made.returncode == 0, made.stderr
    if graph.is_cyclic():
        check_tokens(folder, graph, explored, until)
        return explored
    found = simulated(folder, graph, until)
    for actor, (theirs, ours) in enumerate(zip(explored.ends, found.ends, strict=True)):
        # Others may be ahead of it, for a time, as far as there is room: SDF3 has no end of that.
        if graph.is_last(actor) or not graph.feeds_forward():
            assert has_period(ours, explored.firings[actor], explored.period), actor
        sends = any(edge.source == actor and edge.target != actor for edge in graph.edges)
        if sends and not graph.feeds_forward():
            assert ours == [end for end in theirs if end <= until], actor
    return explored


def tokens(folder: Path, edge: int) -> list[int]:
    """When the tokens of a channel were put into it."""
    app = tomllib.loads((folder / "app.toml").read_text())
    port = re.compile(rf"a\d+(_\d+)?\.(o{edge}|out{edge}_\d+)")
    numbers = {n for n, link in enumerate(app["channel"]) if port.fullmatch(link["from"])}
    cores = json.loads((folder / "recorded/summary.json").read_text())["cores"]
    every = (event for core in range(len(cores)) for event in events(folder / "recorded", core))
    puts = (event for event in every if event.kind == SEND and event.object in numbers)
    return sorted(event.time_ns - START for event in puts)


def check_tokens(folder: Path, graph: Graph, explored: Explored, until: int) -> None:
    """Compares when tokens were there, in the simulation and in the exploration."""
    done = run(folder, until)
    assert done.returncode == 0, done.stderr
    assert explored.period is not None
    for number, edge in enumerate(graph.edges):
        if edge.source == edge.target:
            continue
        ends = explored.ends[edge.source]
        theirs = [end for n, end in enumerate(ends) for _ in range(at(edge.produce, n))]
        ours = [time for time in tokens(folder, number) if time <= until]
        if not graph.feeds_forward():
            assert ours == [time for time in theirs if time <= until], number
        if graph.is_last(edge.source) or not graph.feeds_forward():
            each = sum(at(edge.produce, n) for n in range(explored.firings[edge.source]))
            assert has_period(ours, each, explored.period), number


def test_phases_follow_each_other(tmp_path: Path) -> None:
    # By hand: 2 tokens every 30, then 1; the other takes one at a time.
    loops = [Edge(n, n, 1, 1, 1) for n in range(2)]
    graph = Graph([(10, 20), 4], [Edge(0, 1, (2, 1), 1, 0, 6), *loops])
    explored = check(tmp_path, graph, [2, 3])
    assert explored.ends[0][:4] == [10, 30, 40, 60]
    assert explored.ends[1][:4] == [14, 18, 34, 44]


def test_phases_without_time_or_tokens_pass_in_their_order(tmp_path: Path) -> None:
    # The second phase of a1 needs nothing, but begins after the first, and they overlap.
    graph = Graph([30, (50, 0)], [Edge(0, 1, 1, (2, 0), 0, 4), Edge(1, 0, (0, 2), 1, 4)])
    explored = check(tmp_path, graph, [2, 2])
    assert explored.most[1] > 1


def test_the_example_of_sdf3_has_the_period_of_its_state_space(tmp_path: Path) -> None:
    loops = [Edge(n, n, 1, 1, 1) for n in range(3)]
    channels = [Edge(0, 1, (3, 1), (4, 2)), Edge(1, 2, (2, 4), 6)]
    explored = Exploration(Graph([(1, 3), 2, (2, 3)], channels + loops), [6, 4, 2]).explore(LATE)
    file = ROOT / "crates/import/tests/files/csdf.xml"
    words = [WHIMBREL, "import", file, "-o", tmp_path / "app.toml"]
    subprocess.run(words, capture_output=True, timeout=600, check=True)
    done = run(tmp_path, LATE)
    assert done.returncode == 0, done.stderr
    puts = json.loads(done.stdout)["channels"]
    assert explored.period is not None
    firings = explored.firings
    # In the long run; 4 tokens in 2 firings of the one, 6 in 2 of the other.
    for channel, each in zip(puts, (2 * firings[0], 3 * firings[1]), strict=True):
        assert channel["sent"] == pytest.approx(each * LATE / explored.period, rel=0.01)


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
    assert "the number of simultaneous firings of `a0` is unlimited" in told.stderr
    assert "graph.xml:3" in told.stderr
    assert not (tmp_path / "app.toml").exists()


def test_more_tasks_than_can_be_are_refused_with_how_many(tmp_path: Path) -> None:
    graph = Graph([10, 10], [Edge(0, 1, 1, 1, 0, 5000), Edge(1, 1, 1, 1, 1)])
    told = imported(tmp_path, graph)
    assert told.returncode == 2
    assert "`a0` has up to 5000 simultaneous firings" in told.stderr
    assert "10000 tasks, of at most 4096" in told.stderr


@pytest.mark.parametrize("seed", range(CASES // 3))
def test_random_cyclic_graphs_have_the_tokens_of_their_exploration(
    seed: int, tmp_path: Path
) -> None:
    check(tmp_path, *random_cyclic(seed))


@pytest.mark.parametrize("seed", range(CASES))
def test_random_graphs_have_the_schedule_of_their_exploration(seed: int, tmp_path: Path) -> None:
    check(tmp_path, *random_graph(seed))
