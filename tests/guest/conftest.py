# SPDX-License-Identifier: Apache-2.0
"""A guest of each kind, booted once for all tests; each test must leave nothing behind in it."""

from __future__ import annotations

from collections.abc import Iterator

import image
import pytest
from machine import Guest, wait_for_guardians


@pytest.fixture(scope="session", params=["v2", "v1", "none"])
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
