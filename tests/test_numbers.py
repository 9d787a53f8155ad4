# SPDX-License-Identifier: Apache-2.0
"""No table states a number that a test does not compare, unless numbers.toml says why none does."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from documents import ROOT, documents

sys.path.append(str(ROOT / "reproduce/common"))

from stated import place_of, rows

LISTED = tomllib.loads((ROOT / "tests/numbers.toml").read_text())
COMPARED: dict[str, list[str]] = LISTED["compared"]
NOT_COMPARED: list[dict] = LISTED["not_compared"]
# A decision keeps the numbers that it was made by.
SCOPE = re.compile(
    r"(README|ARCHITECTURE|docs/(?!decisions/).*|(apps|reproduce|bench)(/\w+)?/README)\.md"
)
READERS = {"check", "check_words", "said", "stated"}
WITHOUT = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)")  # code, links
# A cell that is numbers, or has one with a unit of what is measured.
UNITS = "ns|µs|ms|s|%|times|dB|m?W|[mµ]?J|cycles|instructions|gates|events|a second|of"
MEASURED = re.compile(
    rf"[\d,. ]*\d\d[\d,. ]*|[\d,. ]*\d[,.]\d+|.*(?<![\w.])\d[\d.]* ?({UNITS})(?!\w).*"
)


def pages() -> dict[str, Path]:
    named = {str(path.relative_to(ROOT)): path for path in documents()}
    return {name: path for name, path in named.items() if SCOPE.fullmatch(name)}


def numbered(path: Path) -> Iterator[list[str]]:
    """The rows with a measured number behind their first cell."""
    for row in rows(path):
        if any(MEASURED.fullmatch(WITHOUT.sub("", cell)) for cell in row[1:]):
            yield row


@cache
def texts(test: str) -> list[str]:
    """Every text of a test's source, but for those in functions that compare no page."""
    found = []
    for part in ast.parse((ROOT / test).read_text()).body:
        nodes = list(ast.walk(part))
        called = {
            n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        if isinstance(part, ast.FunctionDef) and called.isdisjoint(READERS):
            continue
        found += [
            n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)
        ]
    return found


def is_compared(page: str, row: list[str]) -> bool:
    """A test has a label of the row, or words in it with places for numbers. A label that is a
    number is none that can be found."""
    if page in COMPARED and all(label.isdigit() for label in row[:2]):
        return True
    found = [text for test in COMPARED.get(page, []) for text in texts(test)]
    whole = " | ".join(row)
    return any(
        place_of(text).search(whole) if "{}" in text else text in row[:2] for text in found if text
    )


def is_listed(page: str, row: list[str]) -> bool:
    listed = [one["rows"].get(page, []) for one in NOT_COMPARED]
    return "all" in listed or any(label in labels for labels in listed for label in row[:2])


@pytest.mark.parametrize("page", pages())
def test_every_number_of_a_table_is_compared_or_it_is_said_why_not(page: str) -> None:
    forgotten = [
        " | ".join(row)
        for row in numbered(ROOT / page)
        if not is_compared(page, row) and not is_listed(page, row)
    ]
    assert forgotten == [], (
        f"no test compares these rows of {page}: compare them (CONTRIBUTING.md, State a number), "
        f"or say in tests/numbers.toml why none does"
    )


@pytest.mark.parametrize("page", COMPARED)
def test_every_test_that_compares_names_its_page(page: str) -> None:
    for test in COMPARED[page]:
        assert page in texts(test), f"{test} does not compare {page}"


@pytest.mark.parametrize("reason", NOT_COMPARED, ids=lambda one: one["reason"][:20])
def test_what_is_listed_is_there_and_not_compared(reason: dict) -> None:
    for page, labels in reason["rows"].items():
        left = [row for row in numbered(ROOT / page) if not is_compared(page, row)]
        assert left, f"{page} has no number that is not compared"
        for label in labels if labels != "all" else []:
            assert any(label in row[:2] for row in left), f"{page}: no row {label} is left"
