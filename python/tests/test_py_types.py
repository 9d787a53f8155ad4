# SPDX-License-Identifier: Apache-2.0
"""Pyright in strict mode finds nothing in the examples that people copy."""

from __future__ import annotations

import doctest
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
from test_py_examples import PUBLIC, WITH_EXAMPLE

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "extraPaths": [str(ROOT / "clients/python")],
    "include": ["checked"],
    # The value at the end of an example is what an interpreter or a notebook shows.
    "reportUnusedExpression": False,
}
# These packages have no types, and none are published that fit. Pyright derives some from their
# sources.
UNTYPED = {
    "pymoo": [
        *("reportMissingTypeStubs", "reportUnknownMemberType"),
        *("reportOptionalIterable", "reportOptionalMemberAccess"),
    ],
    "whimbrel.plot.pages": ["reportUnknownMemberType"],  # for figures of plotly
}
# Ax needs PyTorch, so it is not installed.
UNCHECKED = "from ax."


def blocks(document: str) -> list[str]:
    """The examples of a document."""
    return re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.S)


def examples() -> dict[str, str]:
    """Modules, each with what is read from its top on: a document, a notebook, a docstring."""
    of_python = [block for block in blocks("docs/python.md") if UNCHECKED not in block]
    untyped = [block for block in of_python if "pymoo" in block]
    found = {
        "clients_md": "".join(blocks("docs/clients.md")),
        "python_md": "".join(block for block in of_python if block not in untyped),
        "client": (ROOT / "examples/client/client.py").read_text(),
    }
    for place, block in enumerate(untyped):
        found[f"untyped_{place}"] = f"from checked.python_md import *\n{block}"
    for path in (ROOT / "python/notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        found[path.stem] = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    for name in WITH_EXAMPLE:
        lines = doctest.DocTestParser().get_examples(inspect.getdoc(PUBLIC[name]) or "")
        text = "".join(line.source for line in lines)
        found[name.replace(".", "_")] = f"from names import *\n{text}"
    return found


def names() -> str:
    """What the examples of docstrings have."""
    imports = [f"import whimbrel{of}\n" for of in ("", ".gym", ".plot", ".plot.pages")]
    made = next(block for block in blocks("docs/python.md") if "player = " in block)
    run = "run = whimbrel.simulate(player, fast, duration=1, record=True)\n"
    return "".join([*imports, made, run, "found = whimbrel.explore(player, fast)\n"])


def test_pyright_finds_nothing_in_the_examples(tmp_path: Path) -> None:
    found = examples()
    assert len(found) > 80
    folder = tmp_path / "checked"
    folder.mkdir()
    for name, text in found.items():
        off = [rule for of, rules in UNTYPED.items() if of in text for rule in rules]
        rules = f"# pyright: {', '.join(f'{rule}=false' for rule in off)}\n" if off else ""
        (folder / f"{name}.py").write_text(rules + text)
    (tmp_path / "names.py").write_text(names())
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(CONFIG))
    python = sys.executable
    done = subprocess.run(
        [python, "-m", "pyright", "--outputjson", "--project", tmp_path, "--pythonpath", python],
        capture_output=True,
        text=True,
        check=False,
    )
    said = json.loads(done.stdout)
    assert said["summary"]["filesAnalyzed"] == len(found)
    findings = [
        f"{Path(one['file']).name}:{one['range']['start']['line'] + 1}: {one['message']}"
        for one in said["generalDiagnostics"]
    ]
    assert findings == [], "\n".join(findings)
