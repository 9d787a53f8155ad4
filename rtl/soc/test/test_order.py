# SPDX-License-Identifier: Apache-2.0
"""What cores see of each other's stores, on the whole SoC."""

import pytest
from model import program, run_model

TESTS = ["message", "both_store", "both_store_with_fences", "same_word", "own_store"]


def outcomes(*options: str) -> dict[str, int]:
    """How often each test had the outcome that a sequential memory forbids."""
    done = run_model(program("order"), *options)
    assert done.returncode == 0, "an outcome that is not allowed"
    found = dict(line.split() for line in done.stdout.decode().splitlines())
    assert list(found) == TESTS
    return {name: int(count) for name, count in found.items()}


@pytest.mark.parametrize("wait_states", ["0", "4"])
def test_only_a_load_overtakes_a_store_and_a_fence_forbids_it(wait_states: str) -> None:
    found = outcomes("--store-order", "tso", "--wait-states", wait_states)
    assert found.pop("both_store") > 0
    assert set(found.values()) == {0}


def test_nothing_is_reordered_in_the_strict_order() -> None:
    assert set(outcomes("--store-order", "strict").values()) == {0}


def test_without_snooping_a_core_waits_for_ever_for_the_other_ones_store() -> None:
    assert run_model(program("order"), "--no-dcache-snoop", cycles=300_000).returncode == 124


def test_without_a_cache_there_is_nothing_to_snoop() -> None:
    found = outcomes("--no-dcache", "--no-dcache-snoop")
    found.pop("both_store")
    assert set(found.values()) == {0}
