# SPDX-License-Identifier: Apache-2.0
"""Both units behind AXI4-Lite: directed tests, and random traffic compared with the models."""

from pathlib import Path

import pytest

from bench import LISTS, RTL, build, listed, run

SIZE = {"NumCores": 2, "NumTasks": 8, "NumPorts": 8}


@pytest.fixture(scope="module")
def both() -> Path:
    files = [*listed(LISTS["axi_lite"]), RTL / "dv/axi_lite_bench.sv"]
    # cocotb sees the ports of the bench and no more, which compiles in a third of the time.
    return build("axi_lite_bench", SIZE, files, ("--no-public-flat-rw",))


def test_axi_lite_directed(both: Path) -> None:
    run(both, "axi_lite_bench", "axi_lite_directed", SIZE)


def test_axi_lite_random(both: Path) -> None:
    run(both, "axi_lite_bench", "axi_lite_random", SIZE)
