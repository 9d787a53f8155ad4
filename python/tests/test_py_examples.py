# SPDX-License-Identifier: Apache-2.0
"""What `help()` shows: examples that run, and the text of every field."""

from __future__ import annotations

import ast
import doctest
import inspect
import pydoc
import re
import textwrap
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
import whimbrel
import whimbrel.gym
import whimbrel.plot
import whimbrel.plot.pages
from whimbrel import _keys

ROOT = Path(__file__).resolve().parents[2]
# Tables of files are their fields alone, and the example of `Application` is made of them.
GENERATED = {name for name, class_ in vars(_keys).items() if is_dataclass(class_)}


def public() -> dict[str, Any]:
    """Every function, class and method that people can call, by its name."""
    found = {f"whimbrel.{name}": getattr(whimbrel, name) for name in whimbrel.__all__}
    for of in (whimbrel.plot, whimbrel.plot.pages):
        found |= {f"{of.__name__}.{name}": getattr(of, name) for name in of.__all__}
    found["whimbrel.gym.Environment"] = whimbrel.gym.Environment
    found = {name: value for name, value in found.items() if callable(value)}
    for name, class_ in list(found.items()):
        for base in inspect.getmro(class_) if inspect.isclass(class_) else ():
            for method, value in vars(base).items():
                is_method = inspect.isfunction(value) or isinstance(value, classmethod)
                if is_method and not method.startswith("_") and "whimbrel" in value.__module__:
                    found.setdefault(f"{name}.{method}", getattr(base, method))
    return found


PUBLIC = public()
WITH_EXAMPLE = [name for name in PUBLIC if name.removeprefix("whimbrel.") not in GENERATED]


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """What examples have: the objects of docs/python.md, a recorded run, an exploration."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    made: dict[str, Any] = {"whimbrel": whimbrel}
    exec(next(block for block in blocks if "player = " in block), made)
    made["run"] = whimbrel.simulate(made["player"], made["fast"], duration=1, record=True)
    made["found"] = whimbrel.explore(made["player"], made["fast"], duration="200ms")
    return made


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_everything_public_has_an_example_that_runs(
    name: str, names: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(PUBLIC[name])
    example = doctest.DocTestParser().get_doctest(text or "", dict(names), name, None, None)
    assert example.examples, f"{name} has no example in its docstring"
    said: list[str] = []
    with mpl.rc_context({"backend": "agg"}):
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert said == []


@pytest.mark.parametrize(
    ("of", "table"),
    [
        *[("run", table) for table in ("tasks", "channels", "cores", "moves", "events")],
        ("found", "table"),
    ],
)
def test_help_names_the_columns_of_a_table(of: str, table: str, names: dict[str, Any]) -> None:
    text = inspect.getdoc(getattr(type(names[of]), table)) or ""
    columns = re.search(r"^Columns: (.+?)\.$", text, re.M | re.S)
    assert columns is not None
    assert re.findall(r"`(\w+)`", columns[1]) == getattr(names[of], table).column_names


# What a name ends with, and the unit that its text has then.
UNITS = {
    "_ns": "nanoseconds",
    "_ms": "milliseconds",
    "_mj": "millijoules",
    "_mw": "milliwatts",
    "_hz": "hertz",
    "_ppm": "[Mm]illionths",
    "_mc": "[Tt]housandths of a degree Celsius",
    "_millihz": "[Tt]housandths of a frame per second",
}


def with_unit() -> list[tuple[str, str]]:
    """Fields and properties whose names end with a unit, each with its class."""
    found = []
    for name in WITH_EXAMPLE:
        class_ = PUBLIC[name]
        own = [of for of, value in vars(class_).items() if isinstance(value, property)]
        own += [field.name for field in fields(class_)] if is_dataclass(class_) else []
        found += [(name, of) for of in own if of.endswith(tuple(UNITS))]
    return found


@pytest.mark.parametrize(("name", "of"), with_unit())
def test_help_names_the_unit(name: str, of: str) -> None:
    class_ = PUBLIC[name]
    if is_dataclass(class_):
        row = re.search(rf"^    {of}: (.+)$", inspect.getdoc(class_) or "", re.M)
        text = row[1] if row else ""
    else:
        text = inspect.getdoc(getattr(class_, of)) or ""
    assert re.search(next(UNITS[end] for end in UNITS if of.endswith(end)), text), text


def initialised(class_: type) -> set[str]:
    """The public attributes that its `__init__` sets."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(class_.__init__)))
    sets = (node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AnnAssign)))
    targets = (to for node in sets for to in getattr(node, "targets", [getattr(node, "target", 0)]))
    found = {to.attr for to in targets if isinstance(to, ast.Attribute)}
    return {name for name in found if not name.startswith("_")}


INITIALISED = {
    name: initialised(class_)
    for name, class_ in PUBLIC.items()
    if inspect.isclass(class_) and not is_dataclass(class_) and "__init__" in vars(class_)
}


@pytest.mark.parametrize("name", [name for name, found in INITIALISED.items() if found])
def test_help_describes_every_attribute(name: str) -> None:
    described = re.findall(r"^    (\w+): \S", inspect.getdoc(PUBLIC[name]) or "", re.M)
    inherited = "observation_space", "action_space", "render_mode"  # of gymnasium.Env
    assert INITIALISED[name] <= {*described, *inherited}


@pytest.mark.parametrize("name", [name for name in PUBLIC if is_dataclass(PUBLIC[name])])
def test_help_describes_every_field(name: str) -> None:
    said = pydoc.render_doc(PUBLIC[name], renderer=pydoc.plaintext)
    for field in fields(PUBLIC[name]):
        assert re.search(rf"^ \| +{field.name}: \S+ ", said, re.M), field.name
