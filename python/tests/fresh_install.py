#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs the package as a user types it, into a new environment, and uses it elsewhere (`make
soak`): pip builds it alone, with what the build asks for.

    python3 python/tests/fresh_install.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USE = """
import whimbrel
task = whimbrel.Task(name="source", cycles=1000, period_us=1000)
app = whimbrel.Application(name="alone", tasks=(task,))
run = whimbrel.simulate(app, "mpsoc3", duration="100ms")
assert "site-packages" in whimbrel.__file__ and run.seconds >= 0.1
print(run)
"""


def ran(*words: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints, which must succeed."""
    # Nothing of a make or a Python above.
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTHON"))}
    kept.pop("WHIMBREL_BUILT", None)
    done = subprocess.run(words, cwd=cwd, env=kept, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def main() -> None:
    """Installs and uses it."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / "env"
        ran(sys.executable, "-m", "venv", new)
        since = time.monotonic()
        ran(new / "bin/pip", "install", "--quiet", "./python")
        print(f"installed in {time.monotonic() - since:.0f} s")
        print(ran(new / "bin/python", "-c", USE, cwd=Path(folder)), end="")
        print(ran(new / "bin/whimbrel", "--version", cwd=Path(folder)), end="")


if __name__ == "__main__":
    main()
