# SPDX-License-Identifier: Apache-2.0
"""The same surroundings for the tests, whoever starts them: signals and masks are inherited. And a
browser for those that ask for one."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "chromium"

for _signal in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    if signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.SIG_DFL)
os.umask(0o022)

HANGS_S = int(os.environ.get("HANGS_S", "900"))


def _hangs(*_: object) -> None:
    pytest.fail(f"the test has not ended after {HANGS_S} s")


@pytest.fixture(autouse=True)
def _a_test_that_hangs_fails() -> Iterator[None]:
    """Far beyond what any takes, on a busy machine too: the others have their turn."""
    signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(HANGS_S)
    yield
    signal.alarm(0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    # Most tests run where there is no Playwright.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox"], timeout=HANGS_S * 1000
        )
        yield browser
        browser.close()
