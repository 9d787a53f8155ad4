# SPDX-License-Identifier: Apache-2.0
"""Where the command, its helpers, platforms and applications are: in the package, or in the
checkout that it is imported from."""

from __future__ import annotations

from pathlib import Path

_PACKED = Path(__file__).parent / "_tree"
ROOT = _PACKED if _PACKED.is_dir() else Path(__file__).resolve().parents[2]
BIN = ROOT / "bin"
APPS = ROOT / "apps"
# Of a package: stands for the sources that its compiled parts were made of.
SOURCES = ROOT / "sources"
