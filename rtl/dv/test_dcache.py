# SPDX-License-Identifier: Apache-2.0
"""The data cache, its write buffer and the bus, in several sizes."""

import pytest

from bench import LISTS, RTL, simulate

LISTS["dcache_pair"] = RTL / "soc/test/pair.f"


@pytest.mark.parametrize("buffer_lines", [2, 4])
def test_two_data_caches_on_one_bus(buffer_lines: int) -> None:
    simulate("dcache_pair", "dcache_traffic", {"Bytes": 256, "BufferLines": buffer_lines})
