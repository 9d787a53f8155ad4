#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the table of folders in docs/folders.md from the tree (`make folders`).

The rows and their last column come from what is there: the folders that git tracks, the headers
that C files include, and the crates that Cargo.toml names. The sentence in the middle is written by
hand and kept. With `--check` nothing is written: exits with 1 if the table is not that of the tree,
or a folder has no sentence, or the headers of folders of C include each other.
"""

import argparse
import os
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path, PurePosixPath

from circles import circles

DOCUMENT = Path("docs/folders.md")
BEGIN, END = "<!-- folders: make folders -->", "<!-- end of folders -->"
# Folders whose own folders have a row each.
OPENED = ("", "clients", "crates", "kernels", "launcher", "middleware", "middleware/src")
MISSING = "?"
# Between these, arrows go one way.
ROOMS = ("boards", "clients", "kernels", "launcher", "middleware")
# What a folder's tests include says nothing of the folder.
TESTS = {"test", "tests", "conform"}


def tracked() -> list[PurePosixPath]:
    """Every file of this checkout, also those that are not committed yet."""
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")
    return [PurePosixPath(name) for name in listed if name and Path(name).exists()]


def folder_of(path: PurePosixPath) -> str | None:
    """The folder in whose row a file is; None for the files of the root."""
    found = None
    for parent in reversed(path.parents):
        if str(parent) == ".":
            name, above = "", None
        else:
            name, above = str(parent), str(parent.parent)
        if above is not None and (above if above != "." else "") in OPENED:
            found = name
    return found


def headers_by_name(files: list[PurePosixPath]) -> dict[str, list[PurePosixPath]]:
    """Each way of writing a header's path in an include, with the headers it may mean."""
    found = defaultdict(list)
    for path in files:
        if path.suffix in (".h", ".hpp"):
            for start in range(len(path.parts)):
                found["/".join(path.parts[start:])].append(path)
    return found


def meant(path: PurePosixPath, name: str, headers: dict[str, list[PurePosixPath]]) -> set[str]:
    """The folders of the headers that an include of a C file may mean."""
    beside = PurePosixPath(os.path.normpath(path.parent / name))
    named = headers.get(name.replace("../", ""), [])
    folders = {folder for header in named if (folder := folder_of(header))}
    if beside in named:
        return {folder for folder in (folder_of(beside),) if folder}
    # Programs of their own, which nothing else is compiled with the headers of.
    return folders - {"apps", "rtl"} or folders


def included(path: PurePosixPath, headers: dict[str, list[PurePosixPath]]) -> set[str]:
    """The folders whose headers a C file includes."""
    names = re.findall(r'^#include "([^"]+)"', Path(path).read_text(), re.MULTILINE)
    all_meant = [meant(path, name, headers) for name in names]
    return {folder for folders in all_meant if folder_of(path) not in folders for folder in folders}


def crates(files: list[PurePosixPath]) -> dict[str, str]:
    """The folder of each crate of the workspace."""
    manifests = [path for path in files if path.name == "Cargo.toml" and len(path.parts) == 3]
    found = {}
    for path in manifests:
        if name := tomllib.loads(Path(path).read_text()).get("package", {}).get("name"):
            found[name] = str(path.parent)
    return found


def uses(files: list[PurePosixPath]) -> dict[str, set[str]]:
    """For each folder the others that it is compiled with."""
    found = defaultdict(set)
    headers, names = headers_by_name(files), crates(files)
    for path in files:
        folder = folder_of(path)
        if folder is None or TESTS & set(path.relative_to(folder).parts):
            continue
        if path.suffix in (".c", ".h", ".cc", ".hpp"):
            found[folder] |= included(path, headers)
        elif str(path.parent) in names.values() and path.name == "Cargo.toml":
            wanted = tomllib.loads(Path(path).read_text()).get("dependencies", {})
            found[folder] |= {names[name] for name in wanted if name in names}
    return {folder: others - {folder} for folder, others in found.items()}


def circles_of_rooms(used: dict[str, set[str]]) -> list[set[str]]:
    """Folders of C whose headers include each other."""
    rooms = {folder for folder in used if folder.split("/")[0] in ROOMS}
    return circles({folder: used[folder] & rooms for folder in rooms})


def sentences(table: str) -> dict[str, str]:
    """What the table says of each folder today."""
    rows = re.findall(r"^\| `([^`]+)/` \| (.*?) \| [^|]* \|$", table, re.MULTILINE)
    return {folder: sentence.strip() for folder, sentence in rows}


def draw(said: dict[str, str], files: list[PurePosixPath], used: dict[str, set[str]]) -> str:
    folders = sorted({folder for path in files if (folder := folder_of(path))})
    opened = [folder for folder in OPENED if folder and folder not in folders]
    rows = ["| folder | is | uses |", "|---|---|---|"]
    for folder in sorted({*folders, *opened}):
        if "/." in f"/{folder}":
            continue
        others = ", ".join(f"`{other}`" for other in sorted(used.get(folder, ())))
        rows.append(f"| `{folder}/` | {said.get(folder, MISSING)} | {others} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say whether the table is true")
    check = parser.parse_args().check

    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN + "\n", 1)
    table, after = rest.split(END, 1)
    files = tracked()
    used = uses(files)
    drawn = draw(sentences(table), files, used) + "\n"
    empty = re.findall(rf"^\| (`\S+`) \| {re.escape(MISSING)} \|", drawn, re.MULTILINE)
    if check and drawn != table:
        print(f"{DOCUMENT}: the table of folders is not that of the tree: make folders")
    elif not check:
        DOCUMENT.write_text(before + BEGIN + "\n" + drawn + END + after)
    if empty:
        print(f"{DOCUMENT}: say in the second column what these are: {', '.join(empty)}")
    found = circles_of_rooms(used)
    for circle in found:
        print(f"headers of {', '.join(sorted(circle))} include each other: break the circle")
    return 1 if empty or found or (check and drawn != table) else 0


if __name__ == "__main__":
    sys.exit(main())
