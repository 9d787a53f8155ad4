# SPDX-License-Identifier: Apache-2.0
"""How large the hardware is."""

from synth import Size, count

PAPER = 20_000  # nacul2007, for two cores: "about 20k gates"


def test_two_cores_with_16_tasks_and_16_ports_take_less_than_the_papers() -> None:
    (counted,) = count((Size(),))
    print(counted)
    assert counted["flip_flops"] > 2 * 16 * 32  # the buffers are counted
    assert counted["with_buffers"] < PAPER
