# SPDX-License-Identifier: Apache-2.0
"""Doorbells, batches and memories of channels in virtual time, where nothing but what a platform
says takes time: what each promises holds to the nanosecond."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from simulated import ROOT, Json, platform, simulate

sys.path += [str(ROOT / folder) for folder in ("bench", "reproduce/common")]

import doorbells
from stated import check, check_words

MESSAGES = 1000
PERIOD_NS = 1_000_000
COMPUTE_NS = 300_000  # the mean of what the source computes before it sends
SINK_NS = 1_000

APP = """
[app]
name = "pair"

[[task]]
name = "source"
period_us = 1000
cycles = 300000
{spread}
firings = 1000

[[task]]
name = "sink"
core = 1
cycles = 1000

[[channel]]
from = "source.out"
to = "sink.in"
slots = 16
slot_bytes = 1000
{keys}
"""
IRREGULAR = 'distribution = "normal"\nspread = 0.3'
ONE_GHZ = "[[core.point]]\nmhz = 1000\nactive_mw = 100\n"
# Of 1000 bytes: 5 microseconds from the external memory, 1 from the internal one.
MEMORIES = """
[bus]
arbitration = "fcfs"
mhz = 1000
width_bytes = 4
burst_bytes = 1000
source = "made"

[[memory]]
name = "far"
kind = "shared"
size = "1MiB"
latency_ns = 0
mb_per_s = 200
source = "made"

[[memory]]
name = "near"
kind = "scratchpad"
core = 1
size = "64KiB"
latency_ns = 0
mb_per_s = 1000
source = "made"
"""


def run(folder: Path, keys: str, spread: str = "", rest: str = "") -> Json:
    """The channel, with `response` of its receiver."""
    hardware = platform(ONE_GHZ, ONE_GHZ, rest=rest)
    summary = simulate(
        folder, APP.format(keys=keys, spread=spread), hardware, "--agent-period", "100s"
    )
    channel: Json = summary["channels"][0]
    assert channel["received"] == MESSAGES
    return channel | {"response": summary["tasks"][1]["response"]}


def test_an_interrupt_is_noticed_at_once(tmp_path: Path) -> None:
    channel = run(tmp_path, 'doorbell = "interrupt"', IRREGULAR)
    assert channel["response"]["max_ns"] == SINK_NS
    assert "rings" not in channel or channel["rings"] == 0


@pytest.mark.parametrize("bound_us", [1, 50, 200, 2000])
def test_an_adaptive_receiver_never_exceeds_its_bound(tmp_path: Path, bound_us: int) -> None:
    channel = run(tmp_path, f'doorbell = "adaptive:{bound_us}us"', IRREGULAR)
    assert 0 < channel["noticed"] <= channel["waits"] <= MESSAGES
    assert channel["worst_ns"] <= bound_us * 1000
    assert channel["response"]["max_ns"] <= bound_us * 1000 + SINK_NS
    # Each of those it waited for was found by a look, or its sender rang.
    assert channel["hits"] + channel["rings"] >= channel["noticed"]


def test_an_adaptive_receiver_of_regular_messages_is_hardly_ever_rung(tmp_path: Path) -> None:
    channel = run(tmp_path, 'doorbell = "adaptive:320us"')
    assert channel["rings"] <= 5
    assert channel["mean_ns"] == pytest.approx(PERIOD_NS, abs=1000)
    # It looks a thirty-second part of its bound after the message has come.
    assert channel["response"]["p50_ns"] == pytest.approx(10_000 + SINK_NS, abs=1000)


def test_a_polling_receiver_is_never_rung_and_notices_within_its_interval(tmp_path: Path) -> None:
    channel = run(tmp_path, 'doorbell = "polling:70us"', IRREGULAR)
    assert channel["rings"] == 0
    assert channel["hits"] == channel["waits"] == MESSAGES
    assert channel["polls"] > MESSAGES * 10
    assert channel["response"]["max_ns"] <= 70_000 + SINK_NS


def test_a_batch_is_noticed_when_it_is_complete_or_at_its_deadline(tmp_path: Path) -> None:
    complete = run(tmp_path, 'batch = "4:10ms"')
    # Besides, the first message rings if it comes late, and so does the end of the source.
    assert complete["waits"] == MESSAGES / 4 <= complete["rings"] <= MESSAGES / 4 + 2
    assert complete["worst_ns"] == 3 * PERIOD_NS
    late = run(tmp_path, 'batch = "4:1500us"')
    assert late["worst_ns"] == 1_500_000
    assert late["hits"] >= MESSAGES / 2 - 2


def test_internal_memory_is_past_the_bus_and_has_costs_of_its_own(tmp_path: Path) -> None:
    costs = '\n[costs.send_internal]\ntime_us = 2\nsource = "made"\n'
    busy = {
        (keys, rest): run(tmp_path, f'memory = "{keys}"', rest=MEMORIES + rest)["response"]
        for keys, rest in [("external", ""), ("internal", ""), ("internal", costs)]
    }
    far, near, dear = (response["min_ns"] for response in busy.values())
    # The receiver's copy: 5 us over the bus or 1 us; what sending costs is the sender's time.
    assert far - near >= 4_000
    assert dear == near


PAGE = "docs/doorbells.md"
WITHIN = 0.005
ROWS = {
    "`interrupt`": "interrupt",
    "`polling:5ms`": "polling:5ms",
    "`polling:10ms`": "polling:10ms",
    "`polling:15ms`": "polling:15ms",
    "`polling:20ms`": "polling:20ms",
    "`adaptive:1ms`": "adaptive:1ms",
    "`adaptive:5ms`": "adaptive:5ms",
    "`adaptive:20ms`": "adaptive:20ms",
    '`batch = "2:40ms"`': "batch 2:40ms",
    '`batch = "4:80ms"`': "batch 4:80ms",
}


@pytest.fixture(scope="module")
def rows() -> dict[str, Json]:
    """What bench/doorbells.py prints."""
    return {name: doorbells.row(name, keys, 2000, False) for name, keys in doorbells.DOORBELLS}


@pytest.mark.parametrize("label", ROWS)
def test_the_page_states_what_each_doorbell_costs(rows: dict[str, Json], label: str) -> None:
    row, base = rows[ROWS[label]], rows["interrupt"]
    active = [row["gpp_percent"], row["dsp_percent"]]
    later = [row[late] - base[late] for late in ("latency_ms", "latency_max_ms")]
    counts = [row["rings"], row["polls"]]
    check(
        PAGE, (label,), [*active, *later, *counts] if later != [0, 0] else [*active, 2000], WITHIN
    )


def test_the_page_states_what_an_adaptive_doorbell_saves(rows: dict[str, Json]) -> None:
    base, fixed, best = (rows[name] for name in ("interrupt", "polling:20ms", "adaptive:20ms"))
    later = [row["latency_ms"] - base["latency_ms"] for row in (best, fixed)]
    words = "it takes {} times the load of polling each 20 ms, and {} of its delay"
    load = best["gpp_percent"] / fixed["gpp_percent"]
    check_words(PAGE, words, [load, later[0] / later[1]], WITHIN)


def test_the_page_states_how_late_the_latest_of_a_million_is() -> None:
    counted = doorbells.bound(1_000_000, 500, False)
    assert counted["held"]
    words = (
        "was noticed {} µs after it came: its core takes {} µs to switch to it. {} were rung for"
    )
    late = [counted["worst_us"], counted["over_us"], counted["rings"]]
    check_words(PAGE, words, late, WITHIN)
