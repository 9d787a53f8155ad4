# SPDX-License-Identifier: Apache-2.0
"""The command `whimbrel` as experiments call it, and what every `run` has in common."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WHIMBREL = ROOT / "bin/whimbrel"
sys.path.append(str(ROOT / "python"))


def needs(package: str) -> None:
    """Ends with exit code 2 where a package is missing, and says which."""
    try:
        import_module(package)
    except ModuleNotFoundError as missing:
        print(f"reproduce: {missing.name} is missing: make setup", file=sys.stderr)
        sys.exit(2)


needs("matplotlib")  # draws the plots, and comes with numpy


class Failed(Exception):
    """What did not run; its text is for people."""


def built() -> Path:
    """The command, which somebody has built."""
    if not WHIMBREL.exists():
        raise Failed("bin/whimbrel is missing: make build")
    return WHIMBREL


def whimbrel(
    *words: str, fine: Collection[int] = (0,), stderr: int | None = subprocess.PIPE, **more: object
) -> subprocess.CompletedProcess[str]:
    """Runs the command, which has failed if its exit status is none of those that are fine."""
    named = f"whimbrel {' '.join(words[:2])}"
    try:
        done = subprocess.run(
            [built(), *words], stdout=subprocess.PIPE, stderr=stderr, text=True, check=False, **more
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{named}: has not ended after {late.timeout:g} s") from late
    if done.returncode not in fine:
        reason = (done.stderr or "").strip()[-2000:] or f"failed with exit code {done.returncode}"
        raise Failed(f"{named}: {reason}")
    return done


def settings(params: Mapping[str, object]) -> list[str]:
    """`--set` for each of an application's parameters."""
    return [word for key, value in params.items() for word in ("--set", f"{key}={value}")]


def benched(groups: Collection[str], quick: bool) -> dict[str, dict[str, Any]]:
    """The rows of some benchmarks, by their names; how far they are is shown meanwhile."""
    done = whimbrel("bench", *groups, "--json", *["--quick"] * quick, stderr=None)
    return {row["bench"]: row for row in json.loads(done.stdout)}


def parser(doc: str | None, plots: Path | None = None) -> argparse.ArgumentParser:
    """The options of every `run`; `plots`: where its plots are, if it has some."""
    made = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    made.add_argument("--json", action="store_true", help="print the rows as a JSON array")
    if plots is not None:
        made.add_argument("--plots", type=Path, default=plots, help="folder for the plots")
    return made


@contextmanager
def told(paper: str, *kinds: type[Exception]) -> Iterator[None]:
    """Ends with exit code 2 where this fails, or by an exception of another kind, and says why.

    The model of the SoC has a kind of its own, since its tests run where there is no matplotlib.
    """
    try:
        yield
    except (Failed, *kinds) as failed:
        print(f"reproduce/{paper}: {failed}", file=sys.stderr)
        sys.exit(2)
