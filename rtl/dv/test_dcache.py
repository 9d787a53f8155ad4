# SPDX-License-Identifier: Apache-2.0
"""The data cache, its write buffer and the bus; and that the tests find each hazard unsolved."""

from pathlib import Path

import pytest
from mutants import Mutant, apply_on_demand

from bench import BUILD, LISTS, RTL, Failed, build, listed, run, simulate

LISTS["dcache_pair"] = RTL / "soc/test/pair.f"
SMALL_BUFFER = {"Bytes": 256, "BufferLines": 2}
SIZE = {"Bytes": 256, "BufferLines": 4}

HAZARDS = tuple(
    Mutant(name, f"soc/{file}.sv", line, instead, "", "")
    for name, file, line, instead in (
        # A line is fetched though the core's own store to it is still on its way.
        ("waits_for_no_store", "dcache", "(strict_i ? !buffer_empty : stored)", "1'b0"),
        (
            "keeps_what_others_write",
            "dcache",
            "tags[snoop_index] == snoop_line_i[LineW-1:IndexW];",
            "1'b0;",
        ),
        ("stores_past_the_cache", "dcache", "store_done && found && be_q[b]", "1'b0"),
        # A store joins a line that is on the bus, behind the place that is being sent.
        ("joins_what_is_sent", "write_buffer", "sending_q || may_gnt_i;", "1'b0;"),
        (
            "keeps_what_comes_in_a_flush",
            "dcache",
            "flush_i || (snoop_i && snoop_line_i == line)",
            "1'b0",
        ),
    )
)


def test_two_data_caches_on_one_bus() -> None:
    simulate("dcache_pair", "dcache_traffic", SMALL_BUFFER)


@pytest.fixture(scope="module")
def hazardous() -> Path:
    """A model in which each hazard can be brought about."""
    faulty = apply_on_demand(HAZARDS, BUILD / "dcache_hazards")
    return build("dcache_pair", SIZE, listed(faulty / "soc/test/pair.f"))


def test_without_a_hazard_the_caches_pass(hazardous: Path) -> None:
    run(hazardous, "dcache_pair", "dcache_traffic", SIZE)


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.name)
def test_the_traffic_finds_that_a_cache(hazardous: Path, hazard: Mutant) -> None:
    with pytest.raises(Failed):
        run(hazardous, "dcache_pair", "dcache_traffic", SIZE, (f"+{hazard.name}",))
