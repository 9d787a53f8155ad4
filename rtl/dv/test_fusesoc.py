# SPDX-License-Identifier: Apache-2.0
"""FuseSoC builds the hardware from its core files, and the tests pass on what it builds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import find_libpython
import pytest
from cocotb_tools import config
from cocotb_tools.check_results import get_results

from bench import BUILD, LISTS, RTL, UNITS, environment, listed


def work(unit: str, target: str) -> Path:
    return BUILD / "fusesoc" / f"{unit}_{target}"


def fusesoc(*words: str) -> str:
    """What a command of FuseSoC says; raises where it fails."""
    environment()
    # Edalize sets what cocotb 1 and 2.0 look for.
    users = f"{find_libpython.find_libpython()};{config.pygpi_entry_point()}"
    ran = subprocess.run(
        [str(Path(sys.executable).parent / "fusesoc"), "--cores-root", str(RTL), *words],
        cwd=BUILD,
        env=os.environ | {"GPI_USERS": users},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def run(unit: str, target: str, *options: str) -> str:
    return fusesoc(
        "run",
        "--clean",
        f"--work-root={work(unit, target)}",
        f"--target={target}",
        f"whimbrel:rtl:{unit}",
        *options,
    )


def named(core: str) -> set[Path]:
    """The SystemVerilog that a core file names, relative to itself."""
    file = RTL / core / f"{core}.core"
    return {file.parent / name for name in re.findall(r"- (\w+\.svh?)\b", file.read_text())}


@pytest.mark.parametrize("unit", UNITS)
def test_a_core_file_names_what_the_file_list_does(unit: str) -> None:
    common = set((RTL / "common").glob("*.sv*"))
    assert named("common") == common
    assert named(unit) == set(listed(RTL / unit / f"{unit}.f")) - common


def test_the_core_file_of_axi_lite_names_what_its_file_list_does() -> None:
    of_units = {file for unit in UNITS.values() for file in listed(unit)}
    assert named("axi_lite") == set(listed(LISTS["axi_lite"])) - of_units


@pytest.mark.parametrize("target", ["lint", "lint_lock_unit"])
def test_verilator_has_nothing_to_say_of_a_unit_with_axi_lite(target: str) -> None:
    assert "%Warning" not in run("axi_lite", target, "--NumCores=4")


@pytest.mark.parametrize(
    ("core", "target", "top"),
    [
        *((unit, "lint", f"{unit}/{unit}") for unit in UNITS),
        ("axi_lite", "lint", "axi_lite/hw_rtos_axi_lite"),
        ("axi_lite", "lint_lock_unit", "axi_lite/lock_unit_axi_lite"),
        ("axi_lite", "sim", "dv/axi_lite_bench"),
    ],
)
def test_a_core_has_every_parameter_of(core: str, target: str, top: str) -> None:
    text = (RTL / f"{top}.sv").read_text()
    wanted = re.findall(r"^  parameter .*?(\w+) +=", text, re.MULTILINE)
    said = fusesoc("run", f"--target={target}", f"whimbrel:rtl:{core}", "--help")
    assert wanted
    assert [name for name in wanted if f"--{name} " not in said] == []


@pytest.mark.parametrize("unit", UNITS)
def test_verilator_has_nothing_to_say_of_the_core(unit: str) -> None:
    assert "%Warning" not in run(unit, "lint", "--NumCores=4")


@pytest.mark.parametrize(
    ("core", "parameter", "value"), [("hw_rtos", "NumCores", 5), ("axi_lite", "NumPorts", 65)]
)
def test_a_size_that_is_out_of_range_is_refused_through(
    core: str, parameter: str, value: int
) -> None:
    with pytest.raises(AssertionError, match=f"{parameter} must be "):
        run(core, "lint", f"--{parameter}={value}")


@pytest.mark.parametrize("unit", [*UNITS, "axi_lite"])
def test_the_directed_tests_pass_on_what_fusesoc_builds(unit: str) -> None:
    run(unit, "sim")
    tests, failures = get_results(work(unit, "sim") / "results.xml")
    assert tests > 0
    assert failures == 0
