# SPDX-License-Identifier: Apache-2.0
"""The pages of docs/rtl are true: every module and port is there, and every diagram is drawn anew
and is what the hardware does."""

import re
from pathlib import Path

import pytest
from waves import DOCS, Diagram, diagrams

from bench import LISTS, UNITS, build, listed, run

PAGES = {page.stem: page.read_text() for page in DOCS.glob("*.md")}
FILES = listed(LISTS["axi_lite"])  # that is every module but those of the SoC
MODULES = {file.stem: file for file in FILES if not file.stem.endswith("_pkg")}


@pytest.mark.parametrize("name", MODULES)
def test_a_page_has_every_port_of(name: str) -> None:
    text = MODULES[name].read_text()
    head = text[text.index(f"module {name}") : text.index("\n);\n")]
    ports = re.findall(r"^\s+(?:input|output)\s.*?(\w+),?\s*(?://.*)?$", head, re.MULTILINE)
    assert ports
    page = next(text for text in PAGES.values() if re.search(rf"^#+ (.*: )?{name}$", text, re.M))
    section = re.split(rf"^#+ (?:.*: )?{name}$", page, flags=re.M)[-1]
    assert [port for port in ports if f"| `{port}` |" not in section] == []


@pytest.mark.parametrize("diagram", diagrams(), ids=lambda diagram: diagram.name)
def test_a_diagram_is_drawn_from_its_source(diagram: Diagram) -> None:
    assert diagram.file().read_text() == diagram.svg(), "draw it anew: make rtl-waves"


@pytest.mark.parametrize("top", UNITS)
def test_the_hardware_does_what_the_diagrams_show(top: str) -> None:
    sizes = {"hw_rtos": {"NumCores": 2, "NumTasks": 16, "NumPorts": 16}}
    where: Path = build(top, sizes.get(top, {"NumCores": 2}))
    run(where, top, "pages", {"Top": top})
    assert len(diagrams()) >= 5
