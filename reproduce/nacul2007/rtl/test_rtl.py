# SPDX-License-Identifier: Apache-2.0
"""What must hold of the measurements on the model of the SoC, which give the same everywhere."""

from __future__ import annotations

import os
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "common"))

import columns
import model
import pytest
import switches
import traces
from stated import check, check_words, said, stated

README = "reproduce/nacul2007/README.md"
# Where code lies in the caches changes with what is linked before it.
SWITCH_WITHIN, TABLE_WITHIN = 0.01, 0.03

heavy = pytest.mark.skipif("PUBLISHED_ALL" not in os.environ, reason="minutes: `make soak` runs it")


samples = cache(switches.measure)


def median(name: str, wait_states: int = 4) -> float:
    return statistics.median(sample[0] for sample in samples(name, wait_states))


def test_a_switch_in_hardware_takes_a_tenth_of_that_of_freertos() -> None:
    assert 10 * median("call") < median("freertos")


def test_a_receive_that_is_inlined_stores_and_takes_less() -> None:
    assert median("here") < 0.8 * median("call")


def test_every_switch_of_the_hardware_takes_the_same() -> None:
    taken = [sample[0] for sample in samples("call", 4)]
    assert len(taken) == 256
    assert max(taken) - min(taken) <= 2


def test_the_next_task_is_known_within_32_cycles_of_the_receive() -> None:
    for wait_states in switches.WAIT_STATES:
        assert max(sample[2] for sample in samples("call_stages", wait_states)) <= 32


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("freertos", "FreeRTOS, `xQueueReceive`"),
        ("call", "HW-RTOS, a call of C: 15 words are stored"),
        ("here", "HW-RTOS, receive is inlined: 2 words, and what the compiler keeps"),
    ],
)
def test_the_readme_states_what_a_switch_takes(name: str, label: str) -> None:
    counted = [median(name, wait_states) for wait_states in switches.WAIT_STATES]
    times = [] if name == "freertos" else [median("freertos") / median(name)]
    check(README, (label,), counted + times, SWITCH_WITHIN)


def test_the_pages_state_when_the_next_task_is_known() -> None:
    counted = [
        statistics.median(sample[2] for sample in samples("call_stages", wait_states))
        for wait_states in switches.WAIT_STATES
    ]
    check(README, ("of it until the next task is known",), counted, SWITCH_WITHIN)
    assert len(set(counted)) == 1
    label = (
        "receive called → next task in the core's register, on [the SoC](../soc.md), "
        "at 0, 4 and 10 wait states"
    )
    check("docs/rtl/hw_rtos.md", (label,), counted[:1], 0)


def test_the_sentences_state_the_switch_of_the_table() -> None:
    words = "FreeRTOS, whose switch takes {} cycles here, and not eCos, whose takes 10000"
    check_words(README, words, [median("freertos")], SWITCH_WITHIN)
    words = "FreeRTOS's switch takes {} cycles, compiled by `-O2`"
    check_words(README, words, [median("freertos")], SWITCH_WITHIN)


def test_the_sentence_states_the_switch_where_loads_wait_for_stores() -> None:
    strict = ("--store-order", "strict")
    texts = (
        model.run_text(model.model(), switches.image(name), 4, *strict, line="")
        for name in ("freertos", "call", "here")
    )
    counted = [statistics.median(int(line.split()[0]) for line in t.splitlines()) for t in texts]
    words = "Where loads wait for all earlier stores it is {} for FreeRTOS, {} and {} at 4"
    check_words(README, words, counted, SWITCH_WITHIN)


def test_the_stages_of_a_switch_are_all_of_it() -> None:
    total = statistics.median(sample[0] for sample in samples("here_stages", 4))
    assert sum(cycles for _, cycles in switches.stages("here", 4)) == total


SOFTWARE, SINGLE, STATIC, DYNAMIC = columns.PAPER
PIXELS = "image_filter: 1 pictures of 24 x 28, 672 pixels, CRC-32 59163f59\n"
PACKETS = """\
packets: 36 received, 70 bits corrected
packets: 12 to forward, 882 bytes, CRC-32 1da329a0
packets: 4 to store, 2139 bytes, CRC-32 0e8134aa
packets: 20 discarded: 20 by a rule, 0 damaged, 0 for lack of room
"""


@pytest.mark.parametrize(
    "column", [pytest.param(SOFTWARE, marks=heavy), DYNAMIC], ids=lambda column: column.name
)
def test_the_image_filter_gives_what_it_gives_elsewhere(column: columns.Column) -> None:
    assert columns.finish("small", column) == PIXELS


@pytest.mark.parametrize("column", [SOFTWARE, DYNAMIC], ids=lambda column: column.name)
def test_the_packets_become_what_they_become_elsewhere(column: columns.Column) -> None:
    assert columns.finish("packets", column) == PACKETS


def test_hardware_filters_more_pixels_than_freertos_and_two_cores_more_than_one() -> None:
    software, single, static = (
        columns.measure("image_filter", column, cycles=200_000).done
        for column in (SOFTWARE, SINGLE, STATIC)
    )
    assert 1.5 * software < single < static / 1.3


@pytest.fixture(scope="module")
def first_million() -> dict[str, list[columns.Measured]]:
    """Of both benchmarks, in the columns of the paper."""
    places = [(app, column) for app in columns.WINDOWS for column in columns.PAPER]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda place: columns.measure(*place), places))
    half = len(columns.PAPER)
    return {"image_filter": found[:half], "packets": found[half:]}


def idle(entries: list[columns.Measured] | list[columns.Mean]) -> list[float]:
    """Of the cores that tasks may be on."""
    cores = [1 if column.mapping == "1" else 2 for column in columns.PAPER]
    return [sum(one.idle[:n]) for one, n in zip(entries, cores, strict=True)]


@heavy
def test_the_readme_states_table_1(first_million: dict[str, list[columns.Measured]]) -> None:
    pixels, packets = first_million["image_filter"], first_million["packets"]
    row = "RTL, the first million"
    check(README, ("pixels", row), [m.done for m in pixels], TABLE_WITHIN)
    check(README, ("packets", row), [m.done for m in packets], TABLE_WITHIN)
    check(README, ("idle cycles, packets", row), idle(packets), TABLE_WITHIN)


@heavy
def test_the_readme_says_of_table_1_what_follows_from_it(
    first_million: dict[str, list[columns.Measured]],
) -> None:
    pixels, packets = ([m.done for m in entries] for entries in first_million.values())
    published = stated(README, "pixels", "published"), stated(README, "packets", "published")
    more = [pixels[0] / published[0][0], packets[0] / published[1][0]]
    check_words(README, "than the paper's: {} and {} times", more, TABLE_WITHIN)
    gained = [pixels[1] / pixels[0], packets[1] / packets[0]]
    check_words(README, "the hardware gains {} and {} times, not 46 and 10", gained, TABLE_WITHIN)
    of_published = [ours / theirs for ours, theirs in zip(pixels, published[0], strict=True)][1:]
    words = "*Pixels* are {} to {} times as many as published"
    check_words(README, words, [min(of_published), max(of_published)], TABLE_WITHIN)
    dynamic = "dynamic does {} times as many as static, 1.075 times published"
    check_words(README, dynamic, [packets[3] / packets[2]], TABLE_WITHIN)
    # A part of a thousand, so what is compared is the share that is left.
    (fewer,) = said(
        README, "*Dynamic, image filter*: {} % fewer pixels than static, as in the paper"
    )
    assert 1 - fewer / 100 == pytest.approx(pixels[3] / pixels[2], abs=0.001)
    thousands = [cycles / 1000 for cycles in idle(first_million["packets"])[2:]]
    words = "*Idle cycles* are more, {} and {} thousand of two millions"
    check_words(README, words, thousands, TABLE_WITHIN)


@heavy
def test_the_readme_states_the_means_of_table_1() -> None:
    means = columns.means()
    of = {app: [means[app, column.name] for column in columns.PAPER] for app in columns.WINDOWS}
    check(README, ("pixels", "RTL, mean"), [m.done for m in of["image_filter"]], TABLE_WITHIN)
    check(README, ("packets", "RTL, mean"), [m.done for m in of["packets"]], TABLE_WITHIN)
    pixels = [m.done for m in of["image_filter"]]
    words = "On average the numbers are equal ({} and {})"
    check_words(README, words, [pixels[3], pixels[2]], TABLE_WITHIN)
    idle_cycles = idle(of["packets"])
    check(README, ("idle cycles, packets", "RTL, mean"), idle_cycles, TABLE_WITHIN)
    of_one = (2_000_000 - idle_cycles[3]) / of["packets"][3].done / 1000
    words = "thousand cycles for a packet in the simulator, and {} on the RTL"
    check_words(README, words, [of_one], TABLE_WITHIN)


@heavy
@pytest.mark.parametrize(
    ("column", "label"),
    [
        ("SMP selective, 100 cycles of patience", "dynamic, 100 cycles of patience"),
        ("SMP selective, 1000 cycles", "dynamic, 1000 cycles of patience"),
        ("SMP static, shared data uncached", "static, shared data not cached"),
        ("SMP dynamic, shared data uncached", "dynamic, shared data not cached"),
        ("SMP static, no data cache", "static, no data cached"),
        ("SMP dynamic, no data cache", "dynamic, no data cached"),
    ],
)
def test_the_readme_states_what_is_beyond_the_paper(column: str, label: str) -> None:
    (one,) = (beyond for beyond in columns.BEYOND if beyond.name == column)
    counted = [columns.measure(app, one).done for app in columns.WINDOWS]
    check(README, (label,), counted, TABLE_WITHIN)


@heavy
def test_the_readme_states_what_more_cores_do_for_packets() -> None:
    counted = columns.scaling()
    labels = {1: "1 core", 2: "2 cores", 3: "3 cores", 4: "4 cores"}
    for cores, label in labels.items():
        row = [m.done for (n, _), m in counted.items() if n == cores]
        check(README, (label,), row, TABLE_WITHIN)


def test_tasks_that_may_be_on_any_core_process_more_packets_with_fewer_idle_cycles() -> None:
    static, dynamic = (columns.measure("packets", column) for column in (STATIC, DYNAMIC))
    assert static.done < dynamic.done
    assert sum(dynamic.idle) < sum(static.idle)


def test_what_is_shared_may_be_left_out_of_the_caches() -> None:
    uncached = next(column for column in columns.BEYOND if column.uncached)
    assert columns.finish("small", uncached) == PIXELS


def test_tasks_are_on_both_cores_where_they_may_be_and_on_one_where_not(tmp_path: Path) -> None:
    static, dynamic = (traces.trace("packets", figure, tmp_path) for figure in traces.FIGURES)
    assert static.moved() == []
    assert len(dynamic.moved()) >= 3
    assert all(cores for cores in dynamic.cores.values())
    assert static.vcd.read_text().startswith("$")
