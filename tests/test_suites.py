# SPDX-License-Identifier: Apache-2.0
"""A suite of `make test` runs again when what it is made of has changed, and only then."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

from suites import SUITES, code, read  # noqa: E402

MAKEFILE = """
compiles reads:
	@touch $@.ran
fails:
	@echo test two ... FAILED; seq 1000; echo why; false
"""
COMPILES, READS, FAILS = (
    f"[[suite]]\nname = '{name}'\nbudget_s = 9\nprocessors = 1\ninputs = ['@code{how}']\n"
    for name, how in (("compiles", ""), ("reads", "_as_text"), ("fails", ""))
)
LISTS = "[lists]\ncode = ['src~']\ncode_as_text = ['src']\n"
CODE = '// A line.\nint f(void)\n{\n    return g("//", 1);  // why\n}\n'


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A project with a file of C, and two suites: one compiles it, one reads it."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/f.c").write_text(CODE)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    (tmp_path / ".gitignore").write_text("build\n*.ran\n")
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def run(tree: Path, *suites: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = {name: text for name, text in os.environ.items() if name not in ("CI", "ALL")}
    (tree / "build").mkdir(exist_ok=True)
    (tree / "build/suites.toml").write_text(LISTS + "".join(suites))
    return subprocess.run(
        [sys.executable, ROOT / "tools/suites.py", "build/suites.toml"],
        cwd=tree,
        env=known | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def ran(tree: Path, **variables: str) -> set[str]:
    """Which of the suites run now."""
    ended = run(tree, COMPILES, READS, **variables)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = {path.stem for path in tree.glob("*.ran")}
    for name in found:
        (tree / f"{name}.ran").unlink()
    return found


def test_a_suite_that_has_passed_runs_again_only_after_a_change(tree: Path) -> None:
    assert ran(tree) == {"compiles", "reads"}
    assert ran(tree) == set()
    assert ran(tree, ALL="1") == {"compiles", "reads"}
    assert ran(tree, CI="1") == {"compiles", "reads"}
    (tree / "src/new.txt").write_text("data")
    assert ran(tree) == {"compiles", "reads"}
    (tree / "src/new.txt").write_text("data // of another kind")
    assert ran(tree) == {"compiles", "reads"}
    (tree / "src/new.txt").unlink()
    assert ran(tree) == {"compiles", "reads"}


def test_what_only_compiles_code_does_not_run_again_for_a_comment(tree: Path) -> None:
    ran(tree)
    (tree / "src/f.c").write_text(CODE.replace("// why", "// why not\n\n    /* for\n     ever */"))
    assert ran(tree) == {"reads"}
    (tree / "src/f.c").write_text(CODE.replace("1", "2"))
    assert ran(tree) == {"compiles", "reads"}
    (tree / "Makefile").write_text(MAKEFILE + "# changed\n")
    assert ran(tree) == {"compiles", "reads"}


def test_a_suite_that_fails_runs_again_and_is_named_with_what_it_said(tree: Path) -> None:
    for _ in range(2):
        ended = run(tree, FAILS, COMPILES)
        assert ended.returncode == 1
        assert "    why\n" in ended.stdout
        assert "    test two ... FAILED\n" in ended.stdout  # a thousand lines before
        assert "failed: make fails (all that it printed: build/log/fails.log)" in ended.stdout
        assert "1 passed, 1 failed" in ended.stdout


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('a("//");', 'a("// b");'),
        ('a("/*"); b("*/");', 'a("/*"); c("*/");'),
        (r'a("\"//"); b();', r'a("\"//"); c();'),
        ("a('\"'); // b\nc('\"');", "a('\"'); // b\nd('\"');"),
        ("a /* */ b", "a/* */ c"),
        ("#define A \\\n\nb", "#define A \\\nb"),
        ("ab", "a b"),
        ("ab", "a\nb"),
    ],
)
def test_other_code_is_another_input(one: str, other: str) -> None:
    assert code(one.encode()) != code(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a; // b \\\nc\nd;", "a;\nd;"),
        ("a; /* \" */ b; // '", "a;   b;"),
        ("a;\n\n\n// b\nc;", "a;\nc;"),
        ("\n// a\n", ""),
    ],
)
def test_comments_and_empty_lines_are_none(one: str, other: str) -> None:
    assert code(one.encode()) == code(other.encode())


@pytest.mark.parametrize("suite", ["test-crates", "test-peers"])
def test_a_suite_that_has_no_kernel_for_an_input_cannot_start_one(suite: str) -> None:
    text = (ROOT / "Makefile").read_text()
    linked = [
        name
        for name in inputs_of(suite)
        if name.startswith(("middleware/src", "kernels", "launcher"))
        and not name.endswith(".inc")  # rows that its tests only compare
    ]
    assert linked in ([], ["launcher/plan"])
    (recipe,) = re.findall(rf"^{suite}:.*\n\t(.*)", text, re.MULTILINE)
    assert "WHIMBREL_LIBEXEC=/nowhere" in recipe


def inputs_of(suite: str) -> list[str]:
    (found,) = [one for one in read(ROOT / SUITES) if one.name == suite]
    return [name.removesuffix("~") for name in found.inputs]


def imported(paths: Iterable[Path]) -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in paths]
    words = [re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE) for text in texts]
    return {word for found in words for word in found}


@pytest.mark.parametrize(("suite", "folder"), [("test-freertos", "boards"), ("test-soc", "soc")])
def test_the_modules_that_a_suites_tests_import_are_its_inputs(suite: str, folder: str) -> None:
    inputs = inputs_of(suite)
    shared = {f"tests/{word}.py" for word in imported((ROOT / "tests" / folder).glob("*.py"))}
    assert {name for name in shared if (ROOT / name).is_file()} <= set(inputs)
    # What papers published is plotted by the package.
    papers = [
        path for name in inputs if "reproduce" in name for path in (ROOT / name).rglob("*.py")
    ]
    assert "whimbrel" in imported(papers)
    assert "python/whimbrel/plot" in inputs


def test_every_file_of_c_is_an_input_of_its_linter() -> None:
    command = ["git", "ls-files", "*.c", "*.h"]
    files = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    inputs = tuple(f"{name}/" for name in inputs_of("lint-c"))
    assert [name for name in files.split() if not name.startswith(inputs)] == []
