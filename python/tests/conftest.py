# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
import whimbrel
from whimbrel import _tree

# Whoever starts the tests may ignore Ctrl-C, as nohup does.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parents[2]
APPS = ROOT / "apps"
PATIENCE_S = 600


@pytest.fixture(scope="session")
def command() -> Any:
    """Runs the command that came with the package; gives its standard output."""

    def run(*words: str, status: int = 0) -> str:
        done = subprocess.run(
            [str(_tree.BIN / "whimbrel"), *words],
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == status, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def summary(command: Any) -> Any:
    """What `whimbrel sim` says of an application."""
    return lambda app, *words: json.loads(command("sim", str(app), "--json", "--quiet", *words))


@pytest.fixture(scope="session")
def radio() -> whimbrel.Application:
    """The FM radio, modelled: it only takes the time of its work."""
    return whimbrel.Application.load(APPS / "fm_radio/app.toml")


@pytest.fixture(scope="session")
def player() -> whimbrel.Application:
    """A small synthetic application."""
    work = {"cycles": 200_000, "distribution": "uniform", "spread": 0.5}
    tasks = (
        whimbrel.Task(name="source", cycles=20_000, period_us=1000),
        whimbrel.Task(name="work", count=2, **work),
        whimbrel.Task(name="sink", cycles=10_000),
    )
    channels = (
        whimbrel.Channel(from_="source.out", to="work.in", slots=4, slot_bytes=64),
        whimbrel.Channel(from_="work.out", to="sink.in", slots=4, slot_bytes=64),
    )
    return whimbrel.Application(name="player", tasks=tasks, channels=channels)
