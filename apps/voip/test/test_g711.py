# SPDX-License-Identifier: Apache-2.0
"""G.711 against the tables of the recommendation, and against other people's G.711.

The oracle: the decision values and the quantized values of tables 1a to 2b of ITU-T G.711 (11/88),
with the reading of G.191 where those leave it open: a sample of 16 bits is cut to 13 or 14 bits by
an arithmetic shift, one that is a decision value itself belongs to the interval above it, and
negative ones are the complements of the others.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import warnings
from bisect import bisect_right

import pytest
from driven import APPS

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import audioop

SAMPLES = range(-32768, 32768)
# Table 1a, column 4, of positive values 0 to 4096: at each segment's start, steps of so much.
ALAW_STEPS = ((0, 2), (32, 2), (64, 4), (128, 8), (256, 16), (512, 32), (1024, 64), (2048, 128))
# Table 2a, column 4, of values 0 to 8159: 0 and 1, then steps of 2, and so on.
ULAW_STEPS = ((31, 4), (95, 8), (223, 16), (479, 32), (991, 64), (2015, 128), (4063, 256))
ALAW_DECISIONS = [start + step * i for start, step in ALAW_STEPS for i in range(16)]
ULAW_DECISIONS = [0, *range(1, 31, 2), *(s + d * i for s, d in ULAW_STEPS for i in range(16))]


@pytest.fixture(scope="module")
def laws(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[list[int]], list[list[int]]]:
    """Both laws as ours are: the codes of all samples, and the samples of all codes."""
    file = tmp_path_factory.mktemp("laws") / "laws"
    tests = APPS.parent / "build/obj/voip/tests"
    subprocess.run([tests], env={**os.environ, "G711_LAWS": str(file)}, check=True, stdout=-3)
    rows = [[int(number) for number in line.split()] for line in file.read_text().splitlines()]
    assert len(rows) == 65536 + 256
    return rows[:65536], rows[65536:]


def a_law(sample: int) -> int:
    level = (sample if sample >= 0 else ~sample) >> 4  # of 4096: 12 bits and the sign
    interval = bisect_right(ALAW_DECISIONS, 2 * level) - 1
    return (interval | (0x80 if sample >= 0 else 0)) ^ 0x55


def mu_law(sample: int) -> int:
    level = (sample if sample >= 0 else ~sample) >> 2
    interval = bisect_right(ULAW_DECISIONS, level) - 1
    return (~interval & 0x7F) | (0x80 if sample >= 0 else 0)


def test_the_tables_are_those_of_the_recommendation() -> None:
    # Values that are printed in tables 1a and 2a.
    assert len(ALAW_DECISIONS) == len(ULAW_DECISIONS) == 128
    assert (ALAW_DECISIONS[113], ALAW_DECISIONS[112], ALAW_DECISIONS[96]) == (2176, 2048, 1024)
    assert ALAW_DECISIONS[-1] == 3968 and ULAW_DECISIONS[-1] == 7903
    assert (ULAW_DECISIONS[113], ULAW_DECISIONS[112], ULAW_DECISIONS[1]) == (4319, 4063, 1)


def test_each_of_65536_samples_has_the_code_of_its_interval(
    laws: tuple[list[list[int]], list[list[int]]],
) -> None:
    encoded, _ = laws
    assert [a for a, _ in encoded] == [a_law(sample) for sample in SAMPLES]
    assert [u for _, u in encoded] == [mu_law(sample) for sample in SAMPLES]


def quantized(decisions: list[int], top: int, interval: int) -> float:
    """The middle of an interval, as the recommendation has it."""
    above = [*decisions, top][interval + 1]
    return (decisions[interval] + above) / 2


def test_each_of_256_codes_is_the_middle_of_its_interval(
    laws: tuple[list[list[int]], list[list[int]]],
) -> None:
    _, decoded = laws
    for code, (a, u) in enumerate(decoded):
        plain = code ^ 0x55
        level = quantized(ALAW_DECISIONS, 4096, plain & 0x7F) * 8
        assert a == (level if plain & 0x80 else -level), code
        # The interval around zero is one of two halves, whose value is zero.
        interval = ~code & 0x7F
        level = quantized(ULAW_DECISIONS, 8159, interval) * 4 if interval else 0
        assert u == (level if code & 0x80 else -level), code


def lin2(law: str, sample: int) -> int:
    fragment = sample.to_bytes(2, "little", signed=True)
    return (audioop.lin2alaw if law == "a" else audioop.lin2ulaw)(fragment, 2)[0]


def test_pythons_a_law_is_the_same_and_its_mu_law_but_for_decision_values(
    laws: tuple[list[list[int]], list[list[int]]],
) -> None:
    encoded, decoded = laws
    assert [a for a, _ in encoded] == [lin2("a", sample) for sample in SAMPLES]
    codes = bytes(range(256))
    for place, theirs in enumerate((audioop.alaw2lin(codes, 2), audioop.ulaw2lin(codes, 2))):
        ours = b"".join(row[place].to_bytes(2, "little", signed=True) for row in decoded)
        assert ours == theirs
    differ = [s for s, (_, u) in zip(SAMPLES, encoded, strict=True) if u != lin2("u", s)]
    # Negative ones that are less than a step of 14 bits below a decision value, at each of them.
    edges = {4 * decision for decision in ULAW_DECISIONS[1:]}
    assert set(differ) == {below - edge for edge in edges for below in range(4)}


def test_librem_differs_on_negative_decision_values_alone(
    laws: tuple[list[list[int]], list[list[int]]],
) -> None:
    try:
        rem = ctypes.CDLL("librem.so.0")
    except OSError:
        pytest.skip("librem is not installed: make setup")
    table = (ctypes.c_uint8 * 2048).in_dll(rem, "g711_l2A")
    encoded, _ = laws
    differ = set()
    # It has no code for -32768: the negative of that is none of 16 bits.
    for sample, (ours, _) in zip(SAMPLES[1:], encoded[1:], strict=True):
        theirs = table[abs(sample) >> 4] & (0x7F if sample < 0 else 0xFF)
        if ours != theirs:
            differ.add(sample)
    assert differ == {-8 * decision for decision in ALAW_DECISIONS[1:]}
