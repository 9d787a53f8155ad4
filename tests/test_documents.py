# SPDX-License-Identifier: Apache-2.0
"""What the documents say of the code is so."""

import os
import re
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path

import pytest
import yaml
from documents import ROOT, anchor, blocks, documents, files, prose
from running import WHIMBREL

sys.path += [str(ROOT / "tools"), str(ROOT / "reproduce/common")]

from stated import rows
from suites import SUITES
from suites import read as read_suites


@pytest.mark.parametrize(
    ("document", "source"),
    [
        ("README.md", "apps/hello/hello.c"),
        ("docs/your-first-application.md", "apps/hello/watcher.c"),
        ("docs/rust.md", "examples/rust/rust.rs"),
    ],
)
def test_a_program_that_is_shown_is_the_one_that_runs(document: str, source: str) -> None:
    language = {".c": "c", ".rs": "rust"}[Path(source).suffix]
    assert blocks(ROOT / document, language) == [(ROOT / source).read_text()]


def test_the_first_twenty_lines_answer_the_questions_of_a_stranger() -> None:
    """Each answer by what it must agree with: folders, figures, the licence, boards, verbs."""
    readme = (ROOT / "README.md").read_text()
    assert len(readme.splitlines()) <= 120
    top = " ".join(" ".join(readme.splitlines()[:20]).split())
    # What is it? Its sentence says what the citation says.
    (claim,) = re.findall(r"^\*\*Whimbrel (.*?)\*\*", readme, re.MULTILINE)
    abstract = (ROOT / "CITATION.cff").read_text()
    assert {"moves", "running", "task", "core", "message"} <= set(re.findall(r"\w+", claim))
    assert "moves running tasks between cores" in " ".join(abstract.split())
    # For whom? For each kind of stream there is an application.
    (streams,) = re.findall(r"for embedded engineers who run (.*?) streams", top)
    apps = {"audio": "voip", "radio": "fm_radio", "video": "video", "packet": "packets"}
    assert re.split(r", | or ", streams) == list(apps)
    assert all((ROOT / "apps" / name / "README.md").exists() for name in apps.values())
    # On what does it run? On each kernel that there is.
    (systems,) = re.findall(r"It runs on (.*?)\.", top)
    words = {"linux": "Linux", "freertos": "FreeRTOS", "riscv": "RISC-V", "sim": "simulator"}
    kernels = {path.name for path in (ROOT / "kernels").iterdir() if path.is_dir()}
    assert kernels - {"conform", "template"} == set(words)
    assert all(word in systems for word in words.values())
    # What does it cost? The licence, and times that the page of figures has.
    licence = (ROOT / "LICENSE").read_text()
    assert "Free (Apache-2.0)" in top and "Apache License" in licence and "Version 2.0" in licence
    assert "wb_checkpoint();" in readme and "mark where a task may move" in top
    figures = {row[0]: row[-1] for row in rows(ROOT / "docs/figures.md")}
    poll = figures["a task moves to a core that polls (`migration.handoff.spin`)"]
    (times,) = re.findall(r"in ([\d.]+) µs.*?takes (\d+) µs", top)
    assert all(f"{time} µs" in poll for time in times)
    checkpoint = figures["a checkpoint without a request, in instructions"]
    (instructions,) = re.findall(r"takes (\d+) instructions", top)
    assert checkpoint.startswith(f"{instructions}.00 ")
    # What is not there? What the page of limits says first, and every board is emulated.
    assert "No physical board was tested" in top and "](docs/limits.md)" in top
    limits = (ROOT / "docs/limits.md").read_text()
    assert re.search(r"^- \*\*Physical boards\.\*\* None has been tested", limits, re.MULTILINE)
    starts = [
        " ".join(tomllib.loads(path.read_text())["start"]["command"])
        for path in (ROOT / "boards").glob("*/board.toml")
    ]
    assert len(starts) == 6 and all("qemu" in one or "soc" in one for one in starts), starts
    # How do I start? By the first command of the section that it links to.
    (start,) = re.findall(r"\*\*Start\.\*\* `(make \w+)`.*?\(#quick-start\)", top)
    assert blocks(ROOT / "README.md", "")[0].startswith(start)
    assert readme.index("## Quick start") < readme.index(f"\n{start}")


def test_no_example_writes_what_another_user_may_have_made_first() -> None:
    """A fixed name in /tmp may be a link or a folder of anybody; private run folders are not."""
    code = [
        line
        for path in documents()
        for language in ("", "sh", "console", "python", "toml")
        for block in blocks(path, language)
        for line in block.splitlines()
    ]
    assert any("build/tour/" in line for line in code)
    assert [line for line in code if "/tmp/" in line and "whimbrel-" not in line] == []


def headings(path: Path) -> set[str]:
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)}


def broken(path: Path) -> list[str]:
    """The relative links of a file that lead nowhere."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, place = link.partition("#")
        target = path.parent / name if name else path
        if not target.exists() or (place and place not in headings(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken(path) == []


def every_word_after(command: str) -> set[str]:
    """What follows `command` at the start of a line of code, or of a phrase in backticks."""
    pattern = rf"(?:^|`|\s){re.escape(command)} ([a-z][a-z0-9-]*)"
    code = [text for path in documents() for text in blocks(path, "")]
    phrases = [text for path in documents() for text in re.findall(r"`[^`\n]+`", prose(path))]
    lines = [line.split("#")[0] for text in code for line in text.splitlines()]
    return {word for line in lines + phrases for word in re.findall(pattern, line)}


def test_every_verb_of_make_that_is_named_exists() -> None:
    included = ("boards/boards.mk", "rtl/rtl.mk", "tests/fuzz/fuzz.mk", *ROOT.glob("tools/**/*.mk"))
    rules = "".join((ROOT / name).read_text() for name in ("Makefile", *included))
    verbs = set(" ".join(re.findall(r"^([a-z0-9 -]+):", rules, re.MULTILINE)).split())
    named = every_word_after("make")
    assert "demo" in named
    assert named <= verbs | {"all"}


def test_make_lists_its_verbs_whatever_was_built() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    verbs = {line.split()[0] for line in listed.stdout.splitlines()}
    assert {"help", "setup", "build", "demo", "test", "lint", "clean"} <= verbs


def test_every_input_of_a_suite_exists() -> None:
    suites = read_suites(ROOT / SUITES)
    assert len(suites) > 10
    names = {name.removesuffix("~") for suite in suites for name in suite.inputs}
    assert "middleware/src" in names
    missing = {name for name in names if not (ROOT / name).exists()}
    assert [name for name in missing if "*" not in name or not list(ROOT.glob(name))] == []


def test_a_page_that_tests_of_crates_read_is_an_input_of_their_suite() -> None:
    tests = "\n".join(path.read_text() for path in (ROOT / "crates").glob("*/tests/**/*.rs"))
    read = set(re.findall(r'join\("(docs/[^"]+)"\)', tests))
    (suite,) = [one for one in read_suites(ROOT / SUITES) if one.name == "test-crates"]
    assert read == {name for name in suite.inputs if name.startswith("docs/")}


def test_every_subcommand_that_is_named_exists() -> None:
    source = (ROOT / "crates/whimbrel/src/cli/mod.rs").read_text()
    table = source[source.index("pub enum Command") :].split("\n}")[0]
    variants = re.findall(r"^    ([A-Z]\w+)\(", table, re.MULTILINE)
    known = {re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower() for name in variants}
    named = every_word_after("whimbrel") | every_word_after("bin/whimbrel")
    assert "migrate" in named
    assert named <= known | {"help"}


def test_the_reference_of_the_command_line_is_what_the_command_declares(tmp_path: Path) -> None:
    written = tmp_path / "cli.md"
    subprocess.run([WHIMBREL, "--write-reference", written], check=True)
    page = (ROOT / "docs/cli.md").read_text()
    assert page == written.read_text(), "docs/cli.md is not as the command is: `make keys`"
    # Each option that the help of a verb shows is there.
    for verb in re.findall(r"^## whimbrel ([a-z-]+)$", page, re.MULTILINE):
        shown = subprocess.run([WHIMBREL, verb, "--help"], capture_output=True, text=True)
        options = set(re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", shown.stdout, re.MULTILINE))
        part = page.split(f"\n## whimbrel {verb}\n")[1].split("\n## ")[0]
        assert options - {"--help"} <= set(re.findall(r"`(--[a-z-]+)", part))


def test_every_test_that_a_document_names_exists() -> None:
    sources = "\n".join(path.read_text() for path in files("*.c", "*.rs"))
    tests = re.findall(r"\bTEST\((\w+)\)|\bfn (\w+)\(\)", sources)
    known = {name for pair in tests for name in pair}
    for path in (ROOT / "python/tests").glob("test_*.py"):
        known |= set(re.findall(r"^def test_(\w+)", path.read_text(), re.MULTILINE))
    cited = {name for path in documents() for name in re.findall(r"`TEST\s+(\w+)`", prose(path))}
    assert cited
    assert cited <= known


def test_every_decision_has_a_number_of_its_own() -> None:
    names = [path.name for path in (ROOT / "docs/decisions").glob("[0-9]*.md")]
    assert len({name[:4] for name in names}) == len(names)


def test_the_page_of_papers_cites_as_the_citation_file_does() -> None:
    (entries,) = blocks(ROOT / "docs/papers.md", "bibtex")
    cited = {}
    for entry in re.findall(r"^@\w+\{(.*?)^\}$", entries, re.MULTILINE | re.DOTALL):
        fields = dict(re.findall(r"^  (\w+) += \{(.*?)\},?$", entry, re.MULTILINE))
        cited[fields["title"]] = fields
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert set(cited) == {one["title"] for one in [citation, *citation["references"]]}
    for one in citation["references"]:
        fields = cited[one["title"]]
        accented = re.sub(r"\{\\'(\w)\}", "\\1\u0301", fields["author"])
        names = unicodedata.normalize("NFC", accented).split(" and ")
        authors = [f"{who['family-names']}, {who['given-names']}" for who in one["authors"]]
        assert (names, fields["year"]) == (authors, str(one["year"]))


def test_the_page_of_papers_has_the_command_of_each_paper() -> None:
    page = (ROOT / "docs/papers.md").read_text()
    commands = {
        words.split()[0] for words in re.findall(r"^\| `(reproduce/.*?)`", page, re.MULTILINE)
    }
    assert [name for name in commands if not os.access(ROOT / name, os.X_OK)] == []
    papers = {path.parent.name for path in (ROOT / "reproduce").glob("*/published.toml")}
    assert len(papers) == 5 and {f"reproduce/{paper}/run" for paper in papers} <= commands
    differ = page.split("## Figures that differ")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| (\w+\d{4}) \|", differ, re.MULTILINE)) == papers


def test_the_notice_names_every_work_of_others() -> None:
    """Its folder and its authors, as REUSE.toml has them."""
    notice = " ".join((ROOT / "NOTICE").read_text().split())
    for one in tomllib.loads((ROOT / "REUSE.toml").read_text())["annotations"]:
        authors, paths = one["SPDX-FileCopyrightText"], one["path"]
        if authors == "2026 Whimbrel maintainers":
            continue
        for path in [paths] if isinstance(paths, str) else paths:
            assert str(Path(path).parent) in notice
        for author in [authors] if isinstance(authors, str) else authors:
            assert author.removesuffix(": public domain") in notice
