# SPDX-License-Identifier: Apache-2.0
"""What is read of a page's tables."""

from pathlib import Path

import pytest
import stated

PAGE = """\
| what | | one | two |
|---|---|---|---|
| pixels | published | 6 | 278 |
| | RTL | 200 | **387.5** (+3 %) |
| spaced | | 586 830 | 4, 5 cycles |

A switch takes 71 cycles (FreeRTOS: 838), a hand-off of
1 KiB 4,583; the best of 3 is 0.5 times as long.
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "page.md").write_text(PAGE)
    monkeypatch.setattr(stated, "ROOT", tmp_path)
    return "page.md"


def test_a_row_is_named_by_its_labels_and_those_above(page: str) -> None:
    assert stated.stated(page, "pixels", "published") == [6, 278]
    assert stated.stated(page, "pixels", "RTL") == [200, 387.5]
    assert stated.stated(page, "spaced", "") == [586830, 4, 5]


def test_a_number_that_is_off_or_a_row_that_is_gone_fails(page: str) -> None:
    stated.check(page, ("pixels", "published"), [6.04, 279], 0.01)
    with pytest.raises(AssertionError, match=r"states 278 as number 2 .* 285 was counted"):
        stated.check(page, ("pixels", "published"), [6, 285], 0.01)
    with pytest.raises(AssertionError, match="0 rows"):
        stated.check(page, ("pixels", "elsewhere"), [1], 0.01)
    with pytest.raises(AssertionError, match="counted"):
        stated.check(page, ("pixels", "published"), [6], 0.01)


def test_a_sentence_is_named_by_its_words(page: str) -> None:
    assert stated.said(page, "takes {} cycles (FreeRTOS: {})") == [71, 838]
    assert stated.said(page, "a hand-off of 1 KiB {}; the best of 3 is {} times") == [4583, 0.5]
    stated.check_words(page, "FreeRTOS: {}", [840], 0.01)
    with pytest.raises(AssertionError, match="838 as number 1 of FreeRTOS"):
        stated.check_words(page, "FreeRTOS: {}", [860], 0.01)
    with pytest.raises(AssertionError, match="0 times"):
        stated.said(page, "eCos: {}")
