# SPDX-License-Identifier: Apache-2.0
"""The project's Markdown, as its tests read it."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def files(*patterns: str) -> list[Path]:
    """The files of this checkout, also those that are not committed yet."""
    command = ["git", "ls-files", "-co", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return [path for path in (ROOT / name for name in listed.stdout.split()) if path.exists()]


def documents() -> list[Path]:
    """Every Markdown file."""
    return files("*.md")


def blocks(path: Path, language: str) -> list[str]:
    """The code blocks of a file in one language; those without a language have the empty one."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def prose(path: Path) -> str:
    """A file without its code blocks."""
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchor(heading: str) -> str:
    """What a heading is linked by, after the rules of the usual Markdown sites."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def version() -> str:
    crates = tomllib.loads((ROOT / "crates/Cargo.toml").read_text())
    return crates["workspace"]["package"]["version"]
