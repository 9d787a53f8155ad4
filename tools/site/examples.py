# SPDX-License-Identifier: Apache-2.0
"""The examples of documents that list keys, as docs/app-toml.md; tests of python/tests read them
here, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

# In the text of a class: the table that it is, and the document that has it.
TABLE = re.compile(r"`\[+([a-z_.]+)\]+`[^`]* of (docs/[a-z-]+\.md)")


def lines(document: Path) -> Iterator[tuple[str, str]]:
    """The lines of a document's examples, each with the table that it is in."""
    inside = ""
    examples = re.findall(r"```toml\n(.*?)```", document.read_text(), re.DOTALL)
    for line in "\n".join(examples).splitlines():
        if head := re.match(r"\[+([a-z_.]+)\]+", line):
            inside = head[1]
        yield inside, line
