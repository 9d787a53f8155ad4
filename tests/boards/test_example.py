# SPDX-License-Identifier: Apache-2.0
"""The example for a board prints what it says when a reader types its command."""

import emulated  # noqa: F401  (its folder of modules)
from example_programs import FOLDER, command, is_as_expected, output


def test_an_example_for_a_board_prints_what_it_says() -> None:
    printed = output(command("freertos"))
    assert is_as_expected(printed, FOLDER / "freertos/expected.txt"), printed
