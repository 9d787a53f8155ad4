# SPDX-License-Identifier: Apache-2.0
"""The timing diagrams of docs/rtl: their source is in the pages, an SVG of each next to them.

Run as a program, it draws all of them again.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import wavedrom

LETTERS = 5  # so many in the least width of a cycle
DOCS = Path(__file__).resolve().parent.parent.parent / "docs/rtl"
BLOCK = re.compile(r"!\[[^\]]*\]\((\w+)\.svg\).*?```json\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True)
class Diagram:
    name: str
    source: str

    def svg(self) -> str:
        """What a viewer needs of WaveDrom's picture: without the shapes that are not used."""
        content = self.content()
        texts = [str(text) for one in content["signal"] for text in one.get("data", [])]
        # A cycle has room for the longest.
        hscale = max([2, *(-(-len(text) // LETTERS) for text in texts)])
        picture = wavedrom.render(json.dumps({"config": {"hscale": hscale}} | content)).tostring()
        used = set(re.findall(r'xlink:href="#([^"]+)"', picture))
        shapes = re.compile(r'<g id="([^"]+)">.*?</g>', re.DOTALL)
        head, defs, rest = re.split(r"(<defs>.*?</defs>)", picture, maxsplit=1, flags=re.DOTALL)
        kept = shapes.sub(lambda found: found[0] if found[1] in used else "", defs)
        return head + kept + rest + "\n"

    def file(self) -> Path:
        return DOCS / f"{self.name}.svg"

    def content(self) -> dict:
        return json.loads(self.source)


def diagrams() -> list[Diagram]:
    pages = sorted(DOCS.glob("*.md"))
    return [Diagram(*found) for page in pages for found in BLOCK.findall(page.read_text())]


def values(signal: dict) -> list[str]:
    """What a signal is in each cycle: `0`, `1`, the text of its data, or `x`."""
    texts, shown, last = iter(signal.get("data", [])), [], "x"
    for letter in signal["wave"]:
        if letter in "=2345":
            last = str(next(texts))
        elif letter != ".":
            last = letter
        shown.append(last)
    return shown


if __name__ == "__main__":
    for diagram in diagrams():
        diagram.file().write_text(diagram.svg())
        print(diagram.file().relative_to(DOCS.parent.parent))
