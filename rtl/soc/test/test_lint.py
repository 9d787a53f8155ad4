# SPDX-License-Identifier: Apache-2.0
"""Verilator has nothing to say of the SoC, in several sizes. Of Ibex's files it says nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import pythondata_cpu_ibex

RTL = Path(__file__).resolve().parents[2]
# Ibex defines our macros anew; with assertions, a reset is read by flip-flops and by them.
ARGS = ["--lint-only", "-Wall", "-Wno-REDEFMACRO", "-Wno-SYNCASYNCNET", "-DSYNTHESIS"]

long = pytest.mark.skipif("RTL_LONG" not in os.environ, reason="`make soak` runs it")


@pytest.mark.parametrize(
    "sizes",
    [
        {"NumCores": 1},
        # The model's compilation shows warnings too.
        pytest.param({"NumCores": 2}, marks=long),
        {"NumCores": 3, "BufferLines": 1, "LineWords": 8, "CacheBytes": 8192},
        pytest.param(
            {"NumCores": 4, "NumTasks": 64, "NumPorts": 64, "WordsPerPort": 4}, marks=long
        ),
    ],
    ids=str,
)
def test_the_soc_is_clean(sizes: dict[str, int]) -> None:
    environment = os.environ | {
        "IBEX": str(pythondata_cpu_ibex.data_location),
        "RTL_PYTHON": sys.executable,
    }
    parameters = [f"-G{name}={value}" for name, value in sizes.items()]
    command = [RTL / "dv/verilator", *ARGS, *parameters, "--top-module", "soc"]
    done = subprocess.run(
        [*command, "-F", RTL / "soc/soc_ibex.f"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
