# SPDX-License-Identifier: Apache-2.0
"""Every notebook runs to its end, and what it asserts holds."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "keep it without outputs"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}}).execute()
