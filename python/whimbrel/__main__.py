# SPDX-License-Identifier: Apache-2.0
"""The command: `whimbrel`, and `python -m whimbrel`."""

from __future__ import annotations

import os
import sys

from . import _tree


def main() -> None:
    """Becomes the command."""
    program = str(_tree.BIN / "whimbrel")
    # For what the command leaves to this package.
    environment = {"WHIMBREL_PYTHON": sys.executable, **os.environ}
    try:
        os.execve(program, ["whimbrel", *sys.argv[1:]], environment)
    except OSError as error:
        sys.exit(f"{program} cannot be started: {error.strerror}: install the package again")


if __name__ == "__main__":
    main()
