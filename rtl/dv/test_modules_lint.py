# SPDX-License-Identifier: Apache-2.0
"""Verilator has nothing to say of any module, and refuses sizes that no module has.

And each is written as the guide of lowRISC asks for, in what Verilator does not look at.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import LISTS, RTL, UNITS, listed

FILES = listed(LISTS["axi_lite"])  # that is every module but those of the SoC
MODULES = [file.stem for file in FILES if not file.stem.endswith("_pkg")]


def needed(top: str) -> list[Path]:
    """The files of a module and of what it names, in the order of the lists."""
    wanted, found = [top], set()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            text = next(file.read_text() for file in FILES if file.stem == name)
            words = set(re.findall(r"\w+", re.sub(r"//.*", "", text)))
            wanted += [file.stem for file in FILES if file.stem in words]
    return [file for file in FILES if file.stem in found]


def lint(top: str, *options: str) -> subprocess.CompletedProcess[str]:
    verilator = [str(RTL / "dv/verilator"), "--lint-only", "-Wall", "--top-module", top]
    # With assertions, a reset is read twice. Only whole units use all that their packages have.
    whole = top.removesuffix("_axi_lite") in UNITS
    without = ["-Wno-SYNCASYNCNET", *([] if whole else ["-Wno-UNUSEDPARAM"])]
    return subprocess.run(
        [*verilator, *without, f"-I{RTL / 'common'}", *options, *map(str, needed(top))],
        env={"RTL_PYTHON": sys.executable, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("top", MODULES)
def test_no_warning_of(top: str) -> None:
    for options in ((), ("-DRTL_ASSERTIONS", "--assert")):
        said = lint(top, *options)
        assert (said.returncode, said.stderr) == (0, "")


@pytest.mark.parametrize(
    ("top", "parameter", "value"),
    [
        ("hw_rtos", "NumCores", 5),
        ("hw_rtos", "NumTasks", 7),
        ("hw_rtos", "NumTasks", 65),
        ("hw_rtos", "NumPorts", 65),
        ("hw_rtos", "WordsPerPort", 17),
        ("hw_rtos", "PrioWidth", 9),
        ("hw_rtos", "SliceWidth", 33),
        ("hw_rtos", "PatienceWidth", 33),
        ("lock_unit", "NumCores", 5),
    ],
)
def test_a_size_that_is_out_of_range_is_refused(top: str, parameter: str, value: int) -> None:
    said = lint(top, f"-G{parameter}={value}")
    assert said.returncode != 0
    assert re.search(rf"{top}\.sv:\d+:\d+: {parameter} must be ", said.stderr)


def ports(text: str) -> list[tuple[int, int]]:
    """Of each port of a module its line and the column of its name."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if port := re.match(r"  (?:input|output) [^/]*?(\w+) *,?(?: *//.*)?$", line):
            found.append((number, port.start(1)))
    return found


SOURCES = [
    file for folder in ("common", *UNITS, "axi_lite", "soc") for file in (RTL / folder).glob("*.sv")
]


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
def test_the_style_of(file: Path) -> None:
    text = file.read_text()
    code = re.sub(r"//.*", "", text)
    assert not re.search(r"\t|[ \t]$", text, re.MULTILINE), "tabs, or spaces at the end of a line"
    assert all(len(line) <= 100 for line in text.splitlines())
    assert not re.search(r"(?<!unique )\bcase[xz]? \(", code), "a case that is not unique"
    assert len({column for _, column in ports(text)}) <= 1, f"names of ports: {ports(text)}"
