# SPDX-License-Identifier: Apache-2.0
"""The same surroundings for the tests, whoever starts them: signals and masks are inherited."""

import os
import signal
from collections.abc import Iterator

import pytest

for _signal in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    if signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.SIG_DFL)
os.umask(0o022)

HANGS_S = 900


def _hangs(*_: object) -> None:
    pytest.fail(f"the test has not ended after {HANGS_S} s")


@pytest.fixture(autouse=True)
def _a_test_that_hangs_fails() -> Iterator[None]:
    """Far beyond what any takes, on a busy machine too: the others have their turn."""
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(HANGS_S)
    yield
    signal.alarm(0)
