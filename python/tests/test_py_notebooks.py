# SPDX-License-Identifier: Apache-2.0
"""Every notebook runs to its end, what it asserts holds, and its figures are pictures."""

from __future__ import annotations

import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
import pytest
from matplotlib.image import imread
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted([*ROOT.glob("docs/**/*.ipynb"), *ROOT.glob("python/notebooks/*.ipynb")])
# What makes a figure: `plot.timeline(…)`, and `table.plot.barh()` of pandas.
FIGURE = re.compile(r"\bplot\.\w+\(")


def pictures(cell: Any) -> list[Any]:
    """The pixels of what a cell shows."""
    shown = [output["data"]["image/png"] for output in cell.outputs if "image/png" in str(output)]
    return [imread(BytesIO(b64decode(picture))) for picture in shown]


def test_some_notebooks_draw() -> None:
    texts = [path.read_text() for path in NOTEBOOKS]
    assert sum(len(FIGURE.findall(text)) for text in texts) >= len(texts) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_its_figures_are_pictures(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "keep it without outputs"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}}).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = pictures(cell)
            assert len(shown) == len(FIGURE.findall(cell.source)), cell.source
            for picture in shown:
                assert picture.shape[1] > 300
                assert picture[..., :3].std() > 0.02, f"blank: {cell.source}"
