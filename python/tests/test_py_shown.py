# SPDX-License-Identifier: Apache-2.0
"""What objects look like: a line in a terminal, tables and small plots in a notebook."""

from __future__ import annotations

from copy import copy
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import whimbrel

ROOT = Path(__file__).resolve().parents[2]
FORK_JOIN = ROOT / "apps/synthetic/fork_join.toml"
EVIL = "<script>alert('&')</script>\n\x1b]0;t\x07"


class Tags(HTMLParser):
    """The tags of a text, with its words; a tag that is not closed is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def shown(of: Any) -> Tags:
    """As a notebook shows it; its line is one line."""
    assert "\n" not in repr(of) and len(repr(of)) <= 120
    return Tags(of._repr_html_())


@pytest.fixture(scope="module")
def explored() -> whimbrel.Exploration:
    return whimbrel.explore(
        FORK_JOIN, "mpsoc3", points="high", exhaustive=30, budget=30, duration="20ms", seed=1
    )


def test_an_application_is_its_tables(player: whimbrel.Application) -> None:
    assert repr(player) == "<Application player: 4 tasks, 2 channels>"
    tags = shown(player)
    assert tags.seen.count("table") == 2
    assert {"player", "source", "sink", "200000", "uniform", "work.in"} <= set(tags.words)
    work = player.tasks[1]
    line = "Task(name='work', count=2, cycles=200000, distribution='uniform', spread=0.5)"
    assert repr(work) == line
    assert {"Task", "cycles", "200000"} <= set(shown(work).words)
    assert "priority" not in repr(work)


def test_a_platform_has_the_power_of_its_points() -> None:
    platform = whimbrel.Platform.load("mpsoc3")
    assert repr(platform) == "<Platform mpsoc3: 3 cores>"
    tags = shown(platform)
    points = sum(len(core.point) for core in platform.core)
    assert points > 3 and tags.seen.count("circle") == points
    assert repr(platform.core[0].point[0]).startswith("Point(mhz=")


def test_a_run_has_the_load_of_each_core(player: whimbrel.Application) -> None:
    run = whimbrel.simulate(player, "mpsoc3", duration="20ms")
    tags = shown(run)
    assert tags.seen.count("svg") == 3
    busy = [core["busy_ns"] / 1e9 / run.seconds for core in run.cores.to_pylist()]
    assert [f" {part:.1%}" in tags.words for part in busy] == 3 * [True]
    assert {"source", "sink", str(run.misses), f"{run.energy_mj:.6g}"} <= set(tags.words)


def test_an_exploration_has_a_plot_and_its_front(explored: whimbrel.Exploration) -> None:
    rows, front = explored.table.num_rows, explored.front.num_rows
    assert repr(explored).startswith(f"<Exploration: {rows} candidates, {front} on the front")
    tags = shown(explored)
    assert tags.seen.count("circle") == rows + front
    assert {row["mapping"] for row in explored.front.to_pylist()[:20]} <= set(tags.words)
    assert "mapping" in str(explored) and "\n" in str(explored)


def test_a_long_list_is_cut(explored: whimbrel.Exploration) -> None:
    tasks = tuple(whimbrel.Task(name=f"t{n}") for n in range(1000))
    tags = shown(whimbrel.Application(name="long", tasks=tasks))
    assert tags.seen.count("tr") == 22 and "… and 980 more" in tags.words
    many = copy(explored)
    vars(many)["table"] = pa.concat_tables([explored.table] * 1000)
    tags = shown(many)
    front = many.front.num_rows
    assert front > 20 and tags.seen.count("circle") <= 1000 + front
    assert f"… and {front - 20} more" in tags.words
    assert len(repr(whimbrel.Task(name="n" * 500, core=tuple(range(100))))) <= 120


def test_what_strangers_wrote_is_text(
    player: whimbrel.Application, explored: whimbrel.Exploration
) -> None:
    task = whimbrel.Task(name=EVIL, mode=EVIL, cycles=EVIL, core=(EVIL,))  # type: ignore[arg-type]
    channel = whimbrel.Channel(from_=EVIL, to=EVIL, slots=EVIL, slot_bytes=4)  # type: ignore[arg-type]
    params: Any = {EVIL: EVIL}
    every: list[Any] = [
        task,
        channel,
        whimbrel.Application(
            name=EVIL, description=EVIL, tasks=(task,), channels=(channel,), params=params
        ),
        whimbrel.Platform(
            name=EVIL,
            core=(whimbrel.Core(kind=EVIL),),
            block=(whimbrel.Block(name=EVIL, x_mm=0, y_mm=0, width_mm=1, height_mm=1),),
        ),
    ]
    run = whimbrel.simulate(player, "mpsoc3", duration="10ms")
    run.summary["app"]["name"] = run.summary["platform"] = run.summary["ended"] = EVIL
    for row in (*run.summary["tasks"], *run.summary["channels"]):
        row.update({key: EVIL for key in ("task", "channel", "state") if key in row})
    every.append(run)
    mappings = explored.table.to_pylist()
    table = explored.table.set_column(
        explored.table.column_names.index("mapping"), "mapping", [[EVIL] * len(mappings)]
    )
    vars(explored)["table"] = table
    every.append(explored)
    for one in every:
        tags = shown(one)
        assert "script" not in tags.seen
        assert "<script>" in "".join(tags.words), type(one)
        assert "\x1b" not in "".join(tags.words) + repr(one)
