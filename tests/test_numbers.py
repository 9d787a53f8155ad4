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
from documents import ROOT, documents, version

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


def test_the_readme_has_figures_of_the_page_of_figures() -> None:
    figures = {row[0]: row for row in rows(ROOT / "docs/figures.md")}
    shown = [row for row in rows(ROOT / "README.md") if len(row) == 4]
    assert len(shown) == 6
    assert [row for row in shown if row != figures.get(row[0])] == []


# Facts that several pages state, each by the words around it: they are equal.
REPEATED = {
    "instructions of a hand-off between FreeRTOS kernels": {
        "reproduce/holmbacka2013/README.md": r"(\d+) in all, whatever the task's size",
        "docs/decisions/0019-freertos-serves-the-inbox-in-its-switch-and-in-a-task.md": (
            r"a hand-off takes (\d+) instructions"
        ),
    },
    "instructions of the longest such hand-off": {
        "reproduce/holmbacka2013/README.md": r"the longest took (\d+)",
        "docs/decisions/0019-freertos-serves-the-inbox-in-its-switch-and-in-a-task.md": (
            r"the longest (\d+)\)"
        ),
    },
    "what an agent's interrupt takes, in percent": {
        "docs/figures.md": r"`agent.100Hz.interrupt`.{,150}? (\d\.\d+) %; at the default",
        "docs/limits.md": r"(\d\.\d+) % of a core at 100 Hz",
    },
    "sizes from which `auto` takes the alias, in KiB": {
        "middleware/src/context/transfer.c": r"SMALL_BYTES = (\d+) << 10",
        "docs/internals/replication-and-recreation.md": r"smaller than (\d+) KiB",
        "docs/decisions/0007-a-target-copies-before-it-commits.md": r"below (\d+) KiB of heap",
    },
}


@pytest.mark.parametrize("fact", REPEATED)
def test_a_fact_that_several_pages_state_is_one(fact: str) -> None:
    found = {
        page: re.findall(words, " ".join((ROOT / page).read_text().split()))
        for page, words in REPEATED[fact].items()
    }
    assert all(found.values()), f"not said any more: {found}"
    assert len({number for numbers in found.values() for number in numbers}) == 1, found


NUMERALS = ("no", "one", "two", "three", "four", "five", "six", "seven")


def test_the_synthetic_applications_are_counted() -> None:
    words = r"(\w+) applications that exist only as TOML"
    (said,) = re.findall(words, (ROOT / "docs/samples.md").read_text())
    assert NUMERALS.index(said) == len(list((ROOT / "apps/synthetic").glob("*.toml")))


def test_the_cases_of_the_suite_are_counted() -> None:
    files = (ROOT / "kernels/conform").glob("*.c")
    there = sum(len(re.findall(r"^TEST\(", path.read_text(), re.MULTILINE)) for path in files)
    found = re.findall(r"\d+ of (\d+) cases", (ROOT / "docs/limits.md").read_text())
    assert found == [str(there)]


RTL_CORES = ("axi_lite", "common", "hw_rtos", "lock_unit")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("README.md", r"\bVersion (\S+) is\b"),
        ("docs/limits.md", r"\bVersion (\S+) is\b"),
        *((f"rtl/{x}/{x}.core", r"^name: \S+:(\S+)$") for x in RTL_CORES),
        ("middleware/include/wb/status.h", r'^#define WB_VERSION "(\S+)"$'),
        ("CHANGELOG.md", r"\A.*?^## \[([0-9.]+)\] - \d{4}-\d\d-\d\d$"),
    ],
)
def test_the_version_is_that_of_the_crates(page: str, words: str) -> None:
    found = re.findall(words, (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found == [version()]


def test_every_package_has_the_version_of_the_crates() -> None:
    manifests = [*ROOT.glob("crates/*/Cargo.toml"), ROOT / "clients/rust/Cargo.toml"]
    packages = [tomllib.loads(path.read_text())["package"] for path in manifests]
    assert [one["name"] for one in packages if one["version"] != {"workspace": True}] == []
    locked = tomllib.loads((ROOT / "crates/Cargo.lock").read_text())["package"]
    ours = {one["name"]: one["version"] for one in locked if "source" not in one}
    assert ours == {one["name"]: version() for one in packages}
    python = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]
    assert python["dynamic"] == ["version"]  # maturin takes it from crates/python


# The row of docs/releases.md, and where the source has its number.
FORMATS = [
    ("`summary.json`", "crates/trace/src/recorded/mod.rs", r"const VERSION: u32 = (\d+);"),
    ("`summary.json`", "crates/run/src/run/summary.rs", r"const VERSION: u32 = (\d+);"),
    ("event streams", "crates/trace/src/recorded/stream.rs", r"const VERSION: u32 = (\d+);"),
    ("`front.json`", "crates/explore/src/export/summary.rs", r"const VERSION: u32 = (\d+);"),
    ("`evaluated.jsonl`", "crates/explore/src/store.rs", r"const VERSION: u32 = (\d+);"),
    ("plan and protocol", "crates/model/src/plan/mod.rs", r"const VERSION: u32 = (\d+);"),
    ("plan and protocol", "launcher/protocol/parse.c", r"\bVERSION = (\d+)"),
    ("packets of", "clients/c/packet.h", r"\bCLIENT_VERSION = (\d+)"),
    ("packets of", "clients/rust/src/packet.rs", r"const VERSION: u32 = (\d+);"),
    ("packets of", "clients/python/whimbrel_client.py", r"^VERSION = (\d+)$"),
    ("saved simulation", "kernels/sim/save.c", r'magic\[8\] = "WBSIM\\0\\0\\(\d+)"'),
]


@pytest.mark.parametrize(("label", "source", "words"), FORMATS)
def test_the_page_of_releases_states_the_number_of_each_format(
    label: str, source: str, words: str
) -> None:
    (row,) = [row for row in rows(ROOT / "docs/releases.md") if label in row[0]]
    assert re.findall(words, (ROOT / source).read_text(), re.MULTILINE) == [row[1]]
