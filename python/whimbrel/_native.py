# SPDX-License-Identifier: Apache-2.0
"""The compiled part, told where its helpers are."""

from __future__ import annotations

from . import _core, _tree

_core.helpers_are_in(_tree.BIN)

__all__ = ["_core"]
