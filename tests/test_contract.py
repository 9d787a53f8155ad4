# SPDX-License-Identifier: Apache-2.0
"""What the documents say of the contract and of names in the source is what the source has."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("apps", "bench", "clients", "crates", "kernels", "launcher", "middleware", "tests")
WORDS = {"twenty-seven": 27, "twenty-eight": 28, "twenty-nine": 29, "thirty": 30}

# `wb_kernel_now_ns` or `hooks_init()`; a word of one part could be prose.
NAME = re.compile(r"`(_?[a-z][a-z0-9]*(?:_[a-z0-9]+)+)(?:\(\))?`")


@cache
def source() -> str:
    """The text of all of our sources."""
    kinds = {".c", ".h", ".S", ".rs", ".cc", ".py", ".pml"}
    folders = [path for folder in SOURCES for path in (ROOT / folder).rglob("*")]
    files = [path for path in folders if path.suffix in kinds and "third_party" not in path.parts]
    return "\n".join(path.read_text() for path in files)


def provided() -> int:
    """How many functions `wb/kernel.h` asks of a kernel."""
    text = (ROOT / "middleware/include/wb/kernel.h").read_text()
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))
    return len(set(re.findall(r"\b(wb_kernel_[a-z_]+)\(", code)))


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("README.md", r"contract of ([a-z-]+) functions and one word"),
        ("ARCHITECTURE.md", r"the contract: ([a-z-]+) functions and one word"),
        ("docs/folders.md", r"the contract: ([a-z-]+) functions and one word"),
        ("kernels/template/README.md", r"the ([a-z-]+) functions and one word of"),
        ("docs/decisions/0001-*.md", r"The contract has ([a-z-]+) functions"),
    ],
)
def test_documents_count_the_functions_of_the_contract(document: str, sentence: str) -> None:
    (path,) = ROOT.glob(document)
    found = re.search(sentence, path.read_text())
    assert found is not None, f"{document} does not say how many functions the contract has"
    assert WORDS[found[1]] == provided()


@pytest.mark.parametrize("pages", ["ARCHITECTURE.md", "docs/internals/*.md", "docs/glossary.md"])
def test_every_name_in_the_architecture_is_one_of_the_source(pages: str) -> None:
    names = {name for path in ROOT.glob(pages) for name in NAME.findall(path.read_text())}
    assert len(names) > 10
    missing = sorted(name for name in names if re.search(rf"\b{name}", source()) is None)
    assert not missing, f"{pages} has names that the source does not: {missing}"


# With the one of clients/c they are ten.
PUBLIC_MOST = 9


def test_the_public_headers_are_few_and_those_of_the_page() -> None:
    page = (ROOT / "docs/api.md").read_text()
    listed = set(re.findall(r"^\| `(\w+\.h(?:pp)?)` \|", page, re.MULTILINE))
    there = {path.name for path in (ROOT / "middleware/include/wb").iterdir()}
    assert listed == there
    # That of C++ stands for wb.h.
    assert len(there - {"wb.hpp"}) <= PUBLIC_MOST


def test_no_header_hides_another_behind_its_guard() -> None:
    named: dict[str, list[str]] = {}
    for folder in SOURCES:
        for path in (ROOT / folder).rglob("*.h"):
            if "third_party" in path.parts:
                continue
            found = re.search(r"^#ifndef (WB_\w+_H)$", path.read_text(), re.MULTILINE)
            if found is not None:
                named.setdefault(found[1], []).append(str(path.relative_to(ROOT)))
    # Each processor has one.
    del named["WB_ARCH_H"]
    assert not {guard: paths for guard, paths in named.items() if len(paths) > 1}


def test_crates_whose_examples_are_not_run_have_none() -> None:
    """`doctest = false` saves a pass over the crate; an example in its documentation needs it."""
    manifests = [p for p in ROOT.glob("crates/*/Cargo.toml") if "doctest = false" in p.read_text()]
    assert manifests
    for source in (path for m in manifests for path in (m.parent / "src").rglob("*.rs")):
        fences = re.findall(r"^\s*//[/!] *```(.*)$", source.read_text(), re.MULTILINE)
        assert set(fences[::2]) <= {"text"}, f"{source}: remove doctest = false from its Cargo.toml"
