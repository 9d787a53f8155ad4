# SPDX-License-Identifier: Apache-2.0
"""A guest of each kind, booted once for all tests; each test must leave nothing behind in it.

A test runs in the guest with control groups of version 2, and in those of the kinds that it names
by `also_in`. With `GUEST_ALL` in the environment (`make soak`) it runs in each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import image
import pytest
from machine import Guest, wait_for_guardians

KINDS = ["v2", "v1", "none"]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "also_in(*kinds): guests whose kind makes a difference")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A guest after the other, as each takes long to boot."""

    def kind(item: pytest.Item) -> str:
        return item.callspec.params.get("booted", "v2") if hasattr(item, "callspec") else "v2"

    def is_wanted(item: pytest.Item) -> bool:
        kinds = {"v2"}.union(*(marker.args for marker in item.iter_markers("also_in")))
        return "GUEST_ALL" in os.environ or kind(item) in kinds

    config.hook.pytest_deselected(items=[item for item in items if not is_wanted(item)])
    items[:] = sorted(filter(is_wanted, items), key=lambda item: KINDS.index(kind(item)))


@pytest.fixture(scope="session", params=KINDS)
def booted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    """A guest with these control groups; `none` has affinities alone."""
    if missing := image.missing():
        pytest.fail(
            f"no guest can be booted: {missing} is missing; `make setup` and `make test-guest`"
        )
    guest = Guest(tmp_path_factory.mktemp("guest"), request.param)
    guest.check("whimbrel-occupy status")  # makes its folder, with the lock, which stays
    yield guest
    guest.end()


@pytest.fixture
def guest(booted: Guest) -> Iterator[Guest]:
    """The guest; the test fails if anything is not as it was."""
    before = booted.snapshot()
    yield booted
    booted.run("kill -9 $(jobs -p); killall -q -9 rig sleep; rm -f /tmp/*; wait")
    wait_for_guardians(booted)
    assert booted.differences(before) == []
