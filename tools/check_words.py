#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds constructions that documents, messages and help texts do not use (words.toml).

    tools/check_words.py [--all] [FILE...]

Reads Markdown without its code, snapshots of help texts, and strings of two words or more in Rust
and C; without FILEs, those that git tracks. `--all` also prints warnings and sentences of more than
30 words. Exits with 1 if there is an error.
"""

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
WORDS_MOST = 30
# Decisions and the changelog of what was released are history; sources of others are theirs.
APART = re.compile(r"third_party/|^docs/decisions/|^tests/|/tests?/(?!snapshots/)|^crates/fuzz/")
READ = ("*.md", "crates/**/snapshots/*help*.snap", "*.rs", "*.c", "*.h")
# Comments are not messages; a string of C or Rust may go on in the next line.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])\'|"((?:\\.|[^"\\])*)"', re.DOTALL)


@dataclass(frozen=True)
class Finding:
    line: int
    level: str
    text: str


def rules() -> list[tuple[re.Pattern[str], str, str]]:
    words = tomllib.loads((HERE / "words.toml").read_text(encoding="utf-8"))["word"]
    return [(re.compile(one["pattern"]), one["use"], one.get("level", "error")) for one in words]


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without code and the targets of links."""
    fence = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            fence = not fence
        elif not fence:
            plain = re.sub(r"`(?:TEST)?[^`]*`", "`x`", line)
            plain = re.sub(r"`TEST$|^\w+`", "", plain)  # a name that is wrapped
            yield number, re.sub(r"\]\([^)]*\)", "]", plain)


def strings(text: str) -> Iterator[tuple[int, str]]:
    """The strings of a source file that are of several words, with the numbers of their lines."""
    for token in TOKEN.finditer(text):
        if token[1] and " " in token[1].strip():
            plain = re.sub(r"\\\n\s*", "", token[1])
            yield text.count("\n", 0, token.start()) + 1, re.sub(r"`[^`]*`", "`x`", plain)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    gathered, start = "", 0
    for number, line in [*markdown(text), (0, "")]:
        item = re.match(r"\s*([-*]|\d+\.) ", line)
        if not line.strip() or line.startswith(("#", "|")) or item:
            yield from ((start, part) for part in re.split(r"(?<=[.!?])\s+", gathered))
            gathered, start = (line, number) if item else ("", number)
        else:
            gathered, start = f"{gathered} {line}".strip(), start or number


def findings(path: Path, known: list[tuple[re.Pattern[str], str, str]]) -> Iterator[Finding]:
    text = path.read_text(encoding="utf-8")
    is_text = path.suffix in (".md", ".snap")
    for number, line in markdown(text) if is_text else strings(text):
        for pattern, use, level in known:
            for hit in pattern.finditer(line):
                yield Finding(number, level, f"“{hit[0].strip()}” → {use}")
    for number, sentence in sentences(text) if path.suffix == ".md" else ():
        if len(re.findall(r"[A-Za-z']+", sentence)) > WORDS_MOST:
            yield Finding(number, "warning", f"a sentence of more than {WORDS_MOST} words")


def tracked() -> list[Path]:
    command = ["git", "ls-files", "-co", "--exclude-standard", *READ]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return [Path(name) for name in sorted(set(listed)) if not APART.search(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--all", action="store_true", help="print all that is found")
    options = parser.parse_args()
    known, failed = rules(), False
    for path in filter(Path.is_file, options.files or tracked()):
        for one in findings(path, known):
            failed |= one.level == "error"
            if options.all or one.level == "error":
                print(f"{path}:{one.line}: {one.level}: {one.text}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
