# SPDX-License-Identifier: Apache-2.0
"""Builds a module with Verilator and runs the cocotb tests of a file on it."""

import json
import os
import shutil
import sys
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

RTL = Path(__file__).resolve().parent.parent
BUILD = RTL.parent / "build" / "rtl"
# How many times as long random traffic is as in `make test`.
TIMES = 10 if "RTL_LONG" in os.environ else 1
# A file list names what a module is made of, relative to itself.
LISTS = {name: RTL / f"{name}/{name}.f" for name in ("hw_rtos", "lock_unit", "axi_lite")}
# The hardware RTOS: what is proved, synthesized, and has pages.
UNITS = {name: LISTS[name] for name in ("hw_rtos", "lock_unit")}

# With assertions, a reset is read by flip-flops and by `disable iff`.
ARGS = ["--assert", "-Wall", "-Wno-SYNCASYNCNET", "--quiet", "-DRTL_ASSERTIONS"]


def listed(files: Path) -> list[Path]:
    """The files that a file list names, with those of the lists in it."""
    found = []
    for line in files.read_text().splitlines():
        if line.startswith("-F "):
            found += listed(files.parent / line.removeprefix("-F "))
        elif line[:1] not in ("", "+"):
            found.append((files.parent / line).resolve())
    return found


def sources(top: str) -> list[Path]:
    return listed(LISTS[top])


def environment() -> None:
    """Has cocotb find our Verilator, and this Python."""
    os.environ["RTL_PYTHON"] = sys.executable
    ahead = [str(RTL / "dv"), str(Path(sys.executable).parent)]
    os.environ["PATH"] = os.pathsep.join([*ahead, os.environ["PATH"]])
    os.environ["PYTHONPATH"] = str(RTL / "dv")
    # Most of the time goes into compiling, not into running.
    os.environ["MAKEFLAGS"] = "OPT_GLOBAL=-O0 OPT_SLOW=-O0 OPT_FAST=-O1 CFG_CXXFLAGS_PCH_I=-include"
    # The rest is Verilator's own library, the same in every model.
    if shutil.which("ccache"):
        os.environ["MAKEFLAGS"] += " OBJCACHE=ccache"


class Failed(Exception):
    """Some did, or the simulation ended before its time."""


def build(
    top: str,
    parameters: dict[str, int],
    files: list[Path] | None = None,
    args: tuple[str, ...] = (),
) -> Path:
    """The folder of a model; `files` replace the real ones, whose lines are counted (lines.py)."""
    environment()
    name = "_".join([top, *(f"{key}{value}" for key, value in parameters.items())])
    where = BUILD / (name if files is None else f"{name}_{files[0].parent.name}")
    get_runner("verilator").build(
        sources=files or sources(top),
        includes=[RTL / "common"],
        hdl_toplevel=top,
        parameters=parameters,
        build_args=[*ARGS, *(["--coverage-line"] if files is None else []), *args],
        build_dir=where,
        always=True,
    )
    return where


def run(
    where: Path, top: str, module: str, parameters: dict[str, int], plusargs: tuple[str, ...] = ()
) -> None:
    """Runs all tests of `module` on a model that was built, and raises where one fails."""
    environment()
    runner = get_runner("verilator")
    try:
        results = runner.test(
            hdl_toplevel=top,
            hdl_toplevel_lang="verilog",
            test_module=module,
            build_dir=where,
            test_dir=where,
            plusargs=list(plusargs),
            extra_env={"RTL_PARAMETERS": json.dumps(parameters), "RTL_TIMES": str(TIMES)},
        )
        tests, failures = get_results(results)
    except (RuntimeError, SystemExit) as ended:  # an assertion of the hardware
        raise Failed(f"the simulation of {module} ended early") from ended
    if tests == 0 or failures > 0:
        raise Failed(f"{failures} of {tests} tests of {module} failed in {where.name}")


def simulate(
    top: str, module: str, parameters: dict[str, int], files: list[Path] | None = None
) -> None:
    """Builds, and runs all tests of `module`; raises where one fails."""
    run(build(top, parameters, files), top, module, parameters)
